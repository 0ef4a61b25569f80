//! MFA policies: which of them apply, what proves their steps, and what waits for it.

mod changes;
mod codes;
mod consensus;
mod requests;
mod selection;
mod steps;
mod tokens;

use quorate_common::api_error::ApiError;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::UserId;
use quorate_core::operator;
use serde_json::{Value, json};

use crate::changes::{each, query_as_root};
use crate::fixture::{AuthMethod, Fixture, NOW, Person, public_key};
use crate::samples;

const APPROVE: &str = "ACTIVITY_TYPE_APPROVE_ACTIVITY";
const REJECT: &str = "ACTIVITY_TYPE_REJECT_ACTIVITY";
const CREATE: &str = "ACTIVITY_TYPE_CREATE_MFA_POLICY";
const NEEDED: &str = "AUTHENTICATORS_NEEDED";
const WAITS: &str = "CONSENSUS_NEEDED";
const COMPLETED: &str = "COMPLETED";

/// An organization in which the first root user has two API keys and a passkey, and any root user decides alone.
struct Scene {
    fixture: Fixture,
    /// The first root user, by their first API key.
    owner: Person,
    /// The same user, by their second API key.
    second_key: Person,
    /// The same user, by their passkey.
    passkey: Person,
    /// The other root user, who administers the MFA policies.
    admin: Person,
}

/// A proposed activity.
struct Proposed {
    id: Value,
    body: Vec<u8>,
    status: String,
}

