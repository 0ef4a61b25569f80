//! The loop between terminal, state and daemon: the only room that performs effects.

use std::sync::Arc;
use std::time::Duration;

use quorate_common::stamp::Stamp;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{Instant, MissedTickBehavior};

use crate::app::{Effect, JournalLine, Model, Msg, drawn as was_drawn, update, view};
use crate::ballot::Ballot;
use crate::book::Book;
use crate::clock::now_millis;
use crate::editor;
use crate::failure::Failure;
use crate::journal::{self, Entry};
use crate::link::{self, Order};
use crate::place;
use crate::roster::Roster;
use crate::session::Session;
use crate::signals;
use crate::term::{Input, Screen};
use crate::text::clean;
use crate::theme::Theme;

/// How often time is looked at.
const TICK: Duration = Duration::from_millis(200);
/// The least time between two drawings, on average.
const FRAME: Duration = Duration::from_millis(100);
/// How far drawings may come before their time, so that a key or an answer shows at once.
const AHEAD: Duration = Duration::from_millis(400);
/// How long the daemon may take to say whether user and key fit, before the console opens.
const CHECK: Duration = Duration::from_secs(2);
/// The least time between two drawings, in any case: what comes together is drawn together.
const TOGETHER: Duration = Duration::from_millis(8);

/// Runs the console until it is left.
pub(crate) async fn run(session: Session) -> Result<(), Failure> {
    let roster = Roster::load(&session.folders.roster())?;
    let book = Book::load(&session.folders.book())?;
    check(&session).await?;
    let session = Arc::new(session);
    let mut screen = Screen::take()?;
    let size = screen.terminal.size()?;
    let mut model = Model::new(session.identity(), roster, (size.width, size.height), now_millis());
    model.book = book;
    let (answers_in, mut answers) = unbounded_channel();
    let (results_in, mut results) = unbounded_channel();
    let orders = link::start(session.client.clone(), answers_in);
    let theme = Theme::new(has_colour());
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    // Each drawing moves this one frame on; it may be ahead of time by so much.
    let mut paced = Instant::now();
    let mut drawn = paced.checked_sub(TOGETHER).unwrap_or(paced);
    let ended = signals::ended();
    tokio::pin!(ended);
    loop {
        let due = paced.checked_sub(AHEAD).unwrap_or(paced).max(drawn + TOGETHER);
        if model.dirty && Instant::now() >= due {
            screen.terminal.draw(|frame| view(&model, theme, frame))?;
            model.dirty = false;
            was_drawn(&mut model);
            drawn = Instant::now();
            paced = paced.max(drawn) + FRAME;
        }
        let msg = tokio::select! {
            input = screen.next() => match input {
                Some(Input::Key(key)) => Msg::Key(key, now_millis()),
                Some(Input::Paste(text)) => Msg::Paste(text),
                Some(Input::Resize(columns, rows)) => Msg::Resize(columns, rows),
                None => return Ok(()),
            },
            Some(answer) = answers.recv() => Msg::Link(answer),
            Some(result) = results.recv() => result,
            _ = tick.tick() => Msg::Tick(now_millis()),
            () = tokio::time::sleep_until(due), if model.dirty => continue,
            () = &mut ended => return Ok(()),
        };
        model.now = model.now.max(now_millis());
        for effect in update(&mut model, msg) {
            if matches!(effect, Effect::Order(_)) {
                read_own_files(&mut model, &session, &results_in);
            }
            if let Effect::Copy(text) = &effect {
                screen.copy(text)?;
            } else if let Effect::Edit(text) = effect {
                // Only one of them can have the terminal.
                drop(screen);
                let edited = edit(&session, text).await;
                screen = Screen::take()?;
                let size = screen.terminal.size()?;
                let _ = results_in.send(Msg::Resize(size.width, size.height));
                let _ = results_in.send(Msg::Edited(edited));
            } else if !perform(effect, &session, &orders, &results_in) {
                return Ok(());
            }
        }
    }
}

