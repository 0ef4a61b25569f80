//! The policies screen: policies as text and in words, findings about them, and the simulation of requests.

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::console::{ActivityRow, OrganizationDetail, Signer};
use quorate_common::ids::{ActivityId, PolicyId, UserId};
use quorate_common::wire::Policy;
use quorate_policy::lint::{Finding, Level};
use ratatui::layout::Rect;
use serde_json::json;

use super::overlay::{Overlay, Piece};
use super::{Filter, activities, moved};
use crate::app::{Effect, Model, Screen, body};
use crate::canvas::{Canvas, Line, above, beside, scrolled};
use crate::keymap::Action;
use crate::kinds::Scene;
use crate::link::Order;
use crate::policies::{self, History, Matched, ResolvedNames, Rules};
use crate::proof::status_word;
use crate::text::{clean, cut, date_time, duration, pad, quoted, wrap};
use crate::theme::Theme;

mod drafting;
mod simulation;

pub(crate) use drafting::{discard_draft, edited, review_request};

/// Minimum interval between two readings of the policy history, in milliseconds.
const HISTORY_MILLIS: u64 = 5_000;
/// Width of the policy list beside the details, in columns.
const LIST_COLUMNS: u16 = 38;
/// Width of the labels, in columns.
const LABEL_COLUMNS: usize = 11;

/// The pane with the keyboard focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Pane {
    #[default]
    List,
    Detail,
    Simulation,
}

#[derive(Default)]
pub(crate) struct State {
    selected: Option<PolicyId>,
    pub(crate) filter: Filter,
    pane: Pane,
    /// First row that is shown of the policy and of the simulation.
    scroll: usize,
    simulation_scroll: usize,
    /// Proposer of the simulated request.
    proposer: Option<UserId>,
    /// Activity whose request is simulated.
    simulated: Option<ActivityId>,
    /// Signers by name, and the names that were looked up.
    resolved: ResolvedNames,
    requested: BTreeSet<String>,
    /// Findings, and the version of the organization that they are for.
    advice: Option<(u64, Vec<Finding>)>,
    history: Option<History>,
    /// Last reading of the history: its time in milliseconds since 1970, the version of the organization, and
    /// whether it was answered.
    history_request: Option<(u64, u64, bool)>,
    /// How often policies matched recent activities, as far as it was counted.
    matched: BTreeMap<PolicyId, Matched>,
    /// Draft that is being written.
    drafting: Option<drafting::Drafting>,
}

/// Requests the recent activities and policy changes.
pub(crate) fn read_history(model: &mut Model) -> Option<Effect> {
    let id = model.organization_id?;
    let version = model.organization.as_ref().map_or(0, |organization| organization.head.version);
    model.policies.history_request = Some((model.now, version, false));
    Some(Effect::Order(Order::PolicyHistory(id)))
}

/// Returns whether the history is of another version of the organization and may be read again.
fn is_history_old(model: &Model, version: u64) -> bool {
    let requested = model.policies.history_request;
    requested.is_none_or(|(at, of, answered)| {
        of != version && answered && model.now.saturating_sub(at) >= HISTORY_MILLIS
    })
}

/// Records that the history was answered or cannot be read, so that it may be requested again.
pub(crate) fn finish_history(model: &mut Model) {
    if let Some((_, _, answered)) = &mut model.policies.history_request {
        *answered = true;
    }
}

/// Applies the recent activities and policy changes.
pub(crate) fn apply_history(
    model: &mut Model,
    rows: &[ActivityRow],
    resolved: &ResolvedNames,
    changes: Vec<ActivityRow>,
) {
    finish_history(model);
    let Some(organization) = &model.organization else { return };
    model.policies.history = Some(History::new(organization, rows, resolved, changes));
    model.policies.matched.clear();
}

/// Applies the signer that has a name.
pub(crate) fn apply_signer(state: &mut State, name: String, signer: Option<Signer>) {
    if let Some(signer) = signer {
        state.resolved.insert(name, signer);
    }
}

/// Updates what is shown and requests what is missing.
pub(crate) fn prepare(model: &mut Model) -> Vec<Effect> {
    if model.screen != Screen::Policies {
        return Vec::new();
    }
    let Some(organization) = &model.organization else { return Vec::new() };
    let (id, version) = (organization.head.organization_id, organization.head.version);
    let mut effects = Vec::new();
    if model.policies.advice.as_ref().is_none_or(|(known, _)| *known != version) {
        let findings = rules(model, organization).findings();
        model.policies.advice = Some((version, findings));
        // A name may belong to another signer now.
        (model.policies.resolved, model.policies.requested) = (ResolvedNames::new(), BTreeSet::new());
        model.policies.matched.clear();
    }
    if is_history_old(model, version) {
        effects.extend(read_history(model));
    }
    count(model);
    let names = simulation::body(model).map(|body| body.names()).unwrap_or_default();
    let fresh: Vec<String> =
        names.into_iter().filter(|name| model.policies.requested.insert(name.clone())).collect();
    effects.extend(fresh.into_iter().map(|name| Effect::Order(Order::Signer(id, name))));
    effects
}

