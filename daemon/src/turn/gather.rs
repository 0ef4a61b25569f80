//! Gathering: how many waiting commits become durable with one sync.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// Largest group.
const GROUP: usize = 256;
/// How long a group waits for requests that are being decided, so that one sync serves many.
const PATIENCE: Duration = Duration::from_millis(1);
/// How long a group waits when the one before was large: more will come, and each sync costs what many
/// requests cost.
const BUSY_PATIENCE: Duration = Duration::from_millis(2);
/// A group of this size is large.
const BUSY: usize = 8;

/// Takes all that waits, and for a moment what is about to come: as long as requests are being decided, or as
/// fewer came than the time `before`, if those were many. A request that comes alone does not wait.
pub fn gather<T>(first: T, waiting: &Receiver<T>, deciding: &AtomicUsize, before: usize) -> Vec<T> {
    let mut group = vec![first];
    let busy = before >= BUSY;
    let until = Instant::now() + if busy { BUSY_PATIENCE } else { PATIENCE };
    while group.len() < GROUP {
        // Clients that were answered together come back together.
        let expected = busy && group.len() < before;
        let next = match waiting.try_recv() {
            Ok(next) => Some(next),
            Err(_) if !expected && deciding.load(Ordering::Relaxed) == 0 => None,
            Err(_) => waiting.recv_timeout(until.saturating_duration_since(Instant::now())).ok(),
        };
        match next {
            Some(next) => group.push(next),
            None => break,
        }
    }
    group
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn takes_what_waits_up_to_the_limit_and_in_order() {
        let (queue, waiting) = channel();
        for number in 1..=GROUP {
            queue.send(number).unwrap();
        }
        let idle = AtomicUsize::new(0);
        let group = gather(0, &waiting, &idle, 1);
        assert_eq!(group, (0..GROUP).collect::<Vec<_>>());
        assert_eq!(gather(7, &waiting, &idle, 1), [7, GROUP]);
        assert_eq!(gather(8, &waiting, &idle, 1), [8]);
    }

    #[test]
    fn ends_when_nobody_comes_whatever_is_expected() {
        let (queue, waiting) = channel::<usize>();
        for (deciding, before) in [(1, 0), (0, GROUP), (3, GROUP)] {
            assert_eq!(gather(1, &waiting, &AtomicUsize::new(deciding), before), [1]);
        }
        drop(queue);
        assert_eq!(gather(1, &waiting, &AtomicUsize::new(1), GROUP), [1]);
    }
}
