//! The main loop between terminal, state and daemon. Only this module performs effects.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{Instant, MissedTickBehavior};

use crate::app::{Model, Msg, drawn as after_drawing, update, view};
use crate::ballot;
use crate::book::Book;
use crate::clock::now_millis;
use crate::config::{self, Config};
use crate::doctor;
use crate::editor;
use crate::fail_points;
use crate::failure::{Exit, Failure, Result};
use crate::files::{self, Folders};
use crate::journal::{self, Entry};
use crate::keymap::Key;
use crate::keys::lock_request::LockRequests;
use crate::known_keys::KnownKeys;
use crate::link::{self, Answer, Order};
use crate::output;
use crate::panics;
use crate::proof::BUNDLE_LIMIT;
use crate::screens::bindings::Bindings;
use crate::screens::request::Effect;
use crate::session::Session;
use crate::signals;
use crate::term::{Input, Notification, Screen};
use crate::text::{clean, date_time, show_ascii_only};
use crate::theme::{self, Depth, Theme};

/// Interval between two time messages to the state.
const TICK: Duration = Duration::from_millis(200);
/// Average minimum time between two frames.
const FRAME: Duration = Duration::from_millis(100);
/// How much earlier than the average rate allows a frame may be drawn, so that a key or an answer shows at
/// once.
const AHEAD: Duration = Duration::from_millis(400);
/// How long the console waits for the daemon to confirm user and key.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);
/// Absolute minimum time between two frames. Messages that arrive together are drawn in one frame.
const MIN_FRAME: Duration = Duration::from_millis(8);

/// Size above which the log of the console is set aside, in bytes.
const LOG_LIMIT: u64 = 1 << 20;

/// Runs the console until the user quits. Its key is wiped however it ends.
pub(crate) async fn run(session: Session) -> Result<()> {
    let session = Arc::new(session);
    panics::observe();
    let mut awaited = None;
    // Unwinding restores the terminal, and the callers stop what they started.
    let ended = AssertUnwindSafe(run_until_quit(&session, &mut awaited)).catch_unwind().await;
    session.lock();
    if let Some(text) = awaited {
        output::warn(&text);
    }
    let Some(text) = panics::recorded() else { return ended.unwrap_or(Ok(())) };
    let log = session.folders.log();
    // An error of the log cannot be logged, and the text is printed anyway.
    let _ =
        files::append_log(&log, &format!("{} internal error: {text}\n", date_time(now_millis())), LOG_LIMIT);
    Err(panics::failure(&text, &log.display().to_string()))
}

/// `awaited` is what is known of a vote or proposal whose answer has not arrived, if there is one.
async fn run_until_quit(session: &Arc<Session>, awaited: &mut Option<String>) -> Result<()> {
    let settings = Settings::load(&session.folders)?;
    let mut model = model(session, settings.bindings)?;
    let mut check = Box::pin(check(session));
    let mut is_checked = false;
    let mut screen = Screen::open(settings.has_mouse)?;
    let size = screen.terminal.size()?;
    model.shared.size = (size.width, size.height);
    let (answers_in, mut answers) = unbounded_channel();
    let (results_in, mut results) = unbounded_channel();
    let orders = link::start(session.client.clone(), answers_in);
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut pace = Pace::new();
    let mut ended = Box::pin(signals::ended());
    let mut stops = signals::Stops::new();
    let mut lock_requests = LockRequests::new(&session.folders);
    loop {
        let due = pace.due();
        if model.dirty && Instant::now() >= due {
            draw(&mut screen, &mut model, settings.theme)?;
            pace.drawn();
        }
        let msg = tokio::select! {
            input = screen.next() => match input {
                Some(input) => message(input),
                None => return Ok(()),
            },
            Some(answer) = answers.recv() => answered(answer, awaited),
            Some(result) = results.recv() => with_lock(result, session, &results_in),
            _ = tick.tick() => ticked(&model, session, &mut lock_requests),
            result = &mut check, if !is_checked => {
                result?;
                is_checked = true;
                continue;
            }
            () = stops.next() => Msg::Key(Key::Ctrl('z'), now_millis()),
            () = tokio::time::sleep_until(due), if model.dirty => continue,
            () = &mut ended => return Ok(()),
            () = panics::happened() => return Ok(()),
        };
        model.shared.now = model.shared.now.max(now_millis());
        for effect in update(&mut model, msg) {
            if let Effect::Order(order) = &effect {
                read_own_files(order, &mut model, session, &results_in);
            }
            if let Effect::Copy(text) = &effect {
                screen.copy(text)?;
            } else if let Effect::Edit(text) = effect {
                // The editor needs the terminal, so the console releases it first.
                drop(screen);
                let edited = edit(session, text).await;
                screen = reopened(&results_in, settings.has_mouse)?;
                let _ = results_in.send(Msg::Edited(edited));
            } else if effect == Effect::Suspend {
                session.lock_all();
                drop(screen);
                signals::stop();
                // It may prompt, which the screen would cover.
                session.client.unlock().await?;
                screen = reopened(&results_in, settings.has_mouse)?;
            } else if let Effect::Send(entry, order) = effect {
                *awaited = send(*entry, order, session, &orders, &results_in);
            } else if let Effect::Notify(text) = &effect {
                screen.notify(&settings.notifications, text)?;
            } else if !perform(effect, session, &orders, &results_in) {
                return Ok(());
            }
        }
    }
}

