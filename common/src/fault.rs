//! The one wire form of an error, and the tables that belong to it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Status of a call, with the numbers of gRPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// The request itself is wrong, whatever the state.
    InvalidArgument = 3,
    /// Named thing does not exist, or the caller may not know that it does.
    NotFound = 5,
    /// Named thing exists already.
    AlreadyExists = 6,
    /// The caller is known and may not do this.
    PermissionDenied = 7,
    /// A limit is reached.
    ResourceExhausted = 8,
    /// The state does not permit this now.
    FailedPrecondition = 9,
    /// Not offered here.
    Unimplemented = 12,
    /// A fault of the daemon.
    Internal = 13,
    /// Try again later.
    Unavailable = 14,
    /// No valid stamp.
    Unauthenticated = 16,
}

impl Code {
    /// The number on the wire.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The HTTP status that belongs to the code.
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

    /// The code of a wire number, if it is one that this service sends.
    pub const fn of_number(number: i32) -> Option<Self> {
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
        Self::of_number(number).ok_or_else(|| serde::de::Error::custom("unknown status code"))
    }
}

/// An error as it leaves the service: `{code, message, details, turnkeyErrorCode?}`. It doubles as the
/// `failure` of an activity, which carries the first three.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// Status.
    pub code: Code,
    /// For people; holds no secret and never the value of a member.
    pub message: String,
    /// Objects with an `@type` each; empty when there is nothing to add.
    #[serde(default)]
    pub details: Vec<Value>,
    /// Machine-readable reason, if one is defined; stands in the details too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turnkey_error_code: Option<String>,
    /// Key in `[limits]` of the limit that was reached, for metrics; stands in the details too.
    #[serde(skip)]
    pub limit: Option<&'static str>,
    /// Whether it says that a credential has expired, which must stay true whatever the clock says later.
    #[serde(skip)]
    pub has_expired: bool,
}

impl Fault {
    /// A fault without a reason code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Vec::new(),
            turnkey_error_code: None,
            limit: None,
            has_expired: false,
        }
    }

    /// Adds the reason code in both places where clients look for it.
    #[must_use]
    pub fn reason(mut self, reason: &str) -> Self {
        self.details.push(json!({
            "@type": "type.googleapis.com/errors.v1.TurnkeyErrorDetail",
            "turnkeyErrorCode": reason,
        }));
        self.turnkey_error_code = Some(reason.to_owned());
        self
    }

    /// Says that a credential has expired.
    #[must_use]
    pub const fn expired(mut self) -> Self {
        self.has_expired = true;
        self
    }

    /// Names the limit that was reached, by its key in `[limits]`, as a violation of a quota (`google.rpc.QuotaFailure`).
    #[must_use]
    pub fn limit(mut self, key: &'static str) -> Self {
        self.details.push(json!({
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{ "subject": format!("limits.{key}"), "description": self.message }],
        }));
        self.limit = Some(key);
        self
    }

    /// The body as sent.
    pub fn body(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn body_has_the_reason_in_both_places() {
        let fault = Fault::new(Code::InvalidArgument, "m").reason("MAX_OTP_INITIATED");
        assert_eq!(
            String::from_utf8(fault.body()).unwrap(),
            r#"{"code":3,"message":"m","details":[{"@type":"type.googleapis.com/errors.v1.TurnkeyErrorDetail","turnkeyErrorCode":"MAX_OTP_INITIATED"}],"turnkeyErrorCode":"MAX_OTP_INITIATED"}"#
        );
        assert_eq!(serde_json::from_slice::<Fault>(&fault.body()).unwrap(), fault);
        assert_eq!(
            String::from_utf8(Fault::new(Code::NotFound, "Not Found").body()).unwrap(),
            r#"{"code":5,"message":"Not Found","details":[]}"#
        );
    }
}