/// Counts the matches of the policies near the selection. Others are counted when they come near it.
fn count(model: &mut Model) {
    let Some(history) = &model.policies.history else { return };
    let shown = shown(model);
    let from = position(model, &shown).saturating_sub(usize::from(model.size.1));
    let near = shown.iter().skip(from).take(usize::from(model.size.1).saturating_mul(2));
    let fresh = near.filter(|policy| !model.policies.matched.contains_key(&policy.policy_id));
    let counted = fresh.filter_map(|policy| {
        let program = policies::program(policy).ok()?;
        Some((policy.policy_id, Matched::count(&history.matched(&program))))
    });
    let counted: Vec<_> = counted.collect();
    model.policies.matched.extend(counted);
}

fn rules<'m>(model: &Model, organization: &'m OrganizationDetail) -> Rules<'m> {
    let strict = model.daemon.as_ref().is_some_and(|daemon| daemon.strict_deny_errors);
    Rules::of(organization, strict, model.now)
}

/// Handles the keys of this screen.
pub(crate) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    match wanted {
        Action::NextPane => {
            model.policies.pane = match model.policies.pane {
                Pane::List => Pane::Detail,
                Pane::Detail => Pane::Simulation,
                Pane::Simulation => Pane::List,
            }
        }
        Action::Try => model.policies.pane = Pane::Simulation,
        Action::New => return drafting::new(model),
        Action::Change => return drafting::change(model),
        Action::Remove => return drafting::remove(model),
        Action::Copy => model.overlays.extend(copies(model)),
        Action::Export => return export(model).into_iter().collect(),
        Action::Explain => model.overlays.extend(simulation::explanation(model)),
        wanted if model.policies.pane == Pane::Simulation => return simulation::perform(model, wanted),
        Action::Open => model.overlays.extend(matching_activities(model)),
        wanted if model.policies.pane == Pane::Detail => scroll(model, wanted),
        wanted => {
            let page = usize::from(layout(model, body(model)).list.height.saturating_sub(3));
            let shown = shown(model);
            let at = moved(position(model, &shown), shown.len(), page, wanted);
            let selected = shown.get(at).map(|policy| policy.policy_id);
            if selected != model.policies.selected {
                (model.policies.selected, model.policies.scroll) = (selected, 0);
            }
        }
    }
    Vec::new()
}

/// Scrolls the details of the policy.
fn scroll(model: &mut Model, wanted: Action) {
    let area = layout(model, body(model)).detail;
    let columns = usize::from(area.width.saturating_sub(4));
    let shown = shown(model);
    let policy = shown.get(position(model, &shown));
    let Some((policy, organization)) = policy.zip(model.organization.as_ref()) else { return };
    let rows = detail_lines(model, &rules(model, organization), policy, columns, Theme::new(false)).len();
    let page = usize::from(area.height.saturating_sub(2));
    let at = moved(model.policies.scroll, rows, page.saturating_sub(1), wanted);
    model.policies.scroll = at.min(rows.saturating_sub(page));
}

/// Areas of the panes; a hidden pane has no height.
struct Areas {
    list: Rect,
    detail: Rect,
    simulation: Rect,
}

fn layout(model: &Model, area: Rect) -> Areas {
    let none = Rect { height: 0, ..area };
    if area.width < 110 {
        // On the smallest terminals the list keeps at least two rows.
        let (list, lower) = above(area, (area.height / 3).max(4));
        return match model.policies.pane {
            Pane::Simulation => Areas { list, detail: none, simulation: lower },
            Pane::List | Pane::Detail => Areas { list, detail: lower, simulation: none },
        };
    }
    let (upper, simulation) = above(area, area.height.saturating_mul(11) / 20);
    let (list, detail) = beside(upper, LIST_COLUMNS);
    Areas { list, detail, simulation }
}

fn shown(model: &Model) -> Vec<&Policy> {
    let all = model.organization.as_ref().map(|organization| organization.policies.as_slice());
    let admitted = |policy: &&Policy| {
        let Policy { policy_name, effect, condition, consensus, notes, policy_id, .. } = policy;
        let text = format!("{policy_name} {effect} {condition} {consensus} {notes}");
        model.policies.filter.admits(&text, &[&policy_id.to_string()])
    };
    all.unwrap_or_default().iter().filter(admitted).collect()
}

