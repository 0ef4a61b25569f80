//! The activities of an organization for people: filtered and ordered, without the activities of votes. One page compares
//! a bounded number of activities with the filter.

use std::collections::BTreeSet;

use quorate_common::activity::Status;
use quorate_common::console::{HistoryOrder, HistoryPage, PAGE_LIMIT};
use quorate_common::ids::{ActivityId, OrganizationId, UserId};
use quorate_common::wire::Timestamp;

use super::activities::{PAGE_BYTES, pending, row};
use super::load_organization;
use crate::error::{Intent, RequestError};
use crate::kinds;
use crate::listing::{self, ActivityFilter};
use crate::model::{ActivityRecord, Millis, Organization, layout};
use crate::records;
use crate::world::{Order, World};

/// Maximum number of activities that one page compares with the filter.
const EXAMINED: usize = 500;
/// Maximum number and total length of the words of a filter.
const WORDS: usize = 8;
const WORDS_BYTES: usize = 256;
/// The types of the activities that record votes. The activities that they decide contain the votes themselves.
const VOTES: [&str; 2] = ["ACTIVITY_TYPE_APPROVE_ACTIVITY", "ACTIVITY_TYPE_REJECT_ACTIVITY"];
/// The order of the statuses.
const STATUSES: [Status; 7] = [
    Status::ConsensusNeeded,
    Status::AuthenticatorsNeeded,
    Status::Created,
    Status::Pending,
    Status::Failed,
    Status::Rejected,
    Status::Completed,
];

/// The filter, the order and the page of a list of activities.
#[derive(Debug, Default)]
pub struct HistoryQuery {
    /// Statuses to list; empty means all.
    pub statuses: Vec<Status>,
    /// Names of the types to list; empty means all but votes.
    pub types: Vec<String>,
    /// Users whose proposals are listed; empty means all.
    pub proposers: Vec<UserId>,
    /// Words in lower case, each of which must occur in the request, or start the id.
    pub words: Vec<String>,
    /// Only activities that were submitted before this time.
    pub before: Option<Millis>,
    /// Order of the list.
    pub order: HistoryOrder,
    /// Whether to read from the end of the list.
    pub reverse: bool,
    /// Cursor of the previous page.
    pub after: Option<String>,
    /// Page size, at most [`PAGE_LIMIT`].
    pub limit: usize,
}

/// Returns a page of activities.
///
/// # Errors
/// If there is no such organization or type, the filter is too long, the cursor is invalid, or the store cannot be read.
pub fn history(
    world: &dyn World,
    organization: OrganizationId,
    query: &HistoryQuery,
    now: Millis,
) -> Result<HistoryPage, RequestError> {
    let snapshot = load_organization(world, organization)?;
    let length: usize = query.words.iter().map(String::len).sum();
    if query.words.len() > WORDS || length > WORDS_BYTES {
        return Err(Intent::Text("the text of the filter is too long").into());
    }
    let mut reading = Reading {
        world,
        organization: &snapshot,
        query,
        now,
        order: if query.reverse { Order::Ascending } else { Order::Descending },
        examined: 0,
        bytes: 0,
        page: HistoryPage { activities: Vec::new(), next: None, reached: None },
    };
    let cursor = query.after.as_deref().map(|text| parse(text).ok_or(Intent::Cursor)).transpose()?;
    let mut parts = parts(query)?.into_iter().peekable();
    while let Some((key, _)) = cursor
        && parts.peek().is_some_and(|part| part.key != key)
    {
        parts.next();
    }
    let mut after = cursor.and_then(|(_, after)| after);
    for part in parts {
        let Stop::Full(last) = reading.read(&part, after.take())? else { continue };
        let last = last.map_or_else(String::new, |last| last.to_string());
        reading.page.next = Some(format!("{}.{last}", part.key));
        break;
    }
    Ok(reading.page)
}

/// Parses a cursor: the key of a part of the list, and the last activity that was examined in it, if any.
fn parse(cursor: &str) -> Option<(u16, Option<ActivityId>)> {
    let (key, activity) = cursor.split_once('.')?;
    let activity = (!activity.is_empty()).then(|| activity.parse().ok());
    Some((key.parse().ok()?, activity.map_or(Some(None), |found| found.map(Some))?))
}

/// Why the reading of a part of the list stopped.
enum Stop {
    /// It was read to its end.
    End,
    /// The page is full; this is the last activity of the part that was examined, if any.
    Full(Option<ActivityId>),
}

/// A part of the list, of which all activities have the same place in the order but for their time.
struct Part {
    /// Number of the status or the type; 0 if the list has one part.
    key: u16,
    statuses: Vec<Status>,
    /// Numbers of the types; all if empty.
    numbers: Vec<u16>,
}

