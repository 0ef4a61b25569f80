//! Counts the messages that users of sub-organizations have sent: for their organization, and for its parent over all of
//! its sub-organizations. Anyone may be such a user, and the mails and SMS are those of the parent.
//!
//! Messages of registered tenants are counted in the same way, for their organization and over all of these tenants:
//! anyone may be their user, and the mails and SMS are those of the operator.

use quorate_common::ids::{OrganizationId, OtpId};

use crate::error::{Intent, RequestError};
use crate::execution::Execution;
use crate::limits::{SENT_BY_CHILD, SENT_BY_REGISTERED, SENT_CODES, SENT_WINDOW_MILLIS};
use crate::model::layout::NO_PARENT;
use crate::model::one_time_code::{Claim, SentCode};
use crate::view::View;

/// Minutes in which messages are counted.
const MINUTES: u64 = SENT_WINDOW_MILLIS / 60_000;
/// Name of the count over all receivers.
const ALL: [&str; 2] = ["organization", ""];
/// Name of the count of the first message of each sub-organization.
const FIRST: [&str; 2] = ["first", ""];

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
/// are none for other callers, who decide whom they send messages to. The first message of each sub-organization has a
/// count of its own, so that one that has sent nothing can send something although others send much.
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
    let of_child = parent.map(|parent| Counted::by_parent(parent, view));
    let of_registered = view.is_registered().then_some(Counted::REGISTERED);
    let Some(counted) = of_registered.or(of_child) else { return Ok(Vec::new()) };
    let earlier = view.records().sent_codes(&ALL, SENT_BY_CHILD)?;
    let of_one =
        numbers(&earlier, count, SENT_BY_CHILD, view).ok_or((counted.of_one)(SENT_BY_CHILD, MINUTES))?;
    let mut claims: Vec<_> = of_one.map(|number| Claim::Sent(ALL.map(str::to_owned), number, sent)).collect();
    let has_sent = recent(&earlier, view) > 0;
    for counted in of_child.into_iter().chain(of_registered) {
        counted.claim((count, sent), has_sent, receiver, view, &mut claims)?;
    }
    Ok(claims)
}

/// The organizations whose messages are counted together: all sub-organizations of a parent, or all registered tenants,
/// which have no parent.
#[derive(Clone, Copy)]
struct Counted {
    parent: OrganizationId,
    /// Messages that they may have sent together.
    most: usize,
    /// Whether the first message of each has a count of its own.
    has_first: bool,
    of_one: fn(usize, u64) -> Intent,
    of_all: fn(usize, u64) -> Intent,
}

impl Counted {
    const REGISTERED: Self = Self {
        parent: NO_PARENT,
        most: SENT_BY_REGISTERED,
        has_first: false,
        of_one: Intent::TooManyOfRegistered,
        of_all: Intent::TooManyOfAllRegistered,
    };

    fn by_parent(parent: OrganizationId, view: &View<'_>) -> Self {
        Self {
            parent,
            most: view.limits().sub_organization_messages,
            has_first: true,
            of_one: Intent::TooManyOfChild,
            of_all: Intent::TooManyOfChildren,
        }
    }

    /// Adds the claims that count messages of all of them together, and of those to one receiver.
    fn claim(
        self,
        (count, sent): (usize, SentCode),
        has_sent: bool,
        receiver: Option<[&str; 2]>,
        view: &View<'_>,
        claims: &mut Vec<Claim>,
    ) -> Result<(), RequestError> {
        let mut add = |receiver: [&str; 2], count, most| -> Result<bool, RequestError> {
            let earlier = view.records().sent_by_children(self.parent, &receiver, most)?;
            let Some(numbers) = numbers(&earlier, count, most, view) else { return Ok(false) };
            let claim =
                |number| Claim::SentByChildren(self.parent, receiver.map(str::to_owned), number, sent);
            claims.extend(numbers.map(claim));
            Ok(true)
        };
        let is_first = self.has_first && count > 0 && !has_sent;
        let counted = count.saturating_sub(usize::from(is_first && add(FIRST, 1, self.most)?));
        if !add(ALL, counted, self.most)? {
            return Err((self.of_all)(self.most, MINUTES).into());
        }
        if let Some(receiver) = receiver
            && !add(receiver, count, SENT_CODES)?
        {
            let is_mail = receiver.first() == Some(&"mail");
            let error = if is_mail { Intent::TooManyMails } else { Intent::TooManyCodes };
            return Err(error(SENT_CODES, MINUTES).into());
        }
        Ok(())
    }
}

/// Returns the numbers of `count` further messages after `earlier`, of which the newest is the first; `None` if they
/// would be more than `most` in the time in which messages are counted.
fn numbers(
    earlier: &[(u32, SentCode)],
    count: usize,
    most: usize,
    view: &View<'_>,
) -> Option<impl Iterator<Item = u32>> {
    let first = earlier.first().map_or(0, |(number, _)| number.saturating_add(1));
    (recent(earlier, view).saturating_add(count) <= most).then(|| (first..).take(count))
}

/// Returns how many messages were sent in the time in which messages are counted.
fn recent(earlier: &[(u32, SentCode)], view: &View<'_>) -> usize {
    let since = view.now.saturating_sub(SENT_WINDOW_MILLIS);
    earlier.iter().filter(|(_, one)| one.sent > since).count()
}
