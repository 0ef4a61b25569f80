//! Delayed messages that new ones displace, so that nobody exceeds a share, in messages or in bytes.

use std::collections::BTreeMap;

use quorate_core::limits::DISPLACED_FACTOR;
use quorate_core::model::queued_message::{MessageUsage, QueueUsage};

use super::*;

const TENANT: u8 = 1;
const GROUPS: [Option<SenderGroup>; 3] = [None, Some(SenderGroup::Children), Some(SenderGroup::Proxy)];

/// Returns a message of a group to a receiver: of the tenant, or of one of its sub-organizations.
fn of_group(number: u32, group: Option<SenderGroup>, organization: u8, receiver: u8) -> QueuedMessage {
    QueuedMessage { group, ..message(number, TENANT, organization, receiver) }
}

fn share(messages: usize, bytes: usize) -> MessageUsage {
    MessageUsage { messages, bytes }
}

/// Adds messages whose receivers delayed them.
fn add_delayed(turns: &mut Turns, messages: impl IntoIterator<Item = QueuedMessage>) {
    messages.into_iter().for_each(|message| turns.add(QueuedMessage { is_delayed: true, ..message }));
}

fn numbers(taken: &[MessageId]) -> Vec<u32> {
    taken.iter().map(|id| id.number).collect()
}

#[test]
fn the_oldest_messages_of_the_receiver_with_the_most_are_displaced() {
    let mut turns = Turns::default();
    let proxy = Some(SenderGroup::Proxy);
    // Receiver 1 has one message, receiver 2 has three.
    add_delayed(
        &mut turns,
        [(0, 1), (1, 2), (2, 2), (3, 2)].map(|(number, to)| of_group(number, proxy, TENANT, to)),
    );
    assert_eq!(turns.take_displaced(share(16, 1000), 10), [], "the share of the group is not exceeded");
    for number in 4..7 {
        turns.add(of_group(number, proxy, TENANT, 3));
    }
    assert_eq!(numbers(&turns.take_displaced(share(16, 1000), 10)), [1, 2, 0]);
    for number in 7..8 {
        turns.add(of_group(number, proxy, TENANT, 3));
    }
    assert_eq!(numbers(&turns.take_displaced(share(16, 1000), 10)), [3]);
    // Others are not displaced, though nothing delayed is left.
    turns.add(of_group(8, proxy, TENANT, 3));
    assert_eq!(turns.take_displaced(share(16, 1000), 10), []);
    let [tenant, _, group] = turns.usage(&of_group(0, proxy, TENANT, 1).source());
    assert_eq!((group.all.messages, group.kept().messages, group.counted().messages), (9, 5, 5));
    assert_eq!(tenant, group);
    // A displaced message is neither sent nor displaced again, and is gone once that is recorded.
    turns.tick(0);
    assert!(select_all(&mut turns).iter().all(|message| message.id.number >= 4));
    for number in 0..4 {
        turns.forget(message(number, 1, 1, 1).id);
    }
    let [_, _, group] = turns.usage(&of_group(0, proxy, TENANT, 1).source());
    assert_eq!(
        (group.all.messages, group.displaced, group.delayed.messages),
        (5, MessageUsage::default(), 0)
    );
}

#[test]
fn messages_of_other_senders_stay() {
    let mut turns = Turns::default();
    let children = Some(SenderGroup::Children);
    add_delayed(&mut turns, [of_group(0, Some(SenderGroup::Proxy), TENANT, 1), of_group(1, None, TENANT, 1)]);
    add_delayed(&mut turns, (2..5).map(|number| of_group(number, children, 2, 1)));
    add_delayed(&mut turns, (5..8).map(|number| of_group(number, children, 3, 1)));
    // Each sub-organization may have four, and both together eight.
    for number in 8..10 {
        turns.add(of_group(number, children, 2, 9));
    }
    assert_eq!(numbers(&turns.take_displaced(share(16, 10_000), 10)), [2], "of the same organization");
    for number in 10..12 {
        turns.add(of_group(number, children, 4, 9));
    }
    assert_eq!(numbers(&turns.take_displaced(share(16, 10_000), 10)), [3], "of the same group");
    // The tenant itself may use its whole share: what anybody had sent gives way to it, and its own last.
    for number in 12..22 {
        turns.add(of_group(number, None, TENANT, 9));
    }
    let displaced = numbers(&turns.take_displaced(share(16, 10_000), 10));
    assert_eq!(displaced, [4, 5, 6, 0], "those of others first");
    for number in 22..24 {
        turns.add(of_group(number, Some(SenderGroup::Proxy), TENANT, 9));
    }
    assert_eq!(numbers(&turns.take_displaced(share(16, 10_000), 10)), [7, 1], "its own if there is no other");
}

