//! The table of all commands. Key handling, key bar, key list and palette use it.

/// A key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// A printable character.
    Char(char),
    /// A character with Ctrl held.
    Ctrl(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// F1.
    Help,
}

/// The effect of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
    /// Opens the selected item.
    Open,
    /// Goes up one level.
    Back,
    /// Moves to the next pane.
    NextPane,
    /// Selects the item to the left within a pane.
    Left,
    /// Selects the item to the right within a pane.
    Right,
    /// Shows the approvals screen.
    Approvals,
    /// Shows the organizations screen.
    Organizations,
    /// Shows the activities screen.
    Activities,
    /// Shows the policies screen.
    Policies,
    Filter,
    /// Opens the command palette.
    Palette,
    /// Opens the key list.
    Keys,
    /// Starts an approval.
    Approve,
    /// Starts a rejection.
    Reject,
    /// Simulates a request.
    Try,
    /// Explains how each policy evaluates the simulated request.
    Explain,
    /// Opens the editor for a new item to propose.
    New,
    /// Opens the editor for a change of the selected item to propose.
    Change,
    /// Proposes to remove the selected item.
    Remove,
    /// Scrolls a review down by one screen.
    NextSection,
    /// Shows the signed bytes.
    Raw,
    /// Shows all checks and votes.
    Proof,
    /// Compares the fingerprint.
    Compare,
    /// Copies from the selected item.
    Copy,
    /// Exports the selected item to a file.
    Export,
    /// Reloads the data.
    Refresh,
    /// Returns to the previous screen.
    Last,
    Quit,
}

/// The view that decides which keys work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    Approvals,
    /// Review of an activity.
    Review,
    /// Review of a draft that is not proposed yet.
    Draft,
    Organizations,
    Activities,
    Policies,
}

/// An entry of the command table.
pub(crate) struct Command {
    pub(crate) action: Action,
    pub(crate) keys: &'static [Key],
    /// Keys as shown to the user.
    pub(crate) shown: &'static str,
    /// Label in the key bar; empty if the command does not appear there.
    pub(crate) label: &'static str,
    /// Description in the key list.
    pub(crate) help: &'static str,
    /// Equivalent command line; empty if no command line does the same.
    pub(crate) cli: &'static str,
    /// Views where the command works; empty means all of them.
    pub(crate) views: &'static [View],
}

const LISTS: &[View] = &[View::Approvals, View::Organizations, View::Activities, View::Policies];
const PANES: &[View] = &[View::Approvals, View::Organizations, View::Policies];
const SECTIONS: &[View] = &[View::Organizations, View::Policies];
const REVIEW: &[View] = &[View::Review];
const COPIED: &[View] = &[View::Review, View::Draft, View::Policies];
const DRAFT: &[View] = &[View::Draft];
const READING: &[View] = &[View::Review, View::Draft];
const POLICIES: &[View] = &[View::Policies];
const EVERYWHERE: &[View] = &[];

const fn command(
    action: Action,
    keys: &'static [Key],
    shown: &'static str,
    label: &'static str,
    help: &'static str,
    cli: &'static str,
    views: &'static [View],
) -> Command {
    Command { action, keys, shown, label, help, cli, views }
}

