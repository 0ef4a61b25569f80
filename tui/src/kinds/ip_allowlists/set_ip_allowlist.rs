//! Sets the IP addresses from which requests are accepted.

use super::allowlist::{Effect, Target, is_on, own_lists, state};
use super::block::Rule;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("SET_IP_ALLOWLIST", "Set IP allowlist", describe);

/// The requested list.
struct RequestedList<'a> {
    target: Target<'a>,
    enabled: bool,
    rules: Vec<Rule<'a>>,
    accepts_unknown: bool,
}

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let requested = RequestedList::of(parameters)?;
    let blocks = listed(requested.rules.iter().map(Rule::describe));
    let brief = match (requested.enabled || requested.target.key.is_some(), requested.rules.is_empty()) {
        (true, true) if requested.target.key.is_none() => "NOBODY is admitted".to_owned(),
        (true, _) => format!("{}: {blocks}", requested.target.brief(context)),
        (false, _) => format!("off, {blocks}"),
    };
    let mut description = Description::new(brief, requested.sentence(&blocks, context));
    requested.compare(context, &mut description);
    requested.add_flags(parameters, &mut description);
    requested.target.flag_unknown_key(context, &mut description);
    Ok(description)
}

impl<'a> RequestedList<'a> {
    fn of(parameters: &Reader<'a>) -> Result<Self> {
        let mut rules: Vec<Rule<'a>> = Vec::new();
        for rule in parameters.list("rules")? {
            let rule = Rule::new(rule.text("cidr")?, rule.maybe_text("label")?);
            if !rules.iter().any(|known| known.is_same_block(&rule)) {
                rules.push(rule);
            }
        }
        let accepts_unknown = match parameters.maybe_text("onEvaluationError")? {
            Some("ALLOW") => true,
            None | Some("DENY") => false,
            Some(_) => return Err(parameters.unknown("onEvaluationError")),
        };
        let enabled = !parameters.has("enabled") || parameters.boolean("enabled")?;
        Ok(Self { target: Target::of(parameters)?, enabled, rules, accepts_unknown })
    }

    /// Returns whether the list refuses any request once it is set.
    fn applies(&self, context: &ReviewContext<'_>) -> bool {
        if self.target.key.is_some() { is_on(context) && !self.rules.is_empty() } else { self.enabled }
    }

    fn sentence(&self, blocks: &str, context: &ReviewContext<'_>) -> String {
        let target_text = self.target.named(context);
        let effect = match (self.target.key, self.rules.is_empty()) {
            (Some(_), true) => {
                return format!(
                    "Give {target_text} an empty list: the list of the organization applies, as it does \
                     without one."
                );
            }
            (Some(_), false) => {
                let now =
                    if is_on(context) { "it is on now" } else { "it is off now, so this has no effect yet" };
                format!(
                    "Accept requests of {target_text} only from these addresses: {blocks}. This applies \
                     while the list of the organization is on; {now}."
                )
            }
            (None, _) if !self.enabled => format!(
                "Store this list of addresses for {target_text}: {blocks}. It is not enabled: neither this \
                 list nor those of API keys have an effect now."
            ),
            (None, true) => format!(
                "Accept requests of {target_text} from NO address: every request is refused, except those of \
                 API keys with their own blocks ({} now). Only the operator of the daemon can undo this, \
                 with quorated clear-ip-allowlist.",
                own_lists(context)
            ),
            (None, false) => format!(
                "Accept requests of {target_text} only from these addresses: {blocks}. Requests from \
                 elsewhere are refused, except those of API keys with their own blocks ({} now).",
                own_lists(context)
            ),
        };
        let outcome = unknown_address_outcome(self.accepts_unknown);
        format!("{effect} A request whose address is not known is {outcome}.")
    }

    fn compare(&self, context: &ReviewContext<'_>, description: &mut Description) {
        let now = self.target.now(context);
        let held: Vec<Rule<'_>> = now
            .map(|list| list.rules.iter().map(|rule| Rule::new(&rule.cidr, rule.label.as_deref())).collect())
            .unwrap_or_default();
        let before = now.map_or_else(|| "none".to_owned(), |list| state(list.enabled, list.rules.len()));
        let on = self.target.key.is_none().then_some(self.enabled);
        description.change("list", before, state(on, self.rules.len()));
        let lenient = now.map(|list| list.on_evaluation_error == "ALLOW");
        if lenient.unwrap_or(false) != self.accepts_unknown {
            let before = lenient.map_or("-", unknown_address_outcome);
            description.change("address not known", before, unknown_address_outcome(self.accepts_unknown));
        }
        let absent = |rule: &Rule<'_>, list: &[Rule<'_>]| !list.iter().any(|other| other.is_same_block(rule));
        let removed: Vec<String> =
            held.iter().filter(|rule| absent(rule, &self.rules)).map(Rule::describe).collect();
        let added: Vec<String> =
            self.rules.iter().filter(|rule| absent(rule, &held)).map(Rule::describe).collect();
        if !removed.is_empty() {
            description.change("removed blocks", removed.join(", "), "-");
        }
        if !added.is_empty() {
            description.change("added blocks", "-", added.join(", "));
        }
        self.flag_consoles(context, description);
        Effect {
            target: &self.target,
            before: is_on(context) && (self.target.key.is_none() || !held.is_empty()),
            after: self.applies(context),
            admits_any: !self.rules.is_empty(),
            removed: &removed,
            added: &added,
        }
        .flags(description);
    }

    /// Flags a list that refuses the requests of consoles, which can then neither vote nor undo it.
    fn flag_consoles(&self, context: &ReviewContext<'_>, description: &mut Description) {
        let admits = self.rules.is_empty() || self.rules.iter().any(Rule::admits_consoles);
        if admits || !self.applies(context) {
            return;
        }
        let text = match self.target.key {
            Some(_) => {
                "Locks this API key out of every console: consoles connect from 127.0.0.1, which no block \
                 contains."
            }
            None => {
                "Locks consoles out: they connect from 127.0.0.1, which no block contains. Only API keys with \
                 their own blocks can undo this."
            }
        };
        description.flag_with_word("locks-consoles-out", text, "lockout");
    }

    fn add_flags(&self, parameters: &Reader<'_>, description: &mut Description) {
        if self.target.key.is_some() && parameters.has("enabled") && !self.enabled {
            let text = "The list takes effect although it is marked as not enabled: that setting is ignored \
                for an API key.";
            description.flag_medium("key-list-counts", text);
        }
        if self.accepts_unknown {
            let text = "A request whose address is not known is accepted as if it came from a listed one.";
            description.flag_medium("unknown-address-taken", text);
        }
        for rule in self.rules.iter().filter(|rule| !rule.is_valid()) {
            let text = format!("Not a valid CIDR block: {}.", rule.describe());
            description.flag_medium("unreadable-block", text);
        }
    }
}

/// Returns what happens to a request whose address is not known.
fn unknown_address_outcome(accepted: bool) -> &'static str {
    if accepted { "ACCEPTED" } else { "refused" }
}
