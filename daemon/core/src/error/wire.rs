//! The conversion of errors to the wire form.

use std::fmt::Display;

use quorate_common::api_error::{ApiError, Code};
use quorate_common::json::{JsonError, Rule};
use quorate_policy::decide::PolicyOutcome;
use serde_json::json;

use super::{Authn, Conflict, Corrupt, Denied, Intent, Limit, Missing, RequestError, Stopped};
use crate::evaluation::Evaluation;

/// Noun of the records that have a reason of their own if they are missing.
const OAUTH2_CREDENTIAL: &str = "oauth2 credential";

impl RequestError {
    /// Converts to the wire form.
    pub fn api_error(&self) -> ApiError {
        match self {
            Self::Intent(intent) => {
                let error = with_reason(Code::InvalidArgument, intent, intent.reason());
                match intent {
                    Intent::OidcToken(cause) => error.logged(*cause),
                    Intent::EndedVerificationToken => error.expired(),
                    _ => error,
                }
            }
            Self::Authn(authn) => {
                let error = with_reason(Code::Unauthenticated, authn, authn.reason());
                if *authn == Authn::Expired { error.expired() } else { error }
            }
            Self::Denied(reason) => denied(reason),
            Self::Missing(missing) => {
                with_reason(Code::NotFound, missing, missing.reason())
            }
            Self::Conflict(conflict) => {
                let is_provider = *conflict == Conflict::OauthProvider;
                let reason = is_provider.then_some("OAUTH_PROVIDER_ALREADY_EXISTS");
                with_reason(Code::AlreadyExists, conflict, reason)
            }
            Self::Limit(limit) => {
                let error = ApiError::new(Code::ResourceExhausted, limit.to_string());
                limit.key().into_iter().fold(error, ApiError::limit)
            }
            Self::Unimplemented(feature) => ApiError::new(Code::Unimplemented, feature.to_string()),
            Self::Corrupt(Corrupt::Unavailable) => {
                ApiError::new(Code::Unavailable, "the service is reopening its store; try again later")
            }
            Self::Corrupt(Corrupt::Altered(_)) => ApiError::new(
                Code::Internal,
                "the stored records of this organization were changed outside the service; its operator must restore a backup",
            )
            .reason("RECORDS_ALTERED"),
            Self::Corrupt(Corrupt::Stopped(stopped)) => stopped.api_error(),
            Self::Corrupt(_) => ApiError::new(Code::Internal, "internal server error").reason("INTERNAL"),
        }
    }
}

fn with_reason(code: Code, message: &dyn Display, reason: Option<&'static str>) -> ApiError {
    let error = ApiError::new(code, message.to_string());
    reason.into_iter().fold(error, ApiError::reason)
}

impl Intent {
    /// Returns the name by which clients distinguish the error, if it has one.
    const fn reason(&self) -> Option<&'static str> {
        Some(match self {
            Self::Body(JsonError::Member { rule: Rule::Email, .. }) => "INVALID_EMAIL",
            Self::OrganizationId => "INVALID_ORGANIZATION_ID",
            Self::Time(_) => "INVALID_TIME",
            Self::OtherOrganization { .. } => "ORGANIZATION_MISMATCH",
            Self::ClosedToChildren(_) => "INVALID_ACTIVITY_CALLER",
            Self::NoMail => "EMAIL_SENDING_DISABLED",
            Self::TooManyCodes(..)
            | Self::TooManyValidCodes(..)
            | Self::TooManyMails(..)
            | Self::TooManyOfChild(..)
            | Self::TooManyOfChildren(..)
            | Self::TooManySms(..)
            | Self::TooManyOfRegistered(..)
            | Self::TooManyOfAllRegistered(..) => "MAX_OTP_INITIATED",
            Self::Transaction(_) => "INVALID_TRANSACTION",
            Self::TransactionType(_) => "UNSUPPORTED_TRANSACTION_TYPE",
            Self::NotExported => "WALLET_ACCOUNT_NOT_EXPORTED",
            Self::OidcToken(_) | Self::OidcIssuer(_) => "INVALID_OIDC_TOKEN",
            Self::Oauth2Off => "OAUTH2_PROVIDER_NOT_CONFIGURED",
            _ => return None,
        })
    }
}

impl Missing {
    /// Returns the name by which clients distinguish the error, if it has one.
    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Organization => Some("ORGANIZATION_NOT_FOUND"),
            Self::Record(noun, _) | Self::Other(noun) if *noun == OAUTH2_CREDENTIAL => {
                Some("OAUTH2_CREDENTIAL_NOT_FOUND")
            }
            _ => None,
        }
    }
}

