//! Creates organizations, API keys and wallets through the API.

use std::path::Path;

use quorate_common::stamp;
use quorate_common::stamp::ApiKeyCurve;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{self, Connection};
use crate::requests::{self, Stamper, now_millis, random};
use crate::targets::{Target, Targets};

/// The required part of a dev daemon's credentials file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credentials {
    base_url: String,
    organization_id: String,
    root_users: Vec<RootUser>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RootUser {
    public_key: String,
    private_key: String,
}

/// Numbers of organizations and keys.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Number of sub-organizations. With zero the organization itself signs.
    pub organizations: usize,
    /// Number of API keys of each, and of signing accounts.
    pub keys: usize,
}

/// Provisions a dev daemon whose first root user can decide alone.
pub fn provision(credentials: &Path, wanted: Wanted) -> Targets {
    let text =
        std::fs::read(credentials).unwrap_or_else(|error| panic!("{}: {error}", credentials.display()));
    let credentials: Credentials = serde_json::from_slice(&text).expect("a credentials file");
    client::block_on(async {
        let root = credentials.root_users.first().expect("there is a root user");
        let caller = Target {
            organization_id: credentials.organization_id.clone(),
            api_public_key: root.public_key.clone(),
            api_private_key: root.private_key.clone(),
            sign_with: String::new(),
        };
        let mut session = Session::open(&credentials.base_url, &caller).await;
        let mut targets = Vec::new();
        if wanted.organizations == 0 {
            targets = session.wallet(&caller, wanted.keys).await;
        }
        for number in 0..wanted.organizations {
            targets.extend(session.sub_organization(number, wanted.keys).await);
        }
        Targets { base_url: credentials.base_url, root: caller, targets }
    })
}

/// Numbers of resources that fill an organization.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Crowd {
    /// Private keys
    #[arg(long, default_value_t = 0)]
    pub private_keys: usize,
    /// Users
    #[arg(long, default_value_t = 0)]
    pub users: usize,
    /// Policies
    #[arg(long, default_value_t = 0)]
    pub policies: usize,
    /// Wallet accounts
    #[arg(long, default_value_t = 0)]
    pub accounts: usize,
}

/// Maximum length of a list in one request.
const BATCH: usize = 100;

/// Fills the organization of the first target.
pub fn crowd(targets: &Targets, wanted: Crowd) {
    let portions = |count: usize| (0..count).step_by(BATCH).map(move |from| from..(from + BATCH).min(count));
    client::block_on(async {
        let target = targets.targets.first().expect("there is a target");
        let mut session = Session::open(&targets.base_url, target).await;
        for numbers in portions(wanted.private_keys) {
            let key = |number| {
                json!({"privateKeyName": format!("key {number}"), "curve": "CURVE_SECP256K1",
                "privateKeyTags": [], "addressFormats": ["ADDRESS_FORMAT_ETHEREUM"]})
            };
            let keys = json!({"privateKeys": numbers.map(key).collect::<Vec<_>>()});
            session.result("create_private_keys", "_V2", keys).await;
        }
        for numbers in portions(wanted.users) {
            let user = |number| {
                json!({"userName": format!("user {number}"), "authenticators": [], "oauthProviders": [],
                "userTags": [], "apiKeys": [{"apiKeyName": "key", "publicKey": key_pair().1, "curveType": "API_KEY_CURVE_P256"}]})
            };
            let users = json!({"users": numbers.map(user).collect::<Vec<_>>()});
            session.result("create_users", "_V3", users).await;
        }
        for numbers in portions(wanted.policies) {
            let policy = |number| {
                json!({"policyName": format!("policy {number}"), "effect": "EFFECT_DENY", "notes": "",
                "condition": format!("activity.action == 'SIGN' && wallet.label == 'wallet {number}'")})
            };
            let policies = json!({"policies": numbers.map(policy).collect::<Vec<_>>()});
            session.result("create_policies", "", policies).await;
        }
        if wanted.accounts > 0 {
            let created = session.result("create_wallet", "", wallet("crowd", 1)).await;
            for numbers in portions(wanted.accounts) {
                let accounts: Vec<Value> = numbers.map(|number| account(number + 1)).collect();
                let more = json!({"walletId": created["walletId"], "accounts": accounts});
                session.result("create_wallet_accounts", "", more).await;
            }
        }
    });
}

/// A connection of one caller.
pub(crate) struct Session {
    connection: Connection,
    host: String,
    stamper: Stamper,
}

impl Session {
    /// Connects to the server.
    pub(crate) async fn open(base_url: &str, caller: &Target) -> Self {
        let host = client::host(base_url);
        let connection = Connection::open(&host).await.expect("the daemon accepts connections");
        Self { connection, host, stamper: Stamper::new(caller) }
    }

