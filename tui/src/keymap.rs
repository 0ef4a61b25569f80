//! The one table of commands: keys, key bar, key list and palette come from here.

/// A key as the screens know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// A printed character.
    Char(char),
    /// A character with Ctrl held.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Esc.
    Esc,
    /// Tab.
    Tab,
    /// Shift-Tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// F1.
    Help,
}

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first row.
    Top,
    /// To the last row.
    Bottom,
    /// Opens what is selected.
    Open,
    /// One level up.
    Back,
    /// The next pane.
    NextPane,
    /// Left within a pane.
    Left,
    /// Right within a pane.
    Right,
    /// The screen of approvals.
    Approvals,
    /// The screen of organizations.
    Organizations,
    /// The screen of activities.
    Activities,
    /// The screen of policies.
    Policies,
    /// Filters the list.
    Filter,
    /// The palette.
    Palette,
    /// The key list.
    Keys,
    /// Begins to approve.
    Approve,
    /// Begins to reject.
    Reject,
    /// Whatever would happen to a request.
    Try,
    /// Why.
    Explain,
    /// Writes something new, to propose it.
    New,
    /// Writes a change of what is selected, to propose it.
    Change,
    /// Proposes to remove what is selected.
    Remove,
    /// Further down in a review, a screenful.
    NextSection,
    /// The signed bytes.
    Raw,
    /// The proof in full.
    Proof,
    /// Compares the fingerprint.
    Compare,
    /// Copies what is selected.
    Copy,
    /// Writes what is selected into a file.
    Export,
    /// Reads again.
    Refresh,
    /// The view before this one.
    Last,
    /// Ends the console.
    Quit,
}

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The list of approvals.
    Approvals,
    /// The review of an activity.
    Review,
    /// The review of something that is only thought of.
    Draft,
    /// Organizations.
    Organizations,
    /// All activities.
    Activities,
    /// Policies.
    Policies,
}

/// A command of the table.
pub(crate) struct Command {
    /// What it does.
    pub(crate) action: Action,
    /// Keys.
    pub(crate) keys: &'static [Key],
    /// The keys in words.
    pub(crate) shown: &'static str,
    /// A word or two for the key bar; empty when it is not shown there.
    pub(crate) label: &'static str,
    /// A sentence for the key list.
    pub(crate) help: &'static str,
    /// The same on the command line; empty when there is nothing like it.
    pub(crate) cli: &'static str,
    /// Where it works; empty means everywhere.
    pub(crate) places: &'static [Place],
}

const LISTS: &[Place] = &[Place::Approvals, Place::Organizations, Place::Activities, Place::Policies];
const PANES: &[Place] = &[Place::Approvals, Place::Organizations, Place::Policies];
const SECTIONS: &[Place] = &[Place::Organizations, Place::Policies];
const REVIEW: &[Place] = &[Place::Review];
const COPIED: &[Place] = &[Place::Review, Place::Draft, Place::Policies];
const DRAFT: &[Place] = &[Place::Draft];
const READING: &[Place] = &[Place::Review, Place::Draft];
const POLICIES: &[Place] = &[Place::Policies];
const EVERYWHERE: &[Place] = &[];

const fn command(
    action: Action,
    keys: &'static [Key],
    shown: &'static str,
    label: &'static str,
    help: &'static str,
    cli: &'static str,
    places: &'static [Place],
) -> Command {
    Command { action, keys, shown, label, help, cli, places }
}

