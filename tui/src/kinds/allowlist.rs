//! What is told of the addresses that requests may come from.

use quorate_common::wire::IpAllowlist;

use super::scene::{Scene, count, stated};
use super::{Level, Reader, Story, Undecodable};
use crate::text::clean;

/// Whose requests a list is about.
pub(super) struct Target<'a> {
    /// Public key of the API key; everybody's without one.
    pub(super) key: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// Of the parameters of a kind that is about a list.
    pub(super) fn of(parameters: &Reader<'a>) -> Result<Self, Undecodable> {
        Ok(Self { key: parameters.maybe_text("publicKey")? })
    }

    /// In words, with the whole public key of an API key.
    pub(super) fn named(&self, scene: &Scene<'_>) -> String {
        self.key.map_or_else(|| "all users of this organization".to_owned(), |key| scene.key_named(key))
    }

    /// In a few words, for lists.
    pub(super) fn brief(&self, scene: &Scene<'_>) -> String {
        let Some(key) = self.key else { return "everybody".to_owned() };
        match scene.key_holder(key) {
            Some((user, held)) => format!("{} of {}", stated(&held.api_key_name), stated(&user.user_name)),
            None => format!("the API key {}", clean(key)),
        }
    }

    /// The list as the daemon says it is now.
    pub(super) fn now<'s>(&self, scene: &Scene<'s>) -> Option<&'s IpAllowlist> {
        let same = |list: &&IpAllowlist| match (self.key, list.public_key.as_deref()) {
            (Some(wanted), Some(known)) => known.eq_ignore_ascii_case(wanted),
            (wanted, known) => wanted.is_none() && known.is_none(),
        };
        scene.organization.ip_allowlists.iter().find(same)
    }

    /// What holds when the list keeps nobody out any more.
    pub(super) fn opened(&self) -> &'static str {
        match self.key {
            Some(_) => "for this API key the list of the organization, if it is on, counts again",
            None => "requests are taken from anywhere then, also of API keys with blocks of their own",
        }
    }

    /// Remarks on an API key that is not there.
    pub(super) fn flag(&self, scene: &Scene<'_>, story: &mut Story) {
        if let Some(key) = self.key
            && scene.key_holder(key).is_none()
        {
            let text = format!("{} is not in this organization now", scene.key_named(key));
            story.flag(Level::Med, "unknown-key", text);
        }
    }
}

/// Whether the list of the organization is on, which switches on those of API keys.
pub(super) fn is_on(scene: &Scene<'_>) -> bool {
    Target { key: None }.now(scene).is_some_and(|list| list.enabled == Some(true))
}

/// How many API keys have blocks of their own.
pub(super) fn own_lists(scene: &Scene<'_>) -> usize {
    let own = |list: &&IpAllowlist| list.public_key.is_some() && !list.rules.is_empty();
    scene.organization.ip_allowlists.iter().filter(own).count()
}

/// A list in a few words; whether it is on is nothing that a list of an API key has.
pub(super) fn state(on: Option<bool>, blocks: usize) -> String {
    let blocks = count(blocks, "block");
    match on {
        Some(true) => format!("on, {blocks}"),
        Some(false) => format!("off, {blocks}"),
        None => blocks,
    }
}

/// What a list that takes the place of another does to those who ask.
pub(super) struct Effect<'a> {
    /// Whose requests it is about.
    pub(super) target: &'a Target<'a>,
    /// Whether the list before kept anybody out.
    pub(super) before: bool,
    /// Whether the new one does.
    pub(super) after: bool,
    /// Whether the new one lets anybody in.
    pub(super) lets_in: bool,
    /// Blocks that go.
    pub(super) gone: &'a [String],
    /// Blocks that come.
    pub(super) new: &'a [String],
}

impl Effect<'_> {
    /// Who is kept out, and who gets in.
    pub(super) fn flags(&self, story: &mut Story) {
        match (self.before, self.after) {
            (_, true) if !self.lets_in => {
                let text =
                    "an enabled list without blocks lets nobody in, also nobody who would take it back";
                story.flag(Level::High, "locks-everybody-out", text);
                story.danger("the word that tells who is let in: nobody", "nobody");
            }
            (false, true) => {
                let text = match self.target.key {
                    Some(_) => "whoever asks with this API key from elsewhere is refused",
                    None => "whoever asks from elsewhere is refused, also when taking this back",
                };
                story.flag(Level::Med, "restricts-addresses", text);
            }
            (true, true) => self.replaced(story),
            (true, false) => story.flag(Level::Med, "allowlist-off", self.target.opened()),
            (false, false) => {}
        }
    }

    fn replaced(&self, story: &mut Story) {
        if !self.gone.is_empty() {
            let text = format!("requests from {} are refused then", self.gone.join(", "));
            story.flag(Level::Med, "blocks-removed", text);
        }
        if !self.new.is_empty() {
            let text = format!("requests from {} are taken then", self.new.join(", "));
            story.flag(Level::Med, "blocks-added", text);
        }
    }
}
