//! The turns of requests that exchange a code with an OAuth 2.0 provider.
//!
//! Providers may be slow, and anybody can send codes that are not valid. A request beyond the number of concurrent ones
//! waits for its turn, in a bounded queue. The next turn is that of the client with the fewest requests in progress; several
//! such clients take turns. So many requests of a few clients do not keep others out.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quorate_common::api_error::{ApiError, Code};
use tokio::sync::oneshot;

use crate::outgoing::shares::REQUESTS_OF_PARENT;

/// Maximum number of concurrent exchanges. The other half is for requests that the organization sends itself.
const CONCURRENT: usize = REQUESTS_OF_PARENT / 2;
/// Maximum number of requests that wait.
const WAITING: usize = 64;
/// Maximum number of requests of one client that wait.
const WAITING_OF_CLIENT: usize = 4;
/// Longest time that a request waits.
const DEADLINE: Duration = Duration::from_secs(5);

/// The requests in progress and those that wait.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Number of requests in progress of each client that has any.
    running: HashMap<IpAddr, usize>,
    /// Requests that wait, the oldest first.
    waiting: VecDeque<(IpAddr, oneshot::Sender<Turn>)>,
}

/// A request in progress. The next one begins when it is dropped.
pub(super) struct Turn {
    turns: Turns,
    client: IpAddr,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = {
            let mut state = self.turns.state();
            state.end(self.client);
            state.next()
        };
        if let Some((client, begin)) = next {
            // If the request does not wait any more, its turn is dropped at once, which passes it on.
            let _ = begin.send(Turn { turns: self.turns.clone(), client });
        }
    }
}

impl State {
    fn total(&self) -> usize {
        self.running.values().sum()
    }

    fn running_of(&self, client: IpAddr) -> usize {
        self.running.get(&client).copied().unwrap_or_default()
    }

    fn waiting_of(&self, client: IpAddr) -> usize {
        self.waiting.iter().filter(|(one, _)| *one == client).count()
    }

    fn begin(&mut self, client: IpAddr) {
        let count = self.running.entry(client).or_default();
        *count = count.saturating_add(1);
    }

    fn end(&mut self, client: IpAddr) {
        let left = self.running_of(client).saturating_sub(1);
        if left == 0 {
            self.running.remove(&client);
        } else {
            self.running.insert(client, left);
        }
    }

    /// Removes the request whose turn is next, and counts it as in progress.
    fn next(&mut self) -> Option<(IpAddr, oneshot::Sender<Turn>)> {
        self.waiting.retain(|(_, begin)| !begin.is_closed());
        let clients = self.waiting.iter().enumerate();
        let (index, _) = clients.min_by_key(|(_, (client, _))| self.running_of(*client))?;
        let next = self.waiting.remove(index)?;
        // The other requests of the client wait behind those of all others.
        self.waiting.make_contiguous().sort_by_key(|(client, _)| *client == next.0);
        self.begin(next.0);
        Some(next)
    }

    /// Makes room for a request of a client in a full queue: the newest request of the client with the most waiting ones
    /// waits no longer. Returns whether there is room.
    fn make_room(&mut self, client: IpAddr) -> bool {
        self.waiting.retain(|(_, begin)| !begin.is_closed());
        let own = self.waiting_of(client);
        if own >= WAITING_OF_CLIENT {
            return false;
        }
        if self.waiting.len() < WAITING {
            return true;
        }
        let most = self.waiting.iter().map(|(one, _)| self.waiting_of(*one)).max().unwrap_or_default();
        if most <= own.saturating_add(1) {
            return false;
        }
        let newest = self.waiting.iter().rposition(|(one, _)| self.waiting_of(*one) == most);
        newest.and_then(|index| self.waiting.remove(index)).is_some()
    }
}

impl Turns {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn of a request of this client.
    ///
    /// # Errors
    /// If too many requests wait, or the turn does not come in time.
    pub(super) async fn wait(&self, client: IpAddr) -> Result<Turn, ApiError> {
        let turn = {
            let mut state = self.state();
            if state.total() < CONCURRENT {
                state.begin(client);
                return Ok(Turn { turns: self.clone(), client });
            }
            if !state.make_room(client) {
                return Err(crowded());
            }
            let (begin, turn) = oneshot::channel();
            state.waiting.push_back((client, begin));
            turn
        };
        let turn = tokio::time::timeout(DEADLINE, turn).await;
        turn.ok().and_then(Result::ok).ok_or_else(crowded)
    }
}