impl Authn {
    /// Returns the name by which clients distinguish the error, if it has one.
    const fn reason(&self) -> Option<&'static str> {
        Some(match self {
            Self::None | Self::UnknownSession | Self::SessionOnSubmit => "SIGNATURE_MISSING",
            Self::Several | Self::Signature | Self::Assertion | Self::Registrant => "SIGNATURE_INVALID",
            Self::UnknownKey { .. } | Self::Unattested(_) => "PUBLIC_KEY_NOT_FOUND",
            Self::UnknownCredential { .. } => "CREDENTIAL_NOT_FOUND",
            Self::SeveralChildren(_) => "CREDENTIAL_CONFLICT",
            Self::Expired | Self::RecoveryOff => "API_KEY_EXPIRED",
            Self::ExpiredSession => "SESSION_EXPIRED",
            Self::Unreadable(_) | Self::AttestedOnly => return None,
        })
    }
}

impl Limit {
    /// Returns the key in `[limits]`, if the limit is configurable.
    const fn key(&self) -> Option<&'static str> {
        match self {
            Self::Count(_, _, key) => *key,
            Self::LongLivedApiKeys => Some("long_lived_api_keys"),
            Self::Authenticators => Some("authenticators"),
            Self::Waiting(_) => Some("waiting_activities"),
            Self::Denials(_) => Some("denials_per_hour"),
            Self::Organizations(_) => Some("organizations"),
            Self::Bytes(_, _, key) => Some(key),
            Self::WaitingMessages(..) => Some("waiting_messages"),
            Self::WaitingMessageBytes(..) => Some("waiting_message_bytes"),
        }
    }
}

impl Stopped {
    fn api_error(self) -> ApiError {
        match self {
            Self::Rows(_) => ApiError::new(
                Code::ResourceExhausted,
                format!("{self}; request a page with `paginationOptions`"),
            )
            .limit("rows_per_answer"),
            Self::Cancelled => ApiError::new(Code::Unavailable, self.to_string()),
        }
    }
}

fn denied(reason: &Denied) -> ApiError {
    let (message, outcomes) = match reason {
        Denied::Address => {
            return ApiError::new(Code::PermissionDenied, "request IP address is not in the IP allowlist")
                .reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::NotAuthorized => {
            return ApiError::new(Code::PermissionDenied, "request not authorized")
                .reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::Session => {
            let text = "the session profile does not permit this activity";
            return ApiError::new(Code::PermissionDenied, text).reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::RecoveryKey => {
            let text = "a recovery key can only register an authenticator, with RECOVER_USER";
            return ApiError::new(Code::PermissionDenied, text).reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::NoRecoveryKey => {
            let text = "only a recovery key can stamp RECOVER_USER; CREATE_AUTHENTICATORS registers authenticators with other credentials";
            return ApiError::new(Code::PermissionDenied, text).reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::Waiting => {
            let text = "this activity contains a secret and cannot wait for approvals; a policy must allow it without them";
            return ApiError::new(Code::PermissionDenied, text).reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::Token => {
            let text = "an attested stamp only proves the next step of an MFA policy, after an approval with a credential or a session of the same user";
            return ApiError::new(Code::PermissionDenied, text).reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::WeakCode => {
            let text = "a one-time code proves a step of an MFA policy only if it has 9 characters or contains letters";
            return ApiError::new(Code::PermissionDenied, text).reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::Authenticators => {
            let text = "this activity cannot wait for further authentication methods; authenticate as the MFA policy requires with the request itself";
            return ApiError::new(Code::PermissionDenied, text).reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::Policies(outcomes) => ("No policies evaluated to outcome: Allow".to_owned(), outcomes),
        Denied::Explicit(outcomes) => {
            let denials = outcomes.iter().filter(|one| one.outcome == PolicyOutcome::DenyExplicit);
            let ids: Vec<String> = denials.map(|one| one.policy.to_string()).collect();
            (format!("The following policies denied this action: {}", ids.join(", ")), outcomes)
        }
    };
    let evaluations: Vec<_> = outcomes.iter().map(Evaluation::wire).collect();
    let mut error = ApiError::new(
        Code::PermissionDenied,
        "You don't have sufficient permissions to take this action. A root user of the organization can add a policy that allows it.",
    );
    error.details.push(json!({
        "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
        "message": message,
        "policyEvaluations": evaluations,
    }));
    error.reason("REQUEST_NOT_AUTHORIZED")
}
