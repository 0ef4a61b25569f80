//! Description of the export of a key.

use crate::kinds::prelude::*;
use crate::text::grouped;

/// A secret that is exported, encrypted to a target key.
pub(in crate::kinds) struct KeyExport<'a> {
    /// What is exported, without its name, such as `the mnemonic of the wallet`.
    pub(in crate::kinds) what: &'static str,
    /// Name and full id.
    pub(in crate::kinds) named: String,
    /// Prompt and answer of the challenge.
    pub(in crate::kinds) danger: (&'static str, &'a str),
    /// Whether the organization has it, as the daemon states.
    pub(in crate::kinds) known: bool,
    /// Public key that the export is encrypted to.
    pub(in crate::kinds) target: &'a str,
}

impl KeyExport<'_> {
    /// Describes the export.
    pub(in crate::kinds) fn describe(&self, context: &ReviewContext<'_>) -> Description {
        let (what, named) = (self.what, &self.named);
        let mut description = Description::new(
            named.clone(),
            format!(
                "Export {what} {named}, encrypted to the target key that is shown in full below. The holder \
                 of that key then has a permanent copy."
            ),
        );
        description.fact("target key, in full", grouped(&clean(self.target)));
        description.flag_high(
            "key-exported",
            "Gives away control for good: the holder of the copy can sign without this service.",
        );
        flag_target(&mut description, self.target, context);
        description.flag_if_missing("unknown-key", self.known, named);
        let (prompt, answer) = self.danger;
        description.danger(prompt, &clean(answer));
        description
    }
}

/// Flags what is known about the owner of the target key.
pub(in crate::kinds) fn flag_target(
    description: &mut Description,
    target: &str,
    context: &ReviewContext<'_>,
) {
    match context.key_holder(target) {
        Some(_) => {
            let text = format!(
                "The holder of {} can read the export: the target key also stamps requests.",
                context.key_named(target)
            );
            description.flag_high("target-stamps", text);
        }
        None => description.flag_high(
            "target-unknown",
            "An attacker may receive the copy: the owner of the target key is unknown here. Compare the key \
             with the one that the receiver sees.",
        ),
    }
}
