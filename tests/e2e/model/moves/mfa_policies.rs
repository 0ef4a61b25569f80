//! MFA policies of users: created, changed, deleted. Their steps name API keys and passkeys, which the model stamps with.

use serde_json::{Value, json};

use super::{Move, put, text};
use crate::model::chooser::Chooser;
use crate::model::decision::Condition;
use crate::model::mfa::{Method, MfaPolicy, can_prove};
use crate::model::objections::Objections;
use crate::model::world::{Organization, User};

const POLICIES: usize = 10;
const UNKNOWN_USER: &str = "unable to find user";
const UNKNOWN_POLICY: &str = "no MFA policy found";

/// Kinds in conditions.
const KINDS: [&str; 6] = [
    "CREATE_WALLET",
    "CREATE_USER_TAG",
    "CREATE_API_KEYS",
    "SIGN_RAW_PAYLOAD",
    "CREATE_READ_ONLY_SESSION",
    "CREATE_MFA_POLICY",
];

fn condition(chooser: &mut Chooser<'_>) -> Condition {
    match chooser.choices.below(6) {
        0 => Condition::Absent,
        1 => Condition::Never,
        2 => Condition::Kinds(vec![chooser.one(&KINDS), chooser.one(&KINDS)]),
        _ => Condition::Kinds(vec![chooser.one(&KINDS)]),
    }
}

/// Chooses steps: mostly such that the user can prove them.
fn steps(chooser: &mut Chooser<'_>, user: Option<&User>) -> Vec<Vec<Method>> {
    let keys = user.into_iter().flat_map(|user| user.api_keys.iter().filter_map(|key| key.id.clone()));
    let keys: Vec<String> = keys.collect();
    let passkeys = user.into_iter().flat_map(|user| &user.authenticators);
    let passkeys: Vec<String> = passkeys.filter_map(|one| one.id.clone()).collect();
    let mut chosen = Vec::new();
    for _ in 0..20 {
        chosen = match chooser.choices.below(9) {
            0 => vec![vec![Method::ApiKey]],
            1 | 2 => vec![vec![Method::ApiKey], vec![Method::Passkey]],
            3 => vec![vec![Method::Passkey], vec![Method::ApiKey]],
            4 => vec![vec![Method::ApiKey, Method::Passkey]; 2],
            5 => vec![vec![Method::Passkey]],
            6 => vec![vec![Method::ThisApiKey(chooser.id(&keys))], vec![Method::ApiKey, Method::Passkey]],
            7 => vec![vec![Method::ThisPasskey(chooser.id(&passkeys))]],
            _ => vec![vec![Method::ApiKey], vec![Method::ApiKey]],
        };
        if user.is_some_and(|user| can_prove(user, &chosen)) || chooser.rarely() {
            return chosen;
        }
    }
    chosen
}

fn json_of(steps: &[Vec<Method>]) -> Value {
    let step = |step: &Vec<Method>| json!({ "any": step.iter().map(Method::json).collect::<Vec<_>>() });
    steps.iter().map(step).collect()
}

/// Returns the policies of a user.
fn policies(user: Option<&User>) -> &[MfaPolicy] {
    user.map(|user| user.mfa_policies.as_slice()).unwrap_or_default()
}

fn object_to_steps(objections: &mut Objections, user: Option<&User>, steps: &[Vec<Method>]) {
    let ids = steps.iter().flatten().filter_map(|method| match method {
        Method::ThisApiKey(id) | Method::ThisPasskey(id) => Some(id),
        Method::ApiKey | Method::Passkey => None,
    });
    objections.invalid(ids.into_iter().any(|id| id.len() != 36), "");
    objections.invalid(steps.is_empty() || user.is_some_and(|user| !can_prove(user, steps)), "");
}

fn object_to_order(objections: &mut Objections, user: Option<&User>, order: u32, own: &str) {
    let is_taken = policies(user).iter().any(|policy| policy.id != own && policy.order == order);
    objections.invalid(is_taken, "mfa policy order must be unique");
}

struct Create {
    user: String,
    policy: MfaPolicy,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let organization = chooser.organization();
    let user = chooser.favoured_id(&organization.user_ids());
    let found = organization.user(&user);
    let policy = MfaPolicy {
        id: String::new(),
        name: chooser.name("mfa"),
        condition: condition(chooser),
        steps: if chooser.rarely() { Vec::new() } else { steps(chooser, found) },
        order: chooser.one(&[0, 1, 2, 3, 4, 5, 6, 7]),
        notes: chooser.one(&[None, Some("a note")]),
    };
    Box::new(Create { user, policy })
}

impl Move for Create {
    fn name(&self) -> &'static str {
        "CREATE_MFA_POLICY"
    }

    fn result_name(&self) -> &'static str {
        "createMfaPolicyResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({
            "userId": self.user,
            "mfaPolicyName": self.policy.name,
            "condition": MfaPolicy::condition_text(&self.policy.condition),
            "requiredAuthenticationMethods": json_of(&self.policy.steps),
            "order": self.policy.order,
        });
        put(&mut parameters, "notes", self.policy.notes);
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let user = organization.user(&self.user);
        objections.exists(&self.user, user.is_some(), UNKNOWN_USER);
        objections.label(&self.policy.name);
        object_to_order(&mut objections, user, self.policy.order, "");
        object_to_steps(&mut objections, user, &self.policy.steps);
        objections.capacity(policies(user).len(), 1, POLICIES, "");
        objections
    }

    fn guards(&self, organization: &Organization, proposer: &str) -> Vec<String> {
        let own = policies(organization.user(&self.user)).iter().filter(|_| self.user == proposer);
        own.filter(|policy| policy.order > self.policy.order).map(|policy| policy.id.clone()).collect()
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let policy = MfaPolicy { id: text(&result["mfaPolicyId"]), ..self.policy.clone() };
        organization.user_mut(&self.user).mfa_policies.push(policy);
    }
}

