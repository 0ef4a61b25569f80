//! Keys, actions, and the commands that work on more than one screen. Each screen lists its own commands.

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

impl Key {
    /// Parses the name of a key, as in `R`, `Space`, `PgDn` and `Ctrl-R`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut letters = text.chars();
        if let (Some(letter), None) = (letters.next(), letters.next()) {
            return (!letter.is_control() && letter != ' ').then_some(Self::Char(letter));
        }
        if let Some(letter) = text.strip_prefix("Ctrl-") {
            let mut letters = letter.chars();
            return match (letters.next(), letters.next()) {
                (Some(letter), None) if letter.is_ascii_alphabetic() => {
                    Some(Self::Ctrl(letter.to_ascii_lowercase()))
                }
                _ => None,
            };
        }
        let named =
            [Self::Char(' '), Self::Enter, Self::Esc, Self::Tab, Self::BackTab, Self::Backspace, Self::Up];
        let more = [
            Self::Down,
            Self::Left,
            Self::Right,
            Self::PageUp,
            Self::PageDown,
            Self::Home,
            Self::End,
            Self::Help,
        ];
        named.into_iter().chain(more).find(|key| key.name() == text)
    }

    /// Returns the name that is shown to the user.
    fn name(self) -> String {
        match self {
            Self::Char(' ') => "Space".to_owned(),
            Self::Char(letter) => letter.to_string(),
            Self::BackTab => "Shift-Tab".to_owned(),
            Self::Help => "F1".to_owned(),
            Self::PageUp => "PgUp".to_owned(),
            Self::PageDown => "PgDn".to_owned(),
            Self::Ctrl(letter) => format!("Ctrl-{}", letter.to_ascii_uppercase()),
            other => format!("{other:?}"),
        }
    }
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
    /// Shows the screen with this index in the table of screens.
    Show(usize),
    /// An action that only one screen knows, by its name there.
    OfScreen(&'static str),
    Filter,
    /// Opens the palette of commands and things.
    Palette,
    /// Opens the form that proposes an activity.
    Propose,
    /// Shows who acts, with which key.
    WhoAmI,
    /// Lists the organizations, of which one is shown.
    Organizations,
    /// Opens the key list.
    Keys,
    /// Copies from the selected item.
    Copy,
    /// Exports the selected item to a file.
    Export,
    /// Reloads the data.
    Refresh,
    /// Locks the unlocked key.
    Lock,
    /// Returns to the previous screen.
    Last,
    Quit,
}

/// An entry of a command table. Key handling, key bar, key list and palette use it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    pub(crate) action: Action,
    /// The built-in keys.
    pub(crate) keys: &'static [Key],
    /// The keys that the user added.
    pub(crate) added: &'static [Key],
    /// Label in the key bar; empty if the command does not appear there.
    pub(crate) label: &'static str,
    /// Description in the key list.
    pub(crate) help: &'static str,
    /// Equivalent command line; empty if no command line does the same.
    pub(crate) cli: &'static str,
}

impl Command {
    /// Returns the key that is shown to the user: an added one if there is one.
    pub(crate) fn key(&self) -> String {
        self.added.iter().chain(self.keys).next().map(|key| key.name()).unwrap_or_default()
    }

    /// Returns all keys, for the key list.
    pub(crate) fn all_keys(&self) -> String {
        self.added.iter().chain(self.keys).map(|key| key.name()).collect::<Vec<_>>().join(" ")
    }

    /// Returns whether this is one of the keys.
    pub(crate) fn has(&self, key: Key) -> bool {
        self.added.contains(&key) || self.keys.contains(&key)
    }

    /// Adds the equivalent command line.
    pub(crate) const fn cli(self, cli: &'static str) -> Self {
        Self { cli, ..self }
    }
}

/// Creates a command without an equivalent command line.
pub(crate) const fn command(
    action: Action,
    keys: &'static [Key],
    label: &'static str,
    help: &'static str,
) -> Command {
    Command { action, keys, added: &[], label, help, cli: "" }
}

pub(crate) const REVIEW: Command =
    command(Action::Open, &[Key::Enter], "Review", "Open the selected activity for review")
        .cli("quorate review REF");
