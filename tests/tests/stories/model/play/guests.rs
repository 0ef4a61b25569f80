//! Whoever was invited: reads the mail, and accepts.

use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;

use super::interruptions::Interruption;
use super::{Asker, Play};
use crate::model::chooser::Chooser;
use crate::model::moves;
use crate::model::world::{Invitation, Organization};

/// The user of a request that nobody may be said to have sent.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

impl Play {
    /// Somebody accepts an invitation, mostly one that waits. False if nobody was invited.
    pub(super) async fn accept(&mut self, interruption: Option<Interruption>) -> bool {
        let Some((place, id)) = self.invitation() else { return false };
        let public_key = self.mailed_key(&id);
        let (world, choices) = (&self.world, &mut self.choices);
        let chooser = &mut Chooser { world, place, choices, keys: &mut self.keys, serial: &mut self.serial };
        let (deed, user) = moves::accept(chooser, &id);
        // Nothing is said to be done by those whose ids were taken for it.
        let is_taken = self.world.organizations[place].user(&user).is_some();
        let user = if is_taken { NOBODY.to_owned() } else { user };
        self.ask_as(place, deed, Asker { user, public_key }, interruption).await;
        true
    }

    /// An invitation: where it is, and its id.
    fn invitation(&mut self) -> Option<(usize, String)> {
        let is_any = self.choices.one_in(4);
        let wanted = |invitation: &&Invitation| is_any || invitation.waits();
        let of = |(place, organization): (usize, &Organization)| {
            let wanted = organization.invitations.iter().filter(wanted);
            wanted.map(|invitation| (place, invitation.id.clone())).collect::<Vec<_>>()
        };
        let all: Vec<_> = self.world.organizations.iter().enumerate().flat_map(of).collect();
        self.choices.pick(&all).cloned()
    }

    /// The public half of the key that was mailed with an invitation. Mail comes in any order, perhaps twice.
    fn mailed_key(&mut self, invitation: &str) -> String {
        let mailbox = self.mailbox.as_ref().expect("nobody is invited without mail");
        while !self.mailed.contains_key(invitation) {
            let (id, key) = next_key(mailbox);
            self.mailed.insert(id, key);
        }
        self.mailed[invitation].public_key().to_owned()
    }
}

/// What the next mail holds: an invitation with its key.
fn next_key(mailbox: &Mailbox) -> (String, Key) {
    let mail = mailbox.next();
    let told = |word: &str| {
        let line = mail.text.lines().find_map(|line| line.strip_prefix(word));
        line.unwrap_or_else(|| panic!("no {word} in {}", mail.text)).trim().to_owned()
    };
    let key = Key::of_hex(&told("private key"));
    assert_eq!(key.public_key(), told("public key"));
    (told("invitation"), key)
}
