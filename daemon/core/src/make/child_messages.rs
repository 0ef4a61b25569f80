//! Counts the messages that users of sub-organizations have sent: for their organization, and for its parent over all of
//! its sub-organizations. Anyone may be such a user, and the mails and SMS are those of the parent.
//!
//! Messages of registered tenants are counted in the same way, for their organization and over all of these tenants:
//! anyone may be their user, and the mails and SMS are those of the operator.

use quorate_common::ids::{OrganizationId, OtpId};

use crate::error::{Intent, RequestError};
use crate::execution::Execution;
use crate::limits::{SENT_BY_CHILD, SENT_BY_REGISTERED, SENT_CODES, SENT_WINDOW_MILLIS};
use crate::model::Millis;
use crate::model::layout::NO_PARENT;
use crate::model::one_time_code::{Claim, SentCode};
use crate::view::View;

/// Minutes in which messages are counted.
const MINUTES: u64 = SENT_WINDOW_MILLIS / 60_000;
/// Name of the count over all receivers.
const ALL: [&str; 2] = ["organization", ""];
/// Name of the count of the first message of each sub-organization.
const FIRST: [&str; 2] = ["first", ""];

/// Name of the count of SMS.
const SMS: [&str; 2] = ["sms", ""];
/// Name of the count of a registered tenant and its sub-organizations.
const REGISTERED: [&str; 2] = ["registered", ""];
/// Time in which SMS are counted.
const HOUR_MILLIS: u64 = 3_600_000;

/// What is to be sent.
#[derive(Clone, Copy)]
pub struct Sending<'a> {
    /// Number of messages.
    pub count: usize,
    /// What is stored of them.
    pub sent: SentCode,
    /// Receiver, if they have the same, after a word that distinguishes kinds of messages.
    pub receiver: Option<[&'a str; 2]>,
    /// Whether they are SMS.
    pub is_sms: bool,
}

/// A claim, and the time until which it lasts.
type Lasting = (Claim, Millis);

/// Counts the mails of invitations that users of a sub-organization or of a registered tenant send, one for each receiver:
/// all of them, or none.
///
/// # Errors
/// As [`claims`].
pub fn count_invitations(count: usize, context: &mut Execution<'_>) -> Result<(), RequestError> {
    let sent = SentCode { id: OtpId::random(context.random()), sent: context.now() };
    let sending = Sending { count, sent, receiver: None, is_sms: false };
    for (claim, end) in claims(sending, &context.view())? {
        context.claim(claim, end);
    }
    Ok(())
}

/// Returns the claims that count messages for the users of a sub-organization, and those to one receiver for all
/// sub-organizations of its parent; and for a registered tenant with its sub-organizations, and those to one receiver for
/// all such tenants. There are none for other callers, who decide whom they send messages to. The first message of each
/// sub-organization or registered tenant has a count of its own, so that one that has sent nothing can send something
/// although others send much.
///
/// # Errors
/// [`Intent::TooManyOfChild`], [`Intent::TooManyOfChildren`], [`Intent::TooManyOfRegistered`],
/// [`Intent::TooManyOfAllRegistered`], [`Intent::TooManySms`], [`Intent::TooManyCodes`] or [`Intent::TooManyMails`] if they
/// had too many sent, or the error of the store.
pub fn claims(sending: Sending<'_>, view: &View<'_>) -> Result<Vec<Lasting>, RequestError> {
    let mut claims = Vec::new();
    let head = &view.organization.head;
    if let Some(parent) = head.parent.filter(|_| view.limits_child()) {
        let earlier = view.records().sent_codes(&ALL, SENT_BY_CHILD)?;
        let numbers =
            numbers(&earlier, sending.count, SENT_BY_CHILD, view.now.saturating_sub(SENT_WINDOW_MILLIS))
                .ok_or(Intent::TooManyOfChild(SENT_BY_CHILD, MINUTES))?;
        let end = view.now.saturating_add(SENT_WINDOW_MILLIS);
        claims.extend(numbers.map(|number| (Claim::Sent(ALL.map(str::to_owned), number, sending.sent), end)));
        let (is_first, most) = (recent(&earlier, view) == 0, view.limits().sub_organization_messages);
        let mut counts = Counts { parent, sending, view, claims: &mut claims };
        counts.add_all(is_first, most, Intent::TooManyOfChildren(most, MINUTES))?;
    }
    if view.is_registered() {
        let (parent, most) = (head.tenant(), SENT_BY_REGISTERED);
        let is_first = recent(&view.records().sent_by_children(parent, &REGISTERED, 1)?, view) == 0;
        let of_tenant = Counts { parent, sending, view, claims: &mut claims }.add(
            REGISTERED,
            sending.count,
            SENT_BY_CHILD,
        )?;
        if !of_tenant {
            return Err(Intent::TooManyOfRegistered(SENT_BY_CHILD, MINUTES).into());
        }
        let mut counts = Counts { parent: NO_PARENT, sending, view, claims: &mut claims };
        counts.add_all(is_first, most, Intent::TooManyOfAllRegistered(most, MINUTES))?;
    }
    Ok(claims)
}

