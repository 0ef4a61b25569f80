//! Describes what each kind of activity does, from the bytes that the proposer signed, and how the records of
//! an organization are shown. There is one folder per noun and one file per kind; a noun of one kind may be one
//! file. To add a kind, add its file, and two lines to the `mod.rs` of its noun. Nothing in this module reads the
//! daemon's rendering, a clock, a file or the network.

use std::collections::HashMap;
use std::sync::LazyLock;

use quorate_common::catalog::KindEntry;
use quorate_common::console::OrganizationDetail;
use quorate_common::wire::{
    Invitation, Policy, PrivateKey, SessionProfile, SmartContractInterface, Tag, User, Wallet,
    WebhookEndpoint,
};
use quorate_policy::request::kind_of;
use serde_json::Value;

use crate::catalog;

mod auth_proxy;
mod billing;
mod credentials;
mod description;
mod invitations;
mod ip_allowlists;
mod masking;
mod mfa_policies;
mod oauth2;
mod one_time_codes;
mod organizations;
mod policies;
mod prelude;
mod private_keys;
mod reader;
mod recovery;
mod review_context;
mod schema;
mod secrets;
mod section;
mod session_profiles;
mod sessions;
mod shared;
mod signing;
mod smart_contract_interfaces;
mod tags;
mod transfer;
mod users;
mod votes;
mod wallets;
mod webhook_endpoints;

pub(crate) use description::{Change, Danger, Description, Field, Flag, Level};
pub(crate) use masking::{masked_intent, masked_request};
pub(crate) use mfa_policies::step_words;
pub(crate) use reader::{Reader, Result};
pub(crate) use review_context::{ReviewContext, account_text, count, stated};
pub(crate) use schema::leaves;
use section::lines;
pub(crate) use section::{Item, Row, Section, SectionData};
pub(crate) use transfer::{Amount, OtherOwner, Payment, Right, Sent, Transfer, digits};

/// The kinds of all nouns.
const KINDS: &[&[Kind]] = &[
    auth_proxy::KINDS,
    billing::KINDS,
    credentials::KINDS,
    invitations::KINDS,
    ip_allowlists::KINDS,
    mfa_policies::KINDS,
    oauth2::KINDS,
    one_time_codes::KINDS,
    organizations::KINDS,
    policies::KINDS,
    private_keys::KINDS,
    recovery::KINDS,
    secrets::KINDS,
    session_profiles::KINDS,
    sessions::KINDS,
    signing::KINDS,
    smart_contract_interfaces::KINDS,
    tags::KINDS,
    users::KINDS,
    votes::KINDS,
    wallets::KINDS,
    webhook_endpoints::KINDS,
];

/// The sections of an organization, in the order of the tabs.
pub(crate) const SECTIONS: &[Section] = &[
    Section::of::<User>("Users"),
    Section::of::<Wallet>("Wallets"),
    Section::of::<PrivateKey>("Keys"),
    organizations::quorum::SECTION,
    Section::of::<Policy>("Policies"),
    Section::of::<Tag>("Tags"),
    Section::of::<Invitation>("Invitations"),
    Section::of::<WebhookEndpoint>("Webhooks"),
    Section::of::<SessionProfile>("Profiles"),
    Section::of::<SmartContractInterface>("Contracts"),
    organizations::settings::SECTION,
];

/// The functions that return the lines of `quorate org get`, in their order.
pub(crate) const LINES: &[fn(&OrganizationDetail) -> Vec<Row>] = &[
    lines::<User>,
    lines::<Invitation>,
    lines::<Wallet>,
    lines::<PrivateKey>,
    secrets::lines,
    lines::<Policy>,
    lines::<Tag>,
    lines::<WebhookEndpoint>,
    lines::<SessionProfile>,
    lines::<SmartContractInterface>,
    oauth2::lines,
    organizations::settings::lines,
];

static BY_OPERATION: LazyLock<HashMap<&str, &Kind>> =
    LazyLock::new(|| KINDS.iter().copied().flatten().map(|kind| (kind.operation, kind)).collect());

/// Returns what is shown in place of a text, or `None` to show it unchanged.
type Replacement = fn(&str) -> Option<String>;

/// One kind of activity in all its versions.
pub(crate) struct Kind {
    /// Activity type without prefix and version, such as `CREATE_POLICY`.
    operation: &'static str,
    /// Name of the kind for people, such as `Create policy`.
    pub(crate) title: &'static str,
    /// Describes what the parameters do to the organization. Fails if a required member is absent or has the
    /// wrong type.
    describe: fn(&Reader<'_>, &ReviewContext<'_>) -> Result<Description>,
    /// String members that are too long to read or must not be shown, each with its replacement.
    /// `list[].member` is a member of the objects in a list.
    abridged: &'static [(&'static str, Replacement)],
    /// Whether these members are only too long, and may be exported.
    is_abridged_for_length: bool,
    /// The types that the daemon does not store as they were signed, with a phrase that names what it hides. Nobody
    /// can verify such activities afterwards.
    hidden: Option<(&'static [&'static str], &'static str)>,
}

