//! Answers that change nothing: to queries and to consoles. Each has a budget, ends when its client goes away, and is
//! given only when what it relied on is confirmed.

use std::sync::Arc;

use bytes::Bytes;
use quorate_common::fault::{Code, Fault};
use quorate_common::ids::OrganizationId;
use quorate_core::authn::Credentials;
use quorate_core::budget::{Budget, CancelOnDrop, Cancellation};
use quorate_core::model::layout;
use quorate_core::pipeline::Turn;
use quorate_core::queries::{self, Admitted, Cost};
use quorate_core::refusal::{Corrupt, Refusal};
use quorate_core::world::World;

use super::relied::{Relied, Relying};
use super::{ATTEMPTS, Turns, log, unavailable};
use crate::clock::now;
use crate::readers::{Account, NotRun};

impl Turns {
    /// Answers a query. The work ends at its next read when the future is dropped.
    pub async fn query(
        &self,
        name: &'static str,
        credentials: &Credentials,
        body: &Bytes,
    ) -> Result<Vec<u8>, Fault> {
        let cancellation = Cancellation::default();
        let _cancel = CancelOnDrop(cancellation.clone());
        for _ in 0..ATTEMPTS {
            let (turn, relied) = self.attempt(name, credentials, body, &cancellation).await;
            if self.stands(&relied, turn.corrupt.as_ref())? {
                return self.told(turn.answer);
            }
        }
        Err(unavailable())
    }

    /// Answers a query, not yet confirmed: in place what costs little, and all else on a thread of its own.
    async fn attempt(
        &self,
        name: &'static str,
        credentials: &Credentials,
        body: &Bytes,
        cancellation: &Cancellation,
    ) -> (Turn, Relied) {
        let (admitted, relied) = self.admit(name, credentials, body, cancellation).await;
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(refusal) => return (Turn::refuse(&refusal), relied),
        };
        let account = Account { tenant: admitted.tenant(), organization: admitted.organization() };
        let cost = admitted.cost();
        let shared = Arc::clone(&self.shared);
        let budget = Budget::of_query(&shared.limits, cancellation.clone());
        let answer = move || {
            let world = Relying::on(&shared, budget);
            let turn = admitted.answer(&world);
            (turn, [relied, world.relied()].concat())
        };
        match cost {
            Cost::Small => answer(),
            Cost::Large => self.shared.readers.run(account, answer).await.unwrap_or_else(not_run),
        }
    }

    /// Finds out who sent a query, and on which organizations that relies.
    async fn admit(
        &self,
        name: &'static str,
        credentials: &Credentials,
        body: &Bytes,
        cancellation: &Cancellation,
    ) -> (Result<Admitted, Refusal>, Relied) {
        let mut loaded = Vec::new();
        loop {
            let missing = {
                let budget = Budget::of_query(&self.shared.limits, cancellation.clone());
                let world = Relying::on_cached(&self.shared, budget, &loaded);
                let admitted = queries::admit(&world, now(), name, credentials, body);
                match world.missing() {
                    None => return (admitted, world.relied()),
                    Some(missing) => missing,
                }
            };
            self.load(missing).await;
            loaded.push(missing);
        }
    }

    /// Reads a snapshot on another thread, so that requests for many that are not cached delay nobody else.
    pub(super) async fn load(&self, id: OrganizationId) {
        let shared = Arc::clone(&self.shared);
        // What goes wrong is met again when the snapshot is asked for.
        let load = move || drop(shared.organization(id));
        let account = Account { tenant: id, organization: id };
        // Whoever finds it crowded reads it by itself.
        let _ = self.shared.loaders.run(account, load).await;
    }

    /// Computes an answer that carries no commit. It is returned when all that it relied on is durable and still was so
    /// after it was computed; otherwise it is computed again. Each attempt has the budget of a query.
    pub fn read<T>(
        &self,
        cancellation: &Cancellation,
        answer: impl Fn(&dyn World) -> Result<T, Refusal>,
    ) -> Result<T, Fault> {
        for _ in 0..ATTEMPTS {
            let budget = Budget::of_query(&self.shared.limits, cancellation.clone());
            let world = Relying::on(&self.shared, budget);
            let answer = answer(&world);
            let corrupt = match &answer {
                Err(Refusal::Corrupt(corrupt)) => Some(corrupt),
                _ => None,
            };
            if self.stands(&world.relied(), corrupt)? {
                return answer.map_err(|refusal| refusal.fault());
            }
        }
        Err(unavailable())
    }

    /// A credential that was refused because it had expired stays refused: the time is kept before anybody is told.
    pub(super) fn told<T>(&self, answer: Result<T, Fault>) -> Result<T, Fault> {
        if answer.as_ref().is_err_and(|fault| fault.has_expired) {
            self.shared.keep_time();
        }
        answer
    }

    /// Whether an answer is given: it is computed again if what it relied on has changed. A fault of the daemon that it met
    /// is logged then, and an organization whose records were altered is served no longer.
    pub(super) fn stands(
        &self,
        relied: &[(OrganizationId, u64)],
        corrupt: Option<&Corrupt>,
    ) -> Result<bool, Fault> {
        if let Some(Corrupt::Outdated(id, version)) = corrupt {
            self.shared.snapshots.evict_outdated(*id, *version);
            return Ok(false);
        }
        if !self.confirm(relied)? {
            return Ok(false);
        }
        log(corrupt);
        if let Some(Corrupt::Altered(id)) = corrupt {
            self.shared.snapshots.stop(*id);
        }
        Ok(true)
    }

    /// Whether the organizations that an answer relied on still have the versions that it saw. Those that have not are
    /// read from the store the next time.
    fn confirm(&self, relied: &[(OrganizationId, u64)]) -> Result<bool, Fault> {
        let registers: Vec<_> = relied.iter().map(|(id, version)| (layout::version(*id), *version)).collect();
        let current = self.shared.barrier.store().confirm(&registers);
        let current = current.map_err(|error| {
            let corrupt = Corrupt::from(&error);
            log(Some(&corrupt));
            Refusal::from(corrupt).fault()
        })?;
        if !current {
            for (id, _) in relied {
                self.shared.snapshots.evict(*id);
            }
        }
        Ok(current)
    }
}

/// The answer where there is none.
fn not_run(why: NotRun) -> (Turn, Relied) {
    let turn = match why {
        NotRun::Panicked => Turn::refuse(&Corrupt::Invariant("reading for a request panicked").into()),
        NotRun::Crowded => {
            let message = "too many queries of this organization wait (limits.readers_per_organization)";
            let fault = Fault::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED");
            Turn { answer: Err(fault), commit: None, corrupt: None }
        }
    };
    (turn, Relied::new())
}
