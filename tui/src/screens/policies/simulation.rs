//! Simulates the request of a recent activity with any user as the proposer. Nothing is sent.

use quorate_common::fingerprint::Fingerprint;
use quorate_policy::decide::PolicyOutcome;
use quorate_policy::simulate::{PolicyReport, Simulation};
use ratatui::layout::Rect;

use super::{Pane, labelled, request_ids};
use crate::app::{Effect, Model, body as app_body};
use crate::canvas::{Canvas, Line};
use crate::cli::simulation_text;
use crate::keymap::Action;
use crate::policies::{Body, Rules, verdict_word};
use crate::screens::overlay::Overlay;
use crate::screens::{activities, moved};
use crate::text::{clean, cut, pad, quoted};
use crate::theme::Theme;

/// Widths of the outcome and of the policy name, in columns.
const OUTCOME_COLUMNS: usize = 15;
const NAME_COLUMNS: usize = 30;

/// Handles the keys of the simulation: up and down select the request, left and right the proposer, page keys
/// scroll.
pub(super) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    match wanted {
        Action::Left | Action::Right => {
            let Some(organization) = &model.organization else { return Vec::new() };
            let users = &organization.users;
            let at = users.iter().position(|user| Some(user.user_id) == proposer(model)).unwrap_or(0);
            let step = if wanted == Action::Right { 1 } else { users.len().saturating_sub(1) };
            let next = at.saturating_add(step).checked_rem(users.len()).unwrap_or(0);
            model.policies.proposer = users.get(next).map(|user| user.user_id);
            model.policies.simulation_scroll = 0;
        }
        Action::PageUp | Action::PageDown => scroll(model, wanted),
        wanted => {
            let requests = request_ids(model);
            let at = requests.iter().position(|id| Some(*id) == model.policies.simulated).unwrap_or(0);
            model.policies.simulated = requests.get(moved(at, requests.len(), 5, wanted)).copied();
            model.policies.simulation_scroll = 0;
        }
    }
    Vec::new()
}

fn scroll(model: &mut Model, wanted: Action) {
    let area = super::layout(model, app_body(model)).simulation;
    let Some(organization) = &model.organization else { return };
    let rows =
        lines(model, &super::rules(model, organization), usize::from(area.width.saturating_sub(4))).len();
    let page = usize::from(area.height.saturating_sub(2));
    let at = moved(model.policies.simulation_scroll, rows, page.saturating_sub(1), wanted);
    model.policies.simulation_scroll = at.min(rows.saturating_sub(page));
}

/// Returns the simulated proposer: the selected user, otherwise the viewer, otherwise the first user.
fn proposer(model: &Model) -> Option<quorate_common::ids::UserId> {
    let first = || model.organization.as_ref()?.users.first().map(|user| user.user_id);
    model.policies.proposer.or(model.viewer.user).or_else(first)
}

/// Returns the signed request that is simulated.
pub(super) fn body(model: &Model) -> Option<Body> {
    let rows = activities::rows(&model.activities);
    let chosen =
        rows.iter().find(|row| Some(row.activity.id) == model.policies.simulated).or_else(|| rows.first());
    let activity = &chosen?.activity;
    let is_proposal = |message: &str| Fingerprint::of(message.as_bytes()) == activity.fingerprint;
    let signed = activity.votes.iter().find(|vote| is_proposal(&vote.message))?;
    serde_json::from_str(&signed.message).ok()
}

/// Explains how each policy evaluates the simulated request.
pub(super) fn explanation(model: &Model) -> Option<Overlay> {
    let (organization, body, user) = (model.organization.as_ref()?, body(model)?, proposer(model)?);
    let rules = super::rules(model, organization);
    let mut paragraphs = vec![clean(&body.activity_type), clean(body.parameters.get()), String::new()];
    match body.parsed(organization, &model.policies.resolved) {
        Err(why) => paragraphs.push(format!("cannot be evaluated: {}", clean(&why))),
        Ok(parsed) => {
            let approval: Vec<_> = rules.approval(&user.to_string(), None).into_iter().collect();
            let simulation = parsed.simulate(&rules.parsed, &user.to_string(), &approval, model.now);
            paragraphs.extend(simulation_text(&simulation, &rules).lines().map(str::to_owned));
        }
    }
    Some(Overlay::Text { title: "How each policy evaluates the request".to_owned(), paragraphs, scroll: 0 })
}

pub(super) fn draw(model: &Model, rules: &Rules<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let has_keys = model.policies.pane == Pane::Simulation;
    let remark = if has_keys { "here: Up Down request, Left Right proposer" } else { "Tab" };
    let inner = canvas.framed(area, "Try a request: what would happen? Nothing is sent", remark);
    let lines = lines(model, rules, usize::from(inner.width));
    canvas.pane(inner, &lines, model.policies.simulation_scroll, has_keys);
}

fn lines(model: &Model, rules: &Rules<'_>, columns: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let (Some(body), Some(user)) = (body(model), proposer(model)) else {
        let text = "no activity to simulate yet; `quorate policy simulate` accepts any request";
        labelled(&mut lines, "with", text, columns);
        return lines;
    };
    let name = quorate_policy::Names::name(rules, &user.to_string()).unwrap_or_else(|| user.to_string());
    labelled(&mut lines, "as user", &name, columns);
    let request =
        format!("{} {}", body.activity_type.trim_start_matches("ACTIVITY_TYPE_"), body.parameters.get());
    labelled(&mut lines, "request", &cut(&clean(&request), columns.saturating_mul(2)), columns);
    let Some(organization) = &model.organization else { return lines };
    match body.parsed(organization, &model.policies.resolved) {
        Err(why) => labelled(&mut lines, "result", &format!("cannot be evaluated: {why}"), columns),
        Ok(parsed) => {
            let approval: Vec<_> = rules.approval(&user.to_string(), None).into_iter().collect();
            let simulation = parsed.simulate(&rules.parsed, &user.to_string(), &approval, model.now);
            outcome(&mut lines, &simulation, rules, columns);
        }
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
    let named = |id: &String| quorate_policy::Names::name(rules, id).unwrap_or_else(|| id.clone());
    let open: Vec<String> = simulation.open_to.iter().map(named).collect();
    labelled(lines, "approvers", &open.join(", "), columns);
    let mut evaluations: Vec<&PolicyReport> = simulation.policies.iter().collect();
    evaluations.sort_by_key(|evaluation| rank(evaluation.explanation.outcome));
    for evaluation in evaluations {
        let outcome = pad(outcome_word(evaluation.explanation.outcome), OUTCOME_COLUMNS);
        let name = pad(&quoted(&evaluation.policy_name), NAME_COLUMNS);
        let room = columns.saturating_sub(OUTCOME_COLUMNS + NAME_COLUMNS + 2);
        lines.push(Line::plain(format!("{outcome} {name} {}", cut(&clean(&evaluation.reason), room))));
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
