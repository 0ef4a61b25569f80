//! What would happen to a request: that of a recent activity, if some user made it now. Nothing is sent.

use quorate_common::fingerprint::Fingerprint;
use quorate_policy::decide::PolicyOutcome;
use quorate_policy::simulate::{Said, Simulation};
use ratatui::layout::Rect;

use super::{Pane, labelled, tried};
use crate::app::{Effect, Model, body as app_body};
use crate::canvas::{Canvas, Line};
use crate::cli::foretold;
use crate::keymap::Action;
use crate::policies::{Body, Rules, verdict_word};
use crate::screens::overlay::Overlay;
use crate::screens::{activities, moved};
use crate::text::{clean, cut, pad, quoted};
use crate::theme::Theme;

/// Columns of the outcome of a policy, and of its name.
const OUTCOME_COLUMNS: usize = 15;
const NAME_COLUMNS: usize = 30;

/// Keys of the trial: up and down choose the request, left and right the proposer, pages scroll.
pub(super) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    match wanted {
        Action::Left | Action::Right => {
            let Some(organization) = &model.organization else { return Vec::new() };
            let users = &organization.users;
            let at = users.iter().position(|user| Some(user.user_id) == requester(model)).unwrap_or(0);
            let step = if wanted == Action::Right { 1 } else { users.len().saturating_sub(1) };
            let next = at.saturating_add(step).checked_rem(users.len()).unwrap_or(0);
            model.policies.requester = users.get(next).map(|user| user.user_id);
            model.policies.trial_scroll = 0;
        }
        Action::PageUp | Action::PageDown => scroll(model, wanted),
        wanted => {
            let requests = tried(model);
            let at = requests.iter().position(|id| Some(*id) == model.policies.tried).unwrap_or(0);
            model.policies.tried = requests.get(moved(at, requests.len(), 5, wanted)).copied();
            model.policies.trial_scroll = 0;
        }
    }
    Vec::new()
}

fn scroll(model: &mut Model, wanted: Action) {
    let area = super::layout(model, app_body(model)).trial;
    let Some(organization) = &model.organization else { return };
    let rows =
        lines(model, &super::rules(model, organization), usize::from(area.width.saturating_sub(4))).len();
    let page = usize::from(area.height.saturating_sub(2));
    let at = moved(model.policies.trial_scroll, rows, page.saturating_sub(1), wanted);
    model.policies.trial_scroll = at.min(rows.saturating_sub(page));
}

/// Who would ask: as chosen, or else whoever looks, or the first user.
fn requester(model: &Model) -> Option<quorate_common::ids::UserId> {
    let first = || model.organization.as_ref()?.users.first().map(|user| user.user_id);
    model.policies.requester.or(model.viewer.user).or_else(first)
}

/// The request that is tried, as it was signed.
pub(super) fn body(model: &Model) -> Option<Body> {
    let rows = activities::rows(&model.activities);
    let chosen =
        rows.iter().find(|row| Some(row.activity.id) == model.policies.tried).or_else(|| rows.first());
    let activity = &chosen?.activity;
    let is_proposal = |message: &str| Fingerprint::of(message.as_bytes()) == activity.fingerprint;
    let signed = activity.votes.iter().find(|vote| is_proposal(&vote.message))?;
    serde_json::from_str(&signed.message).ok()
}

/// What each policy says of the request that is tried, part by part.
pub(super) fn explanation(model: &Model) -> Option<Overlay> {
    let (organization, body, user) = (model.organization.as_ref()?, body(model)?, requester(model)?);
    let rules = super::rules(model, organization);
    let mut paragraphs = vec![clean(&body.activity_type), clean(body.parameters.get()), String::new()];
    match body.made(organization, &model.policies.looked) {
        Err(why) => paragraphs.push(format!("not judged: {}", clean(&why))),
        Ok(made) => {
            let approval: Vec<_> = rules.approval(&user.to_string(), None).into_iter().collect();
            let simulation = made.simulate(&rules.house, &user.to_string(), &approval, model.now);
            paragraphs.extend(foretold(&simulation, &rules).lines().map(str::to_owned));
        }
    }
    Some(Overlay::Text { title: "What each policy says, and why".to_owned(), paragraphs, scroll: 0 })
}

/// Draws the trial.
pub(super) fn draw(model: &Model, rules: &Rules<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let has_keys = model.policies.pane == Pane::Trial;
    let remark = if has_keys { "here: Up Down request, Left Right proposer" } else { "Tab" };
    let inner = canvas.framed(area, "Try a request: what would happen? Nothing is sent", remark);
    let lines = lines(model, rules, usize::from(inner.width));
    canvas.pane(inner, &lines, model.policies.trial_scroll, has_keys);
}

fn lines(model: &Model, rules: &Rules<'_>, columns: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let (Some(body), Some(user)) = (body(model), requester(model)) else {
        let text = "no activity here yet whose request could be tried; quorate policy simulate takes any";
        labelled(&mut lines, "with", text, columns);
        return lines;
    };
    let name = quorate_policy::Names::name(rules, &user.to_string()).unwrap_or_else(|| user.to_string());
    labelled(&mut lines, "as user", &name, columns);
    let request =
        format!("{} {}", body.activity_type.trim_start_matches("ACTIVITY_TYPE_"), body.parameters.get());
    labelled(&mut lines, "request", &cut(&clean(&request), columns.saturating_mul(2)), columns);
    let Some(organization) = &model.organization else { return lines };
    match body.made(organization, &model.policies.looked) {
        Err(why) => labelled(&mut lines, "result", &format!("not judged: {why}"), columns),
        Ok(made) => {
            let approval: Vec<_> = rules.approval(&user.to_string(), None).into_iter().collect();
            let simulation = made.simulate(&rules.house, &user.to_string(), &approval, model.now);
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
    labelled(lines, "open to", &open.join(", "), columns);
    let mut said: Vec<&Said> = simulation.policies.iter().collect();
    said.sort_by_key(|said| rank(said.explanation.outcome));
    for said in said {
        let outcome = pad(word(said.explanation.outcome), OUTCOME_COLUMNS);
        let name = pad(&quoted(&said.policy_name), NAME_COLUMNS);
        let room = columns.saturating_sub(OUTCOME_COLUMNS + NAME_COLUMNS + 2);
        lines.push(Line::plain(format!("{outcome} {name} {}", cut(&clean(&said.reason), room))));
    }
}

/// What decides stands first.
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

fn word(outcome: PolicyOutcome) -> &'static str {
    match outcome {
        PolicyOutcome::DenyExplicit => "denies",
        PolicyOutcome::Allow => "allows",
        PolicyOutcome::RequiresConsensus => "needs votes",
        PolicyOutcome::Error => "[!] fails",
        PolicyOutcome::TimeInactive => "not now",
        PolicyOutcome::DenyImplicit => "no match",
    }
}
