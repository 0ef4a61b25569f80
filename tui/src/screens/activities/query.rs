//! The words of the filter, as a request to the daemon.

use quorate_common::activity::Status;
use quorate_common::console::{HistoryOrder, OrganizationDetail};
use quorate_common::ids::UserId;

use crate::catalog;
use crate::kinds::of_type;
use crate::link::History;
use crate::proof::status_word;
use crate::screens::filter::words;
use crate::text::{clean, parsed_date};

/// Describes the words of the filter.
pub(super) const HELP: &str =
    "status:failed type:wallet by:NAME before:2026-01-31, by:\"TWO WORDS\"; other words: in the request";

/// The orders of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Sort {
    #[default]
    Newest,
    Oldest,
    Status,
    Type,
}

impl Sort {
    /// Returns the order that follows.
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Newest => Self::Oldest,
            Self::Oldest => Self::Status,
            Self::Status => Self::Type,
            Self::Type => Self::Newest,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest first",
            Self::Oldest => "oldest first",
            Self::Status => "by status",
            Self::Type => "by type",
        }
    }

    /// Applies the order to a request, which reads from the end of the list if `at_end` is set.
    pub(super) const fn apply(self, request: &mut History, at_end: bool) {
        (request.order, request.reverse) = match self {
            Self::Newest => (HistoryOrder::Time, at_end),
            Self::Oldest => (HistoryOrder::Time, !at_end),
            Self::Status => (HistoryOrder::Status, at_end),
            Self::Type => (HistoryOrder::Type, at_end),
        };
    }
}

/// Returns the request of the filter words.
///
/// # Errors
/// Returns which word means nothing.
pub(super) fn request(text: &str, organization: &OrganizationDetail) -> Result<History, String> {
    let mut request = History::default();
    for word in &words(text) {
        let unknown = |what: &str| format!("no {what} matches {}", clean(&word.text));
        match word.named() {
            Some(("status", value)) => {
                let found = statuses(value);
                let unknown = unknown("status");
                request.statuses.extend(if found.is_empty() { return Err(unknown) } else { found });
            }
            Some(("type", value)) => {
                let found = types(value);
                let unknown = unknown("type");
                request.types.extend(if found.is_empty() { return Err(unknown) } else { found });
            }
            Some(("by", value)) => {
                let found = users(value, organization);
                let unknown = unknown("user");
                request.proposers.extend(if found.is_empty() { return Err(unknown) } else { found });
            }
            Some(("before", value)) => {
                let date = parsed_date(value);
                let error = || format!("{} is not a date such as 2026-01-31", clean(&word.text));
                request.before = Some(date.ok_or_else(error)?);
            }
            Some((name, _)) => {
                return Err(format!("unknown filter {name}: (\"{name}:\" in quotation marks is a word)"));
            }
            // The daemon compares each word by itself.
            None => request.words.extend(word.text.split_whitespace().map(str::to_owned)),
        }
    }
    Ok(request)
}

/// Returns the statuses whose words contain this text.
fn statuses(text: &str) -> Vec<Status> {
    let text = text.to_lowercase();
    Status::ALL
        .into_iter()
        .filter(|status| !text.is_empty() && status_word(*status).contains(&text))
        .collect()
}

/// Returns the types whose titles or names contain this text.
fn types(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace(['_', '-'], " ");
    let is_meant = |name: &&str| {
        let title = of_type(name).map(|(kind, _)| kind.title.to_lowercase()).unwrap_or_default();
        let bare = name.trim_start_matches("ACTIVITY_TYPE_").to_lowercase().replace('_', " ");
        !text.is_empty() && (title.contains(&text) || bare.contains(&text))
    };
    catalog::all().map(|entry| entry.activity_type.as_str()).filter(is_meant).map(str::to_owned).collect()
}

/// Returns the users whose names contain this text, or with this id.
fn users(text: &str, organization: &OrganizationDetail) -> Vec<UserId> {
    if let Ok(id) = text.parse() {
        return vec![id];
    }
    let text = text.to_lowercase();
    let is_meant = |name: &str| !text.is_empty() && name.to_lowercase().contains(&text);
    organization.users.iter().filter(|user| is_meant(&user.user_name)).map(|user| user.user_id).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::testing::Fixture;

    #[test]
    fn words_become_a_request() {
        let organization = Fixture::new(3, 2).organization();
        let parsed =
            request("status:fail type:create-wallet by:JO before:2026-11-21 Payout 77", &organization);
        let parsed = parsed.unwrap();
        assert_eq!(parsed.statuses, [Status::Failed]);
        assert!(
            parsed.types.contains(&"ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS".to_owned()),
            "{:?}",
            parsed.types
        );
        assert!(!parsed.types.contains(&"ACTIVITY_TYPE_DELETE_WALLETS".to_owned()));
        assert_eq!(parsed.proposers, [Fixture::user(1)]);
        assert_eq!(parsed.before, Some(1_795_219_200_000));
        assert_eq!(parsed.words, ["Payout", "77"]);
        let quoted = request("by:\"jo\" \"note: two\"", &organization).unwrap();
        assert_eq!(
            (quoted.proposers, quoted.words),
            (parsed.proposers, vec!["note:".to_owned(), "two".to_owned()])
        );
        assert_eq!(request("status:waiting", &organization).unwrap().statuses, Status::WAITING);
        for (wrong, why) in [
            ("status:nonsense", "no status matches"),
            ("type:", "no type matches"),
            ("by:nobody\u{202e}", "no user matches by:nobody<U+202E>"),
            ("before:today", "is not a date"),
            ("state:failed", "unknown filter state:"),
            ("user:bob", "unknown filter user:"),
        ] {
            assert!(request(wrong, &organization).unwrap_err().contains(why), "{wrong}");
        }
    }
}
