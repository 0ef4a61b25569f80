//! The trait of a kind of activity, and its row in the table of activity types.
//!
//! A kind has one execution. Each version of the type that clients send is a [`Version`] of the kind: other
//! members with the same meaning.

use quorate_common::activity::Selection;
use quorate_common::bounded::Label;
use quorate_common::catalog::{Action, Gate, KindEntry, Resource};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::UserId;
use quorate_common::json::{self, JsonError, Rule};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Corrupt, RequestError};
use crate::execution::ExecutionContext;
use crate::params::NewUser;
use crate::pipeline::Granted;
use crate::policy::Facts;
use crate::view::View;

const PREFIX: &str = "ACTIVITY_TYPE_";

/// The rules and the execution of one kind of activity.
pub trait Kind: 'static {
    /// Action and resource that policies match on; `None` if policies are not consulted.
    const ACTS: Option<(Action, Resource)>;
    /// Who decides whether the activity runs.
    const GATE: Gate;
    /// Parameters, in the newest version.
    type Intent;
    /// Results of the rules that the execution needs, so that it does not look them up again.
    type Plan;
    /// Result, in the newest version.
    type Outcome;

    /// Checks the request against the organization, and returns the facts that policies can query.
    ///
    /// # Errors
    /// If the request breaks a rule of its kind, or the store cannot be read.
    fn rules(intent: &Self::Intent, view: &View<'_>) -> Result<(Facts, Self::Plan), RequestError>;

    /// Executes the request and adds its effects to `context`. Runs once, with a permit.
    ///
    /// # Errors
    /// If the execution fails, upon which the activity fails, or the store cannot be read.
    fn execute(
        intent: Self::Intent,
        plan: Self::Plan,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Self::Outcome, RequestError>;

    /// Returns the vote that the intent casts, if the kind is a vote.
    fn ballot(_intent: &Self::Intent) -> Option<Ballot> {
        None
    }

    /// Returns the user whose credentials are changed, if the kind changes nothing else.
    fn own_credentials_of(_intent: &Self::Intent) -> Option<UserId> {
        None
    }

    /// Returns the id of the new user, if the kind turns the caller into a user.
    fn newcomer(_intent: &Self::Intent) -> Option<UserId> {
        None
    }

    /// Returns the registrant, if the kind creates a top-level organization.
    fn registrant(_intent: &Self::Intent) -> Option<&Registrant> {
        None
    }
}

/// Somebody who creates an organization for themselves, and the name of the organization.
#[derive(Debug, Clone)]
pub struct Registrant {
    /// Name of the organization.
    pub organization: Label,
    /// Root user, who has one authenticator and no other credential.
    pub user: NewUser,
    /// Requested id of the root user.
    pub user_id: Option<UserId>,
}

/// A vote on another activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ballot {
    /// Fingerprint of the activity that is voted on.
    pub fingerprint: Fingerprint,
    /// Whether the vote approves or rejects.
    pub selection: Selection,
}

/// One version of a kind: its parameters, with the member names of that version.
pub trait Version:
    DeserializeOwned + Serialize + JsonSchema + Into<<Self::Kind as Kind>::Intent> + 'static
{
    /// Kind that this is a version of.
    type Kind: Kind;
    /// Result, with the member names of this version.
    type Outcome: Serialize + JsonSchema + From<<Self::Kind as Kind>::Outcome>;
    /// Activity type on the wire.
    const TYPE: &'static str;
    /// Number of the type on the wire.
    const NUMBER: u16;
    /// Name of the only member of `result`; empty for votes, which have no result.
    const RESULT: &'static str;
    /// Whether parts of the parameters are masked, in the stored record as well.
    const MASKS: bool = false;

    /// Masks those parts. The result must still parse as parameters.
    fn mask(&mut self) {}
}

type Parse = fn(&str, &Entry) -> Result<Box<dyn PreparedRequest>, RequestError>;

/// A row of the table of activity types: constants and plain functions.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Activity type on the wire.
    pub activity_type: &'static str,
    /// Number of the type on the wire.
    pub number: u16,
    /// Who decides whether the activity runs.
    pub gate: Gate,
    /// Action and resource that policies match on.
    pub acts: Option<(Action, Resource)>,
    /// Whether parts of the parameters are masked, in the stored record as well.
    pub masks: bool,
    result: &'static str,
    parse: Parse,
    schemas: fn(&mut SchemaGenerator) -> (Value, Value),
}

