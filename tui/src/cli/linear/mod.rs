//! `quorate --linear`: approvals in plain lines, for screen readers and dumb terminals. It decides as the console does: the
//! whole review is printed first, the challenge is the same, and a signed vote can be cancelled for three seconds.

mod terminal;

use std::time::Duration;

use quorate_common::ids::ActivityId;

use self::terminal::{Terminal, line, say};
use super::approvals;
use super::approvals_arguments::ApprovalsListArguments;
use super::decide::{blocked_failure, send, stamped};
use crate::ballot::{Ballot, Choice};
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::keys::lock_request::LockRequests;
use crate::keys::{IDLE_MILLIS, SUSPENDED_MILLIS};
use crate::output::Answer;
use crate::proof::{Challenge, Review, difference, mode_word, needs, plain_text};
use crate::session::Session;
use crate::text::{clean, show_ascii_only};
use crate::theme;

/// Time without a key after which the challenge is shown.
const PAUSE: Duration = Duration::from_secs(1);
/// Interval at which it is checked whether the key must be locked.
const TICK: Duration = Duration::from_millis(250);
/// Time for which a signed vote can be cancelled before it is sent.
const HOLD: Duration = Duration::from_secs(3);

const HELP: &str = "\
list        lists what waits for approval, with numbers
review N    prints the whole review of number N of the list, or of an activity id
approve     approves the activity that was reviewed last; a challenge follows
reject      rejects the activity that was reviewed last; a single rejection is final
help        prints these commands
quit        quits";

/// Runs linear mode until the user quits.
pub(crate) async fn run(session: &Session) -> Result<Answer> {
    if !theme::is_unicode(|name| std::env::var(name).ok()) {
        show_ascii_only();
    }
    let terminal = Terminal::open()?;
    let mut linear = Linear { session, terminal, listed: Vec::new(), review: None };
    linear.greet().await?;
    let mut requests = LockRequests::new(&session.folders);
    while let Some(typed) = locking(session, &mut requests, line("quorate: ")).await? {
        let (command, rest) = typed.split_once(' ').unwrap_or((&typed, ""));
        let done = match command {
            "" => Ok(()),
            "list" | "l" => linear.list().await,
            "review" | "r" => linear.review(rest.trim()).await,
            "approve" => linear.decide(Choice::Approve).await,
            "reject" => linear.decide(Choice::Reject).await,
            "help" | "?" => {
                say(HELP);
                Ok(())
            }
            "quit" | "q" => break,
            other => {
                say(&format!("unknown command {}; help lists the commands", clean(other)));
                Ok(())
            }
        };
        if let Err(failure) = done {
            say(&format!("error: {}", failure.message()));
        }
    }
    session.lock();
    Ok(Answer::nothing())
}

/// Waits for a line. Meanwhile the key is locked if another process requests it, after five minutes without a line, and after
/// the process or the machine was suspended.
async fn locking<T>(
    session: &Session,
    requests: &mut LockRequests,
    typing: impl Future<Output = Result<T>>,
) -> Result<T> {
    tokio::pin!(typing);
    let mut tick = tokio::time::interval(TICK);
    let (begun, mut last) = (now_millis(), now_millis());
    loop {
        tokio::select! {
            typed = &mut typing => return typed,
            _ = tick.tick() => {
                let now = now_millis();
                if requests.received() {
                    session.lock_all();
                } else if now.saturating_sub(begun) > IDLE_MILLIS || now.saturating_sub(last) > SUSPENDED_MILLIS {
                    session.lock();
                }
                last = now;
            }
        }
    }
}

struct Linear<'a> {
    session: &'a Session,
    terminal: Terminal,
    /// The activities of the list that was printed last, in its order.
    listed: Vec<ActivityId>,
    /// The review that was printed last.
    review: Option<Box<Review>>,
}

