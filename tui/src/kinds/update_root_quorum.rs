//! Changes who may act as root and how many must agree.

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};

pub(super) struct UpdateRootQuorum;

impl Kind for UpdateRootQuorum {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
            intent: "updateRootQuorumIntent",
            shape: "threshold userIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Change root quorum"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let threshold = parameters.number("threshold")?;
        let members = parameters.texts("userIds")?;
        let now = &scene.organization.head.root_quorum;
        let before = u64::from(now.threshold);
        let current: Vec<String> = now.user_ids.iter().map(ToString::to_string).collect();
        let joining: Vec<&str> = members
            .iter()
            .copied()
            .filter(|id| !current.iter().any(|held| held.eq_ignore_ascii_case(id)))
            .collect();
        let leaving: Vec<&str> = current
            .iter()
            .map(String::as_str)
            .filter(|id| !members.iter().any(|kept| kept.eq_ignore_ascii_case(id)))
            .collect();
        let membership = membership(scene, &joining, &leaving, members.len());
        let effect = effect(threshold, before, members.len());
        let mut story = Story::new(
            format!(
                "threshold {}, {}",
                arrow(before, threshold),
                brief(scene, &joining, &leaving, members.len())
            ),
            format!("Set the root quorum threshold to {threshold}. {membership} {effect}"),
        );
        let note = match threshold.cmp(&before) {
            std::cmp::Ordering::Less => "<- lower",
            std::cmp::Ordering::Equal => "same",
            std::cmp::Ordering::Greater => "<- higher",
        };
        story.change("threshold", before.to_string(), threshold.to_string(), note);
        let note =
            if joining.is_empty() && leaving.is_empty() { "same ids, one by one" } else { "<- changed" };
        story.change("root users", current.len().to_string(), members.len().to_string(), note);
        story.change(
            "alone-can-act",
            alone(scene, before, &now_names(&current)),
            alone(scene, threshold, &members),
            "",
        );
        // Whom the daemon counts among the members of today is not proven: each is named, whether they join or stay.
        for id in &members {
            story.fact("root user", scene.user_named(id));
        }
        for id in &joining {
            story.change("joins", "-", scene.user_named(id), "");
        }
        for id in &leaving {
            story.change("leaves", scene.user_named(id), "-", "");
        }
        flags(&mut story, threshold, before, members.len(), &joining, &leaving);
        story.danger("the NEW THRESHOLD", &threshold.to_string());
        Ok(story)
    }
}

fn now_names(current: &[String]) -> Vec<&str> {
    current.iter().map(String::as_str).collect()
}

fn arrow(before: u64, threshold: u64) -> String {
    if before == threshold {
        format!("{threshold} as now [s]")
    } else {
        format!("{before} [s] -> {threshold}")
    }
}

fn brief(scene: &Scene<'_>, joining: &[&str], leaving: &[&str], members: usize) -> String {
    if joining.is_empty() && leaving.is_empty() {
        return format!("same {} [s]", count(members, "member"));
    }
    let mut parts = Vec::new();
    if !leaving.is_empty() {
        parts.push(format!("{} out", listed(leaving.iter().map(|id| scene.user_short(id)))));
    }
    if !joining.is_empty() {
        parts.push(format!("{} in", listed(joining.iter().map(|id| scene.user_short(id)))));
    }
    parts.join(", ")
}

fn membership(scene: &Scene<'_>, joining: &[&str], leaving: &[&str], members: usize) -> String {
    if joining.is_empty() && leaving.is_empty() {
        return format!("Keep the same {} [s].", count(members, "root user"));
    }
    let named = |ids: &[&str]| listed(ids.iter().map(|id| scene.user_named(id)));
    format!("Root users become {members}: out {}; in {}.", named(leaving), named(joining))
}

fn effect(threshold: u64, before: u64, members: usize) -> String {
    let able = if threshold == 1 {
        format!("any ONE of {members} root users can do anything alone")
    } else {
        format!("any {threshold} of {members} root users together can do anything")
    };
    format!("After this {able}. Today {before} must agree [s].")
}

fn alone(scene: &Scene<'_>, threshold: u64, members: &[&str]) -> String {
    if threshold > 1 { "nobody".to_owned() } else { listed(members.iter().map(|id| scene.user_short(id))) }
}

fn flags(story: &mut Story, threshold: u64, before: u64, members: usize, joining: &[&str], leaving: &[&str]) {
    if threshold < before {
        story.flag(
            Level::High,
            "quorum-lowered",
            format!(
                "lowers the root quorum threshold from {before} [s] to {threshold}{}",
                if threshold == 1 { ": one person alone can then do anything" } else { "" }
            ),
        );
    }
    if threshold == 1 && before <= 1 {
        let text = format!("any ONE of {members} root users can do anything alone");
        story.flag(Level::High, "one-alone", text);
    }
    story.flag(
        Level::High,
        "sets-quorum",
        "replaces the whole root quorum; the current members shown here are reported by the daemon and not verified [s]",
    );
    if !joining.is_empty() || !leaving.is_empty() {
        let text = format!("changes who is root: {} in, {} out [s]", joining.len(), leaving.len());
        story.flag(Level::High, "quorum-members-changed", text);
    }
    if threshold > before {
        story.flag(
            Level::Med,
            "quorum-raised",
            format!("raises the root quorum threshold from {before} [s] to {threshold}"),
        );
    }
    if usize::try_from(threshold).is_ok_and(|threshold| threshold >= members && members > 0) {
        story.flag(
            Level::Med,
            "lock-out",
            "every root user must agree: one lost credential locks the organization out",
        );
    }
}
