//! Writers that keep a daemon busy until it is gone, and the checks of its data afterwards.
//!
//! Each request is recorded before it is sent, and its answer after it arrived. This distinguishes three
//! cases: acknowledged, in flight when the daemon stopped, never sent.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::caller::{Caller, submit_path};
use crate::choices::Choices;
use crate::daemon::{Daemon, POLL_INTERVAL};
use crate::keys::Key;
use crate::requests::{self, SIGN};

/// Number of private keys created per round. The daemon limits their total.
const KEYS_PER_ROUND: usize = 8;

/// Number of concurrent signing writers per listener.
const SIGNERS: usize = 3;

const CREATE_KEYS: &str = "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2";
const CREATE_ACCOUNTS: &str = "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS";
const CREATE_TAG: &str = "ACTIVITY_TYPE_CREATE_USER_TAG";
const DELETE_TAGS: &str = "ACTIVITY_TYPE_DELETE_USER_TAGS";
const DELETE_WALLETS: &str = "ACTIVITY_TYPE_DELETE_WALLETS";
const INVITE: &str = "ACTIVITY_TYPE_CREATE_INVITATIONS";
const DELETE_INVITATION: &str = "ACTIVITY_TYPE_DELETE_INVITATION";
const SIGN_SEVERAL: &str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS";

/// Larger bodies, in bytes, are dropped once they were examined.
const LARGE: usize = 10_000;
/// Longest payload of one signature in a large body, in bytes.
const PAYLOAD: usize = 1_900_000;

/// Work of the writers in addition to signing, creating keys and accounts, and voting.
#[derive(Debug, Clone, Default)]
pub struct Mix {
    /// Sizes of large bodies in bytes, sent in turn without end.
    pub bodies: Vec<usize>,
    /// Whether tags and wallets are created and deleted.
    pub deletions: bool,
    /// Whether invitations are sent by mail.
    pub invitations: bool,
    /// Reaction of a writer to a store that accepts no writes.
    pub unavailable: Unavailable,
}

/// Reaction of a writer to status 503.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unavailable {
    /// Fails the test: the store must accept writes as long as the daemon runs.
    #[default]
    Fails,
    /// Sends the same body again until it is accepted.
    Repeats,
}

/// A request of a writer.
struct Sent {
    /// Whether it acts on the sub-organization.
    in_child: bool,
    /// Index of the key that stamped it.
    voter: usize,
    path: String,
    body: Vec<u8>,
    /// The activity of the answer, once acknowledged.
    answer: Option<Value>,
    fingerprint: String,
    /// Value of [`Load::clock`] when the answer arrived.
    acknowledged_at: u64,
}

impl Sent {
    /// Returns whether the request was acknowledged when the clock had this value.
    fn is_due(&self, clock: u64) -> bool {
        self.answer.is_some() && self.acknowledged_at <= clock
    }

    fn is_vote(&self) -> bool {
        self.path == submit_path("ACTIVITY_TYPE_APPROVE_ACTIVITY")
    }
}

/// State of the load: a top-level organization with threshold one and a sub-organization with threshold two.
pub struct Load {
    address: String,
    wallet: String,
    child: String,
    child_keys: [Key; 2],
    child_address: String,
    sent: Arc<Mutex<Vec<Sent>>>,
    /// Number of requests in `sent` that earlier rounds examined.
    examined: usize,
    round: usize,
    mix: Mix,
    clock: Arc<AtomicU64>,
}

impl Load {
    /// Creates what the writers need. One root user of the daemon must be able to decide alone.
    pub async fn prepare(daemon: &Daemon) -> Self {
        Self::prepare_mix(daemon, Mix::default()).await
    }

    /// Creates what writers with additional work need.
    pub async fn prepare_mix(daemon: &Daemon, mix: Mix) -> Self {
        let root = daemon.root(0);
        let wallet = root.result(requests::CREATE_WALLET, &requests::wallet("load")).await;
        let child_keys = [Key::named("load, child, first"), Key::named("load, child, second")];
        let root_users =
            [requests::root_user("first", &child_keys[0]), requests::root_user("second", &child_keys[1])];
        let mut parameters = requests::sub_organization("load, child", &root_users, 2);
        parameters["wallet"] = requests::wallet("load, child");
        let child = root.result(requests::CREATE_SUB_ORGANIZATION, &parameters).await;
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Self {
            address: text(&wallet["addresses"][0]),
            wallet: text(&wallet["walletId"]),
            child: text(&child["subOrganizationId"]),
            child_keys,
            child_address: text(&child["wallet"]["addresses"][0]),
            sent: Arc::default(),
            examined: 0,
            round: 0,
            mix,
            clock: Arc::default(),
        }
    }

