//! Replays recent activities to show the effect of a policy change: each is evaluated before and after it.

use quorate_common::activity::Selection;
use quorate_common::console::{ActivityRow, OrganizationDetail};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, PolicyId, UserId};
use quorate_common::wire::{Policy, Timestamp};
use quorate_policy::decide::PolicyOutcome;
use serde::Serialize;
use serde_json::Value;

use super::content::ResolvedNames;
use super::request::Body;
use super::rules::Rules;

/// Maximum number of activities that are replayed.
pub(crate) const RECENT: usize = 1_000;

/// An activity whose decision would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DifferingActivity {
    pub(crate) activity_id: ActivityId,
    /// `ACTIVITY_TYPE_*`.
    #[serde(rename = "type")]
    pub(crate) activity_type: String,
    pub(crate) proposer: UserId,
    /// When it was proposed, in milliseconds since the Unix epoch.
    pub(crate) proposed_millis: u64,
    /// Decision with the current policies.
    pub(crate) now: PolicyOutcome,
    /// Decision with the changed policies.
    pub(crate) after: PolicyOutcome,
}

/// The result of a replay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Replay {
    /// Number of evaluated activities.
    #[serde(rename = "judged")]
    pub(crate) evaluated: usize,
    /// Number of activities that could not be evaluated: they name deleted objects, or policies do not decide
    /// on them.
    #[serde(rename = "notJudged")]
    pub(crate) not_evaluated: usize,
    /// Activities whose decision would change, newest first.
    pub(crate) differing: Vec<DifferingActivity>,
}

/// Returns the policies of an organization after an activity of this type and parameters is executed. Returns
/// `None` if it changes no policy, or if this console cannot derive the change.
pub(crate) fn changed(
    organization: &OrganizationDetail,
    activity_type: &str,
    parameters: &Value,
) -> Option<Vec<Policy>> {
    let mut policies = organization.policies.clone();
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    match activity_type {
        "ACTIVITY_TYPE_CREATE_POLICY_V3" => policies.push(created(parameters)),
        "ACTIVITY_TYPE_CREATE_POLICIES" => {
            policies.extend(parameters.get("policies")?.as_array()?.iter().map(created));
        }
        "ACTIVITY_TYPE_UPDATE_POLICY" | "ACTIVITY_TYPE_UPDATE_POLICY_V2" => {
            let id = text(parameters, "policyId")?;
            let policy = policies.iter_mut().find(|policy| policy.policy_id.to_string() == id)?;
            policy.effect = text(parameters, "policyEffect").unwrap_or_else(|| policy.effect.clone());
            policy.condition =
                text(parameters, "policyCondition").unwrap_or_else(|| policy.condition.clone());
            policy.consensus =
                text(parameters, "policyConsensus").unwrap_or_else(|| policy.consensus.clone());
            policy.policy_name = text(parameters, "policyName").unwrap_or_else(|| policy.policy_name.clone());
            let time = text(parameters, "time").or_else(|| policy.time.clone());
            policy.time = time.filter(|time| !time.is_empty());
        }
        "ACTIVITY_TYPE_DELETE_POLICY" => {
            let id = text(parameters, "policyId")?;
            policies.retain(|policy| policy.policy_id.to_string() != id);
        }
        "ACTIVITY_TYPE_DELETE_POLICIES" => {
            let ids = parameters.get("policyIds")?.as_array()?;
            policies.retain(|policy| !ids.contains(&Value::String(policy.policy_id.to_string())));
        }
        _ => return None,
    }
    Some(policies)
}

fn created(parameters: &Value) -> Policy {
    let text = |name: &str| parameters.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Policy {
        policy_id: PolicyId::from_bytes([0; 16]),
        policy_name: text("policyName"),
        effect: text("effect"),
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
        notes: text("notes"),
        consensus: text("consensus"),
        condition: text("condition"),
        time: Some(text("time")).filter(|time| !time.is_empty()),
    }
}

/// Returns the signed request of an activity, and its proposer.
pub(crate) fn signed(row: &ActivityRow) -> Option<(Body, UserId)> {
    let activity = &row.activity;
    let is_proposal = |message: &str| Fingerprint::of(message.as_bytes()) == activity.fingerprint;
    let vote = activity.votes.iter().find(|vote| is_proposal(&vote.message))?;
    Some((serde_json::from_str(&vote.message).ok()?, vote.user_id))
}

/// Evaluates activities with the current and with other policies, each at its own time and with its own
/// approvals.
pub(crate) fn replay(
    organization: &OrganizationDetail,
    policies: Vec<Policy>,
    strict_deny_errors: bool,
    rows: &[ActivityRow],
    resolved: &ResolvedNames,
    now: u64,
) -> Replay {
    let changed = OrganizationDetail { policies, ..organization.clone() };
    let before = Rules::of(organization, strict_deny_errors, now);
    let after = Rules::of(&changed, strict_deny_errors, now);
    let mut replay = Replay::default();
    for row in rows {
        let parsed = signed(row)
            .and_then(|(body, proposer)| Some((body.parsed(organization, resolved).ok()?, proposer)));
        let Some((parsed, proposer)) = parsed else {
            replay.not_evaluated = replay.not_evaluated.saturating_add(1);
            continue;
        };
        let approvals = row.activity.votes.iter();
        let approvals =
            approvals.filter(|vote| vote.selection == Selection::Approved && vote.attestation.is_none());
        let approvals: Vec<_> = approvals
            .filter_map(|vote| before.approval(&vote.user_id.to_string(), Some(&vote.public_key)))
            .collect();
        let at = row.activity.created_at.millis();
        let judge = |rules: &Rules<'_>| parsed.verdict(&rules.parsed, &proposer.to_string(), &approvals, at);
        let (now, after) = (judge(&before), judge(&after));
        replay.evaluated = replay.evaluated.saturating_add(1);
        if now != after {
            replay.differing.push(DifferingActivity {
                activity_id: row.activity.id,
                activity_type: row.activity.activity_type.clone(),
                proposer,
                proposed_millis: at,
                now,
                after,
            });
        }
    }
    replay
}

/// Returns an outcome as text.
pub(crate) const fn outcome_word(outcome: PolicyOutcome) -> &'static str {
    match outcome {
        PolicyOutcome::Allow => "allowed",
        PolicyOutcome::RequiresConsensus => "waits for votes",
        PolicyOutcome::DenyExplicit
        | PolicyOutcome::DenyImplicit
        | PolicyOutcome::Error
        | PolicyOutcome::TimeInactive => "denied",
    }
}

/// Returns a decision as an upper-case word.
pub(crate) const fn verdict_word(verdict: PolicyOutcome) -> &'static str {
    match verdict {
        PolicyOutcome::Allow => "ALLOWED",
        PolicyOutcome::RequiresConsensus => "NEEDS APPROVAL",
        _ => "DENIED",
    }
}
