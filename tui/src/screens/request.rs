//! What a screen wants from the application, and what happens outside of the state.

use quorate_common::ids::{ActivityId, OrganizationId};
use zeroize::Zeroizing;

use super::filter::Filter;
use super::inbox_row::Row;
use super::overlay::Overlay;
use crate::journal::Entry;
use crate::keymap::Action;
use crate::known_keys::KnownKeys;
use crate::link::Order;
use crate::proof::Review;

/// A request of a screen, which the application performs.
pub(crate) enum Request {
    Effect(Effect),
    /// Show one line about what just happened.
    Notice(String),
    /// Show why an action is disabled, until it no longer is.
    Disabled(Action, String),
    /// Open an overlay.
    Overlay(Overlay),
    /// Load an activity and open its review.
    Open {
        organization: OrganizationId,
        id: ActivityId,
        /// Title of the activity's kind.
        title: String,
    },
    /// Go on within the rows that this filter of the inbox admits.
    Within(Filter),
    /// Open this review.
    Review(Box<Review>),
    /// Close the review.
    Close,
    /// Close the review of a draft that was proposed and is an activity now.
    Proposed,
}

impl Request {
    /// Opens a review, or states why there is none.
    pub(crate) fn review(review: Result<Review, String>) -> Self {
        review.map_or_else(Self::Notice, |review| Self::Review(Box::new(review)))
    }

    /// Returns the request that opens the review of a row of the inbox.
    pub(crate) fn open(row: &Row) -> Self {
        Self::Open { organization: row.organization, id: row.id, title: row.title.clone() }
    }
}

impl From<Effect> for Request {
    fn from(effect: Effect) -> Self {
        Self::Effect(effect)
    }
}

impl From<Order> for Request {
    fn from(order: Order) -> Self {
        Self::Effect(Effect::Order(order))
    }
}

/// Something to do outside of the state.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    Quit,
    /// Wipe the unlocked key.
    Lock,
    /// Stop this process until the shell continues it.
    Suspend,
    /// Send an order to the worker.
    Order(Order),
    /// Sign a message.
    Sign {
        /// Passphrase or PIN of the key; empty if none is needed.
        passphrase: Zeroizing<String>,
        /// Exact bytes to sign.
        message: String,
    },
    /// Cancel a signature that waits for a person.
    CancelSignature,
    /// Edit this text.
    Edit(String),
    /// Check the files and the socket of this console.
    Examine,
    /// Notify the user, who may look elsewhere, of this cleaned text.
    Notify(String),
    /// Append an error to the log of the console.
    Log(String),
    /// Copy this text to the clipboard.
    Copy(String),
    /// Read the file at this path, to compare it with the review.
    ReadFile(String),
    /// Write a new file.
    Export {
        /// File name in the folder where the console was started.
        name: String,
        text: String,
    },
    /// Read the journal of decisions.
    ReadJournal,
    /// Save the known keys.
    SaveKnownKeys(Box<KnownKeys>),
    /// Append a decision to the journal.
    Journal(Box<Entry>),
    /// Append a decision to the journal, then send its order to the worker. If the entry cannot be written, nothing is sent.
    Send(Box<Entry>, Order),
}