/// Draws a frame.
fn draw(screen: &mut Screen, model: &mut Model, theme: Theme) -> Result<()> {
    screen.terminal.draw(|frame| {
        fail_points::reach("draw");
        view(model, theme, frame);
    })?;
    model.dirty = false;
    after_drawing(model);
    Ok(())
}

/// What `config.toml` states about the console.
struct Settings {
    theme: Theme,
    notifications: Vec<Notification>,
    bindings: Bindings,
    has_mouse: bool,
}

impl Settings {
    fn load(folders: &Folders) -> Result<Self> {
        let config = Config::load(folders)?;
        let theme = theme(&config, folders)?;
        if theme.is_ascii {
            show_ascii_only();
        }
        let notifications = notifications(&config);
        let has_mouse = config.mouse.unwrap_or(true);
        Ok(Self { theme, notifications, bindings: bindings(&config, folders)?, has_mouse })
    }
}

/// Creates the state from the user's own files.
fn model(session: &Session, bindings: Bindings) -> Result<Model> {
    let known_keys = KnownKeys::load(&session.folders.known_keys())?;
    let mut model = Model::new(session.identity.clone(), known_keys, (0, 0), now_millis());
    model.shared.book = Book::load(&session.folders.book())?;
    model.bindings = bindings;
    Ok(model)
}

/// Returns the message of an input.
fn message(input: Input) -> Msg {
    match input {
        Input::Key(key) => Msg::Key(key, now_millis()),
        Input::Paste(text) => Msg::Paste(text),
        Input::Mouse(mouse) => Msg::Mouse(mouse),
        Input::Resize(columns, rows) => Msg::Resize(columns, rows),
    }
}

/// Returns the message of a tick. Another process may have requested that the key is locked.
fn ticked(model: &Model, session: &Session, requests: &mut LockRequests) -> Msg {
    if requests.received() {
        session.lock_all();
        if model.shared.is_unlocked {
            return Msg::Locked("by `quorate key lock`");
        }
    }
    Msg::Tick(now_millis())
}

/// Returns the message of an answer. That of a vote or proposal is not awaited any more.
fn answered(answer: Answer, awaited: &mut Option<String>) -> Msg {
    awaited.take_if(|_| matches!(answer, Answer::Cast(_)));
    Msg::Link(answer)
}

/// Returns a result. If a key was locked while it signed, another message reports that.
fn with_lock(result: Msg, session: &Session, results: &UnboundedSender<Msg>) -> Msg {
    if matches!(result, Msg::Signed { result: Ok(_), .. }) && session.is_locked() {
        let _ = results.send(Msg::Locked("while it signed"));
    }
    result
}

/// Takes the terminal over again.
fn reopened(results: &UnboundedSender<Msg>, has_mouse: bool) -> Result<Screen> {
    let screen = Screen::open(has_mouse)?;
    let size = screen.terminal.size()?;
    let _ = results.send(Msg::Resize(size.width, size.height));
    Ok(screen)
}

