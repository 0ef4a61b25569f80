//! Reviews of activities whose users must prove further authentication methods.

use quorate_common::activity::Status;
use quorate_common::bounded::AtMost;
use quorate_common::console::{ReviewRecord, WaitingReason};
use quorate_common::wire::{
    AuthenticationMethod, AuthenticationType, MfaStatus, RequiredAuthenticationMethod,
};

use super::mark;
use crate::proof::{Mark, needs};
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
        // For everybody else it is a waiting activity.
        let other = fixture.review(&record, 0);
        assert_eq!((other.approval_error(), other.tally.has()), (None, 1));
    }
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