fn position(model: &Model, shown: &[&Policy]) -> usize {
    shown.iter().position(|policy| Some(policy.policy_id) == model.policies.selected).unwrap_or(0)
}

/// Returns what can be copied of the selected policy.
fn copies(model: &Model) -> Option<Overlay> {
    let shown = shown(model);
    let policy = shown.get(position(model, &shown))?;
    let pieces = [
        ('i', "id", policy.policy_id.to_string()),
        ('c', "condition", policy.condition.clone()),
        ('s', "consensus", policy.consensus.clone()),
        ('t', "time", policy.time.clone().unwrap_or_default()),
        ('d', "draft to edit", policies::Draft::of(policy).text()),
        ('j', "everything as JSON", json!(policy).to_string()),
    ];
    let there = pieces.into_iter().filter(|(_, _, text)| !text.is_empty());
    Some(Overlay::Copy(there.map(|(key, name, text)| Piece { key, name, text }).collect()))
}

fn export(model: &Model) -> Option<Effect> {
    let shown = shown(model);
    let policy = shown.get(position(model, &shown))?;
    let name = format!("quorate-policy-{}.json", policy.policy_id);
    Some(Effect::Export { name, text: format!("{:#}\n", json!(policy)) })
}

/// Lists the recent activities that match the selected policy, and the activity that changed it last.
fn matching_activities(model: &Model) -> Option<Overlay> {
    let shown = shown(model);
    let policy = shown.get(position(model, &shown))?;
    let (history, organization) = (model.policies.history.as_ref()?, model.organization.as_ref()?);
    let scene = Scene::of(organization);
    let program = policies::program(policy).ok()?;
    let mut paragraphs = Vec::new();
    if let Some(change) = history.changed(&policy.policy_id.to_string()) {
        paragraphs.push(format!("last changed by activity {}", change.activity_id));
        paragraphs.push(String::new());
    }
    let matched = history.matched(&program);
    paragraphs.push(format!("matches {} of the last {} activities [s]:", matched.len(), history.examined));
    paragraphs.extend(matched.into_iter().map(|past| {
        let when = date_time(past.proposed_millis);
        let kind = clean(past.activity_type.trim_start_matches("ACTIVITY_TYPE_"));
        let who = scene.user_name(&past.proposer.to_string());
        format!("{when}  {} {kind} by {who}  {}", pad(status_word(past.status), 9), past.activity_id)
    }));
    let title = format!("Activities that match {}", quoted(&policy.policy_name));
    Some(Overlay::Text { title, paragraphs, scroll: 0 })
}

pub(crate) fn draw(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(organization) = &model.organization else {
        let inner = canvas.framed(area, "Policies", "");
        canvas.lines(inner, &[Line::plain("Loading the organization.")], 0);
        return;
    };
    let rules = rules(model, organization);
    let areas = layout(model, area);
    list(model, canvas, areas.list);
    if areas.detail.height > 0 {
        detail(model, &rules, canvas, areas.detail);
    }
    if areas.simulation.height > 0 {
        simulation::draw(model, &rules, canvas, areas.simulation);
    }
}

fn findings<'m>(model: &'m Model, policy: &Policy) -> Vec<&'m Finding> {
    let id = policy.policy_id.to_string();
    let all = model.policies.advice.iter().flat_map(|(_, findings)| findings);
    all.filter(|finding| finding.policy_id == id).collect()
}

fn list(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    let shown = shown(model);
    let all = model.organization.as_ref().map_or(0, |organization| organization.policies.len());
    let remark = match model.policies.filter.summary(shown.len(), all) {
        summary if summary.is_empty() && model.policies.pane != Pane::List => "Tab".to_owned(),
        summary => summary,
    };
    let inner = canvas.framed(area, &format!("Policies {all}"), &remark);
    let at = position(model, &shown);
    let line = |(index, policy): (usize, &&Policy)| {
        let warns = findings(model, policy).iter().any(|finding| finding.level == Level::Warning);
        let selected = index == at;
        let has_keys = model.policies.pane == Pane::List;
        let style = if selected && has_keys { Theme::selected() } else { Theme::plain() };
        let effect = pad(&clean(policy.effect.trim_start_matches("EFFECT_")), 5);
        let last = model.policies.matched.get(&policy.policy_id).map(|matched| match matched.last {
            Some(last) => duration(model.now.saturating_sub(last)),
            None => "never".to_owned(),
        });
        let room = usize::from(inner.width).saturating_sub(18);
        let name = pad(&clean(&policy.policy_name), room);
        let mark = if warns { "!" } else { " " };
        let marker = if selected { ">" } else { " " };
        Line::styled(format!("{marker} {effect} {name} {:>7} {mark}", last.unwrap_or_default()), style)
    };
    let mut lines: Vec<Line> = shown.iter().enumerate().map(line).collect();
    if lines.is_empty() {
        lines.push(Line::plain(if all == 0 {
            "  none: the root quorum decides"
        } else {
            "  nothing matches; Esc clears the filter"
        }));
    }
    let height = usize::from(inner.height);
    let from = if lines.len() > height { scrolled(at, height) } else { 0 };
    canvas.pane(inner, &lines, from, model.policies.pane == Pane::List);
}