#[test]
fn a_message_that_is_being_sent_is_not_displaced() {
    let proxy = Some(SenderGroup::Proxy);
    let mut turns = Turns::default();
    add_delayed(&mut turns, (0..2).map(|number| of_group(number, proxy, TENANT, 1)));
    turns.tick(0);
    let running = turns.select().unwrap();
    for number in 2..4 {
        turns.add(of_group(number, proxy, TENANT, 2));
    }
    assert_eq!(numbers(&turns.take_displaced(share(8, 1000), 10)), [1]);
    let [_, _, group] = turns.usage(&running.source());
    assert_eq!((group.counted().messages, group.delayed.messages, group.kept().messages), (2, 1, 3));
    turns.end(running.id, Some(true));
    turns.postpone(running.id, 10, true);
    assert_eq!(numbers(&turns.take_displaced(share(8, 1000), 10)), [0], "once it waits again");
}

/// A queue with the rules of admission, and the messages that it should contain.
struct Model {
    turns: Turns,
    share: MessageUsage,
    known: BTreeMap<u32, QueuedMessage>,
    displaced: Vec<MessageId>,
    sent: Vec<QueuedMessage>,
    random: u64,
    number: u32,
}

impl Model {
    fn new(seed: u64, share: MessageUsage) -> Self {
        Self {
            turns: Turns::default(),
            share,
            known: BTreeMap::new(),
            displaced: Vec::new(),
            sent: Vec::new(),
            random: seed,
            number: 0,
        }
    }

    fn random(&mut self, below: u64) -> u64 {
        // Knuth's MMIX generator.
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % below
    }

    /// Adds a message if it is admitted, as requests do.
    fn add(&mut self, message: QueuedMessage) -> bool {
        let mut more = MessageUsage::default();
        more.add(message.size);
        let is_over = |all: MessageUsage, most: MessageUsage, factor: usize| {
            all.messages > factor * most.messages || all.bytes > factor * most.bytes
        };
        let usage = self.turns.usage(&message.source());
        let admitted = usage.iter().zip(message.source().shares(self.share)).all(|(usage, most)| {
            !is_over(usage.counted().with(more), most, 1)
                && !is_over(usage.all.with(more), most, DISPLACED_FACTOR)
        });
        if admitted {
            self.known.insert(message.id.number, message);
            self.turns.add(message);
        }
        admitted
    }

    fn next(&mut self) -> QueuedMessage {
        self.number += 1;
        let group = *GROUPS.get(usize::try_from(self.random(3)).unwrap()).unwrap();
        let child = u8::try_from(2 + self.random(4)).unwrap();
        let organization = if group == Some(SenderGroup::Children) { child } else { TENANT };
        let to = u8::try_from(self.random(9)).unwrap();
        let size = u32::try_from(1 + self.random(60)).unwrap();
        QueuedMessage { size, ..of_group(self.number, group, organization, to) }
    }

    /// Ends what is being sent: most receivers delay.
    fn end(&mut self) {
        for message in std::mem::take(&mut self.sent) {
            self.turns.end(message.id, Some(true));
            if self.random(8) == 0 {
                self.known.remove(&message.id.number);
                self.turns.forget(message.id);
            } else {
                let is_delayed = self.random(4) > 0;
                self.turns.postpone(message.id, 0, is_delayed);
            }
        }
    }

