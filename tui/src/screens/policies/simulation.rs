//! Simulates the request of a recent activity with any user as the proposer. Nothing is sent.

use quorate_common::ids::{ActivityId, UserId};
use quorate_policy::Names;
use quorate_policy::decide::PolicyOutcome;
use quorate_policy::simulate::{PolicyReport, Simulation};
use ratatui::layout::Rect;

use super::state::{Pane, State, labelled, layout, rules};
use crate::canvas::{Canvas, Line};
use crate::keymap::{Action, moved, scroll};
use crate::policies::{Body, Rules, signed, verdict_word};
use crate::proof::simulation_text;
use crate::screens::overlay::Overlay;
use crate::screens::shared::Shared;
use crate::text::{clean, cut, pad, quoted};
use crate::theme::Theme;

/// Widths of the outcome and of the policy name, in columns.
const OUTCOME_COLUMNS: usize = 15;
const NAME_COLUMNS: usize = 30;

/// Handles the keys of the simulation: up and down select the request, left and right the proposer, page keys
/// scroll.
pub(super) fn perform(state: &mut State, shared: &Shared, wanted: Action, area: Rect) {
    let Some(organization) = &shared.organization else { return };
    match wanted {
        Action::Left | Action::Right => {
            let users = &organization.users;
            let proposer = proposer(state, shared);
            let at = users.iter().position(|user| Some(user.user_id) == proposer).unwrap_or(0);
            let step = if wanted == Action::Right { 1 } else { users.len().saturating_sub(1) };
            let next = at.saturating_add(step).checked_rem(users.len()).unwrap_or(0);
            state.proposer = users.get(next).map(|user| user.user_id);
            state.simulation_scroll = 0;
        }
        Action::PageUp | Action::PageDown => {
            let area = layout(state.pane, area).simulation;
            let columns = usize::from(area.width.saturating_sub(4));
            let rows = lines(state, shared, &rules(shared, organization), columns).len();
            let height = usize::from(area.height.saturating_sub(2));
            state.simulation_scroll = scroll(state.simulation_scroll, rows, height, wanted);
        }
        wanted => {
            let requests: Vec<ActivityId> =
                shared.activities.rows.iter().map(|row| row.activity.id).collect();
            let at = requests.iter().position(|id| Some(*id) == state.simulated).unwrap_or(0);
            state.simulated = requests.get(moved(at, requests.len(), 5, wanted)).copied();
            state.simulation_scroll = 0;
        }
    }
}

/// Returns the simulated proposer: the selected user, otherwise the viewer, otherwise the first user.
fn proposer(state: &State, shared: &Shared) -> Option<UserId> {
    let first = || shared.organization.as_ref()?.users.first().map(|user| user.user_id);
    state.proposer.or(shared.viewer.user).or_else(first)
}

/// Returns the signed request that is simulated.
pub(super) fn body(state: &State, shared: &Shared) -> Option<Body> {
    let rows = &shared.activities.rows;
    let chosen = rows.iter().find(|row| Some(row.activity.id) == state.simulated).or_else(|| rows.first());
    signed(chosen?).map(|(body, _)| body)
}

/// Simulates the request by a user, who approves it.
fn simulation(
    state: &State,
    shared: &Shared,
    rules: &Rules<'_>,
    body: &Body,
    user: UserId,
) -> Result<Simulation, String> {
    let organization = shared.organization.as_ref().ok_or("the organization is not loaded yet")?;
    let parsed = body.parsed(organization, &state.resolved)?;
    let approval: Vec<_> = rules.approval(&user.to_string(), None).into_iter().collect();
    Ok(parsed.simulate(&rules.parsed, &user.to_string(), &approval, shared.now))
}