pub(crate) const COPY: Command = command(
    Action::Copy,
    &[Key::Char('y')],
    "Copy...",
    "Copy from the selected item to the terminal's clipboard",
);
pub(crate) const EXPORT: Command = command(
    Action::Export,
    &[Key::Char('e')],
    "Export",
    "Write the selected item to a new JSON file in the current folder",
)
.cli("quorate review REF --json, quorate policy get POLICY --json");
pub(crate) const BACK: Command = command(Action::Back, &[Key::Esc], "Back", "Go up one level; never quits");
pub(crate) const FILTER: Command = command(
    Action::Filter,
    &[Key::Char('/')],
    "Filter",
    "Show only rows with these words; \"two words\" are one, !word is absent",
);
pub(crate) const NEXT_PANE: Command =
    command(Action::NextPane, &[Key::Tab, Key::BackTab], "Pane", "Move to the next pane");
pub(crate) const LEFT: Command =
    command(Action::Left, &[Key::Left, Key::Char('h')], "", "Select the section or the proposer to the left");
pub(crate) const RIGHT: Command = command(
    Action::Right,
    &[Key::Right, Key::Char('l')],
    "Section",
    "Select the section or the proposer to the right",
);
pub(crate) const LAST: Command =
    command(Action::Last, &[Key::Char('-')], "", "Go back to the previous screen");
pub(crate) const QUIT: Command = command(Action::Quit, &[Key::Char('q')], "Quit", "Quit the console");

/// The commands that work everywhere, behind those of the screen.
pub(crate) static EVERYWHERE: [Command; 13] = [
    command(
        Action::Palette,
        &[Key::Char(':'), Key::Ctrl('p')],
        "Find",
        "Find a command, organization, user, wallet, address, activity or policy",
    ),
    command(Action::WhoAmI, &[Key::Char('I')], "", "Show who you are here, with which key, on which daemon")
        .cli("quorate status"),
    command(Action::Keys, &[Key::Char('?'), Key::Help], "Keys", "List all keys of this screen")
        .cli("quorate --help"),
    command(
        Action::Propose,
        &[Key::Char('p')],
        "",
        "Propose an activity of any kind: fill in a form, review it and sign it",
    )
    .cli("quorate propose TYPE"),
    command(Action::Refresh, &[Key::Char('r')], "Refresh", "Reload the data and sort it"),
    command(Action::Organizations, &[Key::Char('o')], "", "Choose the organization that is shown")
        .cli("quorate --organization ID"),
    command(Action::Lock, &[Key::Ctrl('l')], "", "Lock your key: the next signature needs its passphrase")
        .cli("quorate key lock"),
    command(Action::Up, &[Key::Up, Key::Char('k')], "", "Move up one row"),
    command(Action::Down, &[Key::Down, Key::Char('j')], "", "Move down one row"),
    command(Action::PageUp, &[Key::PageUp], "", "Move up one page"),
    command(Action::PageDown, &[Key::PageDown], "", "Move down one page"),
    command(
        Action::Top,
        &[Key::Char('g'), Key::Home],
        "",
        "Go to the top; in the approvals, of the group first",
    ),
    command(
        Action::Bottom,
        &[Key::Char('G'), Key::End],
        "",
        "Go to the bottom; in the approvals, of the group first",
    ),
];

/// Returns the action of a key.
pub(crate) fn action(commands: &[Command], key: Key) -> Option<Action> {
    commands.iter().find(|command| command.has(key)).map(|command| command.action)
}

/// Returns the text of the key bar.
pub(crate) fn bar(commands: &[Command]) -> String {
    let shown = commands.iter().filter(|command| !command.label.is_empty());
    shown.map(|command| format!("{} {}", command.key(), command.label)).collect::<Vec<_>>().join("  ")
}

/// Returns the position after an action in a list of `count` rows; `page` is the height of the list.
pub(crate) fn moved(selected: usize, count: usize, page: usize, wanted: Action) -> usize {
    let last = count.saturating_sub(1);
    match wanted {
        Action::Up => selected.saturating_sub(1),
        Action::Down => selected.saturating_add(1).min(last),
        Action::PageUp => selected.saturating_sub(page.max(1)),
        Action::PageDown => selected.saturating_add(page.max(1)).min(last),
        Action::Top => 0,
        Action::Bottom => last,
        _ => selected.min(last),
    }
}

/// Returns the first row to show after an action in a pane that shows `height` of `rows` rows. One row of the
/// previous page stays visible.
pub(crate) fn scroll(first: usize, rows: usize, height: usize, wanted: Action) -> usize {
    moved(first, rows, height.saturating_sub(1), wanted).min(rows.saturating_sub(height))
}
