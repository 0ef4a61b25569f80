//! `quorate propose`: proposes an activity of any type from its parameters.

use quorate_common::catalog::KindEntry;
use quorate_common::wire::WalletAccount;
use serde_json::{Map, Value};

use super::input::given;
use super::loaded::LoadedOrganization;
use super::policy_arguments::ProposalArguments;
use super::propose::propose;
use crate::book::Book;
use crate::failure::{Exit, Failure, Result};
use crate::forms::{self, Form, Known};
use crate::output::Answer;
use crate::session::Session;
use crate::text::clean;

/// Maximum size of a file with parameters, in bytes.
const INPUT_LIMIT: u64 = 4 * 1024 * 1024;
/// Maximum number of accounts that are read for their names.
const ACCOUNT_LIMIT: usize = 1_000;

fn usage(text: impl Into<String>) -> Failure {
    Failure::new(Exit::Usage, text)
}

pub(super) async fn run(
    session: impl FnOnce() -> Result<Session>,
    arguments: &ProposalArguments,
) -> Result<Answer> {
    let name = &arguments.activity_type;
    let unknown =
        || usage(format!("type {} not found: see the catalog of activities in the manual", clean(name)));
    let entry = forms::of_name(name).ok_or_else(unknown)?;
    if let Some(why) = forms::unavailable(entry) {
        return Err(usage(format!("{} cannot be proposed here: {why}", entry.activity_type)));
    }
    let given = parameters(entry, arguments)?;
    let session = session()?;
    let loaded = LoadedOrganization::read(&session).await?;
    let (accounts, has_more_accounts) = accounts(&session, &loaded, entry, &given).await?;
    let book = Book::load(&session.folders.book())?;
    let known =
        Known { organization: &loaded.organization, accounts: &accounts, has_more_accounts, book: &book };
    let parameters =
        forms::resolved(&given, "", &entry.parameters, &known).map_err(|error| usage(clean(&error)))?;
    let form = Form::new(entry);
    let problems: Vec<String> = form.problems_of(&parameters).iter().map(line).collect();
    if !problems.is_empty() {
        return Err(Failure::lines(Exit::Usage, &format!("invalid parameters:\n{}", problems.join("\n"))));
    }
    propose(&session, &loaded, &form.request(parameters), &arguments.how).await
}

/// Returns the line about a problem: the path of the member as the API writes it, and what is wrong.
fn line((pointer, words): &(String, String)) -> String {
    let steps = pointer.split('/').skip(1).map(|step| match step.parse::<usize>() {
        Ok(index) => format!("[{index}]"),
        Err(_) => format!(".{}", clean(step)),
    });
    format!("parameters{}: {words}", steps.collect::<String>())
}

/// Returns the parameters of the file, with the members of the options.
fn parameters(entry: &'static KindEntry, arguments: &ProposalArguments) -> Result<Value> {
    let mut value = Value::Object(Map::new());
    if let Some(file) = &arguments.file {
        let invalid = |why: &str| usage(format!("the file contains no parameters: {}", clean(why)));
        value = quorate_common::json::parse(&given(file, INPUT_LIMIT)?)
            .map_err(|error| invalid(&error.to_string()))?;
        if !value.is_object() {
            return Err(invalid("expected a JSON object"));
        }
    }
    let mut form = Form::new(entry);
    for option in &arguments.set {
        let (path, text) = option.split_once('=').ok_or_else(|| usage("expected --set MEMBER=VALUE"))?;
        let member = path.rsplit('.').next().unwrap_or_default();
        if forms::is_secret(member) {
            return Err(usage(format!(
                "{} is secret: other users can read arguments; use --file -",
                clean(path)
            )));
        }
        form.set(path, text).map_err(|error| usage(clean(&error)))?;
    }
    merge(&mut value, form.stated());
    Ok(value)
}

/// Adds members to an object. Lists are appended.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                match into.get_mut(&name) {
                    Some(known) => merge(known, value),
                    None => drop(into.insert(name, value)),
                }
            }
        }
        (Value::Array(into), Value::Array(from)) => into.extend(from),
        (into, from) => *into = from,
    }
}

/// Returns the accounts of all wallets, if the parameters can name one, and whether there are more.
async fn accounts(
    session: &Session,
    loaded: &LoadedOrganization,
    entry: &KindEntry,
    parameters: &Value,
) -> Result<(Vec<WalletAccount>, bool)> {
    let mut accounts = Vec::new();
    if !names_accounts(parameters, "", &entry.parameters) {
        return Ok((accounts, false));
    }
    for wallet in &loaded.organization.wallets {
        let mut after = None;
        loop {
            if accounts.len() >= ACCOUNT_LIMIT {
                return Ok((accounts, true));
            }
            let page = session.client.accounts(loaded.id, wallet.wallet_id, after).await?;
            accounts.extend(page.accounts);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    Ok((accounts, false))
}

/// Returns whether a member that takes an account is stated.
fn names_accounts(value: &Value, member: &str, schema: &Value) -> bool {
    let inner = |name: &str| schema.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
    match value {
        Value::Object(members) => {
            members.iter().any(|(name, value)| names_accounts(value, name, inner(name)))
        }
        Value::Array(items) => {
            let schema = schema.get("items").unwrap_or(&Value::Null);
            items.iter().any(|item| names_accounts(item, member, schema))
        }
        _ => Known::needs_accounts(member, schema),
    }
}
