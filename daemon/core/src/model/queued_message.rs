//! Messages that wait to be sent, as far as the order of sending depends on them. Their texts stay in the store.

use quorate_common::ids::{ActivityId, ApiKeyId, InvitationId, OrganizationId, OtpId, UserId};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::layout::{self, IndexKey, Key, outbox};
use super::message_event::{MessageOrigin, SenderGroup};
use super::one_time_code::Contact;
use super::record::Record;

/// Divisor of `waiting_messages` and `waiting_message_bytes` that gives the part of one sub-organization.
const MESSAGES_PART: usize = 4;
/// Divisor that gives the part of the users of all sub-organizations together.
const CHILDREN_PART: usize = 2;
/// Divisor that gives the part of the authentication proxy. The rest, a quarter, is always left to the tenant itself.
const PROXY_PART: usize = 4;
/// How many times its part a group of senders, an organization or a tenant may have waiting, if the messages beyond the
/// part are delayed ones that are being removed.
pub const DISPLACED_FACTOR: usize = 2;

/// A way in which messages are sent. Each has a queue of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Channel {
    /// Mail.
    Mail,
    /// SMS.
    Sms,
}

impl Channel {
    /// Returns the prefix of the keys of queued messages.
    pub const fn prefix(self) -> &'static [u8] {
        match self {
            Self::Mail => layout::MAILS,
            Self::Sms => outbox::SMS,
        }
    }
}

/// Identifies a message: the activity that sends it, and its number among the messages of the activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageId {
    /// Activity.
    pub activity: ActivityId,
    /// Number.
    pub number: u32,
}

impl MessageId {
    /// Returns the key of the message while it is queued.
    pub fn key(self, channel: Channel) -> Key {
        match channel {
            Channel::Mail => layout::mail(self.activity, self.number),
            Channel::Sms => outbox::sms(self.activity, self.number),
        }
    }

    /// Parses a key of [`Self::key`].
    pub fn of_key(key: &[u8]) -> Option<Self> {
        layout::of_message(key).map(|(activity, number)| Self { activity, number })
    }
}

/// A stored message that waits to be sent.
pub trait StoredMessage: Record {
    /// How it is sent.
    const CHANNEL: Channel;

    /// Returns where the message comes from, if that is known.
    fn origin(&self) -> Option<MessageOrigin>;

    /// Returns who is slow if sending the message takes long: the domain of a mail, or the number of an SMS.
    fn receiver(&self) -> String;

    /// Returns the contact that it is sent to.
    fn contact(&self) -> Contact;

    /// Returns the number of attempts so far, and the time of the next one.
    fn schedule(&self) -> (u32, Millis);

    /// Changes the schedule.
    fn reschedule(&mut self, attempts: u32, due: Millis);

    /// Returns whether an attempt failed because of the receiver. An outage of the server is no such failure.
    fn is_delayed(&self) -> bool;

    /// Records that an attempt failed because of the receiver.
    fn delay(&mut self, at: Millis);

    /// Returns the time from which the message is useless, because what it contains has expired.
    fn expires(&self) -> Option<Millis>;

    /// Returns what the message is for, if that is known.
    fn purpose(&self) -> Option<Purpose>;
}

/// Implements the methods of [`StoredMessage`] for the members that messages of every channel have.
macro_rules! queue_state {
    () => {
        fn origin(&self) -> Option<MessageOrigin> {
            self.origin
        }

        fn schedule(&self) -> (u32, Millis) {
            (self.attempts, self.due)
        }

        fn reschedule(&mut self, attempts: u32, due: Millis) {
            (self.attempts, self.due) = (attempts, due);
        }

        fn is_delayed(&self) -> bool {
            self.delayed.is_some()
        }

        fn delay(&mut self, at: Millis) {
            self.delayed.get_or_insert(at);
        }

        fn expires(&self) -> Option<Millis> {
            self.expires
        }

        fn purpose(&self) -> Option<Purpose> {
            self.purpose
        }
    };
}
pub(crate) use queue_state;

/// What a message is for. Once it has ended, the message is useless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// A one-time code.
    Code(OtpId),
    /// An API key of a user.
    ApiKey(UserId, ApiKeyId),
    /// An invitation.
    Invitation(InvitationId),
}

/// Who sends messages. A tenant, each of its organizations and each of its groups of senders have shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageSource {
    /// Top-level organization.
    pub tenant: OrganizationId,
    /// Organization whose activity sends the messages.
    pub organization: OrganizationId,
    /// Group of the sender; `None` for the tenant itself.
    pub group: Option<SenderGroup>,
}

