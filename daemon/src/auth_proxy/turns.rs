//! The turns of requests that exchange a code with an OAuth 2.0 provider.
//!
//! Providers may be slow, and anybody can send codes that are not valid. A request beyond the number of concurrent ones
//! waits for its turn, in a bounded queue. The next turn is that of the site with the fewest requests in progress, and
//! there of the client with the fewest; several such take turns. A site is an IPv4 address or an IPv6 /48, whose owner has
//! any number of clients. Sites whose last exchange failed wait behind all others. So many requests of a few clients do not
//! keep others out.
//!
//! In a full queue, a request takes the place of one of a site that has more, or that failed. If all have one, it takes the
//! place of a random one: nobody can hold the whole queue.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quorate_common::api_error::{ApiError, Code};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::cache::TwoGenerations;
use crate::outgoing::shares::REQUESTS_OF_PARENT;
use crate::source::site;

/// Maximum number of concurrent exchanges. The other half is for requests that the organization sends itself.
const CONCURRENT: usize = REQUESTS_OF_PARENT / 2;
/// Maximum number of requests that wait.
const WAITING: usize = 64;
/// Maximum number of requests of one site that wait.
const WAITING_OF_SITE: usize = 16;
/// Maximum number of requests of one client that wait.
const WAITING_OF_CLIENT: usize = 4;
/// Longest time that a request waits.
const DEADLINE: Duration = Duration::from_secs(5);
/// Maximum number of sites whose failures are known; beyond it, the oldest are forgotten.
const FAILURES: usize = 16 * 1024;
/// Time after which a failure is forgotten.
const FAILURE_LASTS: Duration = Duration::from_mins(10);

/// Returns a number below the given one.
type Random = Box<dyn FnMut(usize) -> usize + Send>;

/// The requests in progress and those that wait.
#[derive(Clone)]
pub(super) struct Turns(Arc<Mutex<State>>);

/// Whom a request is charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Client {
    /// An IPv4 address or an IPv6 /64.
    network: IpAddr,
    /// An IPv4 address or an IPv6 /48.
    site: IpAddr,
}

impl Client {
    fn of(network: IpAddr) -> Self {
        Self { network, site: site(network) }
    }
}

/// A request that waits.
struct Waiting {
    client: Client,
    begin: oneshot::Sender<Turn>,
}

struct State {
    /// Clients of the requests in progress.
    running: Vec<Client>,
    /// Requests that wait, the oldest first.
    waiting: VecDeque<Waiting>,
    /// Times at which exchanges of sites failed, if they were the last ones.
    failures: TwoGenerations<IpAddr, Instant>,
    random: Random,
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    NotBegun,
    Failed,
    Succeeded,
}

/// A request in progress. The next one begins when it is dropped. Unless it succeeded before, it has failed.
pub(super) struct Turn {
    turns: Turns,
    client: Client,
    outcome: Outcome,
}

impl Turn {
    /// Ends the turn of a request whose exchange succeeded.
    pub(super) fn succeed(mut self) {
        self.outcome = Outcome::Succeeded;
    }

    fn begun(mut self) -> Self {
        self.outcome = Outcome::Failed;
        self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = {
            let mut state = self.turns.state();
            state.end(self.client, self.outcome);
            state.next()
        };
        if let Some(Waiting { client, begin }) = next {
            // If the request does not wait any more, its turn is dropped at once, which passes it on.
            let _ = begin.send(Turn { turns: self.turns.clone(), client, outcome: Outcome::NotBegun });
        }
    }
}

impl State {
    fn running_of(&self, is_counted: impl Fn(&Client) -> bool) -> usize {
        self.running.iter().filter(|one| is_counted(one)).count()
    }

    fn waiting_of(&self, is_counted: impl Fn(&Client) -> bool) -> usize {
        self.waiting.iter().filter(|one| is_counted(&one.client)).count()
    }

    fn end(&mut self, client: Client, outcome: Outcome) {
        if let Some(index) = self.running.iter().position(|one| *one == client) {
            self.running.swap_remove(index);
        }
        match outcome {
            Outcome::NotBegun => {}
            Outcome::Failed => self.failures.keep(client.site, Instant::now()),
            Outcome::Succeeded => self.failures.forget(&client.site),
        }
    }

