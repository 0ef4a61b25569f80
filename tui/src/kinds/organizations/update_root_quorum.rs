//! Replaces the members and the threshold of the root quorum.

use std::cmp::Ordering;

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_ROOT_QUORUM", "Change root quorum", describe);

/// The requested root quorum, compared with the current one as the daemon states it.
struct RequestedQuorum<'a> {
    threshold: u64,
    /// Current threshold.
    before: u64,
    members: Vec<&'a str>,
    joining: Vec<&'a str>,
    leaving: Vec<&'a str>,
}

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let threshold = parameters.number("threshold")?;
    let members = parameters.texts("userIds")?;
    let now = &context.organization.head.root_quorum;
    let before = u64::from(now.threshold);
    let current: Vec<String> = now.user_ids.iter().map(ToString::to_string).collect();
    let current: Vec<&str> = current.iter().map(String::as_str).collect();
    let (joining, leaving) = (without(&members, &current), without(&current, &members));
    let requested = RequestedQuorum { threshold, before, members, joining, leaving };
    let mut description = Description::new(requested.brief(context), requested.sentence(context));
    let note = match threshold.cmp(&before) {
        Ordering::Less => "<- lower",
        Ordering::Equal => "same",
        Ordering::Greater => "<- higher",
    };
    description.change_with_note("threshold", before.to_string(), threshold.to_string(), note);
    let note = if requested.keeps_members() { "same ids" } else { "<- changed" };
    let (held, after) = (current.len().to_string(), requested.members.len().to_string());
    description.change_with_note("root users", held, after, note);
    let after = alone(context, threshold, &requested.members);
    description.change("can act alone", alone(context, before, &current), after);
    // The current members are stated by the daemon and not proven, so every new member is named, old or
    // new.
    for id in &requested.members {
        description.fact("root user", context.user_named(id));
    }
    for id in &requested.joining {
        description.change("joins", "-", context.user_named(id));
    }
    for id in &requested.leaving {
        description.change("leaves", context.user_named(id), "-");
    }
    requested.add_flags(&mut description);
    description.danger("the NEW THRESHOLD", &threshold.to_string());
    Ok(description)
}

/// Returns the ids that are not among others.
fn without<'a>(ids: &[&'a str], others: &[&str]) -> Vec<&'a str> {
    let is_other = |id: &str| others.iter().any(|other| other.eq_ignore_ascii_case(id));
    ids.iter().copied().filter(|id| !is_other(id)).collect()
}

fn alone(context: &ReviewContext<'_>, threshold: u64, members: &[&str]) -> String {
    if threshold > 1 { "nobody".to_owned() } else { listed(members.iter().map(|id| context.user_short(id))) }
}

impl RequestedQuorum<'_> {
    fn keeps_members(&self) -> bool {
        self.joining.is_empty() && self.leaving.is_empty()
    }

    /// Returns whether every member must agree.
    fn needs_all(&self) -> bool {
        let members = self.members.len();
        members > 0 && usize::try_from(self.threshold).is_ok_and(|threshold| threshold >= members)
    }

    fn brief(&self, context: &ReviewContext<'_>) -> String {
        let threshold = if self.before == self.threshold {
            format!("{} as now [s]", self.threshold)
        } else {
            format!("{} [s] -> {}", self.before, self.threshold)
        };
        let short = |ids: &[&str]| listed(ids.iter().map(|id| context.user_short(id)));
        let members = match (self.leaving.as_slice(), self.joining.as_slice()) {
            ([], []) => format!("same {} [s]", count(self.members.len(), "member")),
            (leaving, []) => format!("removes {}", short(leaving)),
            ([], joining) => format!("adds {}", short(joining)),
            (leaving, joining) => format!("removes {}, adds {}", short(leaving), short(joining)),
        };
        format!("threshold {threshold}, {members}")
    }

    fn sentence(&self, context: &ReviewContext<'_>) -> String {
        let (threshold, roots) = (self.threshold, count(self.members.len(), "root user"));
        let named = |ids: &[&str]| listed(ids.iter().map(|id| context.user_named(id)));
        let membership = if self.keeps_members() {
            format!("Keep the same {roots} [s].")
        } else {
            format!(
                "Remove {}; add {}: the root quorum then has {}.",
                named(&self.leaving),
                named(&self.joining),
                count(self.members.len(), "member")
            )
        };
        let able = if threshold == 1 {
            format!("any ONE of {roots} can do anything alone")
        } else if self.needs_all() {
            format!("all {roots} must agree on everything")
        } else {
            format!("any {threshold} of {roots} together can do anything")
        };
        let before = self.before;
        let change = if before == threshold {
            format!("Keep the root quorum threshold at {threshold} [s].")
        } else {
            format!("Set the root quorum threshold to {threshold}.")
        };
        format!("{change} {membership} Afterwards {able}. Today {before} must agree [s].")
    }

    fn add_flags(&self, description: &mut Description) {
        let (threshold, before) = (self.threshold, self.before);
        if threshold < before {
            let who = if threshold == 1 { "one person alone" } else { "fewer people together" };
            let text = format!(
                "Lowers the root quorum threshold from {before} [s] to {threshold}: {who} can then do anything."
            );
            description.flag_high("quorum-lowered", text);
        }
        if threshold == 1 && before <= 1 {
            let roots = count(self.members.len(), "root user");
            let text = format!("Any ONE of {roots} can do anything alone: the threshold is 1.");
            description.flag_high("one-alone", text);
        }
        let text = "Replaces the whole root quorum. The current members shown here are reported by the daemon \
            and not verified [s].";
        description.flag_high("sets-quorum", text);
        if !self.keeps_members() {
            let (joining, leaving) = (count(self.joining.len(), "user"), count(self.leaving.len(), "user"));
            let text = format!("Changes who has root authority: adds {joining}, removes {leaving} [s].");
            description.flag_high("quorum-members-changed", text);
        }
        if threshold > before {
            let text = format!(
                "Raises the root quorum threshold from {before} [s] to {threshold}: more people must agree."
            );
            description.flag_medium("quorum-raised", text);
        }
        if self.needs_all() {
            let text = "One lost credential can lock the organization out: every root user must agree.";
            description.flag_high("lock-out", text);
        }
    }
}
