//! Description of the deletion of an organization or a sub-organization.

use crate::kinds::prelude::*;

/// Maximum number of names of keys without a copy; further ones are counted.
const MAX_NAMES: usize = 5;

/// Describes the deletion of an organization with everything in it. With `requires_export`, the daemon
/// refuses to delete an organization with keys that were never exported.
pub(super) fn describe(noun: &str, requires_export: bool, context: &ReviewContext<'_>) -> Description {
    let organization = context.organization;
    let name = &organization.head.organization_name;
    let held = [
        ("user", organization.users.len()),
        ("wallet", organization.wallets.len()),
        ("private key", organization.private_keys.len()),
    ];
    let contents = listed(held.map(|(noun, number)| count(number, noun)));
    let mut description = Description::new(
        format!("{}: {contents}", quoted(name)),
        format!(
            "Delete the {noun} {} ({}) with everything in it: {contents}, and all its policies, tags and \
             settings. It accepts no requests afterwards. This cannot be undone.",
            quoted(name),
            organization.head.organization_id
        ),
    );
    for (noun, number) in held {
        description.change(&format!("{noun}s"), number.to_string(), "0");
    }
    let text = "Everybody in it loses access. Everything that its keys control, funds included, is lost \
        unless copies exist.";
    description.flag_high("organization-deleted", text);
    flag_missing_copies(requires_export, context, &mut description);
    description.danger(&format!("the NAME of the {noun} that is deleted"), &clean(name));
    description
}

fn flag_missing_copies(requires_export: bool, context: &ReviewContext<'_>, description: &mut Description) {
    let organization = context.organization;
    let wallets = organization.wallets.iter().filter(|wallet| !wallet.exported);
    let keys = organization.private_keys.iter().filter(|key| !key.exported);
    let names: Vec<String> = wallets
        .map(|wallet| format!("wallet {}", stated(&wallet.wallet_name)))
        .chain(keys.map(|key| format!("private key {}", stated(&key.private_key_name))))
        .collect();
    if names.is_empty() {
        return;
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let list = format!("{}{more}", listed(names.into_iter().take(MAX_NAMES)));
    if requires_export {
        let text = format!("The daemon refuses this while there are keys that were never exported: {list}.");
        description.flag_medium("not-exported", text);
    } else {
        description.flag_high(
            "no-copy",
            format!("Keys may be lost for good, because they were never exported: {list}."),
        );
    }
}
