//! Counts the messages that users of sub-organizations have sent: for their organization, and for its parent over all of
//! its sub-organizations. Anyone may be such a user, and the mails and SMS are those of the parent.
//!
//! Messages of registered tenants are counted in the same way, for their organization and over all of these tenants:
//! anyone may be their user, and the mails and SMS are those of the operator.

use quorate_common::ids::{OrganizationId, OtpId};

use crate::error::{Intent, RequestError};
use crate::execution::Execution;
use crate::limits::{SENT_BY_CHILD, SENT_BY_CHILDREN, SENT_CODES, SENT_WINDOW_MILLIS};
use crate::model::layout::NO_PARENT;
use crate::model::one_time_code::{Claim, SentCode};
use crate::view::View;

/// Minutes in which messages are counted.
const MINUTES: u64 = SENT_WINDOW_MILLIS / 60_000;
/// Name of the count over all receivers.
const ALL: [&str; 2] = ["organization", ""];

/// Counts the mails of invitations that users of a sub-organization or of a registered tenant send, one for each receiver:
/// all of them, or none.
///
/// # Errors
/// As [`claims`].
pub fn count_invitations(count: usize, context: &mut Execution<'_>) -> Result<(), RequestError> {
    let now = context.now();
    let sent = SentCode { id: OtpId::random(context.random()), sent: now };
    for claim in claims(count, sent, None, &context.view())? {
        context.claim(claim, now.saturating_add(SENT_WINDOW_MILLIS));
    }
    Ok(())
}

/// Returns the claims that count this many messages for the users of a sub-organization, and those to one receiver for
/// all sub-organizations of its parent; and for a registered tenant, and those to one receiver for all such tenants. There
/// are none for other callers, who decide whom they send messages to.
///
/// # Errors
/// [`Intent::TooManyOfChild`], [`Intent::TooManyOfChildren`], [`Intent::TooManyOfRegistered`],
/// [`Intent::TooManyOfAllRegistered`], [`Intent::TooManyCodes`] or [`Intent::TooManyMails`] if they had too many sent, or
/// the error of the store.
pub fn claims(
    count: usize,
    sent: SentCode,
    receiver: Option<[&str; 2]>,
    view: &View<'_>,
) -> Result<Vec<Claim>, RequestError> {
    let parent = view.organization.head.parent.filter(|_| view.limits_child());
    let of_child = parent.map(|parent| (parent, TooMany::OF_CHILD));
    let of_registered = view.is_registered().then_some((NO_PARENT, TooMany::OF_REGISTERED));
    let mut claims = Vec::new();
    let Some((_, errors)) = of_registered.or(of_child) else { return Ok(claims) };
    let earlier = view.records().sent_codes(&ALL, SENT_BY_CHILD)?;
    let numbers =
        numbers(&earlier, count, SENT_BY_CHILD, view).ok_or((errors.of_one)(SENT_BY_CHILD, MINUTES))?;
    claims.extend(numbers.map(|number| Claim::Sent(ALL.map(str::to_owned), number, sent)));
    for (parent, errors) in of_child.into_iter().chain(of_registered) {
        claims.extend(claims_of_all(parent, errors, (count, sent), receiver, view)?);
    }
    Ok(claims)
}

/// The errors if one organization, or all of its kind together, had too many messages sent.
#[derive(Clone, Copy)]
struct TooMany {
    of_one: fn(usize, u64) -> Intent,
    of_all: fn(usize, u64) -> Intent,
}

impl TooMany {
    const OF_CHILD: Self = Self { of_one: Intent::TooManyOfChild, of_all: Intent::TooManyOfChildren };
    const OF_REGISTERED: Self =
        Self { of_one: Intent::TooManyOfRegistered, of_all: Intent::TooManyOfAllRegistered };
}

/// Returns the claims that count messages for all sub-organizations of a parent, or for all registered tenants, which have
/// none: of all receivers together, and of one.
fn claims_of_all(
    parent: OrganizationId,
    errors: TooMany,
    (count, sent): (usize, SentCode),
    receiver: Option<[&str; 2]>,
    view: &View<'_>,
) -> Result<Vec<Claim>, RequestError> {
    let of_all = (ALL, SENT_BY_CHILDREN, (errors.of_all)(SENT_BY_CHILDREN, MINUTES));
    let of_one = receiver.map(|receiver| {
        let is_mail = receiver.first() == Some(&"mail");
        let error = if is_mail { Intent::TooManyMails } else { Intent::TooManyCodes };
        (receiver, SENT_CODES, error(SENT_CODES, MINUTES))
    });
    let mut claims = Vec::new();
    for (receiver, most, error) in [of_all].into_iter().chain(of_one) {
        let earlier = view.records().sent_by_children(parent, &receiver, most)?;
        let numbers = numbers(&earlier, count, most, view).ok_or(error)?;
        let claim = |number| Claim::SentByChildren(parent, receiver.map(str::to_owned), number, sent);
        claims.extend(numbers.map(claim));
    }
    Ok(claims)
}

/// Returns the numbers of `count` further messages after `earlier`, of which the newest is the first; `None` if they
/// would be more than `most` in the time in which messages are counted.
fn numbers(
    earlier: &[(u32, SentCode)],
    count: usize,
    most: usize,
    view: &View<'_>,
) -> Option<impl Iterator<Item = u32>> {
    let since = view.now.saturating_sub(SENT_WINDOW_MILLIS);
    let recent = earlier.iter().filter(|(_, one)| one.sent > since).count();
    let first = earlier.first().map_or(0, |(number, _)| number.saturating_add(1));
    (recent.saturating_add(count) <= most).then(|| (first..).take(count))
}
