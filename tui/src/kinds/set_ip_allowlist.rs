//! Says from which addresses requests are taken.

use super::allowlist::{Effect, Target, is_on, own_lists, state};
use super::block::Rule;
use super::scene::listed;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};

pub(super) struct SetIpAllowlist;

/// A list that is asked for.
struct Asked<'a> {
    target: Target<'a>,
    enabled: bool,
    rules: Vec<Rule<'a>>,
    takes_unknown: bool,
}

impl Kind for SetIpAllowlist {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_SET_IP_ALLOWLIST",
            intent: "setIpAllowlistIntent",
            shape: "publicKey enabled rules[]:IpRule onEvaluationError",
        }]
    }

    fn title(&self) -> &'static str {
        "Set IP allowlist"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let asked = Asked::of(parameters)?;
        let blocks = listed(asked.rules.iter().map(Rule::told));
        let brief = match (asked.enabled || asked.target.key.is_some(), asked.rules.is_empty()) {
            (true, true) if asked.target.key.is_none() => "NOBODY is let in".to_owned(),
            (true, _) => format!("{}: {blocks}", asked.target.brief(scene)),
            (false, _) => format!("off, {blocks}"),
        };
        let mut story = Story::new(brief, asked.told(&blocks, scene));
        asked.compare(scene, &mut story);
        asked.remarks(parameters, &mut story);
        asked.target.flag(scene, &mut story);
        Ok(story)
    }
}

impl<'a> Asked<'a> {
    fn of(parameters: &Reader<'a>) -> Result<Self, Undecodable> {
        let mut rules: Vec<Rule<'a>> = Vec::new();
        for rule in parameters.list("rules")? {
            let rule = Rule::new(rule.text("cidr")?, rule.maybe_text("label")?);
            if !rules.iter().any(|known| known.same(&rule)) {
                rules.push(rule);
            }
        }
        let takes_unknown = match parameters.maybe_text("onEvaluationError")? {
            Some("ALLOW") => true,
            None | Some("DENY") => false,
            Some(_) => return Err(parameters.unknown("onEvaluationError")),
        };
        let enabled = !parameters.has("enabled") || parameters.yes("enabled")?;
        Ok(Self { target: Target::of(parameters)?, enabled, rules, takes_unknown })
    }

    /// Whether it keeps anybody out once it is set.
    fn counts(&self, scene: &Scene<'_>) -> bool {
        if self.target.key.is_some() { is_on(scene) && !self.rules.is_empty() } else { self.enabled }
    }

    fn told(&self, blocks: &str, scene: &Scene<'_>) -> String {
        let whose = self.target.named(scene);
        let told = match (self.target.key, self.rules.is_empty()) {
            (Some(_), true) => {
                return format!(
                    "Give {whose} an empty list: that of the organization counts, as without one."
                );
            }
            (Some(_), false) => {
                let now =
                    if is_on(scene) { "it is on now" } else { "it is not on now, so this has no effect yet" };
                format!(
                    "Take requests of {whose} from these addresses only: {blocks}. That counts while the list of the \
                     organization is on; {now}."
                )
            }
            (None, _) if !self.enabled => format!(
                "Keep this list of addresses for {whose}: {blocks}. It is not enabled: it has no effect now, nor have \
                 those of API keys."
            ),
            (None, true) => format!(
                "Take requests of {whose} from NO address: every request is refused, but for API keys with blocks of \
                 their own ({} now). Only whoever runs the daemon can take that back, by quorated clear-ip-allowlist.",
                own_lists(scene)
            ),
            (None, false) => format!(
                "Take requests of {whose} from these addresses only: {blocks}. Whoever asks from elsewhere is refused, \
                 but for API keys with blocks of their own ({} now).",
                own_lists(scene)
            ),
        };
        format!("{told} A request whose address is not known is {}.", unknown(self.takes_unknown))
    }

    fn compare(&self, scene: &Scene<'_>, story: &mut Story) {
        let now = self.target.now(scene);
        let held: Vec<Rule<'_>> = now
            .map(|list| list.rules.iter().map(|rule| Rule::new(&rule.cidr, rule.label.as_deref())).collect())
            .unwrap_or_default();
        let before = now.map_or_else(|| "none".to_owned(), |list| state(list.enabled, list.rules.len()));
        let on = self.target.key.is_none().then_some(self.enabled);
        story.change("list", before, state(on, self.rules.len()), "");
        let lenient = now.map(|list| list.on_evaluation_error == "ALLOW");
        if lenient.unwrap_or(false) != self.takes_unknown {
            let before = lenient.map_or("-", unknown);
            story.change("unknown address", before, unknown(self.takes_unknown), "");
        }
        let absent = |rule: &Rule<'_>, list: &[Rule<'_>]| !list.iter().any(|other| other.same(rule));
        let gone: Vec<String> =
            held.iter().filter(|rule| absent(rule, &self.rules)).map(Rule::told).collect();
        let new: Vec<String> = self.rules.iter().filter(|rule| absent(rule, &held)).map(Rule::told).collect();
        if !gone.is_empty() {
            story.change("blocks that go", gone.join(", "), "-", "");
        }
        if !new.is_empty() {
            story.change("blocks that come", "-", new.join(", "), "");
        }
        Effect {
            target: &self.target,
            before: is_on(scene) && (self.target.key.is_none() || !held.is_empty()),
            after: self.counts(scene),
            lets_in: !self.rules.is_empty(),
            gone: &gone,
            new: &new,
        }
        .flags(story);
    }

    fn remarks(&self, parameters: &Reader<'_>, story: &mut Story) {
        if self.target.key.is_some() && parameters.has("enabled") && !self.enabled {
            let text = "a list of an API key counts also when it is not enabled";
            story.flag(Level::Med, "key-list-counts", text);
        }
        if self.takes_unknown {
            let text = "a request whose address is not known is taken as if it came from one of these";
            story.flag(Level::Med, "unknown-address-taken", text);
        }
        for rule in self.rules.iter().filter(|rule| !rule.is_read()) {
            let text = format!("{} is no block of addresses", rule.told());
            story.flag(Level::Med, "unreadable-block", text);
        }
    }
}

/// What becomes of a request whose address is not known.
fn unknown(taken: bool) -> &'static str {
    if taken { "TAKEN" } else { "refused" }
}
