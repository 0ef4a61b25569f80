//! The twin: the daemon's sealed records, in the daemon's store.

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
use quorated::store::embedded::Embedded;
use quorated::store::{Batch, Change, Group, Store, Verdict};

use crate::commit::Committer;
use crate::request::{Answer, Caller, Flaw, Places, Shown, ShownVote, Signed, Time, decode};

/// Number of the activity type on the wire.
const SIGN_RAW_PAYLOAD_V2: u16 = 51;
/// Random bytes of one request: nonces of three records, the random part of the activity id, a vote id.
const RANDOM: usize = 3 * NONCE + 10 + 16;

/// All that the twin knows.
pub(crate) struct Twin {
    places: Places,
    seal: SealKey,
    committer: Committer,
}

impl Twin {
    pub(crate) fn open(targets: &[Target], folder: &Path) -> Self {
        let store: Arc<dyn Store> = Arc::new(Embedded::open(folder, 0).expect("the store opens"));
        let places = Places::of(targets);
        let versions = places.ids().map(|id| (version(id), 1)).collect();
        store
            .commit(&Group::of(Batch { set: versions, ..Batch::default() }))
            .expect("the store takes writes");
        let seal = SealKey::new(&[1; 32]).expect("32 bytes are a key");
        Self { places, seal, committer: Committer::start(store) }
    }

    pub(crate) const fn places(&self) -> &Places {
        &self.places
    }

    /// The twin of a signature: checked, signed, sealed, durable, answered.
    pub(crate) async fn sign(&self, stamp: &str, body: &[u8]) -> Result<Vec<u8>, Flaw> {
        let deciding = self.committer.deciding();
        let (batch, answer) = self.decide(stamp, body)?;
        let durable = self.committer.commit(batch, deciding);
        match durable.await {
            Verdict::Done => Ok(answer),
            Verdict::Clash => Err("known body"),
        }
    }

    fn decide(&self, stamp: &str, body: &[u8]) -> Result<(Batch, Vec<u8>), Flaw> {
        let decoded = decode(stamp)?;
        let signed = self.places.sign(&decoded, body)?;
        let mut random = [0; RANDOM];
        getrandom::fill(&mut random).map_err(|_| "no random bytes")?;
        let activity = activity(&signed, body, &random)?;
        let answer = answer(&activity, signed.caller)?;
        let stamped = signed.envelope.timestamp_ms.parse().map_err(|_| "no time")?;
        Ok((self.batch(stamped, &activity, &random)?, answer))
    }

    /// The same records as the daemon's, under the same conditions.
    fn batch(&self, stamped: u64, activity: &ActivityRecord, random: &[u8; RANDOM]) -> Result<Batch, Flaw> {
        let (organization, id) = (activity.organization, activity.id);
        let taken = layout::body(stamped, &activity.fingerprint);
        let owner = [organization.as_bytes().as_slice(), id.as_bytes()].concat();
        let record = activity.encode().map_err(|_| "no record")?;
        let listed = layout::activity_listed(organization, activity.status, activity.number, id);
        let values =
            [(taken.clone(), owner), (layout::activity(organization, id), record), (listed, Vec::new())];
        let nonces = random.as_chunks::<NONCE>().0;
        let sealed = values.into_iter().zip(nonces).map(|((key, value), nonce)| {
            let sealed = self.seal.seal(*nonce, &key, &value).map_err(|_| "not sealed")?;
            Ok(Change { key, value: Some(sealed), fresh: true })
        });
        Ok(Batch {
            vacant: Vec::new(),
            expect: vec![(version(organization), 1)],
            absent: vec![taken],
            set: Vec::new(),
            writes: sealed.collect::<Result<_, Flaw>>()?,
        })
    }
}

/// The register that a commit of this organization checks.
fn version(organization: OrganizationId) -> Vec<u8> {
    [b"v".as_slice(), organization.as_bytes()].concat()
}

fn activity(signed: &Signed<'_>, body: &[u8], random: &[u8; RANDOM]) -> Result<ActivityRecord, Flaw> {
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
        created: now,
    };
    Ok(ActivityRecord {
        id: ActivityId::timed(now, id.try_into().map_err(|_| "too few random bytes")?),
        organization: signed.place.id,
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

fn answer(activity: &ActivityRecord, caller: &Caller) -> Result<Vec<u8>, Flaw> {
    let vote = activity.votes.first().ok_or("no vote")?;
    let vote = ShownVote {
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
    let shown = Shown::completed(
        &activity.id,
        &activity.organization,
        (&activity.intent, &activity.result),
        &activity.fingerprint,
        activity.created,
    );
    let shown = Shown { votes: &[vote], ..shown };
    serde_json::to_vec(&Answer { activity: shown }).map_err(|_| "no JSON")
}
