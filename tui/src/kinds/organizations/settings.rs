//! The settings section: features, IP allowlists with their blocks, the authentication proxy, payment data and the quorum
//! key.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::{Feature, IpAllowlist, IpAllowlistRule, PaymentMethod};

use crate::kinds::ReviewContext;
use crate::kinds::section::{Item, Row, Section, SectionData};
use crate::text::{clean, cut, date_time, quoted};

pub(in crate::kinds) const SECTION: Section = Section { name: "Settings", count, items };

fn count(detail: &OrganizationDetail) -> usize {
    let lists = detail.ip_allowlists.iter().map(|list| list.rules.len().saturating_add(1));
    let paid = usize::from(detail.payment_method.is_some());
    let tier = usize::from(detail.billing_tier.is_some());
    let proxy = usize::from(detail.auth_proxy_user_id.is_some());
    // The quorum key is always listed.
    lists
        .fold(detail.features.len(), usize::saturating_add)
        .saturating_add(paid)
        .saturating_add(tier)
        .saturating_add(proxy)
        .saturating_add(1)
}

fn items(data: &SectionData<'_>) -> Vec<Item> {
    let detail = data.detail;
    let mut items: Vec<Item> = detail.features.iter().map(feature).collect();
    let own = detail.ip_allowlists.iter().find(|list| list.public_key.is_none());
    let on = own.is_some_and(|list| list.enabled == Some(true));
    for list in &detail.ip_allowlists {
        items.push(allowlist(detail, list, on));
        items.extend(list.rules.iter().map(|rule| block(detail, list, rule)));
    }
    items.extend(proxy(detail));
    items.extend(detail.payment_method.as_ref().map(payment));
    items.extend(detail.billing_tier.as_deref().map(tier));
    items.push(quorum_key(data.quorum_key));
    items
}

/// Returns the daemon's key. It is the same for all organizations of the daemon.
fn quorum_key(key: &str) -> Item {
    let key = clean(key);
    let short = cut(&key, 16);
    let lines = vec![
        "signs the export bundles and import keys of all organizations".to_owned(),
        format!("key       {key}"),
    ];
    Item::new("Quorum key", format!("bundles   signed by the quorum key {short}"), lines)
}

fn feature(feature: &Feature) -> Item {
    let value = feature.value.as_deref().map_or_else(|| "on".to_owned(), clean);
    Item::new("Feature", format!("feature   {} {value}", clean(&feature.name)), vec![value])
}

/// Returns whom the list applies to.
fn whose(detail: &OrganizationDetail, list: &IpAllowlist) -> String {
    let context = ReviewContext::of(detail);
    list.public_key
        .as_deref()
        .map_or_else(|| "all users of this organization".to_owned(), |key| context.key_named(key))
}

fn allowlist(detail: &OrganizationDetail, list: &IpAllowlist, on: bool) -> Item {
    let context = ReviewContext::of(detail);
    let who = match list.public_key.as_deref().map(|key| (key, context.key_holder(key))) {
        None => "all users".to_owned(),
        Some((_, Some((user, key)))) => {
            format!("{} of {}", quoted(&key.api_key_name), clean(&user.user_name))
        }
        Some((key, None)) => clean(key),
    };
    let state = match (list.enabled, list.rules.len(), on) {
        (Some(false), _, _) => "off: no allowlist is enforced",
        (Some(true), 0, _) => "on, without blocks: all requests are denied [!]",
        (Some(true), _, _) => "on",
        (None, 0, _) => "without blocks: the list for all users applies",
        (None, _, false) => "applies once the list for all users is on",
        (None, _, true) => "applies instead of the list for all users",
    };
    let unknown = if list.on_evaluation_error == "ALLOW" { "[!] ALLOWED" } else { "denied" };
    let lines = vec![
        format!("addresses from which requests of {} are accepted", whose(detail, list)),
        format!("state     {state}"),
        format!("unknown   a request whose address is not known is {unknown}"),
    ];
    Item::new("IP allowlist", format!("addresses {who}: {state}"), lines)
}

fn block(detail: &OrganizationDetail, list: &IpAllowlist, rule: &IpAllowlistRule) -> Item {
    let label = rule.label.as_deref().map_or_else(String::new, |label| format!(" {}", quoted(label)));
    let row = format!("  block   {}{label}", clean(&rule.cidr));
    let added = rule.created_at.parse().map_or_else(|_| "?".to_owned(), date_time);
    let lines = vec![format!("list      {}", whose(detail, list)), format!("added     {added}")];
    Item::new("Address block", row, lines)
}

/// Returns the user of the authentication proxy, if it is enabled.
fn proxy(detail: &OrganizationDetail) -> Option<Item> {
    let user = detail.auth_proxy_user_id?.to_string();
    let name = ReviewContext::of(detail).user_named(&user);
    let lines = vec![
        format!("user      {name}"),
        "Clients without a credential sign up and sign in in the name of this user, whose API key the daemon holds.".to_owned(),
        "Anyone who can reach the proxy can do what the policies allow this user.".to_owned(),
    ];
    Some(Item::new("Authentication proxy", format!("proxy     requests in the name of {name}"), lines))
}

fn payment(method: &PaymentMethod) -> Item {
    let card = if method.last_four.is_empty() {
        quoted(&method.payment_method_id)
    } else {
        format!("a card ending in {}", clean(&method.last_four))
    };
    let lines = vec![
        format!("id        {}", clean(&method.payment_method_id)),
        format!("holder    {} {}", quoted(&method.card_holder_name), clean(&method.card_holder_email)),
        "Nothing is ever charged.".to_owned(),
    ];
    let row = format!("payment   {card} of {}", quoted(&method.card_holder_name));
    Item::new("Payment method", row, lines)
}

fn tier(product: &str) -> Item {
    let lines = vec!["Nothing is ever charged, and nothing depends on it.".to_owned()];
    Item::new("Billing tier", format!("tier      {}", clean(product)), lines)
}

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let mut lines = Vec::new();
    for feature in &organization.features {
        let value = feature.value.as_deref().map_or_else(|| "on".to_owned(), clean);
        lines.push(("feature", format!("{} {value}", clean(&feature.name))));
    }
    let context = ReviewContext::of(organization);
    for list in &organization.ip_allowlists {
        let whose =
            list.public_key.as_deref().map_or_else(|| "all users".to_owned(), |key| context.key_named(key));
        let state = if list.enabled == Some(false) { "off" } else { "on" };
        let blocks: Vec<String> = list.rules.iter().map(|rule| clean(&rule.cidr)).collect();
        let blocks = if blocks.is_empty() { "no blocks".to_owned() } else { blocks.join(", ") };
        let unknown =
            if list.on_evaluation_error == "ALLOW" { "; unknown addresses are allowed" } else { "" };
        let state = if list.public_key.is_some() { String::new() } else { format!("{state}, ") };
        lines.push(("addresses", format!("{whose}: {state}{blocks}{unknown}")));
    }
    let proxy = organization.auth_proxy_user_id.map(|user| context.user_named(&user.to_string()));
    lines.extend(proxy.map(|name| ("proxy", format!("authentication, in the name of {name}"))));
    if let Some(method) = &organization.payment_method {
        let card = if method.last_four.is_empty() {
            String::new()
        } else {
            format!(" a card ending in {}", clean(&method.last_four))
        };
        let description =
            format!("{}{card} of {}", clean(&method.payment_method_id), quoted(&method.card_holder_name));
        lines.push(("payment", description));
    }
    lines.extend(organization.billing_tier.as_deref().map(|product| ("tier", clean(product))));
    lines
}
