//! What is told of an organization that goes.

use super::scene::{Scene, count, listed, stated};
use super::{Level, Story};
use crate::text::{clean, quoted};

/// Names that are told of what goes without a copy; the rest is counted.
const TOLD: usize = 5;

/// The story of an organization that goes with everything in it; `spared` is what keeps an organization whose
/// keys never left by export.
pub(super) fn ended(noun: &str, spared: bool, scene: &Scene<'_>) -> Story {
    let organization = scene.organization;
    let name = &organization.head.organization_name;
    let held = [
        ("user", organization.users.len()),
        ("wallet", organization.wallets.len()),
        ("private key", organization.private_keys.len()),
    ];
    let told = listed(held.map(|(noun, number)| count(number, noun)));
    let mut story = Story::new(
        format!("{}: {told}", quoted(name)),
        format!(
            "Delete the {noun} {} ({}) with everything in it: {told}, and all its policies, tags and settings. It takes \
             no request afterwards. It cannot be undone.",
            quoted(name),
            organization.head.organization_id
        ),
    );
    for (noun, number) in held {
        story.change(&format!("{noun}s"), number.to_string(), "0", "");
    }
    let text =
        "everybody in it loses access, and what its keys hold or sign for is out of reach without a copy";
    story.flag(Level::High, "organization-deleted", text);
    without_copy(spared, scene, &mut story);
    story.danger(&format!("the NAME of the {noun} that is deleted"), &clean(name));
    story
}

fn without_copy(spared: bool, scene: &Scene<'_>, story: &mut Story) {
    let organization = scene.organization;
    let wallets = organization.wallets.iter().filter(|wallet| !wallet.exported);
    let keys = organization.private_keys.iter().filter(|key| !key.exported);
    let names: Vec<String> = wallets
        .map(|wallet| format!("wallet {}", stated(&wallet.wallet_name)))
        .chain(keys.map(|key| format!("private key {}", stated(&key.private_key_name))))
        .collect();
    if names.is_empty() {
        return;
    }
    let more = names.len().saturating_sub(TOLD);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let told = format!("{}{more} never left by export", listed(names.into_iter().take(TOLD)));
    if spared {
        let text = format!("{told}: as long as that is so, the daemon refuses");
        story.flag(Level::Med, "not-exported", text);
    } else {
        story.flag(Level::High, "no-copy", format!("{told}, so there may be no copy"));
    }
}