    /// Submits an activity and returns its result.
    pub(crate) async fn result(&mut self, operation: &str, version: &str, parameters: Value) -> Value {
        let body = json!({
            "type": format!("ACTIVITY_TYPE_{}{version}", operation.to_uppercase()),
            "timestampMs": now_millis().to_string(),
            "organizationId": self.stamper.target().organization_id,
            "parameters": parameters,
        });
        let body = body.to_string();
        let header = self.stamper.header(body.as_bytes());
        let path = format!("/public/v1/submit/{operation}");
        let request = requests::post(&self.host, &path, body, stamp::HEADER, &header);
        let (status, answer) = self.connection.call(request).await.expect("the daemon answers");
        let text = String::from_utf8_lossy(&answer);
        assert!(status.is_success(), "{operation}: HTTP {status}: {text}");
        let mut value: Value = serde_json::from_slice(&answer).expect("the answer is JSON");
        assert_eq!(value["activity"]["status"], "ACTIVITY_STATUS_COMPLETED", "{operation}: {text}");
        let results = value["activity"]["result"].as_object_mut().expect("there is a result");
        results.values_mut().next().expect("a result has one member").take()
    }

    /// Sends a query without parameters and returns the answer.
    pub(crate) async fn query(&mut self, name: &str) -> Value {
        let body = json!({"organizationId": self.stamper.target().organization_id}).to_string();
        let header = self.stamper.header(body.as_bytes());
        let path = format!("/public/v1/query/{name}");
        let request = requests::post(&self.host, &path, body, stamp::HEADER, &header);
        let (status, answer) = self.connection.call(request).await.expect("the daemon answers");
        assert!(status.is_success(), "{name}: HTTP {status}: {}", String::from_utf8_lossy(&answer));
        serde_json::from_slice(&answer).expect("the answer is JSON")
    }

    /// Requests a one-time code and returns its id.
    pub(crate) async fn code(&mut self, parameters: Value) -> String {
        let sent = self.result("init_otp", "", parameters).await;
        sent["otpId"].as_str().expect("there is an id").to_owned()
    }

    /// Creates a wallet in the caller's organization and returns one target for each account.
    async fn wallet(&mut self, caller: &Target, accounts: usize) -> Vec<Target> {
        let name = format!("bench {}", const_hex::encode(&random()[..4]));
        let result = self.result("create_wallet", "", wallet(&name, accounts)).await;
        let target = |address| Target { sign_with: address, ..caller.clone() };
        addresses(&result["addresses"]).into_iter().map(target).collect()
    }

    /// Creates a sub-organization with its own root users, each with an API key and an account.
    async fn sub_organization(&mut self, number: usize, keys: usize) -> Vec<Target> {
        let name = format!("bench {number} {}", const_hex::encode(&random()[..4]));
        let pairs: Vec<(String, String)> = (0..keys).map(|_| key_pair()).collect();
        let users = pairs.iter().enumerate().map(|(index, (_, public))| {
            json!({
                "userName": format!("user {index}"),
                "apiKeys": [{ "apiKeyName": "bench", "publicKey": public, "curveType": "API_KEY_CURVE_P256" }],
                "authenticators": [],
                "oauthProviders": [],
            })
        });
        let parameters = json!({
            "subOrganizationName": name,
            "rootUsers": users.collect::<Vec<_>>(),
            "rootQuorumThreshold": 1,
            "wallet": wallet("bench", keys),
        });
        let result = self.result("create_sub_organization", "_V7", parameters).await;
        let organization = result["subOrganizationId"].as_str().expect("there is an id").to_owned();
        let addresses = addresses(&result["wallet"]["addresses"]);
        let target = |((private, public), sign_with)| Target {
            organization_id: organization.clone(),
            api_public_key: public,
            api_private_key: private,
            sign_with,
        };
        pairs.into_iter().zip(addresses).map(target).collect()
    }
}

fn account(index: usize) -> Value {
    json!({
        "curve": "CURVE_SECP256K1",
        "pathFormat": "PATH_FORMAT_BIP32",
        "path": format!("m/44'/60'/0'/0/{index}"),
        "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
    })
}

fn wallet(name: &str, accounts: usize) -> Value {
    json!({ "walletName": name, "accounts": (0..accounts).map(account).collect::<Vec<_>>() })
}

fn addresses(value: &Value) -> Vec<String> {
    let list = value.as_array().expect("addresses are a list");
    list.iter().map(|address| address.as_str().expect("an address is a text").to_owned()).collect()
}

/// Generates a P-256 key pair: private hex, public hex.
pub(crate) fn key_pair() -> (String, String) {
    loop {
        let secret = random();
        if let Ok(stamper) = stamp::Stamper::new(ApiKeyCurve::P256, &secret) {
            return (const_hex::encode(secret), stamper.public_key().to_owned());
        }
    }
}