    /// Counts all messages again, and checks that no share is exceeded.
    fn check(&self) {
        for organization in 1..6 {
            for group in GROUPS {
                let source = of_group(0, group, organization, 1).source();
                let of = |is_counted: &dyn Fn(&QueuedMessage) -> bool| {
                    let sum = |is_of: &dyn Fn(&QueuedMessage) -> bool| {
                        let mut sum = MessageUsage::default();
                        let counted = self.known.values().filter(|one| is_of(one) && is_counted(one));
                        counted.for_each(|one| sum.add(one.size));
                        sum
                    };
                    [
                        sum(&|_| true),
                        sum(&|one| one.organization == source.organization),
                        sum(&|one| one.group == group),
                    ]
                };
                let all = of(&|_| true);
                let is_delayed = |id: MessageId| self.sent.iter().any(|one| one.id == id && one.is_delayed);
                let sending = of(&|one| is_delayed(one.id));
                let usage = self.turns.usage(&source);
                assert_eq!(usage.map(|usage| usage.all), all);
                let scopes = usage.iter().zip(source.shares(self.share)).zip(sending);
                for ((usage, most), sending) in scopes {
                    let QueueUsage { all, .. } = usage;
                    assert!(all.messages <= DISPLACED_FACTOR * most.messages, "{source:?} {usage:?}");
                    assert!(all.bytes <= DISPLACED_FACTOR * most.bytes, "{source:?} {usage:?}");
                    let counted = usage.counted();
                    assert!(counted.messages <= most.messages && counted.bytes <= most.bytes, "{usage:?}");
                    if self.turns.grown.is_empty() {
                        // A delayed message cannot be displaced while it is being sent again.
                        let kept = usage.kept().without(sending);
                        assert!(kept.messages <= most.messages && kept.bytes <= most.bytes, "{usage:?}");
                    }
                }
            }
        }
    }

    fn step(&mut self) {
        if self.random(2) == 0 {
            let next = self.next();
            self.add(next);
        } else {
            self.step_without_new();
        }
    }

    fn step_without_new(&mut self) {
        match self.random(5) {
            0..2 => {
                self.turns.tick(0);
                while let Some(message) = self.turns.select() {
                    self.sent.push(message);
                }
            }
            2 => self.end(),
            3 => {
                let taken = self.turns.take_displaced(self.share, 3);
                self.displaced.extend(taken);
            }
            _ => {
                for id in std::mem::take(&mut self.displaced) {
                    self.known.remove(&id.number);
                    self.turns.forget(id);
                }
            }
        }
    }
}

#[test]
fn no_share_is_exceeded_whatever_happens() {
    // The messages limit, then the bytes do.
    for (seed, share) in [(1, share(40, 100_000)), (2, share(100_000, 1200)), (3, share(40, 1200))] {
        let mut model = Model::new(seed, share);
        let mut displaced = 0;
        for _ in 0..20_000 {
            model.step();
            displaced = displaced.max(model.displaced.len());
            model.check();
        }
        assert!(displaced > 0, "messages are displaced");
    }
}

#[test]
fn a_quarter_is_always_left_to_the_tenant_itself() {
    for (seed, share) in [(1, share(40, 100_000)), (2, share(100_000, 4000)), (3, share(40, 4000))] {
        let mut model = Model::new(seed, share);
        for _ in 0..20_000 {
            let next = model.next();
            if next.group.is_some() {
                model.add(next);
            }
            if model.random(4) == 0 {
                model.step_without_new();
            }
        }
        let quarter = share.part(4);
        let (mut own, mut bytes) = (0, 0);
        while own < quarter.messages && bytes + 40 <= quarter.bytes {
            let next = QueuedMessage {
                size: 40,
                ..of_group(u32::try_from(1_000_000 + own).unwrap(), None, TENANT, 1)
            };
            assert!(model.add(next), "{seed}: {own}");
            (own, bytes) = (own + 1, bytes + 40);
        }
        assert!(own >= 10, "{own}");
    }
}

#[test]
fn the_largest_queue_is_displaced_message_by_message() {
    const MOST: u32 = 10_000;
    let mut turns = Turns::default();
    for number in 0..MOST {
        let mut delayed = QueuedMessage { is_delayed: true, ..of_group(number, None, TENANT, 0) };
        delayed.receiver[..4].copy_from_slice(&(number % 5000).to_be_bytes());
        turns.add(delayed);
    }
    let share = share(usize::try_from(MOST).unwrap(), usize::MAX);
    for number in 0..MOST {
        turns.add(of_group(MOST + number, None, TENANT, 1));
        assert_eq!(turns.take_displaced(share, 64).len(), 1);
    }
    let [tenant, ..] = turns.usage(&of_group(0, None, TENANT, 1).source());
    assert_eq!((tenant.kept().messages, tenant.delayed.messages), (share.messages, 0));
}