impl Linear<'_> {
    /// States where the user is.
    async fn greet(&self) -> Result<()> {
        let status = self.session.daemon_status().await?;
        let organization = self.session.organization().await?;
        if let Some(mismatch) = self.session.identity.mismatch(&organization) {
            return Err(mismatch);
        }
        let viewer = self.session.identity.viewer_in(&organization).user;
        let user = organization.users.iter().find(|user| Some(user.user_id) == viewer);
        let user = user.map_or_else(|| "read only".to_owned(), |user| clean(&user.user_name));
        let (name, id) = (clean(&organization.head.organization_name), organization.head.organization_id);
        say(&format!(
            "Quorate, {}, organization {name} ({id}), user {user}.\nmarks: [v] verified here, [s] stated by the \
             daemon, [!] caution, [x] failed check\nlist lists what waits for approval, help lists the commands",
            mode_word(status.mode)
        ));
        Ok(())
    }

    async fn list(&mut self) -> Result<()> {
        let items = approvals::list(self.session, &ApprovalsListArguments::default()).await?;
        self.listed = items.iter().map(|item| item.id).collect();
        if self.listed.is_empty() {
            say("Nothing waits for approval.");
        }
        for (index, item) in items.iter().enumerate() {
            say(&numbered(index.saturating_add(1), &item.text));
        }
        Ok(())
    }

    async fn review(&mut self, wanted: &str) -> Result<()> {
        self.review = None;
        let number = wanted.parse::<usize>().ok();
        let listed = number.and_then(|number| self.listed.get(number.checked_sub(1)?));
        let reference = match (listed, number) {
            (Some(id), _) => id.to_string(),
            (None, Some(number)) => return Err(usage(&not_listed(number, self.listed.len()))),
            (None, None) if wanted.is_empty() => {
                return Err(usage("name a number of the list, or an activity id"));
            }
            (None, None) => wanted.to_owned(),
        };
        let review = self.session.review(&reference).await?;
        let of_list = listed.zip(number).map_or_else(String::new, |(_, number)| format!("Number {number}: "));
        say(&format!("{of_list}activity {}", review.activity.id));
        say(&plain_text(&review));
        self.review = Some(Box::new(review));
        Ok(())
    }

    /// Votes on the activity that was reviewed last. It must be reviewed again for another vote.
    async fn decide(&mut self, choice: Choice) -> Result<()> {
        let missing = || usage("review an activity first: review N");
        let review = self.review.take().ok_or_else(missing)?;
        let error = match choice {
            Choice::Reject => review.rejection_error(),
            _ if review.viewer.user.is_none() => Some(review.viewer.no_signer(&review.organization)),
            _ => review.approval_error(),
        };
        if let Some(error) = error {
            return Err(blocked_failure(&review, &error));
        }
        let (organization, fingerprint) =
            review.vote_target().map_err(|error| blocked_failure(&review, &error))?;
        say(&format!(
            "{}\nneeds: {}\nYou will sign {} for fingerprint {fingerprint}. Keys are discarded until none was pressed \
             for one second.",
            review.sentence,
            needs(&review),
            if choice == Choice::Reject { "a rejection" } else { "an approval" }
        ));
        self.terminal.discard(PAUSE).await?;
        if !self.passes_challenge(&review, choice).await? {
            say("wrong answer: nothing was sent; review it again");
            return Ok(());
        }
        let note = match choice {
            Choice::Reject => line("Note for the journal, or nothing: ").await?,
            _ => None,
        };
        let ballot = Ballot::vote(choice == Choice::Approve, organization, fingerprint, now_millis());
        let stamp = stamped(self.session, &ballot).await?;
        say("Signed. It will be sent in 3 seconds. Any key cancels; nothing has been sent yet.");
        if self.terminal.is_interrupted(HOLD).await? {
            say("cancelled: nothing was sent");
            return Ok(());
        }
        let fresh = self.session.review(&review.activity.id.to_string()).await?;
        if let Some(changed) = difference(&review, &fresh) {
            let text = format!("changed since the review: {changed}; nothing was sent; review it again");
            return Err(Failure::new(Exit::Verification, text));
        }
        let note = note.filter(|note| !note.is_empty());
        let answer = send(self.session, &fresh, (&ballot, &stamp), note.as_deref()).await?;
        say(&answer.text);
        Ok(())
    }

    async fn passes_challenge(&self, review: &Review, choice: Choice) -> Result<bool> {
        let challenge = if choice == Choice::Reject { Challenge::Yes } else { review.challenge() };
        let (prompt, expected) = match (challenge, choice) {
            (Challenge::Yes, Choice::Reject) => {
                ("Reject this activity? A single rejection is final. Type y".to_owned(), "y".to_owned())
            }
            (Challenge::Yes, _) => ("LOW risk. Type y".to_owned(), "y".to_owned()),
            (Challenge::LastFour(answer), _) => {
                ("Type the LAST FOUR characters of the fingerprint".to_owned(), answer)
            }
            (Challenge::Value(danger), _) => (format!("Type {}", danger.prompt), danger.answer),
        };
        let typed = line(&format!("{prompt}, then press Enter: ")).await?;
        Ok(typed.is_some_and(|typed| typed == expected))
    }
}

/// Returns the lines of an activity as one, after its number.
fn numbered(number: usize, text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    format!("{number}. {}", lines.join(". "))
}

/// Returns why no activity has a number.
fn not_listed(number: usize, count: usize) -> String {
    match count {
        0 => format!(
            "number {number} is not in a list: `list` prints the activities that wait, with their numbers"
        ),
        count => format!("number {number} is not in the list, which ends with {count}"),
    }
}

fn usage(text: &str) -> Failure {
    Failure::new(Exit::Usage, text)
}