/// A policy of a user, mostly an existing one.
struct Named {
    user: String,
    id: String,
}

impl Named {
    fn choose(chooser: &mut Chooser<'_>) -> Self {
        let users = &chooser.organization().users;
        let ids = |user: &User| user.mfa_policies.iter().map(|policy| policy.id.clone()).collect::<Vec<_>>();
        let with_policies: Vec<&User> = users.iter().filter(|user| !user.mfa_policies.is_empty()).collect();
        match chooser.choices.pick(&with_policies) {
            Some(user) if !chooser.rarely() => Self { user: user.id.clone(), id: chooser.id(&ids(user)) },
            _ => {
                let user = chooser.id(&chooser.organization().user_ids());
                Self { user, id: chooser.id(&[]) }
            }
        }
    }

    fn find<'a>(&self, organization: &'a Organization) -> Option<&'a MfaPolicy> {
        policies(organization.user(&self.user)).iter().find(|policy| policy.id == self.id)
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let user = organization.user(&self.user);
        objections.exists(&self.user, user.is_some(), UNKNOWN_USER);
        let is_there = user.is_none() || self.find(organization).is_some();
        objections.exists(&self.id, is_there, UNKNOWN_POLICY);
        objections
    }
}

struct Update {
    of: Named,
    name: Option<String>,
    condition: Option<Condition>,
    steps: Option<Vec<Vec<Method>>>,
    order: Option<u32>,
    notes: Option<&'static str>,
}

pub(super) fn update(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let of = Named::choose(chooser);
    let user = chooser.organization().user(&of.user);
    Box::new(Update {
        name: chooser.maybe(|chooser| chooser.name("mfa")),
        condition: chooser.maybe(condition),
        steps: chooser.maybe(|chooser| steps(chooser, user)),
        order: chooser.maybe(|chooser| chooser.one(&[0, 1, 2, 3, 4, 5, 6, 7])),
        notes: chooser.one(&[None, Some("another note")]),
        of,
    })
}

impl Move for Update {
    fn name(&self) -> &'static str {
        "UPDATE_MFA_POLICY"
    }

    fn result_name(&self) -> &'static str {
        "updateMfaPolicyResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({ "userId": self.of.user, "mfaPolicyId": self.of.id });
        put(&mut parameters, "mfaPolicyName", self.name.as_deref());
        put(&mut parameters, "condition", self.condition.as_ref().map(MfaPolicy::condition_text));
        put(&mut parameters, "requiredAuthenticationMethods", self.steps.as_deref().map(json_of));
        put(&mut parameters, "order", self.order);
        put(&mut parameters, "notes", self.notes);
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = self.of.objections(organization);
        let user = organization.user(&self.of.user);
        if let Some(name) = &self.name {
            objections.label(name);
        }
        if let Some(order) = self.order {
            object_to_order(&mut objections, user, order, &self.of.id);
        }
        if let Some(steps) = &self.steps {
            object_to_steps(&mut objections, user, steps);
        }
        objections
    }

    fn guards(&self, organization: &Organization, proposer: &str) -> Vec<String> {
        let Some(old) = self.of.find(organization).filter(|_| self.of.user == proposer) else {
            return Vec::new();
        };
        let first = self.order.unwrap_or(old.order).min(old.order);
        let precedes = self.condition.is_some() || self.order.is_some();
        let own = policies(organization.user(proposer)).iter();
        let guards = own.filter(|policy| policy.id == old.id || precedes && policy.order > first);
        guards.map(|policy| policy.id.clone()).collect()
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(result["mfaPolicyId"], self.of.id.as_str());
        let mut policies = organization.user_mut(&self.of.user).mfa_policies.iter_mut();
        let policy = policies.find(|policy| policy.id == self.of.id).expect("an existing policy");
        policy.name = self.name.clone().unwrap_or_else(|| policy.name.clone());
        policy.condition = self.condition.clone().unwrap_or_else(|| policy.condition.clone());
        policy.steps = self.steps.clone().unwrap_or_else(|| policy.steps.clone());
        policy.order = self.order.unwrap_or(policy.order);
        policy.notes = self.notes.or(policy.notes);
    }
}

struct Delete {
    of: Named,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(Delete { of: Named::choose(chooser) })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        "DELETE_MFA_POLICY"
    }

    fn result_name(&self) -> &'static str {
        "deleteMfaPolicyResult"
    }

    fn parameters(&self) -> Value {
        json!({ "userId": self.of.user, "mfaPolicyId": self.of.id })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        self.of.objections(organization)
    }

    fn guards(&self, organization: &Organization, proposer: &str) -> Vec<String> {
        let own = self.of.find(organization).filter(|_| self.of.user == proposer);
        own.map(|policy| policy.id.clone()).into_iter().collect()
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(result["mfaPolicyId"], self.of.id.as_str());
        organization.user_mut(&self.of.user).mfa_policies.retain(|policy| policy.id != self.of.id);
        organization.deleted_ids.push(self.of.id.clone());
    }
}
