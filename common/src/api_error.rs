//! Errors as the API returns them, with their gRPC codes and HTTP statuses.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Status code of a failed call. The discriminants are the numbers of gRPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// The request is invalid regardless of the state.
    InvalidArgument = 3,
    /// The named object does not exist, or the caller may not learn that it exists.
    NotFound = 5,
    /// The object already exists.
    AlreadyExists = 6,
    /// The caller is authenticated but lacks the permission.
    PermissionDenied = 7,
    /// A limit is reached.
    ResourceExhausted = 8,
    /// The current state does not allow the request.
    FailedPrecondition = 9,
    /// The service does not offer the operation.
    Unimplemented = 12,
    /// An internal error of the daemon.
    Internal = 13,
    /// The service is temporarily unavailable; the caller may retry.
    Unavailable = 14,
    /// The request has no valid stamp.
    Unauthenticated = 16,
}

impl Code {
    /// Returns the number of the code on the wire.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Returns the HTTP status that belongs to the code.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::InvalidArgument | Self::FailedPrecondition => 400,
            Self::Unauthenticated => 401,
            Self::PermissionDenied => 403,
            Self::NotFound => 404,
            Self::AlreadyExists => 409,
            Self::ResourceExhausted => 429,
            Self::Internal => 500,
            Self::Unimplemented => 501,
            Self::Unavailable => 503,
        }
    }

    /// Returns the code with this wire number, or `None` if the service never sends it.
    pub const fn from_number(number: i32) -> Option<Self> {
        Some(match number {
            3 => Self::InvalidArgument,
            5 => Self::NotFound,
            6 => Self::AlreadyExists,
            7 => Self::PermissionDenied,
            8 => Self::ResourceExhausted,
            9 => Self::FailedPrecondition,
            12 => Self::Unimplemented,
            13 => Self::Internal,
            14 => Self::Unavailable,
            16 => Self::Unauthenticated,
            _ => return None,
        })
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(self.number())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i32::deserialize(deserializer)?;
        Self::from_number(number).ok_or_else(|| serde::de::Error::custom("unknown status code"))
    }
}

/// An error as the API returns it: `{code, message, details, turnkeyErrorCode?}`.
///
/// The first three members are also the `failure` of an activity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiError {
    /// Status code; it also determines the HTTP status.
    #[schemars(with = "i32")]
    pub code: Code,
    /// Text for people. It never contains a secret or the value of a request member.
    pub message: String,
    /// Objects with an `@type` member each; may be empty.
    #[serde(default)]
    pub details: Vec<Value>,
    /// Machine-readable reason, if one is defined; repeated in `details`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turnkey_error_code: Option<String>,
    /// Key in `[limits]` of the limit that was reached, for metrics; repeated in `details`.
    #[serde(skip)]
    pub limit: Option<&'static str>,
    /// Whether the cause is an expired credential. Such an error must stay valid even if the clock changes
    /// later.
    #[serde(skip)]
    pub has_expired: bool,
    /// Cause for the log, which clients do not learn.
    #[serde(skip)]
    pub cause: Option<Cow<'static, str>>,
}

impl ApiError {
    /// Creates an error without a reason code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Vec::new(),
            turnkey_error_code: None,
            limit: None,
            has_expired: false,
            cause: None,
        }
    }

    /// Adds the reason code to `details` and to `turnkey_error_code`; clients read either of them.
    #[must_use]
    pub fn reason(mut self, reason: &str) -> Self {
        self.details.push(json!({
            "@type": "type.googleapis.com/errors.v1.TurnkeyErrorDetail",
            "turnkeyErrorCode": reason,
        }));
        self.turnkey_error_code = Some(reason.to_owned());
        self
    }

    /// Marks the error as caused by an expired credential.
    #[must_use]
    pub const fn expired(mut self) -> Self {
        self.has_expired = true;
        self
    }

    /// Adds a cause for the log, which clients do not learn.
    #[must_use]
    pub fn logged(mut self, cause: impl Into<Cow<'static, str>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Adds the limit that was reached as a quota violation (`google.rpc.QuotaFailure`). `key` is its key in
    /// `[limits]`.
    #[must_use]
    pub fn limit(mut self, key: &'static str) -> Self {
        self.details.push(json!({
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{ "subject": format!("limits.{key}"), "description": self.message }],
        }));
        self.limit = Some(key);
        self
    }

    /// Returns the JSON body of the HTTP response.
    pub fn body(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn body_repeats_the_reason_code_in_details() {
        let error = ApiError::new(Code::InvalidArgument, "m").reason("MAX_OTP_INITIATED");
        assert_eq!(
            String::from_utf8(error.body()).unwrap(),
            r#"{"code":3,"message":"m","details":[{"@type":"type.googleapis.com/errors.v1.TurnkeyErrorDetail","turnkeyErrorCode":"MAX_OTP_INITIATED"}],"turnkeyErrorCode":"MAX_OTP_INITIATED"}"#
        );
        assert_eq!(serde_json::from_slice::<ApiError>(&error.body()).unwrap(), error);
        assert_eq!(
            String::from_utf8(ApiError::new(Code::NotFound, "Not Found").body()).unwrap(),
            r#"{"code":5,"message":"Not Found","details":[]}"#
        );
    }
}
