//! Policies: created one by one, by selectors and several at once, changed, deleted. Their conditions and
//! consensus have simple forms that the model can evaluate.

use serde_json::{Value, json};

use super::{Move, new_ids, put, text, texts};
use crate::model::chooser::Chooser;
use crate::model::decision::{Condition, Consensus};
use crate::model::objections::Objections;
use crate::model::world::{Organization, Policy};

/// Kinds in conditions: some that are proposed, and one that never is.
const KINDS: [&str; 13] = [
    "SIGN_TRANSACTION",
    "CREATE_WALLET",
    "CREATE_USER_TAG",
    "UPDATE_USER_NAME",
    "CREATE_PRIVATE_KEYS",
    "CREATE_API_KEYS",
    "DELETE_POLICY",
    "SIGN_RAW_PAYLOAD",
    "CREATE_WEBHOOK_ENDPOINT",
    "SET_IP_ALLOWLIST",
    "SET_PAYMENT_METHOD",
    "CREATE_INVITATIONS",
    "DELETE_SUB_ORGANIZATION",
];
const POLICIES: usize = 100;
const NOT_UNIQUE: &str = "policy label must be unique";
const UNKNOWN_POLICY: &str = "no policy found";
const WRONG_CONDITION: &str = "invalid policy condition";

/// An invalid condition.
const INVALID_CONDITION: &str = "activity.kind ==";

struct NewPolicy {
    name: String,
    is_denial: bool,
    condition: Condition,
    consensus: Consensus,
    notes: String,
    is_invalid: bool,
}

fn condition(chooser: &mut Chooser<'_>) -> Condition {
    match chooser.choices.below(12) {
        0 => Condition::Absent,
        1 | 2 => Condition::Never,
        3 | 4 => Condition::Kinds(vec![chooser.one(&KINDS), chooser.one(&KINDS)]),
        _ => Condition::Kinds(vec![chooser.one(&KINDS)]),
    }
}

fn consensus(chooser: &mut Chooser<'_>) -> Consensus {
    let users = chooser.organization().user_ids();
    match chooser.choices.below(4) {
        0 => Consensus::Absent,
        1 => Consensus::User(chooser.choices.pick(&users).cloned().unwrap_or_default()),
        _ => Consensus::AtLeast(chooser.one(&[1, 2, 3])),
    }
}

fn policy_name(chooser: &mut Chooser<'_>) -> String {
    chooser.name("policy")
}

fn effect(is_denial: bool) -> &'static str {
    if is_denial { "EFFECT_DENY" } else { "EFFECT_ALLOW" }
}

impl NewPolicy {
    fn choose(chooser: &mut Chooser<'_>) -> Self {
        Self {
            name: policy_name(chooser),
            is_denial: chooser.choices.one_in(2),
            condition: condition(chooser),
            consensus: consensus(chooser),
            notes: chooser.one(&["", "a note"]).to_owned(),
            is_invalid: chooser.rarely(),
        }
    }

    fn json(&self) -> Value {
        let mut policy = json!({
            "policyName": self.name, "effect": effect(self.is_denial), "notes": self.notes,
        });
        let present = |text: String| Some(text).filter(|text| !text.is_empty());
        put(&mut policy, "consensus", present(self.consensus.text()));
        let condition = if self.is_invalid { INVALID_CONDITION.to_owned() } else { self.condition.text() };
        put(&mut policy, "condition", present(condition));
        policy
    }

    fn to_model(&self, id: String) -> Policy {
        Policy {
            id,
            name: self.name.clone(),
            is_denial: self.is_denial,
            condition: self.condition.clone(),
            consensus: self.consensus.clone(),
            notes: self.notes.clone(),
        }
    }
}

fn object_to_name(objections: &mut Objections, organization: &Organization, name: &str, own: &str) {
    objections.label(name);
    let is_taken = organization.policies.iter().any(|policy| policy.id != own && policy.name == name);
    objections.invalid(is_taken, NOT_UNIQUE);
}