    /// Returns whether a client waits behind those without a failure.
    fn is_behind(&mut self, client: Client) -> bool {
        self.failures.value(&client.site).is_some_and(|at| at.elapsed() < FAILURE_LASTS)
    }

    /// Returns which of the waiting requests are of clients that wait behind others.
    fn behind(&mut self) -> Vec<bool> {
        let clients: Vec<Client> = self.waiting.iter().map(|one| one.client).collect();
        clients.into_iter().map(|client| self.is_behind(client)).collect()
    }

    /// Removes the request whose turn is next, and counts it as in progress.
    fn next(&mut self) -> Option<Waiting> {
        self.waiting.retain(|one| !one.begin.is_closed());
        let behind = self.behind();
        let rank = |(_, (one, is_behind)): &(usize, (&Waiting, bool))| {
            let of_site = self.running_of(|other| other.site == one.client.site);
            (*is_behind, of_site, self.running_of(|other| *other == one.client))
        };
        let (index, _) = self.waiting.iter().zip(behind).enumerate().min_by_key(rank)?;
        let next = self.waiting.remove(index)?;
        // The other requests of the site, and last those of the client, wait behind those of all others.
        let last = next.client;
        let is_same = |one: &Waiting| (one.client.site == last.site, one.client == last);
        self.waiting.make_contiguous().sort_by_key(is_same);
        self.running.push(last);
        Some(next)
    }

    /// Returns whether a request of a client may wait. If the queue is full, another request is removed from it, and refused.
    fn admits(&mut self, client: Client) -> bool {
        self.waiting.retain(|one| !one.begin.is_closed());
        let of_client = self.waiting_of(|one| *one == client);
        let of_site = self.waiting_of(|one| one.site == client.site);
        if of_client >= WAITING_OF_CLIENT {
            return false;
        }
        let replaced = if of_site >= WAITING_OF_SITE {
            self.replaced_in(client.site, of_client)
        } else if self.waiting.len() < WAITING {
            return true;
        } else {
            self.replaced_by(client, of_site)
        };
        replaced.and_then(|index| self.waiting.remove(index)).is_some()
    }

    /// Returns the request of any site in whose place one of a client waits.
    fn replaced_by(&mut self, client: Client, of_site: usize) -> Option<usize> {
        let behind = self.behind();
        let (is_own_behind, is_any_behind) = (self.is_behind(client), behind.contains(&true));
        if is_own_behind && !is_any_behind {
            return None;
        }
        let own = if is_own_behind == is_any_behind { of_site } else { 0 };
        let rows = self.waiting.iter().zip(behind).enumerate();
        let rows = rows.filter(|(_, (_, is_behind))| *is_behind == is_any_behind);
        let rows: Vec<_> = rows.map(|(index, (one, _))| (index, one.client.site)).collect();
        let index = pick(&rows, own, &mut self.random)?;
        let site = self.waiting.get(index)?.client.site;
        let is_only = self.waiting_of(|one| one.site == site) == 1;
        if is_only { Some(index) } else { self.replaced_in(site, 0) }
    }

    /// Returns the request of a site in whose place one of a client waits that has `own` others.
    fn replaced_in(&mut self, site: IpAddr, own: usize) -> Option<usize> {
        let rows = self.waiting.iter().enumerate().filter(|(_, one)| one.client.site == site);
        let rows: Vec<_> = rows.map(|(index, one)| (index, one.client.network)).collect();
        pick(&rows, own, &mut self.random)
    }
}

/// Selects a request, given by its index and the group that it counts for, in whose place one of a group waits that has
/// `own` others: the newest of the largest group or, if none has more than one, a random one. A group never has more than
/// before in place of a group that then has fewer.
fn pick(rows: &[(usize, IpAddr)], own: usize, random: &mut Random) -> Option<usize> {
    let count = |group: IpAddr| rows.iter().filter(|(_, one)| *one == group).count();
    let most = rows.iter().map(|(_, group)| count(*group)).max()?;
    if most > own.saturating_add(1) {
        return rows.iter().rfind(|(_, group)| count(*group) == most).map(|(index, _)| *index);
    }
    let place = (own == 0).then(|| random(rows.len()))?;
    rows.get(place).map(|(index, _)| *index)
}

