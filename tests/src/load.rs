//! Writers that keep a daemon busy until it is gone, and the examination of what is left afterwards.
//!
//! Each request is noted before it is sent and its answer after it came, so that three kinds can be told
//! apart: acknowledged, in flight when the daemon went, never sent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::caller::{Caller, submit_path};
use crate::daemon::Daemon;
use crate::keys::Key;
use crate::requests::{self, SIGN};

/// How many activities of bounded number (private keys) are made per round.
const KEYS_PER_ROUND: usize = 8;

/// How many writers sign at once over each door.
const SIGNERS: usize = 3;

/// A request of a writer.
struct Sent {
    /// Whether it acts on the sub-organization.
    in_child: bool,
    /// Index of the key that stamped it.
    voter: usize,
    path: String,
    body: Vec<u8>,
    /// The activity answered, once acknowledged.
    answer: Option<Value>,
}

impl Sent {
    fn fingerprint(&self) -> String {
        format!("sha256:{}", const_hex::encode(Sha256::digest(&self.body)))
    }

    fn is_vote(&self) -> bool {
        self.path == submit_path("ACTIVITY_TYPE_APPROVE_ACTIVITY")
    }
}

/// The writers' work: one organization decided by one, and one below it decided by two.
pub struct Load {
    address: String,
    wallet: String,
    child: String,
    child_keys: [Key; 2],
    child_address: String,
    sent: Arc<Mutex<Vec<Sent>>>,
    /// How many of `sent` earlier rounds have examined.
    examined: usize,
    round: usize,
}

impl Load {
    /// Makes what the writers need. The daemon must let one root user decide alone.
    pub async fn prepare(daemon: &Daemon) -> Self {
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
        }
    }

    /// How many requests were acknowledged so far.
    pub fn acknowledged(&self) -> usize {
        let sent = self.sent.lock().expect("no holder panicked");
        sent.iter().filter(|sent| sent.answer.is_some()).count()
    }

    /// Starts the writers of a round. They end when their connection does.
    pub fn start(&mut self, daemon: &Daemon) -> Running {
        self.round += 1;
        let acknowledged = Arc::new(Semaphore::new(0));
        let root = daemon.root(0);
        let over_socket = Caller::new(daemon.socket(), root.organization(), root.key().clone());
        let writer = |caller: Caller, voter| Writer {
            caller,
            voter,
            in_child: false,
            sent: Arc::clone(&self.sent),
            acknowledged: Arc::clone(&acknowledged),
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
        tasks.spawn(make_keys(writer(root.clone(), 0), self.round, self.address.clone()));
        tasks.spawn(make_accounts(writer(root, 0), self.wallet.clone(), self.round));
        tasks.spawn(agree(in_child(0), in_child(1), self.child_address.clone()));
        Running { tasks, acknowledged }
    }

    /// Asserts that everything acknowledged is there, that nothing was done twice, and that each request of
    /// the last round, sent once more, changes nothing but gets its answer.
    pub async fn examine(&mut self, daemon: &Daemon) {
        let mut sent = std::mem::take(&mut *self.sent.lock().expect("no holder panicked"));
        self.acknowledged_are_there(daemon, &sent).await;
        for request in sent.iter_mut().skip(self.examined) {
            self.replay(daemon, request).await;
        }
        self.acknowledged_are_there(daemon, &sent).await;
        self.effects_are_single(daemon, &sent).await;
        self.examined = sent.len();
        *self.sent.lock().expect("no holder panicked") = sent;
    }

    fn caller(&self, daemon: &Daemon, request: &Sent) -> Caller {
        if request.in_child {
            Caller::new(daemon.http(), &self.child, self.child_keys[request.voter].clone())
        } else {
            daemon.root(request.voter)
        }
    }

    async fn acknowledged_are_there(&self, daemon: &Daemon, sent: &[Sent]) {
        let root = daemon.root(0);
        let mut found: HashMap<String, Value> = HashMap::new();
        for organization in [root.clone(), root.on(&self.child)] {
            for activity in organization.activities().await {
                let fingerprint = activity["fingerprint"].as_str().expect("a fingerprint").to_owned();
                let before = found.insert(fingerprint, activity);
                assert!(before.is_none(), "two activities of one body: {before:#?}");
            }
        }
        for (request, answer) in sent.iter().filter_map(|sent| Some((sent, sent.answer.as_ref()?))) {
            let body = String::from_utf8_lossy(&request.body);
            let stored = found
                .get(&request.fingerprint())
                .unwrap_or_else(|| panic!("acknowledged, then lost: {body}"));
            if request.is_vote() {
                assert_eq!(
                    stored["status"], "ACTIVITY_STATUS_COMPLETED",
                    "an acknowledged vote is undone: {body}"
                );
            } else {
                agrees(answer, stored);
            }
        }
    }

    async fn replay(&self, daemon: &Daemon, request: &mut Sent) {
        let activity = self.caller(daemon, request).send(&request.path, &request.body).await.activity();
        match &request.answer {
            Some(answer) => agrees(answer, &activity),
            None => request.answer = Some(activity),
        }
    }

    async fn effects_are_single(&self, daemon: &Daemon, sent: &[Sent]) {
        let root = daemon.root(0);
        let keys = root.ask("list_private_keys", json!({})).await;
        let names = |list: &Value, member: &str| -> Vec<String> {
            let mut names: Vec<String> =
                list.as_array().expect("a list").iter().map(|item| item[member].to_string()).collect();
            names.sort();
            names
        };
        let mut expected: Vec<String> = sent
            .iter()
            .filter(|sent| {
                sent.path == submit_path("ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2") && sent.answer.is_some()
            })
            .map(|sent| parameters(&sent.body)["privateKeys"][0]["privateKeyName"].to_string())
            .collect();
        expected.sort();
        assert_eq!(names(&keys["privateKeys"], "privateKeyName"), expected, "each private key is made once");

        let accounts = root.ask("list_wallet_accounts", json!({ "walletId": self.wallet })).await;
        let mut expected: Vec<String> = sent
            .iter()
            .filter(|sent| {
                sent.path == submit_path("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS") && sent.answer.is_some()
            })
            .map(|sent| parameters(&sent.body)["accounts"][0]["path"].to_string())
            .chain([requests::account(0)["path"].to_string()])
            .collect();
        expected.sort();
        assert_eq!(names(&accounts["accounts"], "path"), expected, "each account is made once");
    }
}