fn object_to_policies(organization: &Organization, policies: &[NewPolicy]) -> Objections {
    let mut objections = Objections::default();
    objections.batch(policies);
    for policy in policies {
        object_to_name(&mut objections, organization, &policy.name, "");
        objections.invalid(policy.is_invalid, WRONG_CONDITION);
    }
    objections.distinct_or(&policies.iter().map(|policy| &policy.name).collect::<Vec<_>>(), NOT_UNIQUE);
    objections.capacity(organization.policies.len(), policies.len(), POLICIES, "");
    objections
}

struct Create {
    policy: NewPolicy,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(Create { policy: NewPolicy::choose(chooser) })
}

impl Move for Create {
    fn name(&self) -> &'static str {
        "CREATE_POLICY_V3"
    }

    fn result_name(&self) -> &'static str {
        "createPolicyResult"
    }

    fn parameters(&self) -> Value {
        self.policy.json()
    }

    fn objections(&self, organization: &Organization) -> Objections {
        object_to_policies(organization, std::slice::from_ref(&self.policy))
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        organization.policies.push(self.policy.to_model(text(&result["policyId"])));
    }
}

struct CreateSeveral {
    policies: Vec<NewPolicy>,
}

pub(super) fn create_several(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let count = chooser.one(&[0, 1, 1, 2, 2, 2, 3, 3]);
    let mut policies: Vec<NewPolicy> = (0..count).map(|_| NewPolicy::choose(chooser)).collect();
    if chooser.rarely() {
        // The maximum of a request, which is too many beside any other policy.
        policies = (0..100).map(|_| NewPolicy { is_invalid: false, ..NewPolicy::choose(chooser) }).collect();
    }
    Box::new(CreateSeveral { policies })
}

impl Move for CreateSeveral {
    fn name(&self) -> &'static str {
        "CREATE_POLICIES"
    }

    fn result_name(&self) -> &'static str {
        "createPoliciesResult"
    }

    fn parameters(&self) -> Value {
        json!({ "policies": self.policies.iter().map(NewPolicy::json).collect::<Vec<_>>() })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        object_to_policies(organization, &self.policies)
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let ids = new_ids(&result["policyIds"], self.policies.len());
        organization.policies.extend(self.policies.iter().zip(ids).map(|(policy, id)| policy.to_model(id)));
    }
}

/// Older versions with selectors, which are stored as condition and consensus.
struct CreateBySelectors {
    policy: NewPolicy,
    is_first_version: bool,
}

pub(super) fn create_by_selectors(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let is_first_version = chooser.choices.one_in(2);
    let mut kinds = vec![chooser.one(&KINDS)];
    if !is_first_version {
        kinds.push(chooser.one(&KINDS));
    }
    let consensus = match chooser.choices.pick(&chooser.organization().user_ids()) {
        Some(user) if chooser.choices.one_in(2) => Consensus::User(user.clone()),
        _ => Consensus::Absent,
    };
    let policy = NewPolicy { condition: Condition::Kinds(kinds), consensus, ..NewPolicy::choose(chooser) };
    Box::new(CreateBySelectors { policy, is_first_version })
}

impl CreateBySelectors {
    fn selector(&self, subject: &str, values: &[&str]) -> Value {
        let operator = if values.len() == 1 { "OPERATOR_EQUAL" } else { "OPERATOR_IN" };
        if self.is_first_version {
            json!({ "subject": subject, "operator": operator, "target": values[0] })
        } else {
            json!({ "subject": subject, "operator": operator, "targets": values })
        }
    }
}

impl Move for CreateBySelectors {
    fn name(&self) -> &'static str {
        if self.is_first_version { "CREATE_POLICY" } else { "CREATE_POLICY_V2" }
    }

    fn result_name(&self) -> &'static str {
        "createPolicyResult"
    }

    fn parameters(&self) -> Value {
        let mut selectors = Vec::new();
        if let Condition::Kinds(kinds) = &self.policy.condition {
            selectors.push(self.selector("activity.kind", kinds));
        }
        if let Consensus::User(id) = &self.policy.consensus {
            selectors.push(self.selector("user.id", &[id]));
        }
        if self.policy.is_invalid {
            selectors.push(self.selector("nothing.known", &["A"]));
        }
        json!({
            "policyName": self.policy.name,
            "effect": effect(self.policy.is_denial),
            "notes": self.policy.notes,
            "selectors": selectors,
        })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        object_to_policies(organization, std::slice::from_ref(&self.policy))
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        organization.policies.push(self.policy.to_model(text(&result["policyId"])));
    }
}