impl Default for Turns {
    fn default() -> Self {
        Self::new(Box::new(|count| {
            let number = usize::try_from(getrandom::u64().unwrap_or_default() >> 1).unwrap_or_default();
            number.checked_rem(count).unwrap_or_default()
        }))
    }
}

impl Turns {
    fn new(random: Random) -> Self {
        let (running, waiting, failures) = (Vec::new(), VecDeque::new(), TwoGenerations::new(FAILURES));
        Self(Arc::new(Mutex::new(State { running, waiting, failures, random })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn of a request from this network.
    ///
    /// # Errors
    /// If too many requests wait, or the turn does not come in time.
    pub(super) async fn wait(&self, network: IpAddr) -> Result<Turn, ApiError> {
        let client = Client::of(network);
        let turn = {
            let mut state = self.state();
            if state.running.len() < CONCURRENT {
                state.running.push(client);
                return Ok(Turn { turns: self.clone(), client, outcome: Outcome::Failed });
            }
            if !state.admits(client) {
                return Err(crowded());
            }
            let (begin, turn) = oneshot::channel();
            state.waiting.push_back(Waiting { client, begin });
            turn
        };
        let turn = tokio::time::timeout(DEADLINE, turn).await;
        turn.ok().and_then(Result::ok).map(Turn::begun).ok_or_else(crowded)
    }
}

fn crowded() -> ApiError {
    let message = "too many requests to OAuth 2.0 providers are waiting; try again later";
    ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::source::network;

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
            assert!(turns.state().running.len() <= CONCURRENT);
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
        assert_eq!(turns.state().running.len(), 0);
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
        taken.into_iter().for_each(Turn::succeed);
        let mut before = 0;
        let other = loop {
            if let Some(begun) = turn(&mut other) {
                break begun;
            }
            // The turns that were given end.
            waiting.retain_mut(|one| {
                turn(one).is_none_or(|begun| {
                    begun.succeed();
                    before += 1;
                    false
                })
            });
        };
        assert!(before <= WAITING / WAITING_OF_CLIENT, "{before}");
        drop(other);
    }

    /// Returns turns that are all taken by one client, and the numbers that its random source returns.
    async fn taken_with(random: &'static [usize]) -> (Turns, Vec<Turn>) {
        let mut random = random.iter().copied();
        let turns = Turns::new(Box::new(move |count| {
            let number = random.next().unwrap();
            assert!(number < count);
            number
        }));
        let mut taken = Vec::new();
        for _ in 0..CONCURRENT {
            taken.push(turns.wait(client(250)).await.ok().unwrap());
        }
        (turns, taken)
    }

    /// Begins to wait, from this address.
    fn wait_from(turns: &Turns, address: &str) -> Waiting {
        let (turns, address) = (turns.clone(), network(address.parse().unwrap()));
        let mut waiting: Waiting = Box::pin(async move { turns.wait(address).await });
        assert!(poll(&mut waiting).is_pending());
        waiting
    }

    fn is_refused(waiting: &mut Waiting) -> bool {
        matches!(poll(waiting), Poll::Ready(Err(_)))
    }

    /// Lets the exchange of a client fail or succeed, while turns are free.
    async fn exchange(turns: &Turns, number: u8, succeeds: bool) {
        let turn = turns.wait(client(number)).await.ok().unwrap();
        if succeeds { turn.succeed() } else { drop(turn) }
    }

    #[tokio::test]
    async fn a_new_client_takes_a_random_place_in_a_queue_of_equals() {
        let (turns, _taken) = taken_with(&[5, 63, 0]).await;
        let mut waiting: Vec<_> = (0..64).map(|number| wait(&turns, number)).collect();
        let mut new: Vec<_> = (100..103).map(|number| wait(&turns, number)).collect();
        let refused: Vec<_> = (0..64).filter(|index| is_refused(&mut waiting[*index])).collect();
        // The last place is then that of the first new client.
        assert_eq!(refused, [0, 5]);
        assert_eq!(new.iter_mut().map(is_refused).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(turns.state().waiting.len(), WAITING);
        // A client that waits already takes no place.
        assert!(turns.wait(client(102)).await.is_err());
    }

    #[tokio::test]
    async fn the_networks_of_an_ipv6_site_share_its_turns() {
        let (turns, mut taken) = taken_by(1).await;
        let of_site = |number: usize| format!("2001:db8:0:{number:x}::1");
        let mut same: Vec<_> =
            (0..WAITING_OF_SITE).map(|number| wait_from(&turns, &of_site(number))).collect();
        let mut other = wait_from(&turns, "2001:db8:1::1");
        taken.pop();
        let first = turn(&mut same[0]).unwrap();
        taken.pop();
        let second = turn(&mut other).unwrap();
        assert!(same[1..].iter_mut().all(|one| turn(one).is_none()), "another site is next");
        drop((first, second));
        let begun: Vec<_> = same[1..].iter_mut().filter_map(turn).collect();
        assert_eq!(begun.len(), 2);
    }

    #[tokio::test]
    async fn a_site_has_a_share_of_the_queue() {
        let (turns, _taken) = taken_with(&[3, 0]).await;
        let of_site = |number: usize| format!("2001:db8:0:{number:x}::1");
        let mut same: Vec<_> =
            (0..WAITING_OF_SITE).map(|number| wait_from(&turns, &of_site(number))).collect();
        let _next = wait_from(&turns, &of_site(100));
        let refused: Vec<_> = (0..same.len()).filter(|index| is_refused(&mut same[*index])).collect();
        assert_eq!(refused, [3], "a new network takes a random place of its site");
        assert!(turns.wait(network("2001:db8:0:64::1".parse().unwrap())).await.is_err());
        let _others: Vec<_> = (0..48).map(|number| wait(&turns, number)).collect();
        let _other = wait(&turns, 200);
        assert_eq!(turns.state().waiting_of(|one| one.site.is_ipv6()), WAITING_OF_SITE - 1);
    }

    #[tokio::test(start_paused = true)]
    async fn clients_whose_last_exchange_failed_wait_behind_others() {
        let (turns, mut taken) = taken_by(1).await;
        taken.pop();
        for (number, succeeds) in [(2, false), (3, false), (3, true)] {
            exchange(&turns, number, succeeds).await;
        }
        taken.push(turns.wait(client(1)).await.ok().unwrap());
        let mut waiting: Vec<_> = [2, 3, 4].into_iter().map(|number| wait(&turns, number)).collect();
        let mut order = Vec::new();
        for _ in 0..3 {
            taken.pop();
            for (index, one) in waiting.iter_mut().enumerate() {
                if !order.contains(&index)
                    && let Some(begun) = turn(one)
                {
                    order.push(index);
                    taken.insert(0, begun);
                }
            }
        }
        assert_eq!(order, [1, 2, 0]);
        tokio::time::advance(FAILURE_LASTS).await;
        assert!(!turns.state().is_behind(Client::of(client(2))), "it is forgotten");
    }

    #[tokio::test]
    async fn clients_without_a_failure_take_the_places_of_others() {
        let turns = Turns::new(Box::new(|_| 0));
        for number in 0..64 {
            exchange(&turns, number, false).await;
        }
        let mut taken = Vec::new();
        for _ in 0..CONCURRENT {
            taken.push(turns.wait(client(250)).await.ok().unwrap());
        }
        let mut failed: Vec<_> = (0..64).map(|number| wait(&turns, number)).collect();
        let mut honest: Vec<_> = (100..164).map(|number| wait(&turns, number)).collect();
        assert!(failed.iter_mut().all(is_refused));
        assert!(!honest.iter_mut().any(is_refused));
        assert!(turns.wait(client(0)).await.is_err(), "it has failed, and no other has");
        // A request that is replaced has not failed.
        let _next = wait(&turns, 200);
        assert!(is_refused(&mut honest[0]));
        assert!(!turns.state().is_behind(Client::of(client(100))));
    }

    #[tokio::test]
    async fn the_known_failures_are_bounded() {
        let turns = Turns::default();
        for number in 0..100_000_u32 {
            drop(turns.wait(IpAddr::V4(number.into())).await.ok().unwrap());
        }
        let mut known = 0;
        for number in 0..100_000_u32 {
            known += usize::from(turns.state().is_behind(Client::of(IpAddr::V4(number.into()))));
        }
        assert!((FAILURES / 2..=FAILURES).contains(&known), "{known}");
    }
}
