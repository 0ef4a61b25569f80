//! The errors that the listener itself answers with.

use http::StatusCode;
use quorate_common::api_error::{ApiError, Code};

use super::body::BodyError;
use super::head_filter::{REJECTED_LARGE, REJECTED_PIPELINED};
use crate::listener::Answer;

pub(super) fn head_error(target: &str) -> Answer {
    match target {
        REJECTED_LARGE => Answer::error_as(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            &ApiError::new(Code::ResourceExhausted, "Request head is too large"),
        ),
        REJECTED_PIPELINED => {
            Answer::error(&ApiError::new(Code::ResourceExhausted, "Too many requests sent ahead"))
        }
        _ => malformed(),
    }
}

pub(super) fn malformed() -> Answer {
    Answer::error(&ApiError::new(Code::InvalidArgument, "Malformed request"))
}

pub(super) fn too_many() -> Answer {
    let message = "Too many requests. Please wait and try again in a few seconds";
    let error = ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED");
    Answer::error(&error.limit("requests_per_second"))
}

/// A limit of `[limits]` that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LimitReached {
    key: &'static str,
    /// Whether this client reached it alone.
    by_client: bool,
}

pub(super) const CLIENT_WAITS: LimitReached =
    LimitReached { key: "requests_waiting_per_client", by_client: true };
pub(super) const CLIENT_BUSY: LimitReached =
    LimitReached { key: "requests_in_flight_per_client", by_client: true };
pub(super) const ALL_BUSY: LimitReached = LimitReached { key: "requests_in_flight", by_client: false };
pub(super) const CLIENT_BYTES: LimitReached = LimitReached { key: "body_bytes_per_client", by_client: true };
pub(super) const ALL_BYTES: LimitReached = LimitReached { key: "body_bytes", by_client: false };
pub(super) const CLIENT_ANSWERS: LimitReached =
    LimitReached { key: "answer_bytes_per_client", by_client: true };
pub(super) const ALL_ANSWERS: LimitReached = LimitReached { key: "answer_bytes", by_client: false };

/// Returns the error for a limit: status 429 if the client reached it alone, 503 otherwise.
pub(super) fn limit_error(limit: LimitReached) -> Answer {
    let LimitReached { key, by_client } = limit;
    let error = if by_client {
        let message = format!("too many concurrent requests from this client (limits.{key})");
        ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED")
    } else {
        ApiError::new(Code::Unavailable, format!("too many concurrent requests (limits.{key})"))
    };
    Answer::error(&error.limit(key))
}

pub(super) fn body_error(error: BodyError) -> Answer {
    match error {
        BodyError::ClientFull => limit_error(CLIENT_BYTES),
        BodyError::AllFull => limit_error(ALL_BYTES),
        BodyError::TooLarge => Answer::error_as(
            StatusCode::PAYLOAD_TOO_LARGE,
            &ApiError::new(Code::ResourceExhausted, "Request body is too large"),
        ),
        BodyError::TooSlow => Answer::error_as(
            StatusCode::REQUEST_TIMEOUT,
            &ApiError::new(Code::Unavailable, "Request body did not arrive in time"),
        ),
        BodyError::Broken => malformed(),
    }
}