    /// Returns a counter that the test advances. Each writer reads it when an answer arrives.
    pub fn clock(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.clock)
    }

    /// Returns the number of requests acknowledged so far.
    pub fn acknowledged(&self) -> usize {
        let sent = self.sent.lock().expect("no holder panicked");
        sent.iter().filter(|sent| sent.answer.is_some()).count()
    }

    /// Starts the writers of a round. They end when their connection closes.
    pub fn start(&mut self, daemon: &Daemon) -> Running {
        self.round += 1;
        let acknowledged = Arc::new(Semaphore::new(0));
        let large = Arc::new(Semaphore::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let root = daemon.root(0);
        let over_socket = Caller::new(daemon.socket(), root.organization(), root.key().clone());
        let writer = |caller: Caller, voter| Writer {
            caller,
            voter,
            in_child: false,
            sent: Arc::clone(&self.sent),
            acknowledged: Arc::clone(&acknowledged),
            stop: Arc::clone(&stop),
            clock: Arc::clone(&self.clock),
            unavailable: self.mix.unavailable,
        };
        let in_child = |voter: usize| {
            let caller = Caller::new(daemon.http(), &self.child, self.child_keys[voter].clone());
            Writer { in_child: true, ..writer(caller, voter) }
        };
        let mut tasks = JoinSet::new();
        for _ in 0..SIGNERS {
            tasks.spawn(sign(writer(root.clone(), 0), self.address.clone()));
            tasks.spawn(sign(writer(over_socket.clone(), 0), self.address.clone()));
        }
        tasks.spawn(create_keys(writer(root.clone(), 0), self.round, self.address.clone()));
        tasks.spawn(create_accounts(writer(root.clone(), 0), self.wallet.clone(), self.round));
        tasks.spawn(propose_and_approve(in_child(0), in_child(1), self.child_address.clone()));
        if !self.mix.bodies.is_empty() {
            let writer = Writer { acknowledged: Arc::clone(&large), ..writer(root.clone(), 0) };
            tasks.spawn(sign_large(writer, self.address.clone(), self.mix.bodies.clone()));
        }
        if self.mix.deletions {
            tasks.spawn(create_and_delete(writer(root.clone(), 0), self.round));
        }
        if self.mix.invitations {
            tasks.spawn(invite(writer(root, 0), daemon.root_id(0).to_owned(), self.round));
        }
        Running { tasks, acknowledged, large, stop }
    }

    /// Asserts that everything acknowledged is stored and that nothing was done twice. Sends each request of
    /// the last round again, which must change nothing and return the same answer.
    pub async fn examine(&mut self, daemon: &Daemon) {
        let mut sent = std::mem::take(&mut *self.sent.lock().expect("no holder panicked"));
        self.assert_acknowledged_stored(daemon, &sent).await;
        for request in sent.iter_mut().skip(self.examined) {
            let again = self.replay(daemon, request).await;
            request.answer.get_or_insert(again);
        }
        self.assert_acknowledged_stored(daemon, &sent).await;
        let done = |request| Done { request, activity: request.answer.clone().unwrap_or_default() };
        self.assert_effects_once(daemon, &sent.iter().map(done).collect::<Vec<_>>()).await;
        self.examined = sent.len();
        for request in sent.iter_mut().filter(|request| request.body.len() > LARGE) {
            request.body = Vec::new();
        }
        *self.sent.lock().expect("no holder panicked") = sent;
    }

    /// Asserts the same for a daemon on a copy of its data, taken at a value of the clock. What was
    /// acknowledged later may be missing there. Returns the number of requests that had to be present.
    pub async fn examine_copy(&self, daemon: &Daemon, clock: u64) -> usize {
        let sent = std::mem::take(&mut *self.sent.lock().expect("no holder panicked"));
        let mut done = Vec::with_capacity(sent.len());
        for request in sent.iter().filter(|request| request.is_due(clock)) {
            let activity = self.replay(daemon, request).await;
            done.push(Done { request, activity });
        }
        for request in sent.iter().filter(|request| !request.is_due(clock)) {
            let reply = self.caller(daemon, request).send(&request.path, &request.body).await;
            // It may refer to something that was created after this copy.
            assert!(
                matches!(reply.status, 200 | 404),
                "neither done nor rejected because of a missing record{reply}"
            );
            if reply.status == 200 {
                done.push(Done { request, activity: reply.activity() });
            }
        }
        self.assert_effects_once(daemon, &done).await;
        let due = sent.iter().filter(|request| request.is_due(clock)).count();
        *self.sent.lock().expect("no holder panicked") = sent;
        due
    }

    fn caller(&self, daemon: &Daemon, request: &Sent) -> Caller {
        if request.in_child {
            Caller::new(daemon.http(), &self.child, self.child_keys[request.voter].clone())
        } else {
            daemon.root(request.voter)
        }
    }

    async fn assert_acknowledged_stored(&self, daemon: &Daemon, sent: &[Sent]) {
        let root = daemon.root(0);
        let mut stored: HashMap<String, Value> = HashMap::new();
        for organization in [root.clone(), root.on(&self.child)] {
            // Pages stay short when bodies are large.
            let page = if self.mix.bodies.is_empty() { 100 } else { 10 };
            for activity in organization.activities_by(page).await {
                let fingerprint = activity["fingerprint"].as_str().expect("a fingerprint").to_owned();
                let before = stored.insert(fingerprint, activity);
                assert!(before.is_none(), "two activities of one body: {before:#?}");
            }
        }
        for (request, answer) in sent.iter().filter_map(|sent| Some((sent, sent.answer.as_ref()?))) {
            let body = String::from_utf8_lossy(&request.body);
            let current =
                stored.get(&request.fingerprint).unwrap_or_else(|| panic!("acknowledged, then lost: {body}"));
            if request.is_vote() {
                assert_eq!(
                    current["status"], "ACTIVITY_STATUS_COMPLETED",
                    "an acknowledged vote is undone: {body}"
                );
            } else {
                assert_consistent(answer, current);
            }
        }
    }

    /// Sends a request again. The answer must equal the earlier one, if there was one.
    async fn replay(&self, daemon: &Daemon, request: &Sent) -> Value {
        let activity = self.caller(daemon, request).send(&request.path, &request.body).await.activity();
        if let Some(answer) = &request.answer {
            assert_consistent(answer, &activity);
        }
        activity
    }

    /// Asserts that everything that these requests created exists exactly once, and nothing else exists.
    async fn assert_effects_once(&self, daemon: &Daemon, done: &[Done<'_>]) {
        let root = daemon.root(0);
        let listed = async |query: &str, members: Value, list: &str, member: &str| {
            let answer = root.fetch(query, members).await;
            let items = answer[list].as_array().expect("a list").iter();
            let mut names: Vec<String> = items.map(|item| item[member].to_string()).collect();
            names.sort();
            names
        };
        let created_by = |activity_type: &str, name: fn(&Value) -> &Value| {
            let path = submit_path(activity_type);
            let of_type = done.iter().filter(move |done| done.request.path == path);
            of_type.map(move |done| {
                (name(&parameters(&done.request.body)).to_string(), &done.activity["result"])
            })
        };
        let sorted = |names: &mut dyn Iterator<Item = String>| {
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        };
        let keys = listed("list_private_keys", json!({}), "privateKeys", "privateKeyName").await;
        let expected = created_by(CREATE_KEYS, |parameters| &parameters["privateKeys"][0]["privateKeyName"]);
        assert_eq!(keys, sorted(&mut expected.map(|(name, _)| name)), "each private key is created once");

        let wallet = json!({ "walletId": self.wallet });
        let accounts = listed("list_wallet_accounts", wallet, "accounts", "path").await;
        let first = requests::account(0)["path"].to_string();
        let expected = created_by(CREATE_ACCOUNTS, |parameters| &parameters["accounts"][0]["path"]);
        let expected = sorted(&mut expected.map(|(name, _)| name).chain([first]));
        assert_eq!(accounts, expected, "each account is created once");

        let tags = listed("list_user_tags", json!({}), "userTags", "tagName").await;
        let deleted: HashSet<String> =
            created_by(DELETE_TAGS, |parameters| &parameters["userTagIds"][0]).map(|(id, _)| id).collect();
        let expected = created_by(CREATE_TAG, |parameters| &parameters["userTagName"]);
        let kept = expected
            .filter(|(_, result)| !deleted.contains(&result["createUserTagResult"]["userTagId"].to_string()));
        let expected = sorted(&mut kept.map(|(name, _)| name));
        assert_eq!(tags, expected, "each tag is created once, and stays deleted");
    }
}

/// An accepted request and its activity in the daemon that is examined.
struct Done<'a> {
    request: &'a Sent,
    activity: Value,
}