/// The times at which frames may be drawn.
struct Pace {
    /// Time of the next frame at the average rate. Each drawn frame advances it by one `FRAME`; it may be up to
    /// `AHEAD` in the future.
    next: Instant,
    /// Time of the last frame.
    last: Instant,
}

impl Pace {
    /// Returns a pace at which the first frame may be drawn at once.
    fn new() -> Self {
        let next = Instant::now();
        Self { next, last: next.checked_sub(MIN_FRAME).unwrap_or(next) }
    }

    /// Returns the earliest time of the next frame.
    fn due(&self) -> Instant {
        self.next.checked_sub(AHEAD).unwrap_or(self.next).max(self.last + MIN_FRAME)
    }

    /// Records that a frame was drawn.
    fn drawn(&mut self) {
        self.last = Instant::now();
        self.next = self.next.max(self.last) + FRAME;
    }
}

/// Checks that an organization that was named exists, and that user and key belong to it; otherwise the console exits. If
/// the daemon does not answer, the console shows the problem and repeats the check once it is connected.
async fn check(session: &Session) -> Result<()> {
    let is_named = session.identity.organization_name.is_some();
    if !session.identity.is_selected() && !is_named {
        return Ok(());
    }
    let mismatch = async {
        session.daemon_status().await.ok()?;
        let id = match session.organization_id().await {
            Err(failure) if is_named && matches!(failure.exit, Exit::NotFound | Exit::Usage) => {
                return Some(failure);
            }
            id => id.ok()?,
        };
        session.identity.mismatch(&session.client.organization(id).await.ok()?)
    };
    match tokio::time::timeout(CHECK_TIMEOUT, mismatch).await {
        Ok(Some(mismatch)) => Err(mismatch),
        Ok(None) | Err(_) => Ok(()),
    }
}

/// Reloads the address book and the known keys before each request, and the journal before one for transfers: another
/// process of the same user may have changed them.
fn read_own_files(order: &Order, model: &mut Model, session: &Session, results: &UnboundedSender<Msg>) {
    if matches!(order, Order::Transfers(..)) {
        let read = journal::transfers(&session.folders.journal())
            .map(|transfers| model.shared.own_transfers = transfers);
        report_error(read, "cannot read the journal", results);
    }
    let read = Book::load(&session.folders.book()).map(|book| model.shared.book = book);
    report_error(read, "cannot read the address book", results);
    let read = KnownKeys::load(&session.folders.known_keys())
        .map(|known_keys| model.shared.known_keys.merge(known_keys));
    report_error(read, "cannot read the known keys", results);
}

