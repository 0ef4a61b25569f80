//! Invited users: read the mail and accept.

use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;

use super::interruptions::Interruption;
use super::{KeyOwner, Play};
use crate::model::chooser::Chooser;
use crate::model::moves;
use crate::model::world::{Invitation, Organization};

/// User id of a request that must not be attributed to any user.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

impl Play {
    /// Accepts an invitation, mostly a waiting one. Returns false if no invitation exists.
    pub(super) async fn accept(&mut self, interruption: Option<Interruption>) -> bool {
        let Some((position, id)) = self.invitation() else { return false };
        let public_key = self.mailed_key(&id);
        let (world, choices) = (&self.world, &mut self.choices);
        let chooser =
            &mut Chooser { world, position, choices, keys: &mut self.keys, serial: &mut self.serial };
        let (action, user) = moves::accept(chooser, &id);
        // If the chosen id belongs to an existing user, that user is not the sender.
        let is_taken = self.world.organizations[position].user(&user).is_some();
        let user = if is_taken { NOBODY.to_owned() } else { user };
        self.propose_as(position, action, KeyOwner { user, public_key }, interruption).await;
        true
    }

    /// Chooses an invitation: the position of its organization, and its id.
    fn invitation(&mut self) -> Option<(usize, String)> {
        let is_any = self.choices.one_in(4);
        let is_wanted = |invitation: &&Invitation| is_any || invitation.waits();
        let of = |(position, organization): (usize, &Organization)| {
            let is_wanted = organization.invitations.iter().filter(is_wanted);
            is_wanted.map(|invitation| (position, invitation.id.clone())).collect::<Vec<_>>()
        };
        let all: Vec<_> = self.world.organizations.iter().enumerate().flat_map(of).collect();
        self.choices.pick(&all).cloned()
    }

    /// Returns the public key that was mailed with an invitation. Mails arrive in any order, possibly twice.
    fn mailed_key(&mut self, invitation: &str) -> String {
        let mailbox = self.mailbox.as_ref().expect("nobody is invited without mail");
        while !self.mailed.contains_key(invitation) {
            let (id, key) = next_key(mailbox);
            self.mailed.insert(id, key);
        }
        self.mailed[invitation].public_key().to_owned()
    }
}

/// Reads the next mail and returns the invitation id and its key.
fn next_key(mailbox: &Mailbox) -> (String, Key) {
    let mail = mailbox.next();
    let field = |word: &str| {
        let line = mail.text.lines().find_map(|line| line.strip_prefix(word));
        line.unwrap_or_else(|| panic!("no {word} in {}", mail.text)).trim().to_owned()
    };
    let key = Key::of_hex(&field("private key"));
    assert_eq!(key.public_key(), field("public key"));
    (field("invitation"), key)
}
