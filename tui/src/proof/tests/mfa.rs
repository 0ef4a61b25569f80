//! Reviews of activities whose users must prove further authentication methods.

use quorate_common::activity::{Status, Vote, VoteAttestation};
use quorate_common::bounded::AtMost;
use quorate_common::console::{ReviewRecord, WaitingReason};
use quorate_common::stamp::Scheme;
use quorate_common::wire::{
    AuthenticationMethod, AuthenticationType, MfaStatus, RequiredAuthenticationMethod,
};

use super::mark;
use crate::proof::{Mark, needs, waits_for_proof};
use crate::testing::{Fixture, threshold_proposal};

/// Adds what a user has proven of an MFA policy with these steps, as the daemon states it.
fn require(record: &mut ReviewRecord, user: usize, proven: usize, steps: &[AuthenticationType]) {
    let method =
        |method_type: &AuthenticationType| AuthenticationMethod { method_type: *method_type, id: None };
    let step =
        |one: &AuthenticationType| RequiredAuthenticationMethod { any: AtMost::cut(vec![method(one)]) };
    record.row.waiting.as_mut().unwrap().mfa.push(MfaStatus {
        mfa_policy_id: quorate_common::ids::MfaPolicyId::from_bytes([0x88; 16]),
        user_id: Fixture::user(user),
        satisfied: proven == steps.len(),
        satisfied_methods: AtMost::cut(steps.iter().take(proven).map(method).collect()),
        required_methods: AtMost::cut(steps.iter().map(step).collect()),
    });
}

#[test]
fn the_proposer_must_prove_a_method_first() {
    use AuthenticationType::{ApiKey, Passkey};
    for (steps, is_provable) in [([Passkey, ApiKey], true), ([ApiKey, Passkey], false)] {
        let (fixture, mut record) = threshold_proposal();
        record.row.activity.status = Status::AuthenticatorsNeeded;
        record.row.waiting.as_mut().unwrap().reason = WaitingReason::Authenticators;
        require(&mut record, 1, 1, &steps);
        // The proposer, who has voted, may approve again.
        let review = fixture.review(&record, 1);
        assert!(!review.blocked());
        assert!(review.waits_for_viewer());
        let text = needs(&review);
        let next = if is_provable { "an API key" } else { "a passkey" };
        assert!(text.starts_with(&format!("waits for jo [s] to prove a second method: {next}; ")), "{text}");
        let error = review.approval_error();
        let expected = "your MFA policy needs a passkey next, which this console cannot prove";
        assert_eq!(error.as_deref(), (!is_provable).then_some(expected));
        assert_eq!(mark(&review, "K8"), Mark::Stated, "what is proven first is in addition to the rule");
        assert_eq!(waits_for_proof(&review), Some(format!("waits for you: {next}")));
        // For everybody else it is a waiting activity.
        let other = fixture.review(&record, 0);
        assert_eq!(waits_for_proof(&other), Some(format!("waits for jo: {next}")));
        assert_eq!((other.approval_error(), other.tally.has()), (None, 1));
    }
}

#[test]
fn an_activity_without_steps_left_runs_with_the_next_approval_of_its_proposer() {
    let (fixture, mut record) = threshold_proposal();
    fixture.approve(&mut record, 2);
    fixture.approve(&mut record, 3);
    let waiting = record.row.waiting.as_mut().unwrap();
    (waiting.reason, waiting.open_to) = (WaitingReason::NextVote, Vec::new());
    // The approvals suffice, but without another one nothing is decided.
    let review = fixture.review(&record, 1);
    assert_eq!((review.tally.resumes_with, review.waits_for_viewer()), (None, false));
    record.row.activity.status = Status::AuthenticatorsNeeded;
    let review = fixture.review(&record, 1);
    let expected =
        "no authentication step is left: it runs with the next approval of jo [s]; votes expire in ";
    assert!(needs(&review).starts_with(expected), "{}", needs(&review));
    assert_eq!((review.waits_for_viewer(), review.approval_error()), (true, None));
    assert!(review.own_vote().is_some() && review.final_vote().is_none());
    assert_eq!(waits_for_proof(&review).as_deref(), Some("waits for you to approve again"));
    let other = fixture.review(&record, 2);
    assert!(!other.waits_for_viewer());
    assert_eq!(waits_for_proof(&other).as_deref(), Some("waits for jo to approve again"));
    let text = crate::proof::plain_text(&other);
    assert!(text.contains("it runs with the next approval of jo"), "{text}");
    // While a step of another policy is left, that step comes first.
    require(&mut record, 1, 0, &[AuthenticationType::Passkey]);
    assert_eq!(fixture.review(&record, 1).tally.resumes_with, None);
}

