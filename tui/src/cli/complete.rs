//! Values that a shell completes: keys and contexts from the user's own files, and ids and names from the daemon, if it
//! answers at once. Whatever fails completes nothing.

use std::time::Duration;

use clap::builder::ArgExt;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use quorate_common::console::OrganizationDetail;

use crate::config::Config;
use crate::files::Folders;
use crate::keys::Sources;
use crate::proof::status_word;
use crate::session::{Context, Environment, Session};
use crate::text::clean;

/// Time that a person who pressed Tab waits for the daemon.
const PATIENCE: Duration = Duration::from_millis(500);

/// Returns the keys of the user.
pub(super) fn keys() -> impl ArgExt {
    ArgValueCandidates::new(|| {
        let keys =
            Folders::from_environment().ok().and_then(|folders| Sources::new(&folders).ok()?.list().ok());
        candidates(keys.into_iter().flatten().map(|key| (key.selector, key.comment.unwrap_or_default())))
    })
}

/// Returns the contexts of the configuration.
pub(super) fn contexts() -> impl ArgExt {
    ArgValueCandidates::new(|| {
        let config = Folders::from_environment().ok().and_then(|folders| Config::load(&folders).ok());
        let contexts = config.into_iter().flat_map(|config| config.contexts);
        candidates(contexts.map(|(name, of)| (name, of.organization.unwrap_or_default())))
    })
}

/// Returns the top-level organizations.
pub(super) fn organizations() -> impl ArgExt {
    ArgValueCandidates::new(|| {
        let page = from_daemon(async |session| session.client.organizations(None, None).await.ok());
        let heads = page.into_iter().flat_map(|page| page.organizations);
        candidates(heads.flat_map(|head| both(&head.organization_name, &head.organization_id.to_string())))
    })
}

/// Returns the users of the selected organization.
pub(super) fn users() -> impl ArgExt {
    of_organization(|organization| {
        organization.users.iter().flat_map(|user| both(&user.user_name, &user.user_id.to_string())).collect()
    })
}

/// Returns the policies of the selected organization.
pub(super) fn policies() -> impl ArgExt {
    of_organization(|organization| {
        let policies = organization.policies.iter();
        policies.flat_map(|policy| both(&policy.policy_name, &policy.policy_id.to_string())).collect()
    })
}

/// Returns the wallets of the selected organization.
pub(super) fn wallets() -> impl ArgExt {
    of_organization(|organization| {
        let wallets = organization.wallets.iter();
        wallets.flat_map(|wallet| both(&wallet.wallet_name, &wallet.wallet_id.to_string())).collect()
    })
}

/// Returns the newest activities that wait in the selected organization.
pub(super) fn waiting() -> impl ArgExt {
    ArgValueCandidates::new(|| {
        let page = from_daemon(async |session| {
            let id = session.organization_id().await.ok()?;
            session.client.waiting(id, None).await.ok()
        });
        let rows = page.into_iter().flat_map(|page| page.activities);
        candidates(rows.map(|row| {
            let kind = row.activity.activity_type.trim_start_matches("ACTIVITY_TYPE_");
            (row.activity.id.to_string(), format!("{kind}, {}", status_word(row.activity.status)))
        }))
    })
}

fn of_organization(list: fn(&OrganizationDetail) -> Vec<(String, String)>) -> impl ArgExt {
    ArgValueCandidates::new(move || {
        let organization = from_daemon(async |session| session.organization().await.ok());
        candidates(organization.iter().flat_map(list))
    })
}

/// Returns a name and an id, each with the other as its description.
fn both(name: &str, id: &str) -> [(String, String); 2] {
    [(name.to_owned(), id.to_owned()), (id.to_owned(), name.to_owned())]
}

/// Returns the values that mean nothing to a shell: it may insert them as they are, and the daemon chose some of them.
fn candidates(all: impl Iterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let of = |(value, help): (String, String)| {
        let help = (!help.is_empty()).then(|| clean(&help).into());
        CompletionCandidate::new(value).help(help)
    };
    all.filter(|(value, _)| is_harmless(value)).map(of).collect()
}

fn is_harmless(value: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:/@".contains(letter);
    value.starts_with(|first: char| first.is_ascii_alphanumeric()) && value.chars().all(is_plain)
}

/// Reads something from the daemon that the environment and the configuration select.
fn from_daemon<T>(read: impl AsyncFnOnce(&Session) -> Option<T>) -> Option<T> {
    let folders = Folders::from_environment().ok()?;
    let context = Context { environment: Environment::read(), ..Context::default() };
    let session = Session::new(&context, &folders).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async { tokio::time::timeout(PATIENCE, read(&session)).await.ok().flatten() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_mean_something_to_a_shell_are_not_completed() {
        let all = [
            "mira",
            "a b",
            "$(id)",
            "`id`",
            "-rf",
            "a;b",
            "",
            "payouts/eu",
            "pkcs11:t/l",
            "a\u{202e}b",
            "~root",
            "'",
        ];
        let values = candidates(all.into_iter().map(|value| (value.to_owned(), "x\u{1b}".to_owned())));
        let values: Vec<_> =
            values.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect();
        assert_eq!(values, ["mira", "payouts/eu", "pkcs11:t/l"]);
    }
}