/// The counts of organizations whose messages are counted together: all sub-organizations of a parent, or all registered
/// tenants, which have no parent.
struct Counts<'a> {
    parent: OrganizationId,
    sending: Sending<'a>,
    view: &'a View<'a>,
    claims: &'a mut Vec<Lasting>,
}

impl Counts<'_> {
    /// Adds the messages to all counts: of all organizations, of SMS, and of one receiver. `is_first` states whether the
    /// organization has sent nothing recently.
    fn add_all(&mut self, is_first: bool, most: usize, error: Intent) -> Result<(), RequestError> {
        let Sending { count, receiver, is_sms, .. } = self.sending;
        let has_first = is_first && count > 0 && self.add(FIRST, 1, most)?;
        if !self.add(ALL, count.saturating_sub(usize::from(has_first)), most)? {
            return Err(error.into());
        }
        let sms = self.view.limits().sub_organization_sms;
        if is_sms && !self.add_within(SMS, count, sms, HOUR_MILLIS)? {
            return Err(Intent::TooManySms(sms).into());
        }
        if let Some(receiver) = receiver
            && !self.add(receiver, count, SENT_CODES)?
        {
            let is_mail = receiver.first() == Some(&"mail");
            let error = if is_mail { Intent::TooManyMails } else { Intent::TooManyCodes };
            return Err(error(SENT_CODES, MINUTES).into());
        }
        Ok(())
    }

    fn add(&mut self, receiver: [&str; 2], count: usize, most: usize) -> Result<bool, RequestError> {
        self.add_within(receiver, count, most, SENT_WINDOW_MILLIS)
    }

    /// Adds messages to a count of at most `most` in a time. Returns `false` if they would be more.
    fn add_within(
        &mut self,
        receiver: [&str; 2],
        count: usize,
        most: usize,
        window: Millis,
    ) -> Result<bool, RequestError> {
        let (parent, sent, now) = (self.parent, self.sending.sent, self.view.now);
        let earlier = self.view.records().sent_by_children(parent, &receiver, most)?;
        let Some(numbers) = numbers(&earlier, count, most, now.saturating_sub(window)) else {
            return Ok(false);
        };
        let claim = |number| Claim::SentByChildren(parent, receiver.map(str::to_owned), number, sent);
        self.claims.extend(numbers.map(|number| (claim(number), now.saturating_add(window))));
        Ok(true)
    }
}

/// Returns the numbers of `count` further messages after `earlier`, of which the newest is the first; `None` if those sent
/// after a time and these would be more than `most`.
fn numbers(
    earlier: &[(u32, SentCode)],
    count: usize,
    most: usize,
    since: Millis,
) -> Option<impl Iterator<Item = u32>> {
    let first = earlier.first().map_or(0, |(number, _)| number.saturating_add(1));
    (sent_since(earlier, since).saturating_add(count) <= most).then(|| (first..).take(count))
}

/// Returns how many messages were sent in the time in which messages are counted.
fn recent(earlier: &[(u32, SentCode)], view: &View<'_>) -> usize {
    sent_since(earlier, view.now.saturating_sub(SENT_WINDOW_MILLIS))
}

fn sent_since(earlier: &[(u32, SentCode)], since: Millis) -> usize {
    earlier.iter().filter(|(_, one)| one.sent > since).count()
}