#[test]
fn approvals_of_users_who_must_authenticate_are_not_counted() {
    use AuthenticationType::{ApiKey, Passkey};
    let (fixture, mut record) = threshold_proposal();
    fixture.approve(&mut record, 2);
    assert_eq!(fixture.review(&record, 0).tally.has(), 2);
    record.row.waiting.as_mut().unwrap().counted.retain(|user| *user != Fixture::user(2));
    require(&mut record, 2, 1, &[ApiKey, Passkey]);
    let review = fixture.review(&record, 0);
    assert_eq!(review.tally.has(), 1);
    assert!(!review.blocked());
    assert!(needs(&review).starts_with("waits for ana [s] to prove a second method: a passkey; "));
    // A daemon that counts the approval nevertheless contradicts itself.
    record.row.waiting.as_mut().unwrap().counted.push(Fixture::user(2));
    assert_eq!(mark(&fixture.review(&record, 0), "K8"), Mark::Failed);
}

/// Adds a vote of a user by a temporary key, with what the daemon states that its token proved.
fn attest(fixture: &Fixture, record: &mut ReviewRecord, user: usize, attestation: VoteAttestation) {
    fixture.approve(record, user);
    let vote = record.row.activity.votes.last_mut().unwrap();
    let stamp = Fixture::stamper(9).stamp(vote.message.as_bytes()).unwrap();
    (vote.public_key, vote.signature) = (stamp.public_key, stamp.signature);
    vote.scheme = Scheme::AttestedVerificationToken.name().to_owned();
    vote.attestation = Some(attestation);
    // The daemon does not count it as an approval.
    record.row.waiting.as_mut().unwrap().counted.retain(|counted| *counted != Fixture::user(user));
}

fn code(contact: &str) -> VoteAttestation {
    let contact = Some(contact.to_owned());
    VoteAttestation { authentication_type: AuthenticationType::EmailOtp, contact, identity: None }
}

#[test]
fn attested_votes_are_verified_as_far_as_possible_and_never_counted() {
    let (fixture, mut record) = threshold_proposal();
    record.organization.users[2].user_email = Some("Ana@house.example".to_owned());
    attest(&fixture, &mut record, 2, code("ana@house.example"));
    let review = fixture.review(&record, 0);
    assert!(!review.blocked());
    let vote = review.votes.last().unwrap();
    assert_eq!((&vote.error, vote.signed, vote.counts()), (&None, true, false));
    assert_eq!(review.tally.has(), 1);
    let expected = "MFA step by ana [s]";
    let text = crate::proof::plain_text(&review);
    assert!(text.contains(expected), "{text}");
    let expected = "signature by a temporary key [v]; that the key is theirs rests on the daemon's word: a code sent to ana@house.example [s]";
    assert!(text.contains(expected), "{text}");
    assert_eq!(mark(&review, "K7"), Mark::Stated);
    let cast = &crate::proof::json(&review)["votes"]["cast"][1];
    assert_eq!(
        (&cast["counts"], &cast["attested"]),
        (&false.into(), &"a code sent to ana@house.example".into())
    );
    // A daemon that counts it as an approval contradicts this console.
    record.row.waiting.as_mut().unwrap().counted.push(Fixture::user(2));
    assert_eq!(mark(&fixture.review(&record, 0), "K8"), Mark::Failed);
}

#[test]
fn forged_attested_votes_do_not_verify() {
    let (fixture, mut record) = threshold_proposal();
    record.organization.users[2].user_email = Some("ana@house.example".to_owned());
    attest(&fixture, &mut record, 2, code("ana@house.example"));
    let check = |change: &dyn Fn(&mut Vote), expected: &str| {
        let mut record = record.clone();
        change(record.row.activity.votes.last_mut().unwrap());
        let review = fixture.review(&record, 0);
        let vote = review.votes.last().unwrap();
        assert_eq!(vote.error.as_deref(), Some(expected));
        assert_eq!((vote.counts(), review.tally.has()), (false, 1));
        assert!(review.flags.iter().any(|flag| flag.name == "vote-not-counted"), "{expected}");
    };
    let unsigned = "the signature does not match the message";
    check(&|vote| vote.message.push(' '), unsigned);
    check(&|vote| vote.public_key = Fixture::stamper(1).public_key().to_owned(), unsigned);
    let other = "the attested contact or identity is not one of that user";
    check(&|vote| vote.attestation = Some(code("jo@house.example")), other);
    check(&|vote| vote.user_id = Fixture::user(0), other);
    check(&|vote| vote.attestation = None, "the record does not state what the attested stamp proved");
    // Its temporary key is no key of the user, so it is no stamp of one.
    let scheme = Scheme::P256.name();
    check(
        &|vote| (vote.scheme, vote.attestation) = (scheme.to_owned(), None),
        "the key is not a key of that user in this organization",
    );
    // Only a login is proposed by an attested stamp.
    let (fixture, mut record) = threshold_proposal();
    let vote = &mut record.row.activity.votes[0];
    vote.scheme = Scheme::AttestedVerificationToken.name().to_owned();
    vote.attestation = Some(code("jo@house.example"));
    record.organization.users[1].user_email = Some("jo@house.example".to_owned());
    let review = fixture.review(&record, 0);
    let expected = "an attested stamp only proposes a login, or proves a step of an MFA policy";
    assert_eq!(review.votes[0].error.as_deref(), Some(expected));
    assert_eq!(review.tally.has(), 0);
}