impl Scene {
    fn new(threshold: u32) -> Self {
        let mut fixture = Fixture::new(threshold);
        let [owner, admin] = fixture.roots.clone();
        let passkey = json!({"userId": owner.user, "authenticators": [samples::authenticator("owner")]});
        fixture.execute("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey);
        let keys = json!({"userId": owner.user, "apiKeys": [samples::key_v2(50)]});
        fixture.execute("ACTIVITY_TYPE_CREATE_API_KEYS_V2", &keys);
        let user = fixture.memory.stored(fixture.id).user(owner.user).expect("the user exists").clone();
        let owner = Person {
            keys: user.api_keys.iter().map(|key| key.id).collect(),
            authenticator: user.authenticators.first().map(|one| one.id),
            ..owner
        };
        Self {
            second_key: Person { number: 50, ..owner.clone() },
            passkey: Person { auth: AuthMethod::Passkey("owner"), ..owner.clone() },
            owner,
            admin,
            fixture,
        }
    }

    /// Returns the parameters of an MFA policy of a user: each step is a list of methods, separated by `|`.
    fn policy(&self, of: &Person, order: u32, condition: &str, steps: &[&str]) -> Value {
        let steps: Vec<Value> = steps.iter().map(|step| self.step(step)).collect();
        json!({"userId": of.user, "mfaPolicyName": format!("policy {order}"), "condition": condition,
            "requiredAuthenticationMethods": steps, "order": order})
    }

    fn step(&self, step: &str) -> Value {
        let method = |name: &str| match name {
            "API_KEY 1" => named("API_KEY", &self.owner.keys[0]),
            "API_KEY 2" => named("API_KEY", &self.owner.keys[1]),
            "SESSION default" => named("SESSION", &"00000000-0000-0000-0000-000000000000"),
            "SESSION profile" => named("SESSION", &self.fixture.session_profile),
            name => json!({"type": format!("AUTHENTICATION_TYPE_{name}")}),
        };
        let any: Vec<Value> = step.split('|').map(method).collect();
        json!({ "any": any })
    }

    /// Creates an MFA policy as the root users, and returns its id.
    fn require(&mut self, of: &Person, order: u32, condition: &str, steps: &[&str]) -> String {
        let parameters = self.policy(of, order, condition, steps);
        let mut created = self.submit(&self.admin.clone(), CREATE, &parameters, NOW).expect("it is accepted");
        if created["status"] == status(WAITS) {
            let target = json!({"fingerprint": created["fingerprint"]});
            created = self.submit(&self.owner.clone(), APPROVE, &target, NOW).expect("it is approved");
        }
        let id = &created["result"]["createMfaPolicyResult"]["mfaPolicyId"];
        id.as_str().unwrap_or_else(|| panic!("{created}")).to_owned()
    }

    fn submit(
        &mut self,
        person: &Person,
        activity_type: &str,
        parameters: &Value,
        now: u64,
    ) -> Result<Value, ApiError> {
        let answer = self.fixture.submit(person, self.fixture.id, activity_type, parameters, now)?;
        Ok(answer["activity"].clone())
    }

    /// Proposes a wallet with this name.
    fn propose(&mut self, person: &Person, name: &str) -> Proposed {
        self.propose_any(person, "ACTIVITY_TYPE_CREATE_WALLET", &json!({"walletName": name, "accounts": []}))
    }

    fn propose_any(&mut self, person: &Person, activity_type: &str, parameters: &Value) -> Proposed {
        let body = self.fixture.body(self.fixture.id, activity_type, parameters, NOW);
        let operation = crate::fixture::operation(activity_type);
        let answer = self.fixture.send(person, &operation, &body, NOW).expect("it is recorded");
        let activity = &answer["activity"];
        Proposed { id: activity["id"].clone(), body, status: short(activity) }
    }

    /// Approves, and returns the status of the target.
    fn approve(&mut self, person: &Person, proposed: &Proposed, now: u64) -> String {
        let target = json!({"fingerprint": Fingerprint::of(&proposed.body)});
        short(&self.submit(person, APPROVE, &target, now).expect("the target is returned"))
    }

    fn activity(&self, proposed: &Proposed) -> Value {
        query_as_root(&self.fixture, "get_activity", &json!({"activityId": proposed.id}))["activity"].clone()
    }

    /// Returns how many votes the activity has.
    fn votes(&self, proposed: &Proposed) -> usize {
        self.activity(proposed)["votes"].as_array().expect("votes").len()
    }

    /// Returns the MFA policies that apply to an activity for a user: how many steps of how many are proven.
    fn progress(&self, proposed: &Proposed, of: &Person) -> Vec<(usize, usize)> {
        let query = json!({"activityId": proposed.id, "userId": of.user});
        let answer = query_as_root(&self.fixture, "get_mfa_status", &query);
        let length = |list: &Value| list.as_array().expect("a list").len();
        let statuses = answer["mfaStatuses"].as_array().expect("a list").iter();
        statuses
            .map(|one| {
                let (proven, steps) = (length(&one["satisfiedMethods"]), length(&one["requiredMethods"]));
                assert_eq!(one["userId"], json!(of.user));
                assert_eq!(one["satisfied"], json!(proven == steps));
                (proven, steps)
            })
            .collect()
    }

    /// Returns the users whose approvals of a waiting activity count, as the console sees them.
    fn counted(&self, proposed: &Proposed) -> Vec<UserId> {
        let id = proposed.id.as_str().expect("an id");
        let record =
            operator::review(&self.fixture.memory, self.fixture.id, id, None, NOW).expect("the record");
        record.row.waiting.expect("it waits").counted
    }

    fn has_wallet(&self, name: &str) -> bool {
        let wallets = query_as_root(&self.fixture, "list_wallets", &json!({}));
        each(&wallets["wallets"], "walletName").contains(&json!(name))
    }

    /// Opens a session of the owner with the key of this number.
    fn log_in(&mut self, by: &Person, number: u32, profile: Option<&str>) -> Person {
        let mut parameters = json!({"publicKey": public_key(number)});
        if let Some(profile) = profile {
            parameters["sessionProfileId"] = json!(profile);
        }
        let login = self.submit(by, "ACTIVITY_TYPE_STAMP_LOGIN", &parameters, NOW).expect("a session");
        assert_eq!(login["status"], status(COMPLETED));
        Person { number, auth: AuthMethod::Stamp, ..by.clone() }
    }
}

fn named(of: &str, id: &impl ToString) -> Value {
    json!({"type": format!("AUTHENTICATION_TYPE_{of}"), "id": id.to_string()})
}

fn status(name: &str) -> Value {
    json!(format!("ACTIVITY_STATUS_{name}"))
}

/// Returns the status of an activity without its prefix.
fn short(activity: &Value) -> String {
    let status = activity["status"].as_str().unwrap_or_else(|| panic!("{activity}"));
    status.trim_start_matches("ACTIVITY_STATUS_").to_owned()
}
