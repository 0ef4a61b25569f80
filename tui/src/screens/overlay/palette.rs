//! The palette: finds commands, and what is loaded of organizations, users, wallets, addresses, activities and policies.
//! It opens what it finds, and decides nothing.

use std::collections::HashSet;

use quorate_common::console::OrganizationDetail;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, EndpointId, OrganizationId, PolicyId, PrivateKeyId, UserId, WalletId};
use ratatui::layout::Rect;
use tui_input::Input;

use super::Pressed;
use crate::canvas::{Canvas, Line, above};
use crate::fuzzy::Haystack;
use crate::keymap::{Action, Command, Key, moved};
use crate::kinds::of_type;
use crate::screens::filter::{edit, insert};
use crate::screens::shared::Shared;
use crate::text::{clean, cut, pad, wrap};
use crate::theme::Theme;

/// Maximum number of entries that the palette searches.
const ENTRIES: usize = 20_000;
/// Maximum number of matches that are shown.
const MATCHES: usize = 200;
/// Maximum number of opened entries that the session remembers.
const HISTORY: usize = 20;
/// Minimum width at which it is explained in full what is searched.
const SCOPE_COLUMNS: usize = 70;
/// Minimum length of a text that may be an address.
const ADDRESS: usize = 20;

/// Something that the console can show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Organization(OrganizationId),
    User(UserId),
    Wallet(WalletId),
    PrivateKey(PrivateKeyId),
    Policy(PolicyId),
    Webhook(EndpointId),
    /// A wallet account by its address, which the daemon looks up.
    Address(String),
}

/// What an entry of the palette opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Command(Action),
    /// An activity by its id or fingerprint, with a title.
    Activity(String, String),
    Place(Place),
}

/// An entry of the palette.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// Kind of the thing, or the key of a command.
    kind: String,
    /// Text, already cleaned.
    text: String,
    /// Equivalent command line; empty if there is none.
    cli: String,
    haystack: Haystack,
    pub(crate) target: Target,
}

impl Entry {
    /// Creates an entry of a thing with its name, more text and its ids. None of them needs to be clean.
    pub(crate) fn new(kind: &str, (name, more): (&str, &str), ids: &[&str], target: Target) -> Self {
        let (name, more) = (clean(name), clean(more));
        let haystack = Haystack::new(&name, &format!("{kind} {more}"), ids);
        let text = if more.is_empty() { name } else { format!("{name}  {more}") };
        Self { kind: kind.to_owned(), text, cli: String::new(), haystack, target }
    }

    /// Adds the equivalent command line.
    pub(crate) fn cli(self, cli: String) -> Self {
        Self { cli, ..self }
    }

    /// Creates the entry of an activity.
    pub(crate) fn of_activity(id: ActivityId, fingerprint: &str, title: &str, what: &str) -> Self {
        let (id, target) = (id.to_string(), Target::Activity(id.to_string(), title.to_owned()));
        let more = if what.is_empty() { id.clone() } else { format!("{what}  {id}") };
        Self::new("activity", (title, &more), &[&id, fingerprint], target).cli(format!("quorate review {id}"))
    }

    fn of_command(command: &Command) -> Self {
        let label = command.label.trim_end_matches('.');
        // Every command line starts with the program name, so it is not searched.
        let more =
            format!("{} {} {}", command.help, command.cli.trim_start_matches("quorate "), command.key());
        let haystack = Haystack::new(if label.is_empty() { command.help } else { label }, &more, &[]);
        Self {
            kind: command.key(),
            text: command.help.to_owned(),
            cli: command.cli.to_owned(),
            haystack,
            target: Target::Command(command.action),
        }
    }

    /// Returns the position among equal matches: things before commands. Without words, commands that lead somewhere come
    /// first, then the other commands, then things.
    const fn class(&self, is_without_words: bool) -> u8 {
        match (&self.target, is_without_words) {
            (Target::Command(Action::Show(_) | Action::Organizations | Action::Propose), true)
            | (Target::Activity(..) | Target::Place(_), false) => 1,
            (Target::Command(_), _) => 2,
            (Target::Activity(..) | Target::Place(_), true) => 3,
        }
    }

    /// Returns the score of words. A command comes first if the words are its key.
    fn score(&self, words: &str, key: &str) -> Option<u32> {
        let is_key = matches!(self.target, Target::Command(_)) && self.kind == key;
        if is_key { Some(u32::MAX) } else { self.haystack.score(words) }
    }
}

