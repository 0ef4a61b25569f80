//! Why the contract lets a request be refused. All reasons are collected, because the wire does not say which
//! of several is told.

use std::collections::BTreeSet;

use quorate_tests::http::Reply;

/// A reason, with what the wire documents of its refusal.
#[derive(Debug)]
struct Objection {
    code: Code,
    /// How the message begins.
    message: &'static str,
    /// The `turnkeyErrorCode`; `*` for any or none.
    name: &'static str,
    /// False where the contract leaves it open whether this is refused.
    is_certain: bool,
}

/// Codes of refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    InvalidArgument,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    Unimplemented,
}

/// Reasons against a request.
#[derive(Debug, Default)]
pub(super) struct Objections(Vec<Objection>);

impl Code {
    /// The number on the wire.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::InvalidArgument => 3,
            Self::NotFound => 5,
            Self::AlreadyExists => 6,
            Self::PermissionDenied => 7,
            Self::ResourceExhausted => 8,
            Self::Unimplemented => 12,
        }
    }

    fn http_status(self) -> u16 {
        match self {
            Self::InvalidArgument => 400,
            Self::NotFound => 404,
            Self::AlreadyExists => 409,
            Self::PermissionDenied => 403,
            Self::ResourceExhausted => 429,
            Self::Unimplemented => 501,
        }
    }

    /// Whether the request is wrong in itself, whoever asks and whatever is there. Such a refusal leaves nothing
    /// behind; what the state or the rules refuse is recorded.
    pub(super) fn is_of_the_request(self) -> bool {
        matches!(self, Self::InvalidArgument | Self::Unimplemented)
    }
}

impl Objections {
    /// Whether it must be refused; `was_refused` tells where the contract leaves it open.
    pub(super) fn prevail(&self, was_refused: bool) -> bool {
        self.0.iter().any(|objection| objection.is_certain || was_refused)
    }

    /// Adds a reason where it holds.
    pub(super) fn when(&mut self, holds: bool, code: Code, message: &'static str) {
        self.named(holds, code, message, "*");
    }

    /// Adds a reason with a `turnkeyErrorCode` where it holds.
    pub(super) fn named(&mut self, holds: bool, code: Code, message: &'static str, name: &'static str) {
        if holds {
            self.0.push(Objection { code, message, name, is_certain: true });
        }
    }

    /// Adds a reason of code 3 where it holds.
    pub(super) fn invalid(&mut self, holds: bool, message: &'static str) {
        self.when(holds, Code::InvalidArgument, message);
    }

    /// The asker may not do this, and then learns nothing of the state: what would go wrong is not looked at. What
    /// is wrong in itself may be told all the same.
    pub(super) fn denied(&mut self, message: &'static str) {
        self.0.retain(|objection| objection.code.is_of_the_request());
        self.when(true, Code::PermissionDenied, message);
    }

    /// A label has 1 to 255 characters, none of them a control character.
    pub(super) fn label(&mut self, text: &str) {
        self.invalid(!(1..=255).contains(&text.chars().count()) || text.contains(char::is_control), "");
    }

    /// A name that nothing else of its noun has.
    pub(super) fn free_label<'a>(&mut self, text: &str, mut taken: impl Iterator<Item = &'a str>) {
        self.label(text);
        self.when(taken.any(|other| other == text), Code::AlreadyExists, "");
    }

    /// An id of something that is there.
    pub(super) fn found(&mut self, id: &str, is_there: bool, message: &'static str) {
        if id.len() == 36 {
            self.when(!is_there, Code::NotFound, message);
        } else {
            self.invalid(true, "");
        }
    }

    /// Ids of things that are there, none of them twice.
    pub(super) fn all_found(
        &mut self,
        ids: &[String],
        is_there: impl Fn(&str) -> bool,
        message: &'static str,
    ) {
        for id in ids {
            self.found(id, is_there(id), message);
        }
        self.distinct(ids);
    }

    /// Ids of tags to put on something. One that is there twice may be refused, or else counts once.
    pub(super) fn tags_found(
        &mut self,
        ids: &[String],
        is_there: impl Fn(&str) -> bool,
        message: &'static str,
    ) {
        let mut strict = Self::default();
        strict.all_found(ids, &is_there, message);
        let is_certain = !ids.iter().all(|id| is_there(id));
        self.0.extend(strict.0.into_iter().map(|objection| Objection { is_certain, ..objection }));
    }

    /// No element twice.
    pub(super) fn distinct<T: Ord>(&mut self, list: &[T]) {
        self.distinct_or(list, "");
    }

    /// No element twice, and how the refusal begins otherwise.
    pub(super) fn distinct_or<T: Ord>(&mut self, list: &[T], message: &'static str) {
        self.invalid(list.iter().collect::<BTreeSet<_>>().len() < list.len(), message);
    }

    /// A batch has 1 to 100 elements.
    pub(super) fn batch<T>(&mut self, list: &[T]) {
        self.invalid(!(1..=100).contains(&list.len()), "");
    }

    /// There is room for so many.
    pub(super) fn room(&mut self, there: usize, new: usize, limit: usize, message: &'static str) {
        self.when(there + new > limit, Code::ResourceExhausted, message);
    }

    /// Asserts that a refusal is for one of the reasons, and returns its code.
    pub(super) fn met_by(&self, reply: &Reply) -> Code {
        let body = reply.json();
        let met = self.0.iter().find(|objection| {
            body["code"] == objection.code.number()
                && body["message"].as_str().is_some_and(|text| text.starts_with(objection.message))
                && (objection.name == "*" || body["turnkeyErrorCode"] == objection.name)
        });
        let objection = met.unwrap_or_else(|| panic!("expected one of {:?}{reply}", self.0));
        reply.refusal(objection.code.http_status(), objection.code.number(), objection.name);
        objection.code
    }

    /// Asserts that a failure that was recorded is for one of the reasons.
    pub(super) fn met_by_failure(&self, code: i64, message: &str) {
        let met =
            |objection: &Objection| objection.code.number() == code && message.starts_with(objection.message);
        assert!(self.0.iter().any(met), "expected one of {:?}, failed with {code}: {message}", self.0);
    }
}
