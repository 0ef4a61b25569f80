//! The contract of a kind of activity, and its row in the table.
//!
//! A kind has one execution. Each version that clients send is a [`Form`] of it: the same thing said with
//! other members.

use quorate_common::activity::Selection;
use quorate_common::bounded::Label;
use quorate_common::catalog::{Action, Gate, KindEntry, Resource};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::UserId;
use quorate_common::json::{self, Flaw, Rule};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::cx::Cx;
use crate::params::NewUser;
use crate::pipeline::Granted;
use crate::policy::Facts;
use crate::refusal::{Corrupt, Refusal};
use crate::view::View;

const PREFIX: &str = "ACTIVITY_TYPE_";

/// What one kind of activity means.
pub trait Kind: 'static {
    /// What policies match on; nothing where they are not consulted.
    const ACTS: Option<(Action, Resource)>;
    /// Who decides.
    const GATE: Gate;
    /// The parameters, in the newest form.
    type Intent;
    /// What the rules found out, so that execution need not look again.
    type Plan;
    /// The result, in the newest form.
    type Outcome;

    /// What must hold, and what a policy may ask about it.
    fn rules(intent: &Self::Intent, view: &View<'_>) -> Result<(Facts, Self::Plan), Refusal>;

    /// Runs once, after the permit; leaves changes in `cx`.
    fn execute(intent: Self::Intent, plan: Self::Plan, cx: &mut Cx<'_, '_>)
    -> Result<Self::Outcome, Refusal>;

    /// The vote that the intent is, for those kinds that are votes.
    fn ballot(_intent: &Self::Intent) -> Option<Ballot> {
        None
    }

    /// The user whose own credentials are changed and nothing else, for kinds that do that.
    fn own_credentials_of(_intent: &Self::Intent) -> Option<UserId> {
        None
    }

    /// The user who asks, for those kinds by which somebody becomes one.
    fn newcomer(_intent: &Self::Intent) -> Option<UserId> {
        None
    }

    /// Who asks for an organization of their own, for the kind by which one is founded.
    fn founder(_intent: &Self::Intent) -> Option<&Founder> {
        None
    }
}

/// Somebody who founds an organization, and the organization.
#[derive(Debug, Clone)]
pub struct Founder {
    /// Name of the organization.
    pub organization: Label,
    /// Its root user, who has one authenticator and no other credential.
    pub user: NewUser,
    /// Id of that user, where it is asked for.
    pub user_id: Option<UserId>,
}

/// A vote on another activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ballot {
    /// The activity voted on.
    pub fingerprint: Fingerprint,
    /// Yes or no.
    pub selection: Selection,
}

/// One version of a kind: the parameters as that version names them.
pub trait Form:
    DeserializeOwned + Serialize + JsonSchema + Into<<Self::Kind as Kind>::Intent> + 'static
{
    /// The kind.
    type Kind: Kind;
    /// The result as this version names it.
    type Outcome: Serialize + JsonSchema + From<<Self::Kind as Kind>::Outcome>;
    /// The type on the wire.
    const TYPE: &'static str;
    /// The number of the type on the wire.
    const NUMBER: u16;
    /// The member of the result; empty for votes, which have none.
    const RESULT: &'static str;
    /// Whether parts of the parameters are kept from everybody, the record included.
    const MASKS: bool = false;

    /// Hides those parts. What is left must read as parameters again.
    fn mask(&mut self) {}
}

/// Reads the parameters of a row.
type Parse = fn(&str, &Entry) -> Result<Box<dyn Ready>, Refusal>;

/// A row of the table: constants and plain functions.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The type on the wire.
    pub activity_type: &'static str,
    /// The number of the type on the wire.
    pub number: u16,
    /// Who decides.
    pub gate: Gate,
    /// What policies match on.
    pub acts: Option<(Action, Resource)>,
    /// Whether parts of the parameters are kept from everybody, the record included.
    pub masks: bool,
    result: &'static str,
    parse: Parse,
    schemas: fn(&mut SchemaGenerator) -> (Value, Value),
}

/// The row of a form.
pub const fn entry<F: Form>() -> Entry {
    Entry {
        activity_type: F::TYPE,
        number: F::NUMBER,
        gate: <F::Kind as Kind>::GATE,
        acts: <F::Kind as Kind>::ACTS,
        masks: F::MASKS,
        result: F::RESULT,
        parse: parse::<F>,
        schemas: schemas::<F>,
    }
}

impl Entry {
    /// The operation: last part of the path, one for all versions.
    pub fn operation(&self) -> String {
        split(self.activity_type).0.to_ascii_lowercase()
    }

    /// The member of `intent`.
    pub fn intent_key(&self) -> String {
        let (name, version) = split(self.activity_type);
        let mut key = String::with_capacity(name.len());
        for (place, word) in name.split('_').enumerate() {
            for (at, letter) in word.chars().enumerate() {
                let small = place == 0 || at > 0;
                key.push(if small { letter.to_ascii_lowercase() } else { letter });
            }
        }
        format!("{key}Intent{version}")
    }

    /// Reads parameters: JSON in normal form. None are an empty object.
    pub fn parse(&self, parameters: Option<&RawValue>) -> Result<Box<dyn Ready>, Refusal> {
        (self.parse)(parameters.map_or("{}", RawValue::get), self)
    }

    /// The row as data.
    pub fn describe(&self) -> KindEntry {
        let mut generator = schemars::generate::SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true)
            .into_generator();
        let (mut parameters, outcome) = (self.schemas)(&mut generator);
        let description = parameters.as_object_mut().and_then(|schema| schema.remove("description"));
        KindEntry {
            activity_type: self.activity_type.to_owned(),
            path: format!("/public/v1/submit/{}", self.operation()),
            intent: self.intent_key(),
            result: (!self.result.is_empty()).then(|| self.result.to_owned()),
            gate: self.gate,
            acts: self.acts,
            description: description.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default(),
            parameters,
            outcome,
        }
    }
}

