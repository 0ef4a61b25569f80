//! What a screen is: a row of the table of screens, and the functions that the application calls.

use ratatui::layout::Rect;

use super::filter::Filter;
use super::overlay::{Entry, Place};
use super::request::Request;
use super::shared::Shared;
use crate::canvas::Canvas;
use crate::keymap::{Action, Command, Key, command};
use crate::link::Answer;

/// A row of the table of screens.
pub(crate) struct Tab {
    pub(crate) title: &'static str,
    /// The command that shows the screen, from [`showing`].
    pub(crate) show: Command,
    /// The commands of the screen, in the order of the key bar.
    pub(crate) commands: &'static [Command],
    /// Whether the screen shows the newest activities, which are then read with it.
    pub(crate) reads_activities: bool,
    /// Creates the state of the screen.
    pub(crate) create: fn() -> Box<dyn Screen>,
}

/// Creates the command that shows a screen. Its position in the table of screens becomes part of the action.
pub(super) const fn showing(keys: &'static [Key], help: &'static str) -> Command {
    command(Action::Show(0), keys, "", help)
}

pub(crate) trait Screen {
    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect);

    /// Performs an action; `area` is where the screen is drawn.
    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request>;

    fn filter(&mut self) -> &mut Filter;

    /// Returns whether no part of the screen is open from which Esc goes up.
    fn is_at_top(&self) -> bool {
        true
    }

    /// Returns whether the screen shows nothing without data of the daemon.
    fn needs_daemon(&self) -> bool {
        true
    }

    /// Returns the number for the tab, if it has one.
    fn count(&self, _shared: &Shared) -> Option<String> {
        None
    }

    /// Requests what the screen shows. Called when the user opens the screen.
    fn open(&mut self, _shared: &Shared) -> Vec<Request> {
        Vec::new()
    }

    /// Requests everything again.
    fn reload(&mut self, shared: &Shared, is_shown: bool) -> Vec<Request> {
        if is_shown { self.open(shared) } else { Vec::new() }
    }

    /// Applies an answer of the daemon.
    fn apply(&mut self, _shared: &Shared, _answer: &Answer) -> Vec<Request> {
        Vec::new()
    }

    /// Updates what is shown and requests what is missing. Called after each message while the screen is shown.
    fn prepare(&mut self, _shared: &Shared) -> Vec<Request> {
        Vec::new()
    }

    /// Returns what the screen has loaded and the palette can open, besides what all screens share.
    fn things(&self, _shared: &Shared) -> Vec<Entry> {
        Vec::new()
    }

    /// Selects a place that the screen shows. Returns what it requests, or nothing if the place is not one of it.
    fn reveal(&mut self, _shared: &Shared, _place: &Place) -> Option<Vec<Request>> {
        None
    }

    /// Applies the result of the editor, which the screen requested.
    fn edited(&mut self, _shared: &Shared, _result: Result<String, String>) -> Vec<Request> {
        Vec::new()
    }

    /// Forgets the draft that was just proposed.
    fn proposed(&mut self) {}
}
