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
use crate::execution::Execution;
use crate::params::NewUser;
use crate::policy::{Facts, Granted};
use crate::view::CredentialScope;
use crate::view::View;

const PREFIX: &str = "ACTIVITY_TYPE_";

/// Action and resource that policies match on; `None` if policies are not consulted.
pub type Acts = Option<(Action, Resource)>;

/// The rules and the execution of one kind of activity. The implementing type contains its parameters, in the
/// form that all versions are converted to.
pub trait Kind: Sized + 'static {
    /// Action and resource that policies match on.
    const ACTS: Acts = None;
    /// Who decides whether the activity runs.
    const GATE: Gate = Gate::Policy;
    /// Where the credential of the stamp is searched.
    const SCOPE: CredentialScope = CredentialScope::OrganizationAndParent;
    /// Whether users of the parent may do this in a sub-organization, as the policies of the parent allow.
    const OPEN_TO_PARENT: bool = false;
    /// Whether an attested stamp authenticates the request: whether it only opens a session of the caller, or can prove a
    /// step of an MFA policy.
    const ATTESTED: bool = false;
    /// Whether activities of this kind may wait for votes. A request with a secret among its parameters may not, see
    /// [`Self::has_secret`].
    const WAITS: bool = true;
    /// Results of the rules that the execution needs, so that it does not look them up again.
    type Plan;
    /// The only member of `result`, unless the kind is a vote.
    type Outcome: Serialize + JsonSchema;

    /// Checks the request against the organization.
    ///
    /// # Errors
    /// If the request breaks a rule of its kind, or the store cannot be read.
    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError>;

    /// Returns the objects of the request that policies can query, in addition to type and parameters.
    ///
    /// # Errors
    /// If the objects cannot be read or decoded.
    fn facts(&self, _plan: &Self::Plan, _view: &View<'_>) -> Result<Facts, RequestError> {
        Ok(Facts::default())
    }

    /// Executes the request and adds its effects to `context`. Runs once, with a permit.
    ///
    /// # Errors
    /// If the execution fails, which makes the activity fail, or if the store cannot be read.
    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<Self::Outcome, RequestError>;

    /// Returns the vote that the request casts, if the kind is a vote.
    fn ballot(&self) -> Option<Ballot> {
        None
    }

    /// Returns whether the parameters contain a secret, such as a token. It is stored nowhere, so the activity must not
    /// wait for votes.
    fn has_secret(&self) -> bool {
        !Self::WAITS
    }

    /// Removes what only the answer to the proposer may show from an outcome, before it is stored. Returns
    /// whether there was any.
    fn mask(_outcome: &mut Self::Outcome) -> bool {
        false
    }

    /// Returns the user whose credentials are changed, if the kind changes nothing else.
    fn own_credentials_of(&self, _view: &View<'_>) -> Option<UserId> {
        None
    }

    /// Returns the id of the new user, if the kind turns the caller into a user.
    fn newcomer(&self) -> Option<UserId> {
        None
    }

    /// Returns the registrant, if the kind creates a top-level organization.
    fn registrant(&self) -> Option<&Registrant> {
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
pub trait Version: DeserializeOwned + Serialize + JsonSchema + Into<Self::Kind> + 'static {
    /// Kind that this is a version of.
    type Kind: Kind;
    /// Activity type on the wire.
    const TYPE: &'static str;
    /// Number of the type: a constant of the wire protocol, as in the protocol definitions of the published
    /// clients, and from 60000 on for a type that they do not have. It is stored with each activity, so it never
    /// changes and is never used for another type.
    const NUMBER: u16;
    /// Name of the only member of `result`, if it is not that of the type with `Result` before the version.
    const RESULT: Option<&'static str> = None;
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
    pub acts: Acts,
    /// Whether parts of the parameters are masked, in the stored record as well.
    pub masks: bool,
    /// Where the credential of the stamp is searched.
    pub scope: CredentialScope,
    /// Whether users of the parent may do this in a sub-organization.
    pub open_to_parent: bool,
    /// Whether an attested stamp authenticates the request.
    pub attested: bool,
    result_key: fn() -> Option<String>,
    parse: Parse,
    schemas: fn(&mut SchemaGenerator) -> (Value, Value),
}

/// Returns the row of a version.
pub const fn entry<F: Version>() -> Entry {
    Entry {
        activity_type: F::TYPE,
        number: F::NUMBER,
        gate: F::Kind::GATE,
        acts: F::Kind::ACTS,
        masks: F::MASKS,
        scope: F::Kind::SCOPE,
        open_to_parent: F::Kind::OPEN_TO_PARENT,
        attested: F::Kind::ATTESTED,
        result_key: result_key::<F>,
        parse: parse::<F>,
        schemas: schemas::<F>,
    }
}

impl Entry {
    /// Returns whether equal bytes of different callers are different requests, because they do not name the
    /// user or the organization that they act on.
    pub fn is_per_caller(&self) -> bool {
        self.scope == CredentialScope::SubOrganizations
    }

