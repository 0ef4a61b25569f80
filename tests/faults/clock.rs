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
/// Jumps from the newest time that was shown so far, in milliseconds.
const JUMPS: [i64; 8] = [HOUR, -HOUR, 24 * HOUR, -24 * HOUR, -1000, -60_000, 1000, -10 * 60_000];

/// The time of day, moved by so many milliseconds.
fn shifted(shift: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_millis();
    (i64::try_from(now).expect("milliseconds fit") + shift).to_string()
}

/// Submits a body that bears the daemon's time. Nothing if it is refused for its time.
async fn submitted(
    caller: &Caller,
    shift: i64,
    number: usize,
    parameters: &Value,
    kind: &str,
) -> Option<Value> {
    // Bodies are told apart by their parameters.
    let body = caller.proposal_at(&shifted(shift), kind, parameters);
    let reply = caller.send(&submit_path(kind), &body).await;
    assert!(reply.status < 500, "step {number}: a jump is no failure{reply}");
    (reply.status == 200).then(|| reply.activity())
}

/// Checks that the daemon is ready, unless its clock is so far behind that requests would be too old.
async fn check_readiness(caller: &Caller, behind: i64) {
    let ready = caller.call(Method::GET, "/readyz", &[], b"").await;
    let expected = if behind > 2 * HOUR { 503 } else { 200 };
    // At one hour, milliseconds decide.
    if behind != HOUR {
        assert_eq!(ready.status, expected, "{behind} ms behind{ready}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f10_the_clock_jumps() {
    let mut scenario = Scenario::begin("f10 clock jumps", 24, 500);
    let layer = Layer::new();
    let folder = tempfile::tempdir().expect("a folder");
    let mut daemon = daemon_under(&scenario, &layer, folder.path()).await;
    let root = daemon.root(0);
    let address = requests::make_wallet(&root, "clock").await;
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
    // The daemon's time never runs backwards, so its bodies bear the newest one.
    let (mut newest, mut expired, mut cast_votes) = (0, Vec::<(usize, Key)>::new(), 0);
    let mut back = 0;
    for round in 0..scenario.rounds() {
        let mut choices = scenario.choices(round);
        let jump = JUMPS[choices.below(JUMPS.len())];
        // A lease that ends within the next hours.
        let key = Key::named(&format!("lease {round}"));
        let mut lease = requests::api_key(&format!("lease {round}"), &key);
        lease["expirationSeconds"] = json!("120");
        let root = daemon.root(0);
        let parameters = requests::api_keys(daemon.root_id(0), &[lease]);
        let leased = submitted(&root, newest, round, &parameters, CREATE_API_KEYS).await.is_some();
        scenario.step(format!("jump {round} by {jump} ms from {newest} ms"));
        let shift = newest + jump;
        newest = newest.max(shift);
        back += usize::from(jump < 0);
        layer.shift_clock(shift);
        if choices.one_in(8) {
            daemon.restart().await;
        }
        let root = daemon.root(0);
        check_readiness(&root, newest - shift).await;
        let refused = |reply: &quorate_tests::http::Reply| reply.status >= 400;
        if leased && refused(&root.with_key(&key).query("whoami", json!({})).await) {
            expired.push((round, key));
        }
        for (number, key) in expired.iter().rev().take(20) {
            let reply = root.with_key(key).query("whoami", json!({})).await;
            assert!(refused(&reply), "the key of step {number} was refused once and is accepted now{reply}");
        }
        submitted(&root, newest, round, &requests::sign(&address, &format!("{round}")), SIGN).await;
        let in_child = |voter: usize| Caller::new(daemon.http(), &organization, voters[voter].clone());
        let proposal = requests::sign(&child_address, &format!("{round}"));
        let Some(proposal) = submitted(&in_child(0), newest, round, &proposal, SIGN).await else { continue };
        let vote = json!({ "fingerprint": proposal["fingerprint"] });
        let approve = "ACTIVITY_TYPE_APPROVE_ACTIVITY";
        // A jump between the votes.
        let step = JUMPS[choices.below(JUMPS.len())] / 24;
        let second = submitted(&in_child(1), newest, round, &vote, approve).await;
        layer.shift_clock(shift + step);
        newest = newest.max(shift + step);
        let third = submitted(&in_child(2), newest, round, &vote, approve).await;
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
        "{jumps} jumps, {back} of them back; {expired} expired keys stayed refused, {cast_votes} votes in their order"
    ));
}
