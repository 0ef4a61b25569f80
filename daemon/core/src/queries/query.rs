//! The trait of a query, and its row in the table of queries.

use quorate_common::catalog::{Cost, QueryEntry};
use quorate_common::ids::OrganizationId;
use quorate_common::json::Document;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::{Corrupt, RequestError};
use crate::model::{Millis, Organization};
use crate::view::Caller;
use crate::view::CredentialScope;
use crate::world::World;

/// The context of a query.
pub(crate) struct QueryContext<'a> {
    pub(super) world: &'a dyn World,
    pub(super) organization: &'a Organization,
    pub(super) caller: &'a Caller,
    pub(super) now: Millis,
}

impl QueryContext<'_> {
    pub(super) fn id(&self) -> OrganizationId {
        self.organization.id()
    }
}

/// A query: the members of its body beside `organizationId`, and how it is answered.
pub(super) trait Query: DeserializeOwned + JsonSchema + 'static {
    /// Cost of the answer. What is not known to be small runs on a reader thread.
    const COST: Cost = Cost::Large;
    /// Where the credential of the caller is searched.
    const SCOPE: CredentialScope = CredentialScope::OrganizationAndParent;
    /// Whether an attested stamp authenticates the query.
    const ATTESTED: bool = false;
    /// Whether the body states until when the query is answered.
    const EXPIRES: bool = false;
    /// Value of the member, or the whole answer.
    type Answer: Answer;

    /// Answers the query.
    ///
    /// # Errors
    /// If the query breaks a rule, names something that does not exist, or the store cannot be read.
    fn answer(self, context: &QueryContext<'_>) -> Result<Self::Answer, RequestError>;
}

/// An answer: a value, or a body that is rendered already.
pub(super) trait Answer: JsonSchema {
    /// Returns the body: an object with this member, or without a name the answer itself.
    ///
    /// # Errors
    /// If the answer cannot be serialized.
    fn body(self, member: &str) -> Result<Vec<u8>, Corrupt>;
}

impl<T: Serialize + JsonSchema> Answer for T {
    fn body(self, member: &str) -> Result<Vec<u8>, Corrupt> {
        let json = serde_json::to_string(&self);
        let json = json.map_err(|_| Corrupt::Invariant("an answer cannot be serialized"))?;
        Ok(if member.is_empty() { json } else { format!("{{\"{member}\":{json}}}") }.into_bytes())
    }
}

/// A row of the table of queries: constants and plain functions.
pub struct Entry {
    /// Last segment of the path.
    pub name: &'static str,
    /// Name of the only member of the answer; empty if the answer has several.
    member: &'static str,
    /// Cost of the answer.
    pub cost: Cost,
    pub(super) scope: CredentialScope,
    pub(super) attested: bool,
    pub(super) expires: bool,
    pub(super) answer: fn(&Entry, &QueryContext<'_>, &Document) -> Result<Vec<u8>, RequestError>,
    describe: fn(&Entry) -> QueryEntry,
}

/// Returns the row of a query: the last segment of its path, the only member of its answer, or an empty text if
/// the answer has several, and what its type states.
pub(super) const fn entry<Q: Query>(name: &'static str, member: &'static str) -> Entry {
    Entry {
        name,
        member,
        cost: Q::COST,
        scope: Q::SCOPE,
        attested: Q::ATTESTED,
        expires: Q::EXPIRES,
        answer: answer::<Q>,
        describe: describe::<Q>,
    }
}

impl Entry {
    /// Returns the URL path.
    pub fn path(&self) -> String {
        format!("/public/v1/query/{}", self.name)
    }

    /// Describes the query as data, with the JSON schemas of its body and its answer.
    pub fn describe(&self) -> QueryEntry {
        (self.describe)(self)
    }
}

fn answer<Q: Query>(
    entry: &Entry,
    context: &QueryContext<'_>,
    document: &Document,
) -> Result<Vec<u8>, RequestError> {
    let query: Q = document.typed()?;
    Ok(query.answer(context)?.body(entry.member)?)
}

fn describe<Q: Query>(entry: &Entry) -> QueryEntry {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut generator = settings.clone().into_generator();
    let organization = generator.subschema_for::<OrganizationId>().to_value();
    let query = generator.subschema_for::<Q>();
    let mut members = query.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    members.insert("organizationId".to_owned(), organization);
    let mut required = query.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    required.push("organizationId".into());
    // A member of an answer is required if it is always present.
    let mut answer = settings.for_serialize().into_generator().subschema_for::<Q::Answer>().to_value();
    let member = entry.member;
    if !member.is_empty() {
        answer = json!({"type": "object", "properties": {member: answer}, "required": [member]});
    }
    QueryEntry {
        name: entry.name.to_owned(),
        path: entry.path(),
        description: query.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        cost: entry.cost,
        request: json!({"type": "object", "properties": members, "required": required}),
        answer,
    }
}

/// Returns records in the wire form, in the order of their creation.
pub(super) fn oldest_first<T, K: Ord, W>(
    records: impl Iterator<Item = T>,
    created: impl Fn(&T) -> K,
    wire: impl Fn(T) -> W,
) -> Vec<W> {
    let mut records: Vec<T> = records.collect();
    records.sort_by_key(created);
    records.into_iter().map(wire).collect()
}