    /// Returns whether a recovery key may do this: recover its own user. It may do nothing else.
    pub fn recovers(&self) -> bool {
        self.gate == Gate::OwnCredential && matches!(self.acts, Some((_, Resource::Recovery)))
    }

    /// Returns the operation, which is the last segment of the path and the same for all versions.
    pub fn operation(&self) -> String {
        split(self.activity_type).0.to_ascii_lowercase()
    }

    /// Returns the name of the only member of `intent`.
    pub fn intent_key(&self) -> String {
        member_name(self.activity_type, "Intent")
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
            result: (self.result_key)(),
            gate: self.gate,
            acts: self.acts,
            description: description.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default(),
            parameters,
            outcome,
        }
    }
}

/// Returns the name of the only member of `result`; votes have none.
fn result_key<F: Version>() -> Option<String> {
    let derived = || member_name(F::TYPE, "Result");
    (F::Kind::GATE != Gate::Vote).then(|| F::RESULT.map_or_else(derived, str::to_owned))
}

/// Returns a member name such as `createWalletIntent` or `createPolicyIntentV2`.
fn member_name(activity_type: &'static str, suffix: &str) -> String {
    let (name, version) = split(activity_type);
    let mut member = String::with_capacity(name.len());
    for (index, word) in name.split('_').enumerate() {
        for (offset, letter) in word.chars().enumerate() {
            let is_lower = index == 0 || offset > 0;
            member.push(if is_lower { letter.to_ascii_lowercase() } else { letter });
        }
    }
    format!("{member}{suffix}{version}")
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

    /// Returns whether the parameters contain a secret. It is stored nowhere, so the activity must not wait for votes.
    fn has_secret(&self) -> bool;

    /// Returns the id of the new user, if the intent turns the caller into a user.
    fn newcomer(&self) -> Option<UserId>;

    /// Returns the registrant, if the intent creates a top-level organization.
    fn registrant(&self) -> Option<&Registrant>;

    /// Applies the rules of the kind, and keeps their results for the execution.
    ///
    /// # Errors
    /// If an internal error occurs, which is not an outcome of the rules.
    fn rules(&mut self, view: &View<'_>) -> Result<RuleOutcome, Corrupt>;

    /// Executes the request. Only the holder of a permit can call this.
    ///
    /// # Errors
    /// If the execution fails, or an internal error occurs.
    fn execute(self: Box<Self>, _: Granted, context: &mut Execution<'_>) -> Result<Executed, RequestError>;
}

/// The `result` of the wire: an object with one member, or none for votes.
pub struct Executed {
    /// Result as it is stored, and shown from then on.
    pub result: Box<RawValue>,
    /// Result as the answer to the proposer shows it once, if it differs.
    pub shown_once: Option<Box<RawValue>>,
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
    request: F::Kind,
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
    Ok(Box::new(Prepared::<F> { echo, request: version.into(), plan: None }))
}

fn schemas<F: Version>(generator: &mut SchemaGenerator) -> (Value, Value) {
    let outcome = generator.subschema_for::<<F::Kind as Kind>::Outcome>();
    (generator.subschema_for::<F>().to_value(), outcome.to_value())
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
        self.request.ballot()
    }

    fn has_secret(&self) -> bool {
        self.request.has_secret()
    }

    fn newcomer(&self) -> Option<UserId> {
        self.request.newcomer()
    }

    fn registrant(&self) -> Option<&Registrant> {
        self.request.registrant()
    }

    fn rules(&mut self, view: &View<'_>) -> Result<RuleOutcome, Corrupt> {
        let checked = self.request.rules(view);
        let checked = checked.and_then(|plan| Ok((self.request.facts(&plan, view)?, plan)));
        let (facts, error) = match checked {
            Ok((facts, plan)) => {
                self.plan = Some(plan);
                (facts, None)
            }
            Err(RequestError::Corrupt(corrupt)) => return Err(corrupt),
            Err(error) => (Facts::default(), Some(error)),
        };
        // Also if the rules fail: the decision then allows a change of the caller's own credentials, so that
        // they see the error.
        let own_credentials_of = self.request.own_credentials_of(view);
        Ok(RuleOutcome { facts: Facts { own_credentials_of, ..facts }, error })
    }

    fn execute(self: Box<Self>, _: Granted, context: &mut Execution<'_>) -> Result<Executed, RequestError> {
        let plan =
            self.plan.ok_or(Corrupt::Invariant("a request is executed before its rules are applied"))?;
        let mut outcome = self.request.execute(plan, context)?;
        let Some(name) = result_key::<F>() else {
            return Ok(Executed { result: empty_object(), shown_once: None });
        };
        let shown = member(&name, &outcome)?;
        if F::Kind::mask(&mut outcome) {
            return Ok(Executed { result: member(&name, &outcome)?, shown_once: Some(shown) });
        }
        Ok(Executed { result: shown, shown_once: None })
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