/// Explains how each policy evaluates the simulated request.
pub(super) fn explanation(state: &State, shared: &Shared) -> Option<Overlay> {
    let (body, user) = (body(state, shared)?, proposer(state, shared)?);
    let rules = rules(shared, shared.organization.as_ref()?);
    let mut paragraphs = vec![clean(&body.activity_type), clean(body.parameters.get()), String::new()];
    match simulation(state, shared, &rules, &body, user) {
        Err(why) => paragraphs.push(format!("cannot be evaluated: {}", clean(&why))),
        Ok(simulation) => {
            paragraphs.extend(simulation_text(&simulation, &rules).lines().map(str::to_owned));
        }
    }
    Some(Overlay::text("How each policy evaluates the request", paragraphs))
}

pub(super) fn draw(state: &State, shared: &Shared, rules: &Rules<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let has_keys = state.pane == Pane::Simulation;
    let remark = if has_keys { "selected: Up Down request, Left Right proposer" } else { "Tab" };
    let inner = canvas.framed(area, "Try a request: what would happen? Nothing is sent", remark);
    let lines = lines(state, shared, rules, usize::from(inner.width));
    canvas.pane(inner, &lines, state.simulation_scroll, has_keys);
}

fn lines(state: &State, shared: &Shared, rules: &Rules<'_>, columns: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let (Some(body), Some(user)) = (body(state, shared), proposer(state, shared)) else {
        let text = "no activity to simulate yet; `quorate policy simulate` accepts any request";
        labelled(&mut lines, "with", text, columns);
        return lines;
    };
    let name = rules.name(&user.to_string()).unwrap_or_else(|| user.to_string());
    labelled(&mut lines, "as user", &name, columns);
    let request =
        format!("{} {}", body.activity_type.trim_start_matches("ACTIVITY_TYPE_"), body.parameters.get());
    labelled(&mut lines, "request", &cut(&clean(&request), columns.saturating_mul(2)), columns);
    match simulation(state, shared, rules, &body, user) {
        Err(why) => labelled(&mut lines, "result", &format!("cannot be evaluated: {why}"), columns),
        Ok(simulation) => outcome(&mut lines, &simulation, rules, columns),
    }
    lines
}

fn outcome(lines: &mut Vec<Line>, simulation: &Simulation, rules: &Rules<'_>, columns: usize) {
    let verdict = verdict_word(simulation.verdict);
    let from = lines.len();
    labelled(lines, "result", &format!("{verdict}: {}", simulation.because), columns);
    if let Some(line) = lines.get_mut(from) {
        line.style = Theme::strong();
    }
    let named = |id: &String| rules.name(id).unwrap_or_else(|| id.clone());
    let open: Vec<String> = simulation.open_to.iter().map(named).collect();
    labelled(lines, "approvers", &open.join(", "), columns);
    let mut evaluations: Vec<&PolicyReport> = simulation.policies.iter().collect();
    evaluations.sort_by_key(|evaluation| rank(evaluation.explanation.outcome));
    for evaluation in evaluations {
        let outcome = pad(outcome_word(evaluation.explanation.outcome), OUTCOME_COLUMNS);
        let name = pad(&quoted(&evaluation.policy_name), NAME_COLUMNS);
        let available = columns.saturating_sub(OUTCOME_COLUMNS + NAME_COLUMNS + 2);
        lines.push(Line::plain(format!("{outcome} {name} {}", cut(&clean(&evaluation.reason), available))));
    }
}

/// Sorts deciding policies first.
fn rank(outcome: PolicyOutcome) -> u8 {
    match outcome {
        PolicyOutcome::DenyExplicit => 0,
        PolicyOutcome::Allow => 1,
        PolicyOutcome::RequiresConsensus => 2,
        PolicyOutcome::Error => 3,
        PolicyOutcome::TimeInactive => 4,
        PolicyOutcome::DenyImplicit => 5,
    }
}

fn outcome_word(outcome: PolicyOutcome) -> &'static str {
    match outcome {
        PolicyOutcome::DenyExplicit => "denies",
        PolicyOutcome::Allow => "allows",
        PolicyOutcome::RequiresConsensus => "needs approval",
        PolicyOutcome::Error => "[!] fails",
        PolicyOutcome::TimeInactive => "not now",
        PolicyOutcome::DenyImplicit => "no match",
    }
}
