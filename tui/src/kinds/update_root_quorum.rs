//! Replaces the members and the threshold of the root quorum.

use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};

pub(super) struct UpdateRootQuorum;

impl Kind for UpdateRootQuorum {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
            intent: "updateRootQuorumIntent",
            schema: "threshold userIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Change root quorum"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
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
        let mut description = Description::new(
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
        description.change("threshold", before.to_string(), threshold.to_string(), note);
        let note = if joining.is_empty() && leaving.is_empty() { "same ids" } else { "<- changed" };
        description.change("root users", current.len().to_string(), members.len().to_string(), note);
        description.change(
            "can act alone",
            alone(scene, before, &now_names(&current)),
            alone(scene, threshold, &members),
            "",
        );
        // The current members are stated by the daemon and not proven, so every new member is named, old or
        // new.
        for id in &members {
            description.fact("root user", scene.user_named(id));
        }
        for id in &joining {
            description.change("joins", "-", scene.user_named(id), "");
        }
        for id in &leaving {
            description.change("leaves", scene.user_named(id), "-", "");
        }
        flags(&mut description, threshold, before, members.len(), &joining, &leaving);
        description.danger("the NEW THRESHOLD", &threshold.to_string());
        Ok(description)
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
        parts.push(format!("removes {}", listed(leaving.iter().map(|id| scene.user_short(id)))));
    }
    if !joining.is_empty() {
        parts.push(format!("adds {}", listed(joining.iter().map(|id| scene.user_short(id)))));
    }
    parts.join(", ")
}

fn membership(scene: &Scene<'_>, joining: &[&str], leaving: &[&str], members: usize) -> String {
    if joining.is_empty() && leaving.is_empty() {
        return format!("Keep the same {} [s].", count(members, "root user"));
    }
    let named = |ids: &[&str]| listed(ids.iter().map(|id| scene.user_named(id)));
    format!(
        "Remove {}; add {}: the root quorum then has {}.",
        named(leaving),
        named(joining),
        count(members, "member")
    )
}

fn effect(threshold: u64, before: u64, members: usize) -> String {
    let able = if threshold == 1 {
        format!("any ONE of {} can do anything alone", count(members, "root user"))
    } else {
        format!("any {threshold} of {} together can do anything", count(members, "root user"))
    };
    format!("Afterwards {able}. Today {before} must agree [s].")
}

fn alone(scene: &Scene<'_>, threshold: u64, members: &[&str]) -> String {
    if threshold > 1 { "nobody".to_owned() } else { listed(members.iter().map(|id| scene.user_short(id))) }
}

fn flags(
    description: &mut Description,
    threshold: u64,
    before: u64,
    members: usize,
    joining: &[&str],
    leaving: &[&str],
) {
    if threshold < before {
        description.flag(
            Level::High,
            "quorum-lowered",
            format!(
                "Lowers the root quorum threshold from {before} [s] to {threshold}: {} can then do anything.",
                if threshold == 1 { "one person alone" } else { "fewer people together" }
            ),
        );
    }
    if threshold == 1 && before <= 1 {
        let text =
            format!("Any ONE of {} can do anything alone: the threshold is 1.", count(members, "root user"));
        description.flag(Level::High, "one-alone", text);
    }
    description.flag(
        Level::High,
        "sets-quorum",
        "Replaces the whole root quorum. The current members shown here are reported by the daemon and not \
         verified [s].",
    );
    if !joining.is_empty() || !leaving.is_empty() {
        let text = format!(
            "Changes who has root authority: adds {}, removes {} [s].",
            count(joining.len(), "user"),
            count(leaving.len(), "user")
        );
        description.flag(Level::High, "quorum-members-changed", text);
    }
    if threshold > before {
        description.flag(
            Level::Med,
            "quorum-raised",
            format!(
                "Raises the root quorum threshold from {before} [s] to {threshold}: more people must agree."
            ),
        );
    }
    if usize::try_from(threshold).is_ok_and(|threshold| threshold >= members && members > 0) {
        description.flag(
            Level::Med,
            "lock-out",
            "One lost credential can lock the organization out: every root user must agree.",
        );
    }
}