fn crowded() -> ApiError {
    let message = "too many requests to OAuth 2.0 providers are waiting; try again later";
    ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    type Waiting = Pin<Box<dyn Future<Output = Result<Turn, ApiError>>>>;

    fn client(number: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, number])
    }

    /// Begins to wait, as a client of this number.
    fn wait(turns: &Turns, number: u8) -> Waiting {
        let turns = turns.clone();
        let mut waiting: Waiting = Box::pin(async move { turns.wait(client(number)).await });
        assert!(poll(&mut waiting).is_pending());
        waiting
    }

    fn poll(waiting: &mut Waiting) -> Poll<Result<Turn, ApiError>> {
        waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    fn turn(waiting: &mut Waiting) -> Option<Turn> {
        match poll(waiting) {
            Poll::Ready(turn) => Some(turn.ok().unwrap()),
            Poll::Pending => None,
        }
    }

    /// Returns turns that are all taken by one client.
    async fn taken_by(number: u8) -> (Turns, Vec<Turn>) {
        let turns = Turns::default();
        let mut taken = Vec::new();
        for _ in 0..CONCURRENT {
            taken.push(turns.wait(client(number)).await.ok().unwrap());
        }
        (turns, taken)
    }

    #[tokio::test]
    async fn a_client_with_no_request_in_progress_is_next() {
        let (turns, mut taken) = taken_by(1).await;
        let mut same: Vec<_> = (0..WAITING_OF_CLIENT).map(|_| wait(&turns, 1)).collect();
        let mut other = wait(&turns, 2);
        taken.pop();
        let turn_of_other = turn(&mut other).unwrap();
        assert!(same.iter_mut().all(|one| turn(one).is_none()));
        drop(turn_of_other);
        assert!(turn(same.first_mut().unwrap()).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn eight_clients_of_a_slow_provider_do_not_keep_others_out() {
        let turns = Turns::default();
        for number in 1..=8 {
            for _ in 0..8 {
                let turns = turns.clone();
                tokio::spawn(async move {
                    if let Ok(turn) = turns.wait(client(number)).await {
                        tokio::time::sleep(Duration::from_secs(4)).await;
                        drop(turn);
                    }
                });
            }
        }
        tokio::task::yield_now().await;
        for number in 101..=108 {
            let (turns, done) = (turns.clone(), turns.wait(client(number)));
            let turn = done.await.ok().unwrap();
            assert!(turns.state().total() <= CONCURRENT);
            drop(turn);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_turn_does_not_come_in_time_is_refused() {
        let (turns, taken) = taken_by(1).await;
        let begin = tokio::time::Instant::now();
        let error = turns.wait(client(2)).await.err().unwrap();
        assert_eq!(begin.elapsed(), DEADLINE);
        assert_eq!(error.message, "too many requests to OAuth 2.0 providers are waiting; try again later");
        assert_eq!(error.code, Code::ResourceExhausted);
        // Its place is passed over.
        let mut next = wait(&turns, 3);
        drop(taken);
        assert!(turn(&mut next).is_some());
        assert_eq!(turns.state().total(), 0);
    }

    #[tokio::test]
    async fn the_queue_is_bounded_and_has_room_for_other_clients() {
        let (turns, taken) = taken_by(1).await;
        let mut waiting: Vec<_> = (0..WAITING)
            .map(|number| wait(&turns, u8::try_from(number / WAITING_OF_CLIENT).unwrap()))
            .collect();
        assert!(turns.wait(client(0)).await.is_err(), "a client has a share of the queue");
        let mut other = wait(&turns, 200);
        assert_eq!(turns.state().waiting.len(), WAITING);
        let ended = |one: &mut Waiting| match poll(one) {
            Poll::Ready(Err(_)) => None,
            Poll::Ready(Ok(_)) => panic!("no turn is free"),
            Poll::Pending => Some(()),
        };
        let total = waiting.len();
        waiting.retain_mut(|one| ended(one).is_some());
        assert_eq!(waiting.len(), total - 1, "the newest request of a client with the most waits no longer");
        // Each of the clients before it has one turn, and not all of its turns.
        drop(taken);
        let mut before = 0;
        let other = loop {
            if let Some(begun) = turn(&mut other) {
                break begun;
            }
            // The turns that were given end.
            waiting.retain_mut(|one| {
                turn(one).is_none_or(|_| {
                    before += 1;
                    false
                })
            });
        };
        assert!(before <= WAITING / WAITING_OF_CLIENT, "{before}");
        drop(other);
    }
}
