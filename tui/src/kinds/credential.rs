//! What is told of credentials that a user gets or loses, other than API keys.

use super::scene::{Scene, count, listed};
use super::{Level, Reader, Story, Undecodable};
use crate::text::quoted;

/// A user gets credentials, named by a member of each.
pub(super) fn given(
    parameters: &Reader<'_>,
    list: &str,
    member: &str,
    noun: &str,
    scene: &Scene<'_>,
) -> Result<Story, Undecodable> {
    let id = parameters.text("userId")?;
    let user = scene.user_named(id);
    let new = parameters.list(list)?;
    let names = new.iter().map(|one| one.text(member).map(quoted)).collect::<Result<Vec<_>, _>>()?;
    let mut story = Story::new(
        format!("{} for {}", count(new.len(), noun), scene.user_short(id)),
        format!(
            "Give {user} {}: {}. It is recorded and signs nobody in yet.",
            count(new.len(), &format!("more {noun}")),
            listed(names)
        ),
    );
    if scene.is_root(id) {
        story.flag(Level::High, "credential-for-root-user", format!("{user} is in the root quorum"));
    }
    if scene.asker.is_some_and(|asker| !asker.to_string().eq_ignore_ascii_case(id)) {
        story.flag(Level::High, "credential-by-other", format!("{user} did not ask for this"));
    }
    story.danger("the NAME of the user who gets the credential", &scene.user_name(id));
    unknown(&mut story, id, scene);
    Ok(story)
}

/// A user loses credentials, named by those whose ids are known.
pub(super) fn taken(
    parameters: &Reader<'_>,
    list: &str,
    noun: &str,
    named: impl Fn(&str) -> String,
    left: impl Fn(usize) -> bool,
    scene: &Scene<'_>,
) -> Result<Story, Undecodable> {
    let id = parameters.text("userId")?;
    let ids = parameters.texts(list)?;
    let told = listed(ids.iter().map(|one| named(one)));
    let mut story = Story::new(
        format!("{} of {}", count(ids.len(), noun), scene.user_short(id)),
        format!("Take {} from {}: {told}.", count(ids.len(), noun), scene.user_named(id)),
    );
    story.flag(Level::Med, "access-removed", "whoever uses these loses access");
    if !left(ids.len()) {
        story.flag(Level::Med, "last-credential", "no credential is left to this user");
    }
    unknown(&mut story, id, scene);
    Ok(story)
}

fn unknown(story: &mut Story, id: &str, scene: &Scene<'_>) {
    if scene.user(id).is_none() {
        let text = format!("{} is not in this organization now", scene.user_named(id));
        story.flag(Level::Med, "unknown-user", text);
    }
}