fn parameters(body: &[u8]) -> Value {
    serde_json::from_slice::<Value>(body).expect("a body of ours")["parameters"].clone()
}

/// What was acknowledged may have moved on from waiting to completed, and otherwise stays as it was.
fn agrees(answer: &Value, now: &Value) {
    assert_eq!(answer["id"], now["id"], "one body, two activities: {answer:#} {now:#}");
    if answer["status"] == "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
        let known = ["ACTIVITY_STATUS_CONSENSUS_NEEDED", "ACTIVITY_STATUS_COMPLETED"];
        assert!(known.iter().any(|status| now["status"] == *status), "a waiting activity became {now:#}");
    } else {
        assert_eq!(answer["status"], now["status"], "a terminal activity moved: {answer:#} {now:#}");
        assert_eq!(answer["result"], now["result"], "a result changed: {answer:#} {now:#}");
    }
}

/// Writers at work.
pub struct Running {
    tasks: JoinSet<()>,
    acknowledged: Arc<Semaphore>,
}

impl Running {
    /// Waits until so many requests were acknowledged.
    pub async fn until_acknowledged(&mut self, count: u32) {
        let acknowledged = self.acknowledged.acquire_many(count);
        tokio::select! {
            permits = acknowledged => permits.expect("the semaphore stays open").forget(),
            ended = self.tasks.join_next() => panic!("a writer ended although the daemon is alive: {ended:?}"),
        }
    }

    /// Waits for the writers, whose daemon is gone.
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
}

impl Writer {
    /// Sends and notes a request; nothing when no answer came.
    async fn submit(&self, activity_type: &str, parameters: &Value) -> Option<Value> {
        let path = submit_path(activity_type);
        let body = self.caller.proposal(activity_type, parameters);
        let place = {
            let mut sent = self.sent.lock().expect("no holder panicked");
            let (in_child, voter) = (self.in_child, self.voter);
            sent.push(Sent { in_child, voter, path: path.clone(), body: body.clone(), answer: None });
            sent.len() - 1
        };
        let activity = self.caller.try_send(&path, &body).await.ok()?.activity();
        self.sent.lock().expect("no holder panicked")[place].answer = Some(activity.clone());
        self.acknowledged.add_permits(1);
        Some(activity)
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

/// The number of private keys is limited, hence the signing afterwards.
async fn make_keys(writer: Writer, round: usize, address: String) {
    for count in 0..KEYS_PER_ROUND {
        let key = json!({
            "privateKeyName": format!("load {round} {count}"),
            "curve": "CURVE_P256",
            "privateKeyTags": [],
            "addressFormats": [],
        });
        if writer
            .submit("ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", &json!({ "privateKeys": [key] }))
            .await
            .is_none()
        {
            return;
        }
    }
    sign(writer, address).await;
}

async fn make_accounts(writer: Writer, wallet: String, round: usize) {
    for count in 1.. {
        let mut account = requests::account(count);
        account["path"] = json!(format!("m/44'/60'/{round}'/0/{count}"));
        let parameters = json!({ "walletId": wallet, "accounts": [account] });
        if writer.submit("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", &parameters).await.is_none() {
            return;
        }
    }
}

async fn agree(proposer: Writer, voter: Writer, address: String) {
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
        assert_eq!(target["status"], "ACTIVITY_STATUS_COMPLETED", "two of two did not suffice: {target:#}");
    }
}
