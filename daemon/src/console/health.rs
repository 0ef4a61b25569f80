//! The figures of the daemon for the console.

use quorate_common::console::{DaemonStatus, Health, QueueFigures, RequestFigures};
use quorate_common::wire::Timestamp;
use quorate_core::error::RequestError;
use quorate_core::model::queued_message::Channel;
use quorate_core::outbox::{self, Backlog};
use quorate_core::world::World as _;

use super::DaemonInfo;
use crate::auth_proxy;
use crate::clock;
use crate::executor::Shared;
use crate::vitals;

/// Maximum number of waiting webhook deliveries that are counted.
const COUNTED: usize = 1000;

/// Returns the figures of the daemon. Their cost does not depend on the size of the store.
pub(super) fn health(
    info: &DaemonInfo,
    status: DaemonStatus,
    world: &Shared,
) -> Result<Health, RequestError> {
    let backlog = outbox::backlog(world.records(), COUNTED)?;
    let proxy = info.auth_proxy.as_ref();
    let problems = proxy.map(|proxy| auth_proxy::problems(world, proxy)).transpose()?.unwrap_or_default();
    Ok(of_parts(info, status, world, backlog, problems))
}

/// Returns the figures of a daemon whose store cannot be read, without those that are counted in the store.
pub(super) fn without_store(info: &DaemonInfo, status: DaemonStatus, world: &Shared) -> Health {
    of_parts(info, status, world, Backlog::default(), Vec::new())
}

fn of_parts(
    info: &DaemonInfo,
    status: DaemonStatus,
    world: &Shared,
    backlog: Backlog,
    problems: Vec<String>,
) -> Health {
    let figures = info.metrics.figures();
    let at = |millis: Option<u64>| millis.map(Timestamp::from_millis);
    let messages = |channel| {
        let backlog = world.messages(channel).turns().backlog();
        QueueFigures {
            waiting: number(backlog.waiting),
            next_at: at(backlog.next),
            delayed: Some(number(backlog.delayed)),
            unavailable_since: at(backlog.unavailable),
            ..QueueFigures::default()
        }
    };
    let disk = info.place.disk();
    Health {
        status,
        boot_id: vitals::boot_id(),
        clock_behind_millis: clock::behind(),
        requests: RequestFigures {
            by_class: figures.labelled("quorate_requests_total", "class"),
            latency: figures.histogram("quorate_request_seconds"),
        },
        connections: figures.number("quorate_connections"),
        connections_refused: figures.number("quorate_connections_refused_total"),
        stamps_refused: figures.number("quorate_stamps_refused_total"),
        passkey_counters_went_back: figures.number("quorate_passkey_counters_went_back_total"),
        limits_reached: figures.labelled("quorate_limits_reached_total", "limit"),
        commits: figures.number("quorate_commits_total"),
        clashes: figures.number("quorate_clashes_total"),
        syncs: figures.number("quorate_syncs_total"),
        deliveries: figures.labelled("quorate_webhook_deliveries_total", "outcome"),
        webhooks: QueueFigures {
            waiting: number(backlog.deliveries),
            is_more: backlog.is_more,
            oldest_at: at(backlog.oldest),
            next_at: at(backlog.next_due),
            ..QueueFigures::default()
        },
        mail: messages(Channel::Mail),
        sms: messages(Channel::Sms),
        store_bytes: info.place.used(),
        disk_free_bytes: disk.map(|(free, _)| free),
        disk_bytes: disk.map(|(_, size)| size),
        reserve_bytes: info.place.reserve,
        memory_bytes: vitals::memory(),
        host_memory_bytes: vitals::host_memory(),
        warnings: info.warnings.iter().cloned().chain(problems).collect(),
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
