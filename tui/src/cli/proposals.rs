//! `quorate propose`: proposes an activity of any type from its parameters.

use quorate_common::catalog::KindEntry;
use quorate_common::wire::WalletAccount;
use serde_json::{Map, Value};

use super::input::given;
use super::kinds;
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
    let Some(name) = &arguments.activity_type else { return Ok(kinds::list()) };
    let entry = forms::of_name(name).ok_or_else(|| usage(kinds::unknown(name)))?;
    if arguments.schema {
        return Ok(kinds::schema(entry));
    }
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
    for option in &arguments.set {
        let (path, text) = option.split_once('=').ok_or_else(|| usage("expected --set MEMBER=VALUE"))?;
        let member = path.rsplit('.').next().unwrap_or_default();
        if forms::is_secret(member) {
            return Err(usage(format!(
                "{} is secret: other users can read arguments; use --file -",
                clean(path)
            )));
        }
        set(&mut value, entry, path, text).map_err(|error| usage(clean(&error)))?;
    }
    Ok(value)
}

/// A step of a path such as `users[0].userName`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

/// Sets the text at a path of the parameters. An item of a list has its number, or is the next one; a text for a whole list
/// is appended.
///
/// # Errors
///
/// Returns why the path is not one of the type, or which item there is not.
fn set(into: &mut Value, entry: &'static KindEntry, path: &str, text: &str) -> Result<(), String> {
    let mut steps = Vec::new();
    // A form knows what each member takes; in an empty one, each item is the first.
    let mut first = String::new();
    for part in path.split('.') {
        let mut parts = part.split('[');
        let name = parts.next().unwrap_or_default();
        first.push_str(if first.is_empty() { "" } else { "." });
        first.push_str(name);
        steps.push(Step::Member(name));
        for item in parts {
            let number = item.strip_suffix(']').and_then(|number| number.parse().ok());
            steps.push(Step::Item(number.ok_or_else(|| format!("{path}: no such member"))?));
            first.push_str("[0]");
        }
    }
    let mut form = Form::new(entry);
    form.set(&first, text)
        .map_err(|error| if first == path { error } else { error.replacen(&first, path, 1) })?;
    insert(into, &steps, form.stated()).map_err(|error| format!("{path}: {error}"))
}

/// Inserts what a form states at a path.
fn insert(into: &mut Value, steps: &[Step<'_>], from: Value) -> Result<(), String> {
    let (step, rest) = match (steps.split_first(), from) {
        (None, Value::Array(items)) => {
            match into {
                Value::Array(known) => known.extend(items),
                other => *other = Value::Array(items),
            }
            return Ok(());
        }
        (None, value) => {
            *into = value;
            return Ok(());
        }
        (Some((step, rest)), from) => (*step, (rest, from)),
    };
    let (rest, mut from) = rest;
    match step {
        Step::Member(name) => {
            if !into.is_object() {
                *into = Value::Object(Map::new());
            }
            let inner = from.get_mut(name).map(Value::take).ok_or("no such member")?;
            let members = into.as_object_mut().ok_or("no such member")?;
            insert(members.entry(name).or_insert(Value::Null), rest, inner)
        }
        Step::Item(number) => {
            if !into.is_array() {
                *into = Value::Array(Vec::new());
            }
            let inner = from.get_mut(0).map(Value::take).ok_or("no such member")?;
            let items = into.as_array_mut().ok_or("no such member")?;
            let count = items.len();
            if number == count {
                items.push(Value::Null);
            }
            let missing =
                || format!("the list has {}; the next one is [{count}]", crate::kinds::count(count, "item"));
            insert(items.get_mut(number).ok_or_else(missing)?, rest, inner)
        }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_names_an_item_and_a_list_grows_by_one() {
        let entry = forms::of_name("create-user-tag").unwrap();
        let users = forms::of_name("create-users").unwrap();
        let mut value = json!({"userIds": ["a"]});
        set(&mut value, entry, "userIds", "b").unwrap();
        set(&mut value, entry, "userIds[0]", "c").unwrap();
        set(&mut value, entry, "userIds[2]", "d").unwrap();
        assert_eq!(value, json!({"userIds": ["c", "b", "d"]}));
        assert_eq!(
            set(&mut value, entry, "userIds[4]", "e").unwrap_err(),
            "userIds[4]: the list has 3 items; the next one is [3]"
        );
        assert_eq!(set(&mut value, entry, "userIds[x]", "e").unwrap_err(), "userIds[x]: no such member");
        assert_eq!(set(&mut value, entry, "users[3].x", "e").unwrap_err(), "users[3].x: no such member");
        let mut value = json!({"users": [{"userName": "ann", "apiKeys": [{"apiKeyName": "one"}]}]});
        set(&mut value, users, "users[0].userName", "bob").unwrap();
        set(&mut value, users, "users[0].apiKeys[1].apiKeyName", "two").unwrap();
        let keys = json!([{"apiKeyName": "one"}, {"apiKeyName": "two"}]);
        assert_eq!(value, json!({"users": [{"userName": "bob", "apiKeys": keys}]}));
    }
}