/// All commands, in the order of the key bar.
pub(crate) static COMMANDS: [Command; 37] = [
    command(
        Action::Open,
        &[Key::Enter],
        "Enter",
        "review",
        "open what is selected",
        "quorate review REF",
        &[Place::Approvals, Place::Activities],
    ),
    command(
        Action::Open,
        &[Key::Enter],
        "Enter",
        "open",
        "show an organization, or the accounts of a wallet",
        "quorate org get ID",
        &[Place::Organizations],
    ),
    command(
        Action::Open,
        &[Key::Enter],
        "Enter",
        "activities",
        "list the activities that a policy is about",
        "quorate policy get POLICY",
        POLICIES,
    ),
    command(
        Action::Try,
        &[Key::Char('t')],
        "t",
        "try",
        "try a request: what would happen",
        "quorate policy simulate FILE",
        POLICIES,
    ),
    command(
        Action::Explain,
        &[Key::Char('x')],
        "x",
        "explain",
        "what each policy says of the request that is tried",
        "quorate policy explain REF",
        POLICIES,
    ),
    command(
        Action::New,
        &[Key::Char('n')],
        "n",
        "new...",
        "write a new policy in your editor and propose it; review and challenge follow",
        "quorate policy new FILE",
        POLICIES,
    ),
    command(
        Action::Change,
        &[Key::Char('E')],
        "E",
        "change...",
        "write a change of the policy in your editor and propose it; review and challenge follow",
        "quorate policy change POLICY FILE",
        POLICIES,
    ),
    command(
        Action::Remove,
        &[Key::Char('D')],
        "D",
        "remove...",
        "propose to remove the policy; review and challenge follow",
        "quorate policy remove POLICY",
        POLICIES,
    ),
    command(
        Action::Approve,
        &[Key::Char('a')],
        "a",
        "approve...",
        "begin to approve; a challenge follows",
        "quorate approve REF --expect-sha256 HASH",
        REVIEW,
    ),
    command(
        Action::Approve,
        &[Key::Char('a')],
        "a",
        "propose...",
        "begin to propose; a challenge follows",
        "quorate policy new FILE",
        DRAFT,
    ),
    command(
        Action::Reject,
        &[Key::Char('x')],
        "x",
        "reject...",
        "begin to reject; one rejection is final",
        "quorate reject REF",
        REVIEW,
    ),
    command(
        Action::NextSection,
        &[Key::Char(' ')],
        "Space",
        "next",
        "further down, a screenful",
        "",
        READING,
    ),
    command(
        Action::Raw,
        &[Key::Char('d')],
        "d",
        "raw bytes",
        "the bytes that the asker signed",
        "quorate review REF --json",
        READING,
    ),
    command(
        Action::Proof,
        &[Key::Char('v')],
        "v",
        "proof",
        "every check and every signed vote",
        "quorate review REF",
        READING,
    ),
    command(
        Action::Compare,
        &[Key::Char('c')],
        "c",
        "compare",
        "compare the fingerprint with one from elsewhere",
        "quorate approve REF --expect-sha256 HASH",
        REVIEW,
    ),
    command(
        Action::Copy,
        &[Key::Char('y')],
        "y",
        "copy...",
        "copy what is selected, through the terminal",
        "",
        COPIED,
    ),
    command(
        Action::Export,
        &[Key::Char('e')],
        "e",
        "export",
        "write what is selected into a new file here, as JSON",
        "quorate review REF --json, quorate policy get POLICY --json",
        COPIED,
    ),
    command(Action::Back, &[Key::Esc], "Esc", "back", "one level up; never quits", "", EVERYWHERE),
    command(Action::Filter, &[Key::Char('/')], "/", "filter", "show only rows with these words", "", LISTS),
    command(Action::NextPane, &[Key::Tab, Key::BackTab], "Tab", "pane", "the next pane", "", PANES),
    command(
        Action::Left,
        &[Key::Left, Key::Char('h')],
        "Left",
        "",
        "the kind of things, or who would ask, to the left",
        "",
        SECTIONS,
    ),
    command(
        Action::Right,
        &[Key::Right, Key::Char('l')],
        "Right",
        "kind",
        "the kind of things, or who would ask, to the right",
        "",
        SECTIONS,
    ),
    command(
        Action::Palette,
        &[Key::Char(':'), Key::Ctrl('p')],
        ":",
        "commands",
        "find a command by name",
        "",
        EVERYWHERE,
    ),
    command(
        Action::Keys,
        &[Key::Char('?'), Key::Help],
        "?",
        "keys",
        "this list",
        "quorate --help",
        EVERYWHERE,
    ),
    command(Action::Refresh, &[Key::Char('r')], "r", "refresh", "read again and sort", "", EVERYWHERE),
    command(Action::Up, &[Key::Up, Key::Char('k')], "Up k", "", "one row up", "", EVERYWHERE),
    command(Action::Down, &[Key::Down, Key::Char('j')], "Down j", "", "one row down", "", EVERYWHERE),
    command(Action::PageUp, &[Key::PageUp], "PgUp", "", "a page up", "", EVERYWHERE),
    command(Action::PageDown, &[Key::PageDown], "PgDn", "", "a page down", "", EVERYWHERE),
    command(Action::Top, &[Key::Home, Key::Char('g')], "g", "", "to the top", "", EVERYWHERE),
    command(Action::Bottom, &[Key::End, Key::Char('G')], "G", "", "to the bottom", "", EVERYWHERE),
    command(
        Action::Approvals,
        &[Key::Char('1')],
        "1",
        "",
        "what waits for approval",
        "quorate approvals ls",
        EVERYWHERE,
    ),
    command(Action::Organizations, &[Key::Char('2')], "2", "", "organizations", "quorate org ls", EVERYWHERE),
    command(
        Action::Activities,
        &[Key::Char('3')],
        "3",
        "",
        "all activities",
        "quorate activity ls",
        EVERYWHERE,
    ),
    command(Action::Policies, &[Key::Char('4')], "4", "", "policies", "quorate policy ls", EVERYWHERE),
    command(Action::Last, &[Key::Char('-')], "-", "", "the view before this one", "", EVERYWHERE),
    command(Action::Quit, &[Key::Char('q')], "q", "quit", "end the console", "", LISTS),
];

/// The commands that work in a place.
pub(crate) fn commands(place: Place) -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().filter(move |command| command.places.is_empty() || command.places.contains(&place))
}

/// What a key does in a place.
pub(crate) fn action(place: Place, key: Key) -> Option<Action> {
    commands(place).find(|command| command.keys.contains(&key)).map(|command| command.action)
}

/// The key bar of a place.
pub(crate) fn bar(place: Place) -> String {
    let shown = commands(place).filter(|command| !command.label.is_empty());
    shown.map(|command| format!("{} {}", command.shown, command.label)).collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for place in [
            Place::Approvals,
            Place::Review,
            Place::Draft,
            Place::Organizations,
            Place::Activities,
            Place::Policies,
        ] {
            let keys: Vec<Key> = commands(place).flat_map(|command| command.keys.iter().copied()).collect();
            for (index, key) in keys.iter().enumerate() {
                assert!(!keys.iter().skip(index + 1).any(|other| other == key), "{key:?} in {place:?}");
            }
        }
        assert_eq!(action(Place::Approvals, Key::Char('a')), None);
        assert_eq!(action(Place::Review, Key::Char('a')), Some(Action::Approve));
    }
}