fn detail(model: &Model, rules: &Rules<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let shown = shown(model);
    let Some(policy) = shown.get(position(model, &shown)) else {
        canvas.framed(area, "", "");
        return;
    };
    let effect = clean(policy.effect.trim_start_matches("EFFECT_"));
    let title = format!("{} {}", cut(&clean(&policy.policy_name), 40), policy.policy_id);
    let has_keys = model.policies.pane == Pane::Detail;
    let remark = if has_keys { format!("{effect}, here") } else { effect };
    let inner = canvas.framed(area, &title, &remark);
    let lines = detail_lines(model, rules, policy, usize::from(inner.width), canvas.theme);
    canvas.pane(inner, &lines, model.policies.scroll, has_keys);
}

fn detail_lines(
    model: &Model,
    rules: &Rules<'_>,
    policy: &Policy,
    columns: usize,
    theme: Theme,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let words = match policies::program(policy) {
        Ok(program) => policies::sentence(&program, rules),
        Err(error) => format!("[x] this console cannot parse it: {error}"),
    };
    let changed = changed(model, policy);
    let matched = model.policies.matched.get(&policy.policy_id).zip(model.policies.history.as_ref());
    let matched = matched.map(|(matched, history)| match matched.all() {
        0 => format!("none of the last {} activities", history.examined),
        all => format!(
            "{all} of the last {} activities: {}; Enter lists them",
            history.examined,
            matched.summary()
        ),
    });
    let notes = if policy.notes.is_empty() { String::new() } else { quoted(&policy.notes) };
    let who = rules.who(policy).join(", ");
    for (label, text) in [
        ("in words", words.as_str()),
        ("condition", text_or(&policy.condition, "none: any activity")),
        ("consensus", text_or(&policy.consensus, "none: the proposer alone")),
        ("time", policy.time.as_deref().unwrap_or_default()),
        ("who", &who),
        ("matched", &matched.unwrap_or_default()),
        ("notes", &notes),
        ("changed", &changed),
    ] {
        labelled(&mut lines, label, text, columns);
    }
    for finding in findings(model, policy) {
        let mark = if finding.level == Level::Warning { "[!]" } else { "[ ]" };
        let text = format!("{mark} {}: {}", finding.expression.name(), finding.text);
        let style = theme.of_mark(&text);
        lines.extend(wrap(&clean(&text), columns).into_iter().map(|text| Line::styled(text, style)));
    }
    lines
}

/// Returns when the policy was last changed and by whom, and when it was created.
fn changed(model: &Model, policy: &Policy) -> String {
    let (updated, created) = (policy.updated_at.millis(), policy.created_at.millis());
    let known = model.policies.history.as_ref().zip(model.organization.as_ref());
    let by = known.and_then(|(history, organization)| {
        let change = history.changed(&policy.policy_id.to_string())?;
        let scene = Scene::of(organization);
        let people = change.people.iter().map(|user| scene.user_name(&user.to_string()));
        Some(format!(" by {} (activity {})", people.collect::<Vec<_>>().join(", "), change.activity_id))
    });
    let created =
        if created == updated { String::new() } else { format!("; created {}", date_time(created)) };
    format!("{}{}{created}", date_time(updated), by.unwrap_or_default())
}

fn text_or<'t>(text: &'t str, none: &'t str) -> &'t str {
    if text.is_empty() { none } else { text }
}

/// Appends a label with its text, wrapped. An empty text adds nothing.
fn labelled(lines: &mut Vec<Line>, label: &str, text: &str, columns: usize) {
    if text.is_empty() {
        return;
    }
    let wrapped = wrap(&clean(text), columns.saturating_sub(LABEL_COLUMNS));
    for (number, part) in wrapped.into_iter().enumerate() {
        let label = if number == 0 { label } else { "" };
        lines.push(Line::plain(format!("{}{part}", pad(label, LABEL_COLUMNS))));
    }
}

/// Returns the activities whose requests can be simulated.
fn request_ids(model: &Model) -> Vec<ActivityId> {
    activities::rows(&model.activities).iter().map(|row| row.activity.id).collect()
}