/// The palette while it is open.
pub(crate) struct Palette {
    entries: Vec<Entry>,
    /// Number of entries that were opened before in this session; they come first.
    recent: usize,
    search: Input,
    /// Indexes of the entries that match, the best first, and then what the daemon can look up.
    matches: Vec<usize>,
    looked_up: Vec<Entry>,
    selected: usize,
    /// Whether more is known than the palette searches.
    is_cut: bool,
}

impl Palette {
    /// Creates the palette of commands and things, after those that were opened before.
    pub(crate) fn new(history: &[Entry], commands: &[Command], things: Vec<Entry>) -> Self {
        let of_commands = commands.iter().map(Entry::of_command);
        let recent: Vec<Entry> = history.iter().rev().cloned().collect();
        let known = |entry: &Entry| history.iter().any(|old| old.target == entry.target);
        let fresh: Vec<Entry> = of_commands.chain(things).filter(|entry| !known(entry)).collect();
        let is_cut = fresh.len() > ENTRIES;
        let count = recent.len();
        let entries = recent.into_iter().chain(fresh.into_iter().take(ENTRIES)).collect();
        let mut palette = Self {
            entries,
            recent: count,
            search: Input::default(),
            matches: Vec::new(),
            looked_up: Vec::new(),
            selected: 0,
            is_cut,
        };
        palette.find();
        palette
    }

    fn find(&mut self) {
        let key = self.search.value().trim().to_owned();
        let words = key.to_lowercase();
        self.looked_up = looked_up(&key);
        let scored = self.entries.iter().enumerate();
        let scored = scored.filter_map(|(at, entry)| {
            // Of equal matches, what was opened before comes first.
            let class = if at < self.recent { 0 } else { entry.class(words.is_empty()) };
            Some((std::cmp::Reverse(entry.score(&words, &key)?), class, at))
        });
        let mut scored: Vec<_> = scored.collect();
        scored.sort_unstable();
        self.matches = scored.into_iter().take(MATCHES).map(|(.., at)| at).collect();
        self.selected = 0;
    }

    fn shown(&self) -> Vec<&Entry> {
        let found = self.matches.iter().filter_map(|at| self.entries.get(*at));
        self.looked_up.iter().chain(found).collect()
    }

    /// Handles a key.
    pub(super) fn press(&mut self, key: Key) -> Pressed {
        let count = self.shown().len();
        match key {
            Key::Up => self.selected = moved(self.selected, count, 1, Action::Up),
            Key::Down => self.selected = moved(self.selected, count, 1, Action::Down),
            Key::PageUp => self.selected = moved(self.selected, count, 10, Action::PageUp),
            Key::PageDown => self.selected = moved(self.selected, count, 10, Action::PageDown),
            Key::Enter => {
                let chosen = self.shown().get(self.selected).map(|entry| Box::new((*entry).clone()));
                return chosen.map_or(Pressed::Close, Pressed::Chosen);
            }
            key => {
                edit(&mut self.search, key);
                self.find();
            }
        }
        Pressed::Nothing
    }

    pub(super) fn paste(&mut self, text: &str) {
        insert(&mut self.search, text);
        self.find();
    }

    /// Returns what is searched: what is loaded, and at the daemon only what is named completely.
    fn scope(&self, columns: usize) -> Vec<String> {
        let all = self.entries.len();
        if columns < SCOPE_COLUMNS {
            return vec![format!("searches {all} loaded entries")];
        }
        let cut_off = if self.is_cut { "; more are loaded, so the list is not complete" } else { "" };
        let text = format!(
            "Searches {all} entries that are loaded{cut_off}. A complete id, fingerprint or address is looked up at \
             the daemon."
        );
        wrap(&text, columns)
    }

    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let inner =
            canvas.framed(area, &format!(": {}_", clean(self.search.value())), "Enter opens, Esc closes");
        let shown = self.shown();
        let columns = usize::from(inner.width);
        let scope: Vec<Line> = self.scope(columns).into_iter().map(Line::plain).collect();
        let rows = u16::try_from(scope.len()).unwrap_or(u16::MAX).min(inner.height / 3);
        let (list, foot) = above(inner, inner.height.saturating_sub(rows));
        let kinds = if columns >= 60 { 13 } else { 8 };
        let line = |(index, entry): (usize, &&Entry)| {
            let at = index == self.selected;
            let cli = if entry.cli.is_empty() { String::new() } else { format!("   ({})", entry.cli) };
            let (marker, kind) = (if at { ">" } else { " " }, pad(&cut(&entry.kind, kinds), kinds));
            let text = format!("{marker} {kind} {}{cli}", entry.text);
            Line::styled(text, if at { Theme::selected() } else { Theme::plain() })
        };
        let lines: Vec<Line> = shown.iter().enumerate().map(line).collect();
        if lines.is_empty() {
            canvas.lines(list, &[Line::plain("Nothing matches.")], 0);
        } else {
            canvas.list(list, &lines, self.selected, true);
        }
        canvas.lines(foot, &scope, 0);
    }
}

