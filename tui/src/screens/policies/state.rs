//! The state of the policies screen.

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::{ActivityId, PolicyId, UserId};
use quorate_common::wire::Policy;
use quorate_policy::lint::Finding;
use ratatui::layout::Rect;

use crate::canvas::{Line, above, beside};
use crate::policies::{History, Matched, ResolvedNames, Rules};
use crate::screens::filter::Filter;
use crate::screens::shared::Shared;
use crate::text::{clean, indented, pad};

/// Width of the policy list beside the details, in columns.
const LIST_COLUMNS: u16 = 38;
/// Width of the labels, in columns.
const LABEL_COLUMNS: usize = 11;

/// The pane with the keyboard focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Pane {
    #[default]
    List,
    Detail,
    Simulation,
}

/// A text in the editor, or an edited text that is not a valid policy yet.
pub(super) struct Drafting {
    /// Policy to change; absent for a new policy.
    pub(super) of: Option<PolicyId>,
    pub(super) text: String,
}

/// The last reading of the policy history.
pub(super) struct Reading {
    /// Time of the request, in milliseconds since 1970.
    pub(super) at: u64,
    /// Version of the organization.
    pub(super) version: u64,
    pub(super) is_answered: bool,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) selected: Option<PolicyId>,
    pub(super) filter: Filter,
    pub(super) pane: Pane,
    /// First row that is shown of the policy and of the simulation.
    pub(super) scroll: usize,
    pub(super) simulation_scroll: usize,
    /// Proposer of the simulated request.
    pub(super) proposer: Option<UserId>,
    /// Activity whose request is simulated.
    pub(super) simulated: Option<ActivityId>,
    /// Signers by name, and the names that were looked up.
    pub(super) resolved: ResolvedNames,
    pub(super) requested: BTreeSet<String>,
    /// Findings, and the version of the organization that they are for.
    pub(super) advice: Option<(u64, Vec<Finding>)>,
    pub(super) history: Option<History>,
    pub(super) reading: Option<Reading>,
    /// How often policies matched recent activities, as far as it was counted.
    pub(super) matched: BTreeMap<PolicyId, Matched>,
    /// Draft that is being written.
    pub(super) drafting: Option<Drafting>,
}

impl State {
    pub(super) fn shown<'a>(&self, shared: &'a Shared) -> Vec<&'a Policy> {
        let all = shared.organization.as_ref().map(|organization| organization.policies.as_slice());
        let admitted = |policy: &&Policy| {
            let Policy { policy_name, effect, condition, consensus, notes, policy_id, .. } = policy;
            let text = format!("{policy_name} {effect} {condition} {consensus} {notes}");
            self.filter.admits(&text, &[&policy_id.to_string()])
        };
        all.unwrap_or_default().iter().filter(admitted).collect()
    }

    /// Returns the selected policy.
    pub(super) fn selected<'a>(&self, shared: &'a Shared) -> Option<&'a Policy> {
        let shown = self.shown(shared);
        shown.get(self.position(&shown)).copied()
    }

    pub(super) fn position(&self, shown: &[&Policy]) -> usize {
        shown.iter().position(|policy| Some(policy.policy_id) == self.selected).unwrap_or(0)
    }

    pub(super) fn findings(&self, policy: &Policy) -> Vec<&Finding> {
        let id = policy.policy_id.to_string();
        let all = self.advice.iter().flat_map(|(_, findings)| findings);
        all.filter(|finding| finding.policy_id == id).collect()
    }
}

pub(super) fn rules<'a>(shared: &Shared, organization: &'a OrganizationDetail) -> Rules<'a> {
    Rules::of(organization, shared.is_strict(), shared.now)
}

/// Areas of the panes; a hidden pane has no height.
pub(super) struct Areas {
    pub(super) list: Rect,
    pub(super) detail: Rect,
    pub(super) simulation: Rect,
}

pub(super) fn layout(pane: Pane, area: Rect) -> Areas {
    let none = Rect { height: 0, ..area };
    if area.width < 110 {
        // On the smallest terminals the list keeps at least two rows.
        let (list, lower) = above(area, (area.height / 3).max(4));
        return match pane {
            Pane::Simulation => Areas { list, detail: none, simulation: lower },
            Pane::List | Pane::Detail => Areas { list, detail: lower, simulation: none },
        };
    }
    let (upper, simulation) = above(area, area.height.saturating_mul(11) / 20);
    let (list, detail) = beside(upper, LIST_COLUMNS);
    Areas { list, detail, simulation }
}

/// Appends a label with its text, wrapped. An empty text adds nothing.
pub(super) fn labelled(lines: &mut Vec<Line>, label: &str, text: &str, columns: usize) {
    if text.is_empty() {
        return;
    }
    let rows = indented(&clean(text), &pad(label, LABEL_COLUMNS), LABEL_COLUMNS, columns);
    lines.extend(rows.into_iter().map(Line::plain));
}
