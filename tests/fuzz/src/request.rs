//! Parses cases of policy evaluation: expressions, then a request in JSON. Parsing never fails, so a damaged
//! case is still a case.

use quorate_policy::decide::{Approver, Credential, Effect, Electorate, Proposer};
use quorate_policy::{Integer, Timestamp, Value};
use serde_json::Value as Json;

/// Separator of the parts of a case, on a line of its own.
const SEPARATOR: &str = "\n---\n";
/// Maximum number of values of one case, so that a short text cannot create more values than a large request.
const VALUE_LIMIT: usize = 20_000;
/// Maximum number of bytes of repeated text in one case.
const REPEATED_LIMIT_BYTES: usize = 512 * 1024;

/// A policy, a request, and its electorate.
pub(crate) struct Case<'t> {
    /// Condition, consensus and time; an empty part is an absent expression.
    pub(crate) expressions: [&'t str; 3],
    pub(crate) effect: Effect,
    pub(crate) facts: Value,
    pub(crate) votes: Votes,
}

/// The proposer, the users who voted, and the users who could vote.
pub(crate) struct Votes {
    proposer: String,
    is_root: bool,
    approvers: Vec<Approver>,
    candidates: Vec<Approver>,
}

impl<'t> Case<'t> {
    /// Parses a case. The last of several parts is the request: `effect`, `facts`, and `votes` as in
    /// `assets/vectors/policy/`.
    pub(crate) fn parse(text: &'t str) -> Self {
        let (expressions, request) = text.rsplit_once(SEPARATOR).unwrap_or((text, ""));
        let mut parts = expressions.split(SEPARATOR);
        let mut next = || parts.next().unwrap_or_default();
        let expressions = [next(), next(), next()];
        let request: Json = serde_json::from_str(request).unwrap_or_default();
        let member = |name: &str| request.get(name).unwrap_or(&Json::Null);
        let effect = if member("effect") == "DENY" { Effect::Deny } else { Effect::Allow };
        let facts = match member("facts") {
            Json::Null => Value::Struct(Vec::new()),
            given => Builder { values_left: VALUE_LIMIT, bytes_left: REPEATED_LIMIT_BYTES }.value(given),
        };
        Self { expressions, effect, facts, votes: Votes::parse(member("votes")) }
    }
}

impl Votes {
    fn parse(json: &Json) -> Self {
        Self {
            proposer: text(json, "proposer"),
            is_root: json.get("root").and_then(Json::as_bool).unwrap_or_default(),
            approvers: list(json, "approvers").iter().map(approver).collect(),
            candidates: list(json, "candidates").iter().map(approver).collect(),
        }
    }

    pub(crate) fn electorate(&self) -> Electorate<'_> {
        let proposer = Proposer { user_id: self.proposer.clone(), is_root: self.is_root };
        Electorate::new(proposer, self.approvers.clone(), || self.candidates.clone())
    }

    /// Returns the ids of all named users, and an unknown id.
    pub(crate) fn user_ids(&self) -> impl Iterator<Item = &str> {
        let voters = self.approvers.iter().chain(&self.candidates).map(|voter| voter.user_id.as_str());
        voters.chain([self.proposer.as_str(), "nobody at all"])
    }

    /// Returns whether a user voted or could vote.
    pub(crate) fn knows(&self, user_id: &str) -> bool {
        self.approvers.iter().chain(&self.candidates).any(|voter| voter.user_id == user_id)
    }
}

fn list<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    json.get(name).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text(json: &Json, name: &str) -> String {
    json.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
}

fn approver(json: &Json) -> Approver {
    let user_id = text(json, "id");
    let credentials = list(json, "credentials").iter().map(|credential| Credential {
        id: text(credential, "id"),
        user_id: user_id.clone(),
        credential_type: text(credential, "type"),
        credential_id: credential.get("credential_id").and_then(Json::as_str).map(str::to_owned),
        public_key: text(credential, "public_key"),
    });
    let credentials = credentials.collect();
    let tags = list(json, "tags").iter().filter_map(Json::as_str).map(str::to_owned).collect();
    Approver { tags, email: text(json, "email"), alias: text(json, "alias"), user_id, credentials }
}

/// Builds values from JSON in the notation of `assets/vectors/policy/contexts.md`, with an additional
/// `$times`.
///
/// `$times` repeats a value as a list, or a string as one string.
struct Builder {
    values_left: usize,
    bytes_left: usize,
}

impl Builder {
    /// Builds a value. Anything invalid, or beyond the limits, becomes [`Value::Unreadable`].
    fn value(&mut self, json: &Json) -> Value {
        let Some(left) = self.values_left.checked_sub(1) else {
            return Value::Unreadable;
        };
        self.values_left = left;
        match json {
            Json::Null => Value::Unreadable,
            Json::Bool(truth) => Value::from(*truth),
            Json::Number(number) => integer(&number.to_string()).map_or(Value::Unreadable, Value::int),
            Json::String(text) => Value::text(text.clone()),
            Json::Array(elements) => elements.iter().map(|element| self.value(element)).collect(),
            Json::Object(members) => match members.iter().next() {
                Some((name, inner)) if name.starts_with('$') => self.special(name, inner),
                _ => Value::record(members.iter().map(|(name, member)| (name.clone(), self.value(member)))),
            },
        }
    }

    fn special(&mut self, name: &str, inner: &Json) -> Value {
        let text = inner.as_str().unwrap_or_default();
        match name {
            "$folded" => Value::folded(text.to_owned()),
            "$int" => integer(text).map_or(Value::Unreadable, Value::int),
            "$uint" => integer(text).map_or(Value::Unreadable, Value::uint),
            "$timestamp" => Timestamp::parse(text).map_or(Value::Unreadable, Value::from),
            "$map" => {
                let entries = inner.as_object().into_iter().flatten();
                Value::map(entries.map(|(key, entry)| (key.clone(), self.value(entry))))
            }
            "$times" => self.repeated(inner),
            _ => Value::Unreadable,
        }
    }

    fn repeated(&mut self, inner: &Json) -> Value {
        let Some([count, json]) = inner.as_array().map(Vec::as_slice) else {
            return Value::Unreadable;
        };
        let count = count.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        match json {
            Json::String(text) => {
                let bytes = count.saturating_mul(text.len());
                let Some(left) = self.bytes_left.checked_sub(bytes) else {
                    return Value::Unreadable;
                };
                self.bytes_left = left;
                Value::text(text.repeat(count))
            }
            other => (0..count.min(VALUE_LIMIT)).map(|_| self.value(other)).collect(),
        }
    }
}

fn integer(text: &str) -> Option<Integer> {
    Integer::from_decimal(text)
}