/// Performs an effect. Returns whether the console keeps running.
fn perform(
    effect: Effect,
    session: &Arc<Session>,
    orders: &UnboundedSender<Order>,
    results: &UnboundedSender<Msg>,
) -> bool {
    match effect {
        // The main loop handles these because it owns the terminal.
        Effect::Edit(_) | Effect::Copy(_) | Effect::Notify(_) | Effect::Suspend | Effect::Send(..) => {}
        Effect::Log(text) => {
            let line = format!("{} {text}\n", date_time(now_millis()));
            // An error of the log cannot be logged, and the text is on screen anyway.
            let _ = files::append_log(&session.folders.log(), &line, LOG_LIMIT);
        }
        Effect::Lock => session.lock(),
        Effect::Export { name, text } => {
            let notice = match files::create_beside(&name, text.as_bytes()) {
                Ok(path) => format!("written to {}", clean(&path.display().to_string())),
                Err(error) => format!("[!] cannot write the file: {error}"),
            };
            let _ = results.send(Msg::Notice(notice));
        }
        Effect::ReadFile(path) => {
            let (results, limit) = (results.clone(), BUNDLE_LIMIT);
            tokio::task::spawn_blocking(move || {
                let missing = || "the file does not exist".to_owned();
                let read = files::read(&files::at_home(&path), limit).map_err(|error| error.to_string());
                let read = read.and_then(|bytes| bytes.ok_or_else(missing));
                let _ = results.send(Msg::FileRead(path, read));
            });
        }
        Effect::Quit => return false,
        Effect::Order(order) => {
            // The worker runs as long as this sender exists.
            let _ = orders.send(order);
        }
        Effect::Sign { passphrase, message } => {
            let (session, results) = (Arc::clone(session), results.clone());
            // Decrypting a key file is deliberately slow, and an agent may ask a person.
            tokio::task::spawn_blocking(move || {
                let result = session.sign(&message, &passphrase);
                let result = result.map_err(|failure| failure.message().to_owned());
                let _ = results.send(Msg::Signed { message, result });
            });
        }
        Effect::CancelSignature => session.cancel_signature(),
        Effect::Examine => {
            let (session, results) = (Arc::clone(session), results.clone());
            tokio::task::spawn_blocking(move || {
                fail_points::reach("examine");
                let _ = results.send(Msg::Examined(doctor::of_console(&session.context, &session.folders)));
            });
        }
        Effect::ReadJournal => {
            let (path, results) = (session.folders.journal(), results.clone());
            tokio::task::spawn_blocking(move || {
                let _ =
                    results.send(Msg::JournalRead(journal::read(&path).map_err(|error| error.to_string())));
            });
        }
        Effect::SaveKnownKeys(known_keys) => {
            let path = session.folders.known_keys();
            let mut known_keys = *known_keys;
            let saved = KnownKeys::load(&path).and_then(|stored| {
                known_keys.merge(stored);
                known_keys.save(&path)
            });
            report_error(saved, "cannot save the known keys", results);
        }
        Effect::Journal(entry) => {
            let written = journal::append(&session.folders.journal(), *entry);
            report_error(written, "cannot write the journal", results);
        }
    }
    true
}

/// Sends a vote or proposal once it is in the journal. Returns what is known of it until its answer arrives, or nothing if it
/// was not sent.
fn send(
    entry: Entry,
    order: Order,
    session: &Session,
    orders: &UnboundedSender<Order>,
    results: &UnboundedSender<Msg>,
) -> Option<String> {
    let Order::Cast(_, vote) = &order else { return None };
    let unanswered = ballot::unanswered(&vote.0, entry.activity_id);
    if let Err(error) = journal::append(&session.folders.journal(), entry) {
        let _ = results.send(Msg::Unsent(error.to_string()));
        return None;
    }
    let _ = orders.send(order);
    Some(unanswered)
}

/// Lets the user edit a text. Messages from the daemon are queued until the editor ends.
async fn edit(session: &Arc<Session>, text: String) -> Result<String, String> {
    let session = Arc::clone(session);
    let edited = tokio::task::spawn_blocking(move || editor::edit(&session.folders, &text)).await;
    edited.unwrap_or_else(|_| Err("cannot wait for the editor".to_owned()))
}

fn report_error<E: std::fmt::Display>(result: Result<(), E>, what: &str, results: &UnboundedSender<Msg>) {
    if let Err(error) = result {
        let _ = results.send(Msg::Notice(format!("[!] {what}: {error}")));
    }
}

/// Returns the keys that the user added to commands.
fn bindings(config: &Config, folders: &Folders) -> Result<Bindings> {
    Bindings::of(config).map_err(|problems| {
        let path = config::path(folders).display().to_string();
        let lines: Vec<String> =
            problems.iter().map(|problem| format!("{path}:{}: {}", problem.line, problem.text)).collect();
        Failure::lines(Exit::Usage, &lines.join("\n"))
    })
}

/// Returns the ways to notify. A dumb terminal would print them.
fn notifications(config: &Config) -> Vec<Notification> {
    if std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        return Vec::new();
    }
    let default = || vec!["bell".to_owned()];
    let ways = config.notify.clone().unwrap_or_else(default);
    ways.iter().filter_map(|way| Notification::parse(way)).collect()
}

/// Returns the configured theme, as the terminal can show it.
fn theme(config: &Config, folders: &Folders) -> Result<Theme> {
    let variable = |name: &str| std::env::var(name).ok();
    let is_light = theme::is_light(variable("COLORFGBG").as_deref());
    let palette = theme::load(config.theme.as_deref(), is_light, folders)?;
    Ok(Theme::new(palette, Depth::of(variable)).with_ascii(!theme::is_unicode(variable)))
}