/// The operation of a type without its prefix.
pub fn operation_of(name: &'static str) -> String {
    split(name).0.to_ascii_lowercase()
}

/// Name without prefix and version, and the version (`V2` or nothing).
fn split(activity_type: &'static str) -> (&'static str, &'static str) {
    let name = activity_type.strip_prefix(PREFIX).unwrap_or(activity_type);
    let short = quorate_policy::request::kind_of(activity_type);
    (short, name.strip_prefix(short).and_then(|rest| rest.strip_prefix('_')).unwrap_or_default())
}

/// Parameters that were read, ready to be judged and executed.
pub trait Ready {
    /// The wire's `intent`: one member.
    fn intent(&self) -> &RawValue;

    /// The vote that the intent is.
    fn ballot(&self) -> Option<Ballot>;

    /// The user who asks, where the intent makes somebody one.
    fn newcomer(&self) -> Option<UserId>;

    /// Who founds an organization by it.
    fn founder(&self) -> Option<&Founder>;

    /// Applies the rules, and keeps what they found for the execution. A fault of ours is neither of the outcomes.
    fn rules(&mut self, view: &View<'_>) -> Result<RuleOutcome, Corrupt>;

    /// Executes and gives the wire's `result`: one member. Only a permit can have this done.
    fn execute(self: Box<Self>, granted: Granted, cx: &mut Cx<'_, '_>) -> Result<Box<RawValue>, Refusal>;
}

/// What the rules of a request came to.
#[derive(Debug)]
pub struct RuleOutcome {
    /// What policies may ask about it. Where the rules refuse it, no more than whose credentials it is about.
    pub facts: Facts,
    /// Why the rules refuse it.
    pub refusal: Option<Refusal>,
}

struct Prepared<F: Form> {
    echo: Box<RawValue>,
    intent: <F::Kind as Kind>::Intent,
    plan: Option<<F::Kind as Kind>::Plan>,
}

fn parse<F: Form>(parameters: &str, entry: &Entry) -> Result<Box<dyn Ready>, Refusal> {
    if !parameters.starts_with('{') {
        let reason = "invalid request body: `parameters`: expected an object".to_owned();
        return Err(Flaw::Member { path: "parameters".to_owned(), reason, rule: Rule::Other }.into());
    }
    let mut form: F = json::typed(parameters, "parameters")?;
    form.mask();
    let echo = member(&entry.intent_key(), &form)?;
    Ok(Box::new(Prepared::<F> { echo, intent: form.into(), plan: None }))
}

fn schemas<F: Form>(generator: &mut SchemaGenerator) -> (Value, Value) {
    (generator.subschema_for::<F>().to_value(), generator.subschema_for::<F::Outcome>().to_value())
}

/// An object of one member.
fn member<T: Serialize>(name: &str, value: &T) -> Result<Box<RawValue>, Corrupt> {
    let flaw = Corrupt::Invariant("a member does not serialize");
    let json = serde_json::to_string(value).map_err(|_| flaw.clone())?;
    RawValue::from_string(format!("{{\"{name}\":{json}}}")).map_err(|_| flaw)
}

/// An object without members.
pub fn nothing() -> Box<RawValue> {
    // `{}` is JSON.
    RawValue::from_string("{}".to_owned()).unwrap_or_default()
}

impl<F: Form> Ready for Prepared<F> {
    fn intent(&self) -> &RawValue {
        &self.echo
    }

    fn ballot(&self) -> Option<Ballot> {
        F::Kind::ballot(&self.intent)
    }

    fn newcomer(&self) -> Option<UserId> {
        F::Kind::newcomer(&self.intent)
    }

    fn founder(&self) -> Option<&Founder> {
        F::Kind::founder(&self.intent)
    }

    fn rules(&mut self, view: &View<'_>) -> Result<RuleOutcome, Corrupt> {
        match F::Kind::rules(&self.intent, view) {
            Ok((facts, plan)) => {
                self.plan = Some(plan);
                Ok(RuleOutcome { facts, refusal: None })
            }
            Err(Refusal::Corrupt(corrupt)) => Err(corrupt),
            // Whoever may change their own credentials learns what speaks against it.
            Err(refusal) => {
                let own_credentials_of = F::Kind::own_credentials_of(&self.intent);
                let facts = Facts { own_credentials_of, ..Facts::default() };
                Ok(RuleOutcome { facts, refusal: Some(refusal) })
            }
        }
    }

    fn execute(self: Box<Self>, _: Granted, cx: &mut Cx<'_, '_>) -> Result<Box<RawValue>, Refusal> {
        let plan = self.plan.ok_or(Corrupt::Invariant("an execution without its rules"))?;
        let outcome = F::Kind::execute(self.intent, plan, cx)?;
        if F::RESULT.is_empty() {
            return Ok(nothing());
        }
        Ok(member(F::RESULT, &F::Outcome::from(outcome))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_split_into_name_and_version() {
        for (activity_type, name, version) in [
            ("ACTIVITY_TYPE_CREATE_WALLET", "CREATE_WALLET", ""),
            ("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "SIGN_RAW_PAYLOAD", "V2"),
            ("ACTIVITY_TYPE_OAUTH2_AUTHENTICATE", "OAUTH2_AUTHENTICATE", ""),
        ] {
            assert_eq!(split(activity_type), (name, version));
        }
    }
}
