//! Reasons for which the API rejects a request. All reasons are collected, because the wire does not specify
//! which of several is reported.

use std::collections::BTreeSet;

use quorate_tests::http::Reply;

/// A reason, with the error that the wire documents for it.
#[derive(Debug)]
struct Objection {
    code: Code,
    /// Start of the message.
    message: &'static str,
    /// The `turnkeyErrorCode`, or `*` for any or none.
    name: &'static str,
    /// Whether the request must be rejected. If false, the API leaves it open.
    is_certain: bool,
}

/// Codes of errors.
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
    /// Returns the number on the wire.
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

    /// Returns whether the request itself is invalid, independent of caller and state. Such an error is not
    /// recorded; errors from state or rules are.
    pub(super) fn is_request_error(self) -> bool {
        matches!(self, Self::InvalidArgument | Self::Unimplemented)
    }
}

impl Objections {
    /// Returns whether the request must fail. `was_rejected` decides where the API leaves it open.
    pub(super) fn must_fail(&self, was_rejected: bool) -> bool {
        self.0.iter().any(|objection| objection.is_certain || was_rejected)
    }

    /// Adds a reason if the condition holds.
    pub(super) fn when(&mut self, holds: bool, code: Code, message: &'static str) {
        self.named(holds, code, message, "*");
    }

    /// Adds a reason with a `turnkeyErrorCode` if the condition holds.
    pub(super) fn named(&mut self, holds: bool, code: Code, message: &'static str, name: &'static str) {
        if holds {
            self.0.push(Objection { code, message, name, is_certain: true });
        }
    }

    /// Adds a reason with code 3 if the condition holds.
    pub(super) fn invalid(&mut self, holds: bool, message: &'static str) {
        self.when(holds, Code::InvalidArgument, message);
    }

    /// Adds that the caller may not do this. The caller then learns nothing about the state, so only errors
    /// of the request itself remain possible.
    pub(super) fn denied(&mut self, message: &'static str) {
        self.0.retain(|objection| objection.code.is_request_error());
        self.when(true, Code::PermissionDenied, message);
    }

    /// Requires a label: 1 to 255 characters without control characters.
    pub(super) fn label(&mut self, text: &str) {
        self.invalid(!(1..=255).contains(&text.chars().count()) || text.contains(char::is_control), "");
    }

    /// Requires a label that nothing else of its noun has.
    pub(super) fn free_label<'a>(&mut self, text: &str, mut names_in_use: impl Iterator<Item = &'a str>) {
        self.label(text);
        self.when(names_in_use.any(|other| other == text), Code::AlreadyExists, "");
    }

    /// Requires the id of an existing resource.
    pub(super) fn exists(&mut self, id: &str, is_there: bool, message: &'static str) {
        if id.len() == 36 {
            self.when(!is_there, Code::NotFound, message);
        } else {
            self.invalid(true, "");
        }
    }

    /// Requires distinct ids of existing resources.
    pub(super) fn all_exist(
        &mut self,
        ids: &[String],
        is_there: impl Fn(&str) -> bool,
        message: &'static str,
    ) {
        for id in ids {
            self.exists(id, is_there(id), message);
        }
        self.distinct(ids);
    }

    /// Requires ids of existing tags. An id that appears twice may be rejected, or counts once.
    pub(super) fn tags_exist(
        &mut self,
        ids: &[String],
        is_there: impl Fn(&str) -> bool,
        message: &'static str,
    ) {
        let mut strict = Self::default();
        strict.all_exist(ids, &is_there, message);
        let is_certain = !ids.iter().all(|id| is_there(id));
        self.0.extend(strict.0.into_iter().map(|objection| Objection { is_certain, ..objection }));
    }

    /// Requires distinct elements.
    pub(super) fn distinct<T: Ord>(&mut self, list: &[T]) {
        self.distinct_or(list, "");
    }

    /// Requires distinct elements, with this start of the message.
    pub(super) fn distinct_or<T: Ord>(&mut self, list: &[T], message: &'static str) {
        self.invalid(list.iter().collect::<BTreeSet<_>>().len() < list.len(), message);
    }

    /// Requires 1 to 100 elements.
    pub(super) fn batch<T>(&mut self, list: &[T]) {
        self.invalid(!(1..=100).contains(&list.len()), "");
    }

    /// Requires that the limit permits `new` more resources.
    pub(super) fn capacity(&mut self, existing: usize, new: usize, limit: usize, message: &'static str) {
        self.when(existing + new > limit, Code::ResourceExhausted, message);
    }

    /// Asserts that an error matches one of the reasons, and returns its code.
    pub(super) fn assert_expected(&self, reply: &Reply) -> Code {
        let body = reply.json();
        let matching = self.0.iter().find(|objection| {
            body["code"] == objection.code.number()
                && body["message"].as_str().is_some_and(|text| text.starts_with(objection.message))
                && (objection.name == "*" || body["turnkeyErrorCode"] == objection.name)
        });
        let objection = matching.unwrap_or_else(|| panic!("expected one of {:?}{reply}", self.0));
        reply.expect_error(objection.code.http_status(), objection.code.number(), objection.name);
        objection.code
    }

    /// Asserts that a recorded failure matches one of the reasons.
    pub(super) fn assert_expected_failure(&self, code: i64, message: &str) {
        let matches =
            |objection: &Objection| objection.code.number() == code && message.starts_with(objection.message);
        assert!(self.0.iter().any(matches), "expected one of {:?}, failed with {code}: {message}", self.0);
    }
}
