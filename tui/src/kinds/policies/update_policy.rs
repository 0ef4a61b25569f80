//! Changes a policy.

use quorate_common::wire::Policy;

use super::rule::{ALWAYS, ANY, ANYBODY, Rule, expression};
use crate::kinds::prelude::*;
use crate::policies;

pub(super) const KIND: Kind = Kind::new("UPDATE_POLICY", "Change policy", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("policyId")?;
    let named = context.policy_named(id);
    let known = context.policy(id);
    // An empty member removes the expression; an absent one keeps it.
    let kept = |member: &str, now: Option<&'_ str>| -> Result<Option<String>> {
        let text = if parameters.has(member) { parameters.maybe_text(member)? } else { now };
        Ok(expression(text).map(str::to_owned))
    };
    let condition = kept("policyCondition", known.map(|policy| policy.condition.as_str()))?;
    let consensus = kept("policyConsensus", known.map(|policy| policy.consensus.as_str()))?;
    let time = kept("time", known.and_then(|policy| policy.time.as_deref()))?;
    let effect = parameters.maybe_text("policyEffect")?;
    let effect = effect.or(known.map(|policy| policy.effect.as_str())).unwrap_or("not known here");
    let rule = Rule {
        effect,
        condition: condition.as_deref(),
        consensus: consensus.as_deref(),
        time: time.as_deref(),
    };
    // An effect that is not signed is only stated by the daemon, so it must not lead to fewer flags.
    let signed = parameters.has("policyEffect");
    let verb = if signed { rule.verb() } else { "CHANGE".to_owned() };
    let mut description = Description::new(format!("{verb} {named}"), String::new());
    let mut sentences = vec![format!("Change the policy {named}.")];
    sentences.extend(changes(parameters, known, rule.time.is_some(), &mut description)?);
    // Unchanged parts are not in the signed bytes, so they are marked as stated by the daemon.
    let members = ["policyEffect", "policyCondition", "policyConsensus", "time"];
    let whole = members.iter().all(|member| parameters.has(member));
    let source = if whole {
        "The policy is then"
    } else {
        "All other parts stay as they are. According to the daemon [s], the policy is then"
    };
    sentences.push(format!("{source}: {}.", rule.words()));
    description.sentence = sentences.join(" ");
    let before = known.map(Rule::known);
    compare(before.as_ref(), &rule, &mut description, context);
    flag_fewer_approvals(before.as_ref(), &rule, &mut description, context);
    let is_limited = rule.time.is_some();
    let worst_case = Rule { effect: if signed { rule.effect } else { "EFFECT_ALLOW" }, ..rule };
    worst_case.flags(&mut description);
    add_flags(known, is_limited, &named, &mut description);
    Ok(description)
}

/// Flags what the current policy prevents and the changed one may allow.
fn add_flags(known: Option<&Policy>, is_limited: bool, named: &str, description: &mut Description) {
    if known.is_some_and(|policy| policy.time.is_some()) && !is_limited {
        let text = "Makes the policy active at all times: its time limit is removed.";
        description.flag_high("time-removed", text);
    }
    match known {
        None => {
            let text = format!(
                "The resulting policy is unknown: {named} and its unchanged parts are not known here."
            );
            description.flag_high("unknown-policy", text);
        }
        Some(policy) if policy.effect == "EFFECT_DENY" => {
            let text = format!("May remove a prohibition: {named} denies activities today.");
            description.flag_high("deny-changed", text);
        }
        Some(_) => {}
    }
}

/// Flags a change after which a smaller group of users can act.
fn flag_fewer_approvals(
    before: Option<&Rule<'_>>,
    after: &Rule<'_>,
    description: &mut Description,
    context: &ReviewContext<'_>,
) {
    let users = policies::approvers(context.organization);
    let fewest = |rule: &Rule<'_>| policies::fewest(&rule.program()?, &users);
    let (Some(before), Some(after)) = (before.and_then(fewest), fewest(after)) else { return };
    if after < before {
        let text = format!(
            "Lowers the number of users who must approve from {before} to {after}: {} can then do what the \
             policy allows.",
            if after == 1 { "one user alone".to_owned() } else { format!("{after} users") }
        );
        description.flag_high("fewer-approvals", text);
    }
}

/// Compares each member with its current value, and returns a sentence for each signed member.
fn changes(
    parameters: &Reader<'_>,
    known: Option<&Policy>,
    is_limited: bool,
    description: &mut Description,
) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    let shown = |text: &str, none: &str| expression(Some(text)).map_or_else(|| none.to_owned(), clean);
    for (label, member, none, now) in [
        ("name", "policyName", "?", known.map(|policy| policy.policy_name.as_str())),
        ("effect", "policyEffect", "?", known.map(|policy| policy.effect.as_str())),
        ("condition", "policyCondition", ANY, known.map(|policy| policy.condition.as_str())),
        ("consensus", "policyConsensus", ANYBODY, known.map(|policy| policy.consensus.as_str())),
        ("time", "time", ALWAYS, known.map(|policy| policy.time.as_deref().unwrap_or_default())),
    ] {
        // Most policies have no time, and most changes set none.
        if label == "time" && !is_limited && !parameters.has(member) {
            continue;
        }
        let now = now.map_or_else(|| "?".to_owned(), |now| shown(now, none));
        if parameters.has(member) {
            let after = parameters.maybe_text(member)?.unwrap_or_default();
            let becomes = expression(Some(after)).map_or_else(|| none.to_owned(), quoted);
            let after = shown(after, none);
            // The value is signed. That it is the current one is only stated by the daemon, and must not hide it.
            if now == after {
                sentences.push(format!("Its {label} becomes {becomes}, which it already is [s]."));
                description.change(label, now, format!("{after} (unchanged [s])"));
            } else {
                sentences.push(format!("Its {label} becomes {becomes}."));
                description.change(label, now, after);
            }
        } else {
            description.change(label, now, "unchanged");
        }
    }
    Ok(sentences)
}

/// Adds the rule in words before and after the change, and the parts of its expressions that are removed and
/// added.
fn compare(
    before: Option<&Rule<'_>>,
    after: &Rule<'_>,
    description: &mut Description,
    context: &ReviewContext<'_>,
) {
    if let Some(before) = before {
        before.add_description("in words, now", description, context);
    }
    after.add_description("in words, after", description, context);
    let (Some(before), Some(after)) = (before.and_then(Rule::program), after.program()) else { return };
    for (label, before, after) in [
        ("condition", &before.condition, &after.condition),
        ("consensus", &before.consensus, &after.consensus),
        ("time", &before.time, &after.time),
    ] {
        for part in policies::difference(before.as_ref(), after.as_ref()) {
            description.fact(&format!("{label} differs"), clean(&part));
        }
    }
}