impl Kind {
    /// Creates a kind whose members are all stored and shown.
    const fn new(
        operation: &'static str,
        title: &'static str,
        describe: fn(&Reader<'_>, &ReviewContext<'_>) -> Result<Description>,
    ) -> Self {
        Self { operation, title, describe, abridged: &[], is_abridged_for_length: false, hidden: None }
    }
}

/// Returns the kind of an activity type, and its entry in the catalog.
pub(crate) fn of_type(activity_type: &str) -> Option<(&'static Kind, &'static KindEntry)> {
    Some((*BY_OPERATION.get(kind_of(activity_type))?, catalog::of_type(activity_type)?))
}

/// Returns a phrase that names what the daemon does not store as it was signed for this type, see
/// [`Kind::hidden`].
pub(crate) fn hidden(activity_type: &str) -> Option<&'static str> {
    let (types, phrase) = of_type(activity_type)?.0.hidden?;
    types.contains(&activity_type).then_some(phrase)
}

/// The decoded parameters of an activity of any type.
pub(crate) struct Decoded {
    /// Name of the kind for people.
    pub(crate) title: String,
    /// Member of `intent`, for a known type.
    pub(crate) intent: Option<&'static str>,
    pub(crate) description: Description,
    /// All leaves of the parameters.
    pub(crate) fields: Vec<Field>,
    /// Members whose values are replaced among the fields.
    pub(crate) abridged: Vec<String>,
    /// Paths that the type does not define.
    pub(crate) unknown_members: Vec<String>,
    /// Why the parameters could not be decoded, if so.
    pub(crate) undecoded: Option<String>,
}

/// Decodes parameters and describes their effect. Never fails: parameters that cannot be decoded are marked
/// as undecoded and shown in full.
pub(crate) fn decode(activity_type: &str, parameters: &Value, context: &ReviewContext<'_>) -> Decoded {
    let mut fields = leaves(parameters);
    let Some((kind, entry)) = of_type(activity_type) else {
        let reason = format!("this console does not know the type {}", crate::text::clean(activity_type));
        return undecoded(None, fields, reason);
    };
    // The daemon ignores members that a version does not define, so the description must not use them.
    let read = schema::pruned(parameters, &entry.parameters);
    match (kind.describe)(&Reader::new(&read), context) {
        Ok(description) => Decoded {
            title: kind.title.to_owned(),
            intent: Some(&entry.intent),
            description,
            abridged: abridge(kind, &read, &mut fields),
            fields,
            unknown_members: schema::unknown_members(parameters, &entry.parameters),
            undecoded: None,
        },
        Err(error) => undecoded(Some(&entry.intent), fields, error.to_string()),
    }
}

/// Returns what a transaction moves, from the parameters of a request to sign it. Returns `None` for any other
/// request, and for bytes that cannot be decoded.
pub(crate) fn transfer(
    activity_type: &str,
    parameters: &Value,
    context: &ReviewContext<'_>,
) -> Option<Transfer> {
    let (kind, entry) = of_type(activity_type)?;
    if !signing::signs_transaction(kind) {
        return None;
    }
    signing::transfer(&Reader::new(&schema::pruned(parameters, &entry.parameters)), context)
}

/// Replaces the values of abridged members among the fields, and returns the names of these members.
fn abridge(kind: &Kind, parameters: &Value, fields: &mut [Field]) -> Vec<String> {
    let mut abridged = Vec::new();
    for (member, replacement) in kind.abridged {
        for (path, text) in texts(parameters, member) {
            let field = fields.iter_mut().find(|field| field.name == path);
            if let (Some(shown), Some(field)) = (replacement(text), field) {
                field.value = shown;
                abridged.push((*member).to_owned());
            }
        }
    }
    abridged.dedup();
    abridged
}

/// Returns the strings of a member, which may be `list[].member`, each with its path.
fn texts<'p>(parameters: &'p Value, member: &str) -> Vec<(String, &'p str)> {
    let Some((list, inside)) = member.split_once("[].") else {
        let text = parameters.get(member).and_then(Value::as_str);
        return text.map(|text| (member.to_owned(), text)).into_iter().collect();
    };
    let items = parameters.get(list).and_then(Value::as_array).into_iter().flatten().enumerate();
    items
        .filter_map(|(index, item)| Some((format!("{list}[{index}].{inside}"), item.get(inside)?.as_str()?)))
        .collect()
}

/// Returns the result for bytes that cannot be decoded, for this reason.
pub(crate) fn undecoded(intent: Option<&'static str>, fields: Vec<Field>, reason: String) -> Decoded {
    let mut description = Description::new(
        "UNDECODED",
        format!("UNDECODED: {reason}. Its effect is unknown; the signed parameters are shown in full below."),
    );
    description.flag_with_word(
        "undecoded",
        format!("It may do anything, because it cannot be decoded here: {reason}."),
        "UNDECODED",
    );
    Decoded {
        title: "UNDECODED".to_owned(),
        intent,
        description,
        fields,
        abridged: Vec::new(),
        unknown_members: Vec::new(),
        undecoded: Some(reason),
    }
}

#[cfg(test)]
mod tests;