/// Returns the members of an activity that are compared later.
fn trimmed(activity: &Value) -> Value {
    let members = ["id", "status", "result", "fingerprint"];
    members.iter().map(|member| ((*member).to_owned(), activity[member].clone())).collect()
}

fn parameters(body: &[u8]) -> Value {
    serde_json::from_slice::<Value>(body).expect("a body of this test")["parameters"].clone()
}

/// Asserts that an acknowledged activity is unchanged, except that it may have completed.
fn assert_consistent(answer: &Value, now: &Value) {
    assert_eq!(answer["id"], now["id"], "one body, two activities: {answer:#} {now:#}");
    if answer["status"] == "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
        let known = ["ACTIVITY_STATUS_CONSENSUS_NEEDED", "ACTIVITY_STATUS_COMPLETED"];
        assert!(known.iter().any(|status| now["status"] == *status), "a waiting activity became {now:#}");
    } else {
        assert_eq!(answer["status"], now["status"], "a terminal activity moved: {answer:#} {now:#}");
        assert_eq!(answer["result"], now["result"], "a result changed: {answer:#} {now:#}");
    }
}

/// Running writers.
pub struct Running {
    tasks: JoinSet<()>,
    acknowledged: Arc<Semaphore>,
    /// Counts large bodies, which `acknowledged` does not count.
    large: Arc<Semaphore>,
    stop: Arc<AtomicBool>,
}