/// Returns the row of a version.
pub const fn entry<F: Version>() -> Entry {
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
    /// Returns the operation, which is the last segment of the path and the same for all versions.
    pub fn operation(&self) -> String {
        split(self.activity_type).0.to_ascii_lowercase()
    }

    /// Returns the name of the only member of `intent`.
    pub fn intent_key(&self) -> String {
        let (name, version) = split(self.activity_type);
        let mut key = String::with_capacity(name.len());
        for (index, word) in name.split('_').enumerate() {
            for (offset, letter) in word.chars().enumerate() {
                let is_lower = index == 0 || offset > 0;
                key.push(if is_lower { letter.to_ascii_lowercase() } else { letter });
            }
        }
        format!("{key}Intent{version}")
    }

    /// Parses parameters, given as JSON. Absent parameters are an empty object.
    ///
    /// # Errors
    /// If the parameters do not match the schema of the type.
    pub fn parse(&self, parameters: Option<&RawValue>) -> Result<Box<dyn PreparedRequest>, RequestError> {
        (self.parse)(parameters.map_or("{}", RawValue::get), self)
    }

    /// Describes the type as data, with the JSON schemas of its parameters and result.
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

/// Returns the operation of an activity type: its name in lower case, without prefix and version.
pub fn operation_of(name: &'static str) -> String {
    split(name).0.to_ascii_lowercase()
}

/// Splits an activity type into the name without prefix and version, and the version (`V2` or empty).
fn split(activity_type: &'static str) -> (&'static str, &'static str) {
    let name = activity_type.strip_prefix(PREFIX).unwrap_or(activity_type);
    let short = quorate_policy::request::kind_of(activity_type);
    (short, name.strip_prefix(short).and_then(|rest| rest.strip_prefix('_')).unwrap_or_default())
}

/// A request whose parameters are parsed, ready to be checked and executed.
pub trait PreparedRequest {
    /// Returns the `intent` of the wire: an object with one member.
    fn intent(&self) -> &RawValue;

    /// Returns the vote that the intent casts, if any.
    fn ballot(&self) -> Option<Ballot>;

    /// Returns the id of the new user, if the intent turns the caller into a user.
    fn newcomer(&self) -> Option<UserId>;

    /// Returns the registrant, if the intent creates a top-level organization.
    fn registrant(&self) -> Option<&Registrant>;

    /// Applies the rules of the kind, and keeps their results for the execution.
    ///
    /// # Errors
    /// If an internal error occurs, which is not an outcome of the rules.
    fn rules(&mut self, view: &View<'_>) -> Result<RuleOutcome, Corrupt>;

    /// Executes the request, and returns the `result` of the wire: an object with one member, or none for
    /// votes. Only the holder of a permit can call this.
    ///
    /// # Errors
    /// If the execution fails, or an internal error occurs.
    fn execute(
        self: Box<Self>,
        granted: Granted,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Box<RawValue>, RequestError>;
}

/// The outcome of the rules of a request.
#[derive(Debug)]
pub struct RuleOutcome {
    /// Facts that policies can query. If the rules fail, they only state whose credentials the request
    /// changes.
    pub facts: Facts,
    /// Error of the rules, if the request breaks one.
    pub error: Option<RequestError>,
}

struct Prepared<F: Version> {
    echo: Box<RawValue>,
    intent: <F::Kind as Kind>::Intent,
    plan: Option<<F::Kind as Kind>::Plan>,
}

fn parse<F: Version>(parameters: &str, entry: &Entry) -> Result<Box<dyn PreparedRequest>, RequestError> {
    if !parameters.starts_with('{') {
        let reason = "invalid request body: `parameters`: expected an object".to_owned();
        return Err(JsonError::Member { path: "parameters".to_owned(), reason, rule: Rule::Other }.into());
    }
    let mut version: F = json::typed(parameters, "parameters")?;
    version.mask();
    let echo = member(&entry.intent_key(), &version)?;
    Ok(Box::new(Prepared::<F> { echo, intent: version.into(), plan: None }))
}

fn schemas<F: Version>(generator: &mut SchemaGenerator) -> (Value, Value) {
    (generator.subschema_for::<F>().to_value(), generator.subschema_for::<F::Outcome>().to_value())
}

/// Serializes an object with one member.
fn member<T: Serialize>(name: &str, value: &T) -> Result<Box<RawValue>, Corrupt> {
    let error = Corrupt::Invariant("a member cannot be serialized");
    let json = serde_json::to_string(value).map_err(|_| error.clone())?;
    RawValue::from_string(format!("{{\"{name}\":{json}}}")).map_err(|_| error)
}

/// Returns an object without members.
pub fn empty_object() -> Box<RawValue> {
    // `{}` is valid JSON, so the default is never used.
    RawValue::from_string("{}".to_owned()).unwrap_or_default()
}

impl<F: Version> PreparedRequest for Prepared<F> {
    fn intent(&self) -> &RawValue {
        &self.echo
    }

    fn ballot(&self) -> Option<Ballot> {
        F::Kind::ballot(&self.intent)
    }

    fn newcomer(&self) -> Option<UserId> {
        F::Kind::newcomer(&self.intent)
    }

    fn registrant(&self) -> Option<&Registrant> {
        F::Kind::registrant(&self.intent)
    }

    fn rules(&mut self, view: &View<'_>) -> Result<RuleOutcome, Corrupt> {
        match F::Kind::rules(&self.intent, view) {
            Ok((facts, plan)) => {
                self.plan = Some(plan);
                Ok(RuleOutcome { facts, error: None })
            }
            Err(RequestError::Corrupt(corrupt)) => Err(corrupt),
            // The facts let the decision allow a change of the caller's own credentials, so that they see the
            // error.
            Err(error) => {
                let own_credentials_of = F::Kind::own_credentials_of(&self.intent);
                let facts = Facts { own_credentials_of, ..Facts::default() };
                Ok(RuleOutcome { facts, error: Some(error) })
            }
        }
    }

    fn execute(
        self: Box<Self>,
        _: Granted,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Box<RawValue>, RequestError> {
        let plan =
            self.plan.ok_or(Corrupt::Invariant("a request is executed before its rules are applied"))?;
        let outcome = F::Kind::execute(self.intent, plan, context)?;
        if F::RESULT.is_empty() {
            return Ok(empty_object());
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
