//! The screen while there is no data: why the daemon gives none, what holds nevertheless, and what to do. Each cause has
//! its own title. Data that was read before stays on screen instead, with a banner above it.

use super::model::Model;
use crate::canvas::{Canvas, Line};
use crate::link::LinkError;
use crate::screens::shared::LinkState;
use crate::text::wrap;
use crate::witness::WitnessError;

use ratatui::layout::Rect;

/// What an outage is called, and what follows from it.
struct Outage {
    title: &'static str,
    paragraphs: Vec<String>,
}

/// Draws the outage in place of a screen that has nothing to show. Returns whether there is one.
pub(super) fn draw(model: &Model, canvas: &mut Canvas<'_>, area: Rect) -> bool {
    let Some(outage) = of(model) else { return false };
    let inner = canvas.framed(area, outage.title, "");
    let columns = usize::from(inner.width);
    let rows = outage.paragraphs.iter().flat_map(|text| wrap(text, columns));
    let lines: Vec<Line> = rows.map(|row| Line::marked(row, canvas.theme)).collect();
    canvas.unscrolled(inner, &lines);
    true
}

/// Returns whether the screen that is open is replaced by the reason for which the daemon cannot be used.
pub(super) fn states_reason(model: &Model) -> bool {
    let is_covered = model.review.is_some() || model.opening.is_some() || model.proposing.is_some();
    let needs_daemon = model.tabs().nth(model.current).is_some_and(|(_, screen)| screen.needs_daemon());
    let is_refused = matches!(model.shared.link, LinkState::Refused(_));
    is_refused && needs_daemon && !is_covered && of(model).is_some()
}

fn of(model: &Model) -> Option<Outage> {
    let shared = &model.shared;
    if shared.inbox.is_read() || shared.organization.is_some() {
        return None;
    }
    let (socket, is_remote) = (&shared.identity.socket, shared.identity.viewer.is_remote);
    let (title, help) = match &shared.link {
        LinkState::Live => return None,
        LinkState::Starting => ("Connecting", vec![format!("Connecting to {socket}.")]),
        LinkState::Refused(reason) => (
            "This daemon cannot be used",
            vec![
                format!("[x] {reason}."),
                "Nothing was read from it and nothing can be decided.".to_owned(),
                format!(
                    "q quits; connect to another daemon with {}.",
                    if is_remote { "--url URL" } else { "--socket PATH" }
                ),
            ],
        ),
        LinkState::Lost { error, .. } => (title(error), help(error, is_remote)),
    };
    let nothing =
        "No data was read yet, so nothing can be shown or decided. Your keys and files are untouched.";
    let mut paragraphs = help;
    if matches!(shared.link, LinkState::Lost { .. }) {
        paragraphs.push(String::new());
        paragraphs.push(nothing.to_owned());
        paragraphs.push(
            "The console retries by itself; r retries now. Health shows what else is wrong.".to_owned(),
        );
    }
    Some(Outage { title, paragraphs })
}

fn title(error: &LinkError) -> &'static str {
    match error {
        _ if error.is_sealed() => "Daemon sealed",
        LinkError::Down(_) => "No daemon",
        LinkError::Unreachable { .. } => "No connection",
        LinkError::NotSocket(_) => "Not a socket",
        LinkError::Forbidden(_) => "No access to the daemon",
        LinkError::Protocol { .. } => "Another version of the daemon",
        LinkError::Unreadable(_) | LinkError::NotDaemon { .. } => "Not a daemon of Quorate",
        LinkError::Untrusted(_) => "Not the daemon that was trusted",
        LinkError::Clock => "Another time",
        LinkError::Older { .. } => "Out of date",
        LinkError::Witness(WitnessError::File(_)) => "A file cannot be used",
        LinkError::Witness(_) => "Another history than before",
        LinkError::LocalOnly | LinkError::Unselected | LinkError::Unstamped | LinkError::Stamp(_) => {
            "Not available with --url"
        }
        LinkError::Lost(_) => "Connection lost",
        _ if error.is_limit() => "Too many requests",
        LinkError::Api(_) => "Daemon not ready",
    }
}

fn help(error: &LinkError, is_remote: bool) -> Vec<String> {
    let text = match error {
        _ if error.is_sealed() => {
            return vec![
                "[x] The daemon is sealed: without its root key it can read no record and answers nothing.".to_owned(),
                "Unseal the daemon on its host. Its log and `quorate doctor` describe what it waits for.".to_owned(),
            ];
        }
        LinkError::Down(url) if is_remote => format!(
            "[x] Nothing listens at {url}. Check the URL and the network, and ask the operator whether the daemon runs."
        ),
        LinkError::Down(socket) => format!(
            "[x] Nothing listens at {socket}. Start the daemon with `quorated serve`, try one with `quorate dev`, or \
             name another socket with --socket PATH."
        ),
        LinkError::Forbidden(socket) => format!(
            "[x] This user may not open {socket}. Only the user of the daemon and its configured group may: ask the \
             operator to add you to that group, then log in again."
        ),
        LinkError::Protocol { .. } => {
            "[x] Daemon and console have different versions of their protocol. Install the same version of both."
                .to_owned()
        }
        LinkError::Unreadable(_) if is_remote => {
            "[x] What answers there does not answer as a daemon of this version does. Check the URL, and install \
             matching versions of both."
                .to_owned()
        }
        LinkError::Unreadable(_) => {
            "[x] What listens there does not answer as a daemon does. Check the path of the socket.".to_owned()
        }
        LinkError::Lost(_) => "[x] The connection broke before anything was read.".to_owned(),
        LinkError::Untrusted(_)
        | LinkError::NotSocket(_)
        | LinkError::Unreachable { .. }
        | LinkError::NotDaemon { .. }
        | LinkError::Clock
        | LinkError::Older { .. }
        | LinkError::Witness(_)
        | LinkError::LocalOnly
        | LinkError::Unselected
        | LinkError::Unstamped
        | LinkError::Stamp(_) => format!("[x] {error}."),
        _ if error.is_limit() => {
            "[x] The daemon limits how much one client may request, and refuses more for the moment. The line above states \
             the limit. Others at the same address count as well."
                .to_owned()
        }
        LinkError::Api(_) => "[x] The daemon runs, but it refuses to answer. The line above states why.".to_owned(),
    };
    vec![text]
}