/// Adds an entry that was opened to the history of the session, the newest last.
pub(crate) fn remember(history: &mut Vec<Entry>, entry: &Entry) {
    history.retain(|old| old.target != entry.target);
    history.push(entry.clone());
    let excess = history.len().saturating_sub(HISTORY);
    history.drain(..excess);
}

/// Returns what is loaded of the organization and its activities.
pub(crate) fn things(shared: &Shared) -> Vec<Entry> {
    let mut found = activities(shared);
    found.extend(shared.organization.iter().flat_map(|organization| records(organization)));
    found
}

/// Returns the activities that wait, and the newest of any status.
fn activities(shared: &Shared) -> Vec<Entry> {
    let has_several = shared.inbox.has_several();
    let waiting = shared.inbox.rows().iter().map(|row| {
        let fingerprint = row.fingerprint.as_ref().map(Fingerprint::hex).unwrap_or_default();
        let organization = if has_several { format!(" in {}", row.organization_name) } else { String::new() };
        let what = format!("{}  {}{organization}", row.risk.word(), row.brief);
        Entry::of_activity(row.id, &fingerprint, &row.title, &what)
    });
    let waits: HashSet<ActivityId> = shared.inbox.rows().iter().map(|row| row.id).collect();
    let others = shared.activities.rows.iter().map(|row| &row.activity);
    let ended = others.filter(|activity| !waits.contains(&activity.id)).map(|activity| {
        let title = of_type(&activity.activity_type).map_or("Activity", |(kind, _)| kind.title);
        Entry::of_activity(activity.id, &activity.fingerprint.hex(), title, "")
    });
    waiting.chain(ended).collect()
}

/// Returns the records of an organization that have a place.
fn records(organization: &OrganizationDetail) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut add = |kind: &str, (name, more): (&str, &str), id: String, place: Place, cli: String| {
        found.push(Entry::new(kind, (name, more), &[&id], Target::Place(place)).cli(cli));
    };
    for user in &organization.users {
        let (id, mail) = (user.user_id, user.user_email.as_deref().unwrap_or_default());
        add(
            "user",
            (&user.user_name, mail),
            id.to_string(),
            Place::User(id),
            format!("quorate user ls {id}"),
        );
    }
    for wallet in &organization.wallets {
        let id = wallet.wallet_id;
        add("wallet", (&wallet.wallet_name, ""), id.to_string(), Place::Wallet(id), String::new());
    }
    for key in &organization.private_keys {
        let id = key.private_key_id;
        add("key", (&key.private_key_name, ""), id.to_string(), Place::PrivateKey(id), String::new());
    }
    for policy in &organization.policies {
        let (id, cli) = (policy.policy_id, format!("quorate policy get {}", policy.policy_id));
        add("policy", (&policy.policy_name, ""), id.to_string(), Place::Policy(id), cli);
    }
    for endpoint in &organization.webhook_endpoints {
        let (id, cli) =
            (endpoint.endpoint_id, format!("quorate webhook deliveries {}", endpoint.endpoint_id));
        add("webhook", (&endpoint.name, &endpoint.url), id.to_string(), Place::Webhook(id), cli);
    }
    found
}

/// Returns what a complete id, fingerprint or address may name.
fn looked_up(text: &str) -> Vec<Entry> {
    let entry = |kind: &str, target| Entry::new(kind, (text, "looked up at the daemon"), &[], target);
    let activity = || {
        let target = Target::Activity(text.to_owned(), "Activity".to_owned());
        entry("activity", target).cli(format!("quorate review {}", clean(text)))
    };
    if text.parse::<ActivityId>().is_ok() {
        let organization = text.parse::<OrganizationId>().ok().map(Place::Organization).map(Target::Place);
        let organization = organization
            .map(|target| entry("organization", target).cli(format!("quorate org get {}", clean(text))));
        return [Some(activity()), organization].into_iter().flatten().collect();
    }
    if text.parse::<Fingerprint>().is_ok() {
        return vec![activity()];
    }
    if text.len() >= ADDRESS && !text.contains(char::is_whitespace) {
        return vec![entry("address", Target::Place(Place::Address(text.to_owned())))];
    }
    Vec::new()
}
