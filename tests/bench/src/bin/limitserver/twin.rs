//! The twin: the daemon's sealed records in the daemon's store.

use std::path::Path;
use std::sync::Arc;

use quorate_bench::requests::now_millis;
use quorate_bench::targets::Target;
use quorate_common::activity::{Selection, Status};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, VoteId};
use quorate_common::stamp::Scheme;
use quorate_core::model::record::Record;
use quorate_core::model::{ActivityRecord, VoteRecord, layout};
use quorate_core::seal::{NONCE, SealKey};
use quorated::store::engine::Settings;
use quorated::store::{Batch, BatchOutcome, Change, Group, Store};

use crate::commit::Committer;
use crate::request::{
    ActivityAnswer, Answer, Caller, Invalid, Organizations, Signed, Time, VoteAnswer, decode,
};

/// Wire number of the activity type.
const SIGN_RAW_PAYLOAD_V2: u16 = 51;
/// Number of random bytes per request: nonces of three records, the random part of the activity id, a vote
/// id.
const RANDOM: usize = 3 * NONCE + 10 + 16;

/// State of the twin.
pub(crate) struct Twin {
    organizations: Organizations,
    seal: SealKey,
    committer: Committer,
}

impl Twin {
    pub(crate) fn open(targets: &[Target], folder: &Path, settings: &Settings) -> Self {
        let store: Arc<dyn Store> = settings.create(folder).expect("the store opens");
        let organizations = Organizations::of(targets);
        let versions = organizations.ids().map(|id| (version(id), 1)).collect();
        store
            .commit(&Group::of(Batch { set: versions, ..Batch::default() }))
            .expect("the store accepts writes");
        let seal = SealKey::misuse_resistant(&[1; 32]).expect("32 bytes are a key");
        Self { organizations, seal, committer: Committer::start(store) }
    }

    pub(crate) const fn organizations(&self) -> &Organizations {
        &self.organizations
    }

    /// Checks the stamp, signs, seals, makes the activity durable, and answers.
    pub(crate) async fn sign(&self, stamp: &str, body: &[u8]) -> Result<Vec<u8>, Invalid> {
        let deciding = self.committer.deciding();
        let (batch, answer) = self.decide(stamp, body)?;
        let durable = self.committer.commit(batch, deciding);
        match durable.await {
            BatchOutcome::Done => Ok(answer),
            BatchOutcome::Clash => Err("known body"),
        }
    }

    fn decide(&self, stamp: &str, body: &[u8]) -> Result<(Batch, Vec<u8>), Invalid> {
        let decoded = decode(stamp)?;
        let signed = self.organizations.sign(&decoded, body)?;
        let mut random = [0; RANDOM];
        getrandom::fill(&mut random).map_err(|_| "no random bytes")?;
        let activity = activity(&signed, body, &random)?;
        let answer = answer(&activity, signed.caller)?;
        let stamped = signed.envelope.timestamp_ms.parse().map_err(|_| "no time")?;
        Ok((self.batch(stamped, &activity, &random)?, answer))
    }

    /// Creates the same records as the daemon, under the same conditions.
    fn batch(
        &self,
        stamped: u64,
        activity: &ActivityRecord,
        random: &[u8; RANDOM],
    ) -> Result<Batch, Invalid> {
        let (organization, id) = (activity.organization, activity.id);
        let used_body = layout::body(stamped, &activity.fingerprint);
        let owner = [organization.as_bytes().as_slice(), id.as_bytes()].concat();
        let record = activity.encode().map_err(|_| "no record")?;
        let listed = layout::activity_listed(organization, activity.status, activity.number, id);
        let values =
            [(used_body.clone(), owner), (layout::activity(organization, id), record), (listed, Vec::new())];
        let nonces = random.as_chunks::<NONCE>().0;
        let sealed = values.into_iter().zip(nonces).map(|((key, value), nonce)| {
            let sealed = self.seal.seal(*nonce, &key, &value).map_err(|_| "not sealed")?;
            Ok(Change { key, value: Some(sealed), fresh: true })
        });
        Ok(Batch {
            expect: vec![(version(organization), 1)],
            must_not_exist: vec![used_body],
            writes: sealed.collect::<Result<_, Invalid>>()?,
            ..Batch::default()
        })
    }
}

/// Returns the key of the version that a commit of this organization checks.
fn version(organization: OrganizationId) -> Vec<u8> {
    [b"v".as_slice(), organization.as_bytes()].concat()
}

fn activity(signed: &Signed<'_>, body: &[u8], random: &[u8; RANDOM]) -> Result<ActivityRecord, Invalid> {
    let now = now_millis();
    let (id, vote) = random[3 * NONCE..].split_at(10);
    let vote = VoteRecord {
        evaluations: Vec::new(),
        id: VoteId::random(vote.try_into().map_err(|_| "too few random bytes")?),
        user: signed.caller.user,
        user_name: "limit".to_owned(),
        selection: Selection::Approved,
        message: std::str::from_utf8(body).map_err(|_| "not a text")?.to_owned(),
        public_key: signed.members.public_key.to_owned(),
        scheme: Scheme::P256,
        signature: signed.members.signature.to_owned(),
        attestation: None,
        created: now,
    };
    Ok(ActivityRecord {
        id: ActivityId::timed(now, id.try_into().map_err(|_| "too few random bytes")?),
        organization: signed.organization.id,
        number: SIGN_RAW_PAYLOAD_V2,
        status: Status::Completed,
        intent: signed.intent()?,
        result: signed.result()?,
        proposer: signed.caller.user,
        votes: vec![vote],
        fingerprint: Fingerprint::of(body),
        failure: None,
        created: now,
        updated: now,
    })
}

fn answer(activity: &ActivityRecord, caller: &Caller) -> Result<Vec<u8>, Invalid> {
    let vote = activity.votes.first().ok_or("no vote")?;
    let vote = VoteAnswer {
        id: &vote.id,
        user_id: &vote.user,
        user: &caller.shown,
        activity_id: &activity.id,
        selection: vote.selection,
        message: &vote.message,
        public_key: &vote.public_key,
        signature: &vote.signature,
        scheme: vote.scheme.name(),
        created_at: Time::of(activity.created),
    };
    let activity = ActivityAnswer::completed(
        &activity.id,
        &activity.organization,
        (&activity.intent, &activity.result),
        &activity.fingerprint,
        activity.created,
    );
    let activity = ActivityAnswer { votes: &[vote], ..activity };
    serde_json::to_vec(&Answer { activity }).map_err(|_| "no JSON")
}