/// Returns the parts of the list in the order of reading.
fn parts(query: &HistoryQuery) -> Result<Vec<Part>, RequestError> {
    let statuses = query.statuses.clone();
    let number = |name: &String| kinds::number_of(name).ok_or(RequestError::Intent(Intent::Type));
    let numbers = query.types.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let has_all = statuses.is_empty() && numbers.is_empty();
    let listed = |numbers: Vec<u16>| if numbers.is_empty() { without_votes() } else { numbers };
    let mut parts: Vec<Part> = match query.order {
        // The list of everything is read without the index, and votes are left out afterwards.
        HistoryOrder::Time if has_all => vec![Part { key: 0, statuses, numbers }],
        HistoryOrder::Time => vec![Part { key: 0, statuses, numbers: listed(numbers) }],
        HistoryOrder::Status => {
            let wanted = STATUSES.iter().filter(|status| statuses.is_empty() || statuses.contains(status));
            let numbers = listed(numbers);
            wanted
                .map(|status| Part {
                    key: u16::from(status.number()),
                    statuses: vec![*status],
                    numbers: numbers.clone(),
                })
                .collect()
        }
        HistoryOrder::Type => {
            let mut named: Vec<(&str, u16)> = kinds::all()
                .iter()
                .filter(|entry| {
                    if numbers.is_empty() { !is_vote(entry.number) } else { numbers.contains(&entry.number) }
                })
                .map(|entry| (entry.activity_type, entry.number))
                .collect();
            named.sort_unstable();
            let part = |(_, number)| Part { key: number, statuses: statuses.clone(), numbers: vec![number] };
            named.into_iter().map(part).collect()
        }
    };
    if query.reverse {
        parts.reverse();
    }
    Ok(parts)
}

fn is_vote(number: u16) -> bool {
    VOTES.iter().any(|name| kinds::number_of(name) == Some(number))
}

fn without_votes() -> Vec<u16> {
    let numbers: BTreeSet<u16> = kinds::all().iter().map(|entry| entry.number).collect();
    numbers.into_iter().filter(|number| !is_vote(*number)).collect()
}

/// A page while it is read.
struct Reading<'a> {
    world: &'a dyn World,
    organization: &'a Organization,
    query: &'a HistoryQuery,
    now: Millis,
    order: Order,
    examined: usize,
    bytes: usize,
    page: HistoryPage,
}

impl Reading<'_> {
    /// Reads a part of the list. Returns why it stopped.
    fn read(&mut self, part: &Part, after: Option<ActivityId>) -> Result<Stop, RequestError> {
        let filter = ActivityFilter { statuses: &part.statuses, numbers: &part.numbers };
        let (records, id) = (self.world.records(), self.organization.id());
        let limit = self.query.limit.clamp(1, PAGE_LIMIT);
        let mut last = after.or_else(|| self.newest());
        loop {
            let found = listing::activities(records, id, filter, last, self.order, limit)?;
            let is_end = found.len() < limit;
            for activity in found {
                if self.page.activities.len() >= limit || self.examined >= EXAMINED {
                    return Ok(Stop::Full(last));
                }
                if self.is_too_new(activity) {
                    return Ok(Stop::End);
                }
                if !self.examine(activity, filter)? {
                    return Ok(Stop::Full(last));
                }
                last = Some(activity);
            }
            if is_end {
                return Ok(Stop::End);
            }
        }
    }

    /// Returns the place at which reading starts if only activities before a time are listed.
    fn newest(&self) -> Option<ActivityId> {
        let before = self.query.before.filter(|_| self.order == Order::Descending)?;
        Some(ActivityId::timed(before, [0; 10]))
    }

    /// Returns whether this activity and all later ones of an ascending part are too new for the filter.
    fn is_too_new(&self, id: ActivityId) -> bool {
        let is_ascending = self.order == Order::Ascending;
        is_ascending && self.query.before.is_some_and(|before| layout::activity_submitted(id) > before)
    }

    /// Compares an activity with the filter and adds it to the page. Returns `false` if it does not fit any more.
    fn examine(&mut self, id: ActivityId, filter: ActivityFilter<'_>) -> Result<bool, RequestError> {
        self.examined = self.examined.saturating_add(1);
        let is_first = self.page.activities.is_empty();
        // An activity may have been removed since, or have another status.
        if let Some(record) = records::activity(self.world, self.organization, id)?
            && filter.matches(&record)
            && self.admits(&record)
        {
            let size: usize = record.votes.iter().map(|vote| vote.message.len()).sum();
            self.bytes = self.bytes.saturating_add(size);
            if self.bytes > PAGE_BYTES && !is_first {
                return Ok(false);
            }
            let pending = pending(self.world, &record, self.organization, self.now)?;
            let row = row(&record, self.organization, pending.as_ref())?;
            // A row is correct only if its policies were evaluated completely.
            if self.world.budget().steps_left() == 0 && !is_first {
                return Ok(false);
            }
            self.page.activities.push(row);
        }
        self.page.reached = Some(Timestamp::from_millis(layout::activity_submitted(id)));
        Ok(true)
    }

    fn admits(&self, record: &ActivityRecord) -> bool {
        let query = self.query;
        let is_old = query.before.is_none_or(|before| record.created < before);
        let is_theirs = query.proposers.is_empty() || query.proposers.contains(&record.proposer);
        let is_listed = !is_vote(record.number) || !query.types.is_empty();
        is_old && is_theirs && is_listed && (query.words.is_empty() || self.has_words(record))
    }

    fn has_words(&self, record: &ActivityRecord) -> bool {
        let name = kinds::by_number(record.number).map_or("", |entry| entry.activity_type);
        let text = format!("{name} {}", record.intent.get()).to_lowercase();
        let id = record.id.to_string();
        self.query.words.iter().all(|word| text.contains(word.as_str()) || id.starts_with(word.as_str()))
    }
}