/// Checks that user and key fit the organization, before anything is drawn. A daemon that does not answer is no reason not
/// to open: the console says so, and checks as soon as there is one.
async fn check(session: &Session) -> Result<(), Failure> {
    if !session.identity().is_somebody() {
        return Ok(());
    }
    let misfit = async {
        session.greet().await.ok()?;
        let id = session.organization_id().await.ok()?;
        session.identity().misfit(&session.client.organization(id).await.ok()?)
    };
    match tokio::time::timeout(CHECK, misfit).await {
        Ok(Some(misfit)) => Err(misfit),
        Ok(None) | Err(_) => Ok(()),
    }
}

/// Reads address book and known keys again before anything else is read: another terminal may have changed them.
fn read_own_files(model: &mut Model, session: &Session, results: &UnboundedSender<Msg>) {
    let read = Book::load(&session.folders.book()).map(|book| model.book = book);
    trouble(read, "the address book could not be read", results);
    let read = Roster::load(&session.folders.roster()).map(|roster| model.roster.merge(roster));
    trouble(read, "the known keys could not be read", results);
}

/// Does what the state asks for. Returns whether the console goes on.
fn perform(
    effect: Effect,
    session: &Arc<Session>,
    orders: &UnboundedSender<Order>,
    results: &UnboundedSender<Msg>,
) -> bool {
    match effect {
        // The loop does these, as it has the terminal.
        Effect::Edit(_) | Effect::Copy(_) => {}
        Effect::Export { name, text } => {
            let told = match place::create_beside(&name, text.as_bytes()) {
                Ok(path) => format!("written to {}", clean(&path.display().to_string())),
                Err(flaw) => format!("[!] nothing was written: {flaw}"),
            };
            let _ = results.send(Msg::Told(told));
        }
        Effect::Quit => return false,
        Effect::Order(order) => {
            // The worker lives as long as this sender.
            let _ = orders.send(order);
        }
        Effect::Sign { passphrase, message } => {
            let (session, results) = (Arc::clone(session), results.clone());
            // Opening a key file takes a while on purpose.
            tokio::task::spawn_blocking(move || {
                let _ = results.send(Msg::Signed(sign(&session, &passphrase, &message)));
            });
        }
        Effect::SaveRoster(roster) => {
            let path = session.folders.roster();
            let mut roster = *roster;
            let saved = Roster::load(&path).and_then(|stored| {
                roster.merge(stored);
                roster.save(&path)
            });
            trouble(saved, "the known keys could not be saved", results);
        }
        Effect::Journal(decision) => {
            let (line, ballot) = *decision;
            trouble(note_down(&session.folders, line, &ballot), "the journal could not be written", results);
        }
    }
    true
}

/// Lets the user edit a text. What comes from the daemon meanwhile is heard afterwards.
async fn edit(session: &Arc<Session>, text: String) -> Result<String, String> {
    let session = Arc::clone(session);
    let edited = tokio::task::spawn_blocking(move || editor::edit(&session.folders, &text)).await;
    edited.unwrap_or_else(|_| Err("the editor could not be waited for".to_owned()))
}

fn sign(session: &Session, passphrase: &str, message: &str) -> Result<Stamp, String> {
    let stamper = session.unlock(passphrase).map_err(|failure| failure.message().to_owned())?;
    stamper.stamp(message.as_bytes()).map_err(|_| "the key cannot sign".to_owned())
}

fn note_down(folders: &place::Folders, line: JournalLine, ballot: &Ballot) -> Result<(), place::PlaceFlaw> {
    let entry = Entry {
        previous: String::new(),
        at_millis: now_millis(),
        organization_id: line.organization,
        activity_id: line.activity,
        fingerprint: ballot.fingerprint.to_string(),
        sentence: line.sentence,
        choice: ballot.choice.word().to_owned(),
        outcome: line.outcome.to_owned(),
        organization_version: line.version,
        note: line.note,
    };
    journal::append(&folders.journal(), entry)
}

fn trouble<E: std::fmt::Display>(result: Result<(), E>, what: &str, results: &UnboundedSender<Msg>) {
    if let Err(flaw) = result {
        let _ = results.send(Msg::Told(format!("[!] {what}: {flaw}")));
    }
}

/// Colours unless `NO_COLOR` says otherwise or the terminal has none (no-color.org).
fn has_colour() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_some_and(|term| term != "dumb")
}
