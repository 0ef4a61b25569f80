//! What is told of keys that leave.

use super::{Level, Scene, Story};
use crate::text::{clean, grouped};

/// Something that leaves, encrypted to a key.
pub(super) struct TakenOut<'a> {
    /// What leaves, in words without its name, such as `the mnemonic of the wallet`.
    pub(super) what: &'static str,
    /// Name and whole id of it.
    pub(super) named: String,
    /// What has to be typed, and how it is called.
    pub(super) danger: (&'static str, &'a str),
    /// Whether it is known here.
    pub(super) known: bool,
    /// The key that it is encrypted to.
    pub(super) target: &'a str,
}

impl TakenOut<'_> {
    /// The story.
    pub(super) fn told(&self, scene: &Scene<'_>) -> Story {
        let (what, named) = (self.what, &self.named);
        let mut story = Story::new(
            named.clone(),
            format!(
                "Take {what} {named} out of this service. Whoever holds the target key, below in full, has a copy from \
                 then on, for good."
            ),
        );
        story.fact("target key, in full", grouped(&clean(self.target)));
        story.flag(Level::High, "key-exported", "whoever has the copy can sign without this service");
        flag_target(&mut story, self.target, scene);
        if !self.known {
            story.flag(Level::Med, "unknown-key", format!("{named} is not in this organization now"));
        }
        let (prompt, answer) = self.danger;
        story.danger(prompt, &clean(answer));
        story
    }
}

/// What is known of the key that something leaves to.
pub(super) fn flag_target(story: &mut Story, target: &str, scene: &Scene<'_>) {
    match scene.key_holder(target) {
        Some(_) => {
            let text = format!("the target is {}, which also stamps requests", scene.key_named(target));
            story.flag(Level::High, "target-stamps", text);
        }
        None => story.flag(
            Level::High,
            "target-unknown",
            "nothing here tells whose key the target is: compare it with what the receiver sees",
        ),
    }
}