impl Running {
    /// Waits until this many requests were acknowledged.
    pub async fn until_acknowledged(&mut self, count: u32) {
        let acknowledged = Arc::clone(&self.acknowledged);
        self.until(&acknowledged, count).await;
    }

    /// Waits until this many large bodies were acknowledged.
    pub async fn until_large_acknowledged(&mut self, count: u32) {
        let large = Arc::clone(&self.large);
        self.until(&large, count).await;
    }

    async fn until(&mut self, acknowledged: &Semaphore, count: u32) {
        let acknowledged = acknowledged.acquire_many(count);
        tokio::select! {
            permits = acknowledged => permits.expect("the semaphore stays open").forget(),
            ended = self.tasks.join_next() => {
                ended.expect("a writer works").expect("a writer got a wrong answer");
                panic!("a writer ended although the daemon is alive");
            }
        }
    }

    /// Stops each writer after the answer that it waits for.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the next acknowledged request, for at most `patience`.
    pub async fn until_next_acknowledged(&mut self, patience: Duration) {
        let before = self.acknowledged.available_permits();
        let deadline = Instant::now() + patience;
        while self.acknowledged.available_permits() <= before {
            assert!(Instant::now() < deadline, "no request is acknowledged within {patience:?}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits for the writers to end, after the daemon is gone or they were stopped.
    pub async fn join(mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            ended.expect("a writer got a wrong answer");
        }
    }
}

struct Writer {
    caller: Caller,
    voter: usize,
    in_child: bool,
    sent: Arc<Mutex<Vec<Sent>>>,
    acknowledged: Arc<Semaphore>,
    stop: Arc<AtomicBool>,
    clock: Arc<AtomicU64>,
    unavailable: Unavailable,
}

impl Writer {
    /// Sends and records a request. Returns `None` if no answer arrived or the writer must stop.
    async fn submit(&self, activity_type: &str, parameters: &Value) -> Option<Value> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let path = submit_path(activity_type);
        let body = self.caller.proposal(activity_type, parameters);
        let index = {
            let mut sent = self.sent.lock().expect("no holder panicked");
            let (in_child, voter) = (self.in_child, self.voter);
            sent.push(Sent {
                in_child,
                voter,
                path: path.clone(),
                body: body.clone(),
                answer: None,
                fingerprint: format!("sha256:{}", const_hex::encode(Sha256::digest(&body))),
                acknowledged_at: 0,
            });
            sent.len() - 1
        };
        let activity = self.answer(&path, &body).await?;
        let acknowledged_at = self.clock.load(Ordering::SeqCst);
        {
            let mut sent = self.sent.lock().expect("no holder panicked");
            sent[index].answer = Some(activity.clone());
            sent[index].acknowledged_at = acknowledged_at;
        }
        self.acknowledged.add_permits(1);
        Some(activity)
    }

    /// Returns the activity of the answer. If the store accepts no writes, waits or fails according to
    /// `unavailable`.
    async fn answer(&self, path: &str, body: &[u8]) -> Option<Value> {
        loop {
            let reply = self.caller.try_send(path, body).await.ok()?;
            match self.unavailable {
                Unavailable::Repeats if reply.status == 503 => {
                    if self.stop.load(Ordering::Relaxed) {
                        return None;
                    }
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
                _ => return Some(trimmed(&reply.activity())),
            }
        }
    }
}

async fn sign(writer: Writer, address: String) {
    for count in 0.. {
        let parameters = requests::sign(&address, &format!("load {count}"));
        if writer.submit(SIGN, &parameters).await.is_none() {
            return;
        }
    }
}

/// Creates private keys and signs afterwards, because the number of private keys is limited.
async fn create_keys(writer: Writer, round: usize, address: String) {
    for count in 0..KEYS_PER_ROUND {
        let key = json!({
            "privateKeyName": format!("load {round} {count}"),
            "curve": "CURVE_P256",
            "privateKeyTags": [],
            "addressFormats": [],
        });
        if writer.submit(CREATE_KEYS, &json!({ "privateKeys": [key] })).await.is_none() {
            return;
        }
    }
    sign(writer, address).await;
}

async fn create_accounts(writer: Writer, wallet: String, round: usize) {
    for count in 1.. {
        let mut account = requests::account(count);
        account["path"] = json!(format!("m/44'/60'/{round}'/0/{count}"));
        let parameters = json!({ "walletId": wallet, "accounts": [account] });
        if writer.submit(CREATE_ACCOUNTS, &parameters).await.is_none() {
            return;
        }
    }
}

async fn sign_large(writer: Writer, address: String, sizes: Vec<usize>) {
    for (count, size) in sizes.into_iter().cycle().enumerate() {
        let payloads: Vec<String> = (0..size.div_ceil(PAYLOAD))
            .map(|part| text(size.saturating_sub(part * PAYLOAD).min(PAYLOAD), count))
            .collect();
        let parameters = json!({
            "signWith": address,
            "payloads": payloads,
            "encoding": "PAYLOAD_ENCODING_TEXT_UTF8",
            "hashFunction": "HASH_FUNCTION_SHA256",
        });
        if writer.submit(SIGN_SEVERAL, &parameters).await.is_none() {
            return;
        }
    }
}

/// Returns an incompressible text of this length.
fn text(length: usize, seed: usize) -> String {
    let mut choices = Choices::of_seed(u64::try_from(seed).expect("a small number"));
    (0..length).map(|_| char::from(b'a' + u8::try_from(choices.below(26)).expect("a letter"))).collect()
}

/// Creates tags and wallets and deletes them again, except for the first tag of every fourth round.
async fn create_and_delete(writer: Writer, round: usize) {
    for count in 0.. {
        let parameters = json!({ "userTagName": format!("load {round} {count}"), "userIds": [] });
        let Some(tag) = writer.submit(CREATE_TAG, &parameters).await else { return };
        // Only a few are kept, because their number is limited.
        if count > 0 || !round.is_multiple_of(4) {
            let parameters = json!({ "userTagIds": [tag["result"]["createUserTagResult"]["userTagId"]] });
            if writer.submit(DELETE_TAGS, &parameters).await.is_none() {
                return;
            }
        }
        let name = format!("load {round} {count}");
        let Some(wallet) = writer.submit(requests::CREATE_WALLET, &requests::wallet(&name)).await else {
            return;
        };
        let wallet = &wallet["result"]["createWalletResult"]["walletId"];
        let parameters = json!({ "walletIds": [wallet], "deleteWithoutExport": true });
        if writer.submit(DELETE_WALLETS, &parameters).await.is_none() {
            return;
        }
    }
}

async fn invite(writer: Writer, sender: String, round: usize) {
    for count in 0.. {
        let invitation = json!({
            "receiverUserName": format!("guest {round} {count}"),
            "receiverUserEmail": format!("guest-{round}-{count}@example.org"),
            "receiverUserTags": [],
            "accessType": "ACCESS_TYPE_WEB",
            "senderUserId": sender,
        });
        let invited = writer.submit(INVITE, &json!({ "invitations": [invitation] })).await;
        let Some(invited) = invited else { return };
        // Their number is limited.
        let id = &invited["result"]["createInvitationsResult"]["invitationIds"][0];
        if writer.submit(DELETE_INVITATION, &json!({ "invitationId": id })).await.is_none() {
            return;
        }
    }
}

async fn propose_and_approve(proposer: Writer, voter: Writer, address: String) {
    for count in 0.. {
        let Some(proposal) = proposer.submit(SIGN, &requests::sign(&address, &format!("load {count}"))).await
        else {
            return;
        };
        assert_eq!(
            proposal["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED",
            "one of two decided alone: {proposal:#}"
        );
        let vote = json!({ "fingerprint": proposal["fingerprint"] });
        let Some(target) = voter.submit("ACTIVITY_TYPE_APPROVE_ACTIVITY", &vote).await else {
            return;
        };
        assert_eq!(target["id"], proposal["id"], "approved another activity: {target:#}");
        assert_eq!(
            target["status"], "ACTIVITY_STATUS_COMPLETED",
            "two approvals of two did not suffice: {target:#}"
        );
    }
}