impl MessageSource {
    /// Returns the shares of the tenant, of the organization and of the group in the share of the tenant.
    pub fn shares(&self, share: MessageUsage) -> [MessageUsage; 3] {
        let organization = if self.organization == self.tenant { 1 } else { MESSAGES_PART };
        let group = match self.group {
            None => 1,
            Some(SenderGroup::Children) => CHILDREN_PART,
            Some(SenderGroup::Proxy) => PROXY_PART,
        };
        [1, organization, group].map(|part| share.part(part))
    }
}

/// Digest of a receiver.
pub type Receiver = [u8; 16];

/// What the order of sending depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedMessage {
    /// How it is sent.
    pub channel: Channel,
    /// Its id.
    pub id: MessageId,
    /// Top-level organization whose share it uses.
    pub tenant: OrganizationId,
    /// Organization whose activity sends it.
    pub organization: OrganizationId,
    /// Group of its sender.
    pub group: Option<SenderGroup>,
    /// Digest of [`StoredMessage::receiver`].
    pub receiver: Receiver,
    /// Time of the next attempt.
    pub due: Millis,
    /// Time from which it is useless.
    pub expires: Option<Millis>,
    /// Whether an attempt failed because of its receiver, as [`StoredMessage::is_delayed`] states.
    pub is_delayed: bool,
    /// Length of its record, in bytes.
    pub size: u32,
}

impl QueuedMessage {
    /// Describes a message whose record has this length. Messages of unknown origin share one tenant.
    pub fn of<M: StoredMessage>(id: MessageId, message: &M, length: usize, index: &IndexKey) -> Self {
        let origin = message.origin();
        Self {
            channel: M::CHANNEL,
            id,
            tenant: origin.map_or(layout::NO_PARENT, |origin| origin.keeper),
            organization: origin.map_or(layout::NO_PARENT, |origin| origin.organization),
            group: origin.and_then(|origin| origin.group),
            receiver: index.of_receiver(&["queue", &message.receiver()]),
            due: message.schedule().1,
            expires: message.expires(),
            is_delayed: message.is_delayed(),
            size: u32::try_from(length).unwrap_or(u32::MAX),
        }
    }

    /// Returns who sends it.
    pub const fn source(&self) -> MessageSource {
        MessageSource { tenant: self.tenant, organization: self.organization, group: self.group }
    }
}

/// Number and bytes of waiting messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageUsage {
    /// Number.
    pub messages: usize,
    /// Bytes of their records.
    pub bytes: usize,
}

impl MessageUsage {
    /// Returns the rest beside some of these messages.
    #[must_use]
    pub const fn without(self, some: Self) -> Self {
        let messages = self.messages.saturating_sub(some.messages);
        Self { messages, bytes: self.bytes.saturating_sub(some.bytes) }
    }

    /// Returns these messages and more.
    #[must_use]
    pub const fn with(self, more: Self) -> Self {
        let messages = self.messages.saturating_add(more.messages);
        Self { messages, bytes: self.bytes.saturating_add(more.bytes) }
    }

    /// Returns a part of a share, given by its divisor.
    #[must_use]
    pub fn part(self, divisor: usize) -> Self {
        let part = |of: usize| of.checked_div(divisor).unwrap_or_default();
        Self { messages: part(self.messages), bytes: part(self.bytes) }
    }

    /// Adds a message with a record of this length.
    pub const fn add(&mut self, size: u32) {
        self.messages = self.messages.saturating_add(1);
        self.bytes = self.bytes.saturating_add(size as usize);
    }

    /// Subtracts a message.
    pub const fn subtract(&mut self, size: u32) {
        self.messages = self.messages.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(size as usize);
    }
}

/// The messages that wait in a queue, or of one sender in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueUsage {
    /// All of them.
    pub all: MessageUsage,
    /// Those that are delayed and were not displaced. New messages displace them unless they are being sent again.
    pub delayed: MessageUsage,
    /// Those that were displaced, whose removal is not recorded yet.
    pub displaced: MessageUsage,
}

impl QueueUsage {
    /// Returns the messages that count when new ones are admitted.
    pub const fn counted(&self) -> MessageUsage {
        self.kept().without(self.delayed)
    }

    /// Returns the messages that were not displaced.
    pub const fn kept(&self) -> MessageUsage {
        self.all.without(self.displaced)
    }

    /// Returns these messages and those of another sender.
    #[must_use]
    pub const fn with(self, other: &Self) -> Self {
        Self {
            all: self.all.with(other.all),
            delayed: self.delayed.with(other.delayed),
            displaced: self.displaced.with(other.displaced),
        }
    }
}
