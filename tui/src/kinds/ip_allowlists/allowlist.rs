//! Descriptions and flags that the kinds on IP allowlists share.

use quorate_common::wire::IpAllowlist;

use crate::kinds::prelude::*;

/// The requests to which a list applies.
pub(super) struct Target<'a> {
    /// Public key of an API key; the requests of all users if absent.
    pub(super) key: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// Reads the target from the parameters.
    pub(super) fn of(parameters: &Reader<'a>) -> Result<Self> {
        Ok(Self { key: parameters.maybe_text("publicKey")? })
    }

    /// Returns the target as text, with the full public key of an API key.
    pub(super) fn named(&self, context: &ReviewContext<'_>) -> String {
        self.key.map_or_else(|| "all users of this organization".to_owned(), |key| context.key_named(key))
    }

    /// Returns the target in a few words, for lists.
    pub(super) fn brief(&self, context: &ReviewContext<'_>) -> String {
        let Some(key) = self.key else { return "everybody".to_owned() };
        match context.key_holder(key) {
            Some((user, held)) => format!("{} of {}", stated(&held.api_key_name), stated(&user.user_name)),
            None => format!("the API key {}", clean(key)),
        }
    }

    /// Returns the current list, as the daemon states it.
    pub(super) fn now<'s>(&self, context: &ReviewContext<'s>) -> Option<&'s IpAllowlist> {
        let same = |list: &&IpAllowlist| match (self.key, list.public_key.as_deref()) {
            (Some(wanted), Some(known)) => known.eq_ignore_ascii_case(wanted),
            (wanted, known) => wanted.is_none() && known.is_none(),
        };
        context.organization.ip_allowlists.iter().find(same)
    }

    /// Returns the sentence on what applies once the list no longer refuses any request.
    pub(super) fn removal_effect(&self) -> &'static str {
        match self.key {
            Some(_) => "The list of the organization applies to this API key again, if it is on.",
            None => {
                "Requests are then accepted from anywhere, including those of API keys with their own blocks."
            }
        }
    }

    /// Flags an API key that does not exist.
    pub(super) fn flag_unknown_key(&self, context: &ReviewContext<'_>, description: &mut Description) {
        if let Some(key) = self.key
            && context.key_holder(key).is_none()
        {
            description.flag_missing("unknown-key", &context.key_named(key));
        }
    }
}

/// Returns whether the list of the organization is on. The lists of API keys apply only then.
pub(super) fn is_on(context: &ReviewContext<'_>) -> bool {
    Target { key: None }.now(context).is_some_and(|list| list.enabled == Some(true))
}

/// Returns the number of API keys with their own blocks.
pub(super) fn own_lists(context: &ReviewContext<'_>) -> usize {
    let own = |list: &&IpAllowlist| list.public_key.is_some() && !list.rules.is_empty();
    context.organization.ip_allowlists.iter().filter(own).count()
}

/// Returns a list in a few words. A list of an API key has no on/off state.
pub(super) fn state(on: Option<bool>, blocks: usize) -> String {
    let blocks = count(blocks, "block");
    match on {
        Some(true) => format!("on, {blocks}"),
        Some(false) => format!("off, {blocks}"),
        None => blocks,
    }
}

/// The effect of a list that replaces another.
pub(super) struct Effect<'a> {
    /// The requests to which the list applies.
    pub(super) target: &'a Target<'a>,
    /// Whether the old list refuses any request.
    pub(super) before: bool,
    /// Whether the new list refuses any request.
    pub(super) after: bool,
    /// Whether the new list admits any request.
    pub(super) admits_any: bool,
    /// Removed blocks.
    pub(super) removed: &'a [String],
    /// Added blocks.
    pub(super) added: &'a [String],
}

impl Effect<'_> {
    /// Flags the requests that are refused and accepted from then on.
    pub(super) fn flags(&self, description: &mut Description) {
        match (self.before, self.after) {
            (_, true) if !self.admits_any => {
                let text = "Locks everybody out, including those who could undo it: an enabled list without \
                    blocks admits nobody.";
                description.flag_with_word("locks-everybody-out", text, "nobody");
            }
            (false, true) => {
                let text = match self.target.key {
                    Some(_) => "Requests with this API key from all other addresses are refused.",
                    None => "Requests from all other addresses are refused, including those to undo this.",
                };
                description.flag_medium("restricts-addresses", text);
            }
            (true, true) => self.flag_replaced(description),
            (true, false) => description.flag_medium("allowlist-off", self.target.removal_effect()),
            (false, false) => {}
        }
    }

    fn flag_replaced(&self, description: &mut Description) {
        if !self.removed.is_empty() {
            let text = format!("Requests from {} are then refused.", self.removed.join(", "));
            description.flag_medium("blocks-removed", text);
        }
        if !self.added.is_empty() {
            let text = format!("Requests from {} are then accepted.", self.added.join(", "));
            description.flag_medium("blocks-added", text);
        }
    }
}