/// All commands, in the order of the key bar.
pub(crate) static COMMANDS: [Command; 37] = [
    command(
        Action::Open,
        &[Key::Enter],
        "Enter",
        "Review",
        "Open the selected activity for review",
        "quorate review REF",
        &[View::Approvals, View::Activities],
    ),
    command(
        Action::Open,
        &[Key::Enter],
        "Enter",
        "Open",
        "Show the organization, or the accounts of the wallet",
        "quorate org get ID",
        &[View::Organizations],
    ),
    command(
        Action::Open,
        &[Key::Enter],
        "Enter",
        "Activities",
        "List the recent activities that match the policy",
        "quorate policy get POLICY",
        POLICIES,
    ),
    command(
        Action::Try,
        &[Key::Char('t')],
        "t",
        "Try",
        "Try a request and see what would happen",
        "quorate policy simulate FILE",
        POLICIES,
    ),
    command(
        Action::Explain,
        &[Key::Char('x')],
        "x",
        "Explain",
        "Explain how each policy evaluates the request",
        "quorate policy explain REF",
        POLICIES,
    ),
    command(
        Action::New,
        &[Key::Char('n')],
        "n",
        "New...",
        "Write a new policy in your editor, review it and propose it",
        "quorate policy new FILE",
        POLICIES,
    ),
    command(
        Action::Change,
        &[Key::Char('E')],
        "E",
        "Change...",
        "Change the policy in your editor, review the change and propose it",
        "quorate policy change POLICY FILE",
        POLICIES,
    ),
    command(
        Action::Remove,
        &[Key::Char('D')],
        "D",
        "Remove...",
        "Review and propose the removal of the policy",
        "quorate policy remove POLICY",
        POLICIES,
    ),
    command(
        Action::Approve,
        &[Key::Char('a')],
        "a",
        "Approve...",
        "Approve the activity; a challenge follows",
        "quorate approve REF --expect-sha256 HASH",
        REVIEW,
    ),
    command(
        Action::Approve,
        &[Key::Char('a')],
        "a",
        "Propose...",
        "Propose the change; a challenge follows",
        "quorate policy new FILE",
        DRAFT,
    ),
    command(
        Action::Reject,
        &[Key::Char('x')],
        "x",
        "Reject...",
        "Reject the activity; a single rejection is final",
        "quorate reject REF",
        REVIEW,
    ),
    command(Action::NextSection, &[Key::Char(' ')], "Space", "Next", "Scroll down one screen", "", READING),
    command(
        Action::Raw,
        &[Key::Char('d')],
        "d",
        "Raw bytes",
        "Show the bytes that the proposer signed",
        "quorate review REF --json",
        READING,
    ),
    command(
        Action::Proof,
        &[Key::Char('v')],
        "v",
        "Proof",
        "Show every check and every signed vote",
        "quorate review REF",
        READING,
    ),
    command(
        Action::Compare,
        &[Key::Char('c')],
        "c",
        "Compare",
        "Compare the fingerprint with one from another source",
        "quorate approve REF --expect-sha256 HASH",
        REVIEW,
    ),
    command(
        Action::Copy,
        &[Key::Char('y')],
        "y",
        "Copy...",
        "Copy from the selected item to the terminal's clipboard",
        "",
        COPIED,
    ),
    command(
        Action::Export,
        &[Key::Char('e')],
        "e",
        "Export",
        "Write the selected item to a new JSON file in the current folder",
        "quorate review REF --json, quorate policy get POLICY --json",
        COPIED,
    ),
    command(Action::Back, &[Key::Esc], "Esc", "Back", "Go up one level; never quits", "", EVERYWHERE),
    command(
        Action::Filter,
        &[Key::Char('/')],
        "/",
        "Filter",
        "Show only rows that contain these words",
        "",
        LISTS,
    ),
    command(Action::NextPane, &[Key::Tab, Key::BackTab], "Tab", "Pane", "Move to the next pane", "", PANES),
    command(
        Action::Left,
        &[Key::Left, Key::Char('h')],
        "Left",
        "",
        "Select the section or the proposer to the left",
        "",
        SECTIONS,
    ),
    command(
        Action::Right,
        &[Key::Right, Key::Char('l')],
        "Right",
        "Section",
        "Select the section or the proposer to the right",
        "",
        SECTIONS,
    ),
    command(
        Action::Palette,
        &[Key::Char(':'), Key::Ctrl('p')],
        ":",
        "Commands",
        "Find a command by name",
        "",
        EVERYWHERE,
    ),
    command(
        Action::Keys,
        &[Key::Char('?'), Key::Help],
        "?",
        "Keys",
        "Show this list",
        "quorate --help",
        EVERYWHERE,
    ),
    command(
        Action::Refresh,
        &[Key::Char('r')],
        "r",
        "Refresh",
        "Reload the data and sort it",
        "",
        EVERYWHERE,
    ),
    command(Action::Up, &[Key::Up, Key::Char('k')], "Up k", "", "Move up one row", "", EVERYWHERE),
    command(Action::Down, &[Key::Down, Key::Char('j')], "Down j", "", "Move down one row", "", EVERYWHERE),
    command(Action::PageUp, &[Key::PageUp], "PgUp", "", "Move up one page", "", EVERYWHERE),
    command(Action::PageDown, &[Key::PageDown], "PgDn", "", "Move down one page", "", EVERYWHERE),
    command(Action::Top, &[Key::Home, Key::Char('g')], "g", "", "Go to the top", "", EVERYWHERE),
    command(Action::Bottom, &[Key::End, Key::Char('G')], "G", "", "Go to the bottom", "", EVERYWHERE),
    command(
        Action::Approvals,
        &[Key::Char('1')],
        "1",
        "",
        "Show activities that wait for approval",
        "quorate approvals ls",
        EVERYWHERE,
    ),
    command(
        Action::Organizations,
        &[Key::Char('2')],
        "2",
        "",
        "Show organizations",
        "quorate org ls",
        EVERYWHERE,
    ),
    command(
        Action::Activities,
        &[Key::Char('3')],
        "3",
        "",
        "Show all activities",
        "quorate activity ls",
        EVERYWHERE,
    ),
    command(Action::Policies, &[Key::Char('4')], "4", "", "Show policies", "quorate policy ls", EVERYWHERE),
    command(Action::Last, &[Key::Char('-')], "-", "", "Go back to the previous screen", "", EVERYWHERE),
    command(Action::Quit, &[Key::Char('q')], "q", "Quit", "Quit the console", "", LISTS),
];

/// Returns the commands that work in a view.
pub(crate) fn commands(view: View) -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().filter(move |command| command.views.is_empty() || command.views.contains(&view))
}

/// Returns the action of a key in a view.
pub(crate) fn action(view: View, key: Key) -> Option<Action> {
    commands(view).find(|command| command.keys.contains(&key)).map(|command| command.action)
}

/// Returns the text of the key bar in a view.
pub(crate) fn bar(view: View) -> String {
    let shown = commands(view).filter(|command| !command.label.is_empty());
    shown.map(|command| format!("{} {}", command.shown, command.label)).collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unambiguous_in_each_view() {
        for view in [
            View::Approvals,
            View::Review,
            View::Draft,
            View::Organizations,
            View::Activities,
            View::Policies,
        ] {
            let keys: Vec<Key> = commands(view).flat_map(|command| command.keys.iter().copied()).collect();
            for (index, key) in keys.iter().enumerate() {
                assert!(!keys.iter().skip(index + 1).any(|other| other == key), "{key:?} in {view:?}");
            }
        }
        assert_eq!(action(View::Approvals, Key::Char('a')), None);
        assert_eq!(action(View::Review, Key::Char('a')), Some(Action::Approve));
    }
}
