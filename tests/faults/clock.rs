//! `f10`: the clock jumps, forwards and backwards.

use std::time::{SystemTime, UNIX_EPOCH};

use hyper::Method;
use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_API_KEYS, SIGN};
use serde_json::{Value, json};

use crate::calls::daemon_under;
use crate::layer::Layer;
use crate::scenario::Scenario;

const HOUR: i64 = 60 * 60 * 1000;
/// Jumps relative to the latest time so far, in milliseconds.
const JUMPS: [i64; 8] = [HOUR, -HOUR, 24 * HOUR, -24 * HOUR, -1000, -60_000, 1000, -10 * 60_000];

/// Returns the time of day, shifted by this many milliseconds.
pub(crate) fn shifted(shift: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_millis();
    (i64::try_from(now).expect("milliseconds fit") + shift).to_string()
}

/// Submits a body with the daemon's time. Returns `None` if it is rejected because of its time.
async fn submitted(
    caller: &Caller,
    shift: i64,
    number: usize,
    parameters: &Value,
    kind: &str,
) -> Option<Value> {
    // Bodies differ by their parameters.
    let body = caller.proposal_at(&shifted(shift), kind, parameters);
    let reply = caller.send(&submit_path(kind), &body).await;
    assert!(reply.status < 500, "step {number}: a clock jump must not cause a server error{reply}");
    (reply.status == 200).then(|| reply.activity())
}

/// Asserts that the daemon is ready, unless its clock is so far behind that requests would be too old.
async fn check_readiness(caller: &Caller, behind: i64) {
    let readiness = caller.call(Method::GET, "/readyz", &[], b"").await;
    let expected = if behind > 2 * HOUR { 503 } else { 200 };
    // At exactly one hour, milliseconds decide.
    if behind != HOUR {
        assert_eq!(readiness.status, expected, "{behind} ms behind{readiness}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f10_the_clock_jumps() {
    let mut scenario = Scenario::begin("f10 clock jumps", 24, 500);
    if !scenario.engine().has_own_clock() {
        return;
    }
    let layer = Layer::new();
    let folder = tempfile::tempdir().expect("a folder");
    let mut daemon = daemon_under(&scenario, &layer, folder.path()).await;
    let root = daemon.root(0);
    let address = requests::create_wallet(&root, "clock").await;
    let voters = [Key::named("first voter"), Key::named("second voter"), Key::named("third voter")];
    let users: Vec<Value> = voters
        .iter()
        .enumerate()
        .map(|(number, key)| requests::root_user(&format!("voter {number}"), key))
        .collect();
    let mut child = requests::sub_organization("clock", &users, 3);
    child["wallet"] = requests::wallet("clock");
    let child = root.result(requests::CREATE_SUB_ORGANIZATION, &child).await;
    let organization = child["subOrganizationId"].as_str().expect("an id").to_owned();
    let child_address = child["wallet"]["addresses"][0].as_str().expect("an address").to_owned();
    // The daemon's time never runs backwards, so bodies carry the latest time.
    let (mut latest, mut expired, mut cast_votes) = (0, Vec::<(usize, Key)>::new(), 0);
    let mut jumps_back = 0;
    for round in 0..scenario.rounds() {
        let mut choices = scenario.choices(round);
        let jump = JUMPS[choices.below(JUMPS.len())];
        // A key that expires after the next jumps by hours.
        let key = Key::named(&format!("lease {round}"));
        let mut lease = requests::api_key(&format!("lease {round}"), &key);
        lease["expirationSeconds"] = json!("120");
        let root = daemon.root(0);
        let parameters = requests::api_keys(daemon.root_id(0), &[lease]);
        let leased = submitted(&root, latest, round, &parameters, CREATE_API_KEYS).await.is_some();
        scenario.step(format!("jump {round} by {jump} ms from {latest} ms"));
        let shift = latest + jump;
        latest = latest.max(shift);
        jumps_back += usize::from(jump < 0);
        layer.shift_clock(shift);
        if choices.one_in(8) {
            daemon.restart().await;
        }
        let root = daemon.root(0);
        check_readiness(&root, latest - shift).await;
        let is_rejected = |reply: &quorate_tests::http::Reply| reply.status >= 400;
        if leased && is_rejected(&root.with_key(&key).query("whoami", json!({})).await) {
            expired.push((round, key));
        }
        for (number, key) in expired.iter().rev().take(20) {
            let reply = root.with_key(key).query("whoami", json!({})).await;
            assert!(
                is_rejected(&reply),
                "the key of step {number} was rejected before and is accepted now{reply}"
            );
        }
        submitted(&root, latest, round, &requests::sign(&address, &format!("{round}")), SIGN).await;
        let in_child = |voter: usize| Caller::new(daemon.http(), &organization, voters[voter].clone());
        let proposal = requests::sign(&child_address, &format!("{round}"));
        let Some(proposal) = submitted(&in_child(0), latest, round, &proposal, SIGN).await else { continue };
        let vote = json!({ "fingerprint": proposal["fingerprint"] });
        let approve = "ACTIVITY_TYPE_APPROVE_ACTIVITY";
        // A jump between the votes.
        let step = JUMPS[choices.below(JUMPS.len())] / 24;
        let second = submitted(&in_child(1), latest, round, &vote, approve).await;
        layer.shift_clock(shift + step);
        latest = latest.max(shift + step);
        let third = submitted(&in_child(2), latest, round, &vote, approve).await;
        layer.shift_clock(shift);
        let now = in_child(0).activity(&proposal["id"]).await;
        let keys: Vec<&Value> =
            now["votes"].as_array().expect("votes").iter().map(|vote| &vote["publicKey"]).collect();
        let cast = [Some(0), second.map(|_| 1), third.map(|_| 2)];
        let expected: Vec<&str> =
            cast.into_iter().flatten().map(|voter| voters[voter].public_key()).collect();
        assert_eq!(keys.len(), expected.len(), "votes are missing: {now:#}");
        assert!(
            keys.iter().zip(&expected).all(|(key, expected)| *key == expected),
            "votes in another order: {now:#}"
        );
        cast_votes += expected.len();
    }
    let jumps = scenario.rounds();
    let expired = expired.len();
    scenario.close(format!(
        "{jumps} jumps, {jumps_back} of them backwards; {expired} expired keys stayed rejected, {cast_votes} votes kept their order"
    ));
}