struct Update {
    is_first_version: bool,
    id: String,
    name: Option<String>,
    is_denial: Option<bool>,
    condition: Option<Condition>,
    consensus: Option<Consensus>,
    notes: Option<String>,
    is_invalid: bool,
}

pub(super) fn update(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let id = chooser.id(&chooser.organization().policy_ids());
    let change = NewPolicy::choose(chooser);
    Box::new(Update {
        is_first_version: chooser.choices.one_in(2),
        id,
        name: chooser.maybe(policy_name),
        is_denial: chooser.maybe(|_| change.is_denial),
        condition: chooser.maybe(|_| change.condition).filter(|condition| *condition != Condition::Absent),
        consensus: chooser.maybe(|_| change.consensus).filter(|consensus| *consensus != Consensus::Absent),
        notes: chooser.maybe(|_| change.notes),
        is_invalid: change.is_invalid,
    })
}

impl Move for Update {
    fn name(&self) -> &'static str {
        if self.is_first_version { "UPDATE_POLICY" } else { "UPDATE_POLICY_V2" }
    }

    fn result_name(&self) -> &'static str {
        if self.is_first_version { "updatePolicyResult" } else { "updatePolicyResultV2" }
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({ "policyId": self.id });
        put(&mut parameters, "policyName", self.name.as_deref());
        put(&mut parameters, "policyEffect", self.is_denial.map(effect));
        let condition = self.condition.as_ref().map(Condition::text);
        put(
            &mut parameters,
            "policyCondition",
            if self.is_invalid { Some(INVALID_CONDITION.to_owned()) } else { condition },
        );
        put(&mut parameters, "policyConsensus", self.consensus.as_ref().map(Consensus::text));
        put(&mut parameters, "policyNotes", self.notes.as_deref());
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.exists(&self.id, organization.policy(&self.id).is_some(), UNKNOWN_POLICY);
        if let Some(name) = &self.name {
            object_to_name(&mut objections, organization, name, &self.id);
        }
        objections.invalid(self.is_invalid, WRONG_CONDITION);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(result["policyId"], self.id.as_str());
        let policy = organization.policies.iter_mut().find(|policy| policy.id == self.id);
        let policy = policy.expect("an existing policy");
        policy.name = self.name.clone().unwrap_or_else(|| policy.name.clone());
        policy.is_denial = self.is_denial.unwrap_or(policy.is_denial);
        policy.condition = self.condition.clone().unwrap_or_else(|| policy.condition.clone());
        policy.consensus = self.consensus.clone().unwrap_or_else(|| policy.consensus.clone());
        policy.notes = self.notes.clone().unwrap_or_else(|| policy.notes.clone());
    }
}

struct Delete {
    ids: Vec<String>,
    is_single: bool,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let id = chooser.id(&chooser.organization().policy_ids());
    Box::new(Delete { ids: vec![id], is_single: true })
}

pub(super) fn delete_several(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let ids = chooser.ids(&chooser.organization().policy_ids());
    Box::new(Delete { ids, is_single: false })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        if self.is_single { "DELETE_POLICY" } else { "DELETE_POLICIES" }
    }

    fn result_name(&self) -> &'static str {
        if self.is_single { "deletePolicyResult" } else { "deletePoliciesResult" }
    }

    fn parameters(&self) -> Value {
        if self.is_single { json!({ "policyId": self.ids[0] }) } else { json!({ "policyIds": self.ids }) }
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.batch(&self.ids);
        objections.all_exist(&self.ids, |id| organization.policy(id).is_some(), UNKNOWN_POLICY);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let reported =
            if self.is_single { vec![text(&result["policyId"])] } else { texts(&result["policyIds"]) };
        assert_eq!(reported, self.ids);
        organization.policies.retain(|policy| !self.ids.contains(&policy.id));
        organization.deleted_ids.extend(self.ids.iter().cloned());
    }
}
