//! The errors of requests, grouped by cause and status, and their conversion to the wire form.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::ids::{ApiKeyId, OrganizationId, UserId};
use quorate_common::json::{JsonError, Rule};
use quorate_common::webauthn::AttestationError;
use quorate_policy::decide::PolicyOutcome;
use serde_json::json;

use crate::model::{Evaluation, layout::Lookup};

/// The reason why a request is not carried out.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestError {
    /// The request itself is wrong.
    Intent(Intent),
    /// The request has no valid stamp.
    Authn(Authn),
    /// The caller is authenticated but not authorized.
    Denied(Denied),
    /// An object that the request names does not exist, or belongs to another organization.
    Missing(Missing),
    /// An object that the request creates already exists.
    Conflict(Conflict),
    /// A limit is reached.
    Limit(Limit),
    /// The type or feature is part of the API, but not implemented by this service.
    Unimplemented(Unimplemented),
    /// A stored record is damaged, or an internal check failed. Details are only logged.
    Corrupt(Corrupt),
}

/// An error in the request itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// The body, or one of its members, is malformed.
    Body(JsonError),
    /// `organizationId` is not a valid id.
    OrganizationId,
    /// The activity type is unknown, or does not belong to the path.
    Type,
    /// `timestampMs` is malformed, too old, or too far ahead. Contains the message.
    Time(&'static str),
    /// The caller's key belongs to a different organization than the one acted upon.
    OtherOrganization {
        /// Organization acted upon.
        target: OrganizationId,
        /// Organization of the caller.
        voters: OrganizationId,
    },
    /// Sub-organizations cannot do this. Contains the action, as it follows "cannot" in the message.
    ClosedToChildren(&'static str),
    /// No mail server is configured.
    NoMail,
    /// A list that must not be empty is empty. Contains its name.
    Empty(&'static str),
    /// A list contains the same element more than once. Contains its name.
    Duplicate(&'static str),
    /// A quorum threshold is less than one or greater than the number of members. Contains the message.
    Threshold(&'static str),
    /// A member of the root quorum is missing, or would be deleted.
    QuorumUsers,
    /// A user would be left without a credential. Contains the name or id of the user.
    NoCredential(String),
    /// A key is not a valid public key on its curve.
    PublicKey,
    /// Any other invalid member. Contains the documented message.
    Text(&'static str),
    /// Like `Text`, with a message that is composed at runtime.
    Detail(String),
    /// A transaction cannot be decoded, or cannot be signed with this key. Contains the reason.
    Transaction(String),
    /// Transactions of this type cannot be signed. Contains the message.
    TransactionType(String),
    /// A wallet account that was never exported would be deleted, and its key possibly lost.
    NotExported,
    /// The attestation of an authenticator cannot be verified.
    Attestation(AttestationError),
    /// An identity token cannot be verified.
    OidcToken,
    /// A pagination cursor does not refer to an item of the list.
    Cursor,
}

/// The reason why a request cannot be authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authn {
    /// There is no stamp.
    None,
    /// There is more than one stamp.
    Several,
    /// The stamp is malformed. Contains the documented message.
    Unreadable(String),
    /// The API key is not registered in the organization, nor in its parent if that was searched.
    UnknownKey {
        /// Organization that was searched.
        organization: OrganizationId,
        /// Public key of the stamp.
        public_key: String,
        /// Whether the parent organization was searched as well.
        parent: bool,
    },
    /// The passkey is not registered in the organization, nor in its parent.
    UnknownCredential {
        /// Organization that was searched.
        organization: OrganizationId,
        /// Credential id of the stamp.
        credential_id: String,
    },
    /// An attested stamp refers to a sign-in that is not known.
    Unattested,
    /// More than one sub-organization has the credential. Contains the kind of lookup.
    SeveralChildren(Lookup),
    /// The signature of an API key cannot be verified.
    Signature,
    /// The assertion of a passkey cannot be verified.
    Assertion,
    /// A request that creates an organization is not stamped with the passkey that it registers.
    Registrant,
    /// The API key has expired.
    Expired,
    /// A session is given where a stamp is required.
    SessionOnSubmit,
    /// The session is unknown.
    UnknownSession,
}

/// The reason why an authenticated caller is not authorized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// No policy allows the activity. Contains the outcome of each policy.
    Policies(Vec<Evaluation>),
    /// A policy denies the activity. Contains the outcome of each policy.
    Explicit(Vec<Evaluation>),
    /// The caller cannot take part in this decision.
    NotAuthorized,
    /// The IP allowlist does not admit the caller's address.
    Address,
}

/// An object that the request names and that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// Organization by its id.
    Organization,
    /// Activity by its id.
    Activity,
    /// Activity by its fingerprint.
    Fingerprint,
    /// User, and the organization that was searched.
    User(UserId, OrganizationId),
    /// API key by its id.
    ApiKey(ApiKeyId),
    /// Any other record. Contains its noun and its id.
    Record(&'static str, String),
    /// Any other object, where the message does not contain its id. Contains its noun.
    Other(&'static str),
    /// Wallet account or private key that `signWith` names.
    SigningResource,
    /// Wallet account. Contains the address or path, as it follows "with" in the message.
    WalletAccount(String),
}

/// A conflict with an existing object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// The name is in use. Contains the noun of the named object.
    Name(&'static str),
    /// The public key is already registered.
    PublicKey,
    /// The authenticator is already registered.
    CredentialId,
    /// The OAuth identity already belongs to a user.
    OauthProvider,
    /// The user id is already in use.
    User,
    /// The wallet already has an account at this path. Contains the id of the account.
    Path(String),
    /// The seed was already imported. Contains the id of the wallet.
    Seed(String),
    /// The private key was already imported. Contains its id.
    ImportedKey(String),
}

/// A limit that the request would exceed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// A number of objects. Contains the plural noun, the limit, and the name of the setting if there is one.
    Count(&'static str, usize, Option<&'static str>),
    /// Long-lived API keys of a user.
    LongLivedApiKeys,
    /// Authenticators of a user.
    Authenticators,
    /// Activities that wait for votes. Contains the limit.
    Waiting(usize),
    /// Denied attempts by one credential within the lifetime of a body. Contains the limit.
    Denials(usize),
    /// Top-level organizations. Contains the limit.
    Organizations(usize),
    /// Bytes that an organization uses. Contains a noun for their use, the limit, and the setting.
    Bytes(&'static str, usize, &'static str),
}

/// A part of the API that this service does not implement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unimplemented {
    /// A type of activity or query. Contains its name.
    Type(String),
    /// A feature of an implemented type. Contains a sentence.
    Feature(String),
}

/// An internal error, which the caller did not cause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Corrupt {
    /// A stored record cannot be decrypted or parsed, or contradicts others. Contains the kind of record.
    #[error("a stored {0} is damaged")]
    Record(&'static str),
    /// The store could not be read. Contains the cause for the log.
    #[error("the store could not be read: {0}")]
    Store(String),
    /// The store failed and is being reopened.
    #[error("the store is being reopened after a failure")]
    Unavailable,
    /// The records of an organization do not match the digest in its head: they were changed on disk.
    #[error("the stored records of organization {0} were changed outside the service; run `quorated verify`")]
    Altered(OrganizationId),
    /// An organization changed since this version of it was read. The answer must be computed again.
    #[error("organization {0} changed after its version {1} was read")]
    Outdated(OrganizationId, u64),
    /// A signature could not be verified by the second implementation, and was withheld.
    #[error("a signature failed verification by the second implementation and was withheld")]
    Signature,
    /// An internal invariant is violated. Contains the message for the log.
    #[error("{0}")]
    Invariant(&'static str),
    /// The work was stopped before the answer was complete. This is an error because nothing may be concluded
    /// from records that were not read.
    #[error("{0}")]
    Stopped(Stopped),
}

/// The reason why work was stopped before the answer was complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The answer needs more rows than the limit. Contains the limit.
    #[error("the answer needs more than {0} rows of the store (`rows_per_answer`)")]
    Rows(usize),
    /// The client disconnected.
    #[error("the client disconnected")]
    Cancelled,
}

macro_rules! into_request_error {
    ($($group:ident),*) => {$(
        impl From<$group> for RequestError {
            fn from(reason: $group) -> Self {
                Self::$group(reason)
            }
        }
    )*};
}

into_request_error!(Intent, Authn, Denied, Missing, Conflict, Limit, Unimplemented, Corrupt);

impl From<JsonError> for RequestError {
    fn from(error: JsonError) -> Self {
        Self::Intent(Intent::Body(error))
    }
}

impl RequestError {
    /// Converts to the wire form.
    pub fn api_error(&self) -> ApiError {
        match self {
            Self::Intent(reason) => intent(reason),
            Self::Authn(reason) => authn(reason),
            Self::Denied(reason) => denied(reason),
            Self::Missing(reason) => missing(reason),
            Self::Conflict(reason) => conflict(reason),
            Self::Limit(reason) => {
                let error = ApiError::new(Code::ResourceExhausted, limit(reason));
                reason.key().into_iter().fold(error, ApiError::limit)
            }
            Self::Unimplemented(reason) => ApiError::new(Code::Unimplemented, not_implemented(reason)),
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

fn intent(reason: &Intent) -> ApiError {
    let plain = |message: &str| ApiError::new(Code::InvalidArgument, message);
    match reason {
        Intent::Body(error @ JsonError::Member { rule: Rule::Email, .. }) => {
            plain(&error.to_string()).reason("INVALID_EMAIL")
        }
        Intent::Body(error) => plain(&error.to_string()),
        Intent::OrganizationId => plain("malformed organization ID provided").reason("INVALID_ORGANIZATION_ID"),
        Intent::Type => plain("invalid request body: `type` does not belong to this path"),
        Intent::Time(text) => plain(text).reason("INVALID_TIME"),
        Intent::OtherOrganization { target, voters } => plain(&format!(
            "organization mismatch: request is targeting organization (\"{target}\"), but voters are in organization (\"{voters}\")"
        ))
        .reason("ORGANIZATION_MISMATCH"),
        Intent::ClosedToChildren(what) => {
            plain(&format!("sub-organizations cannot {what}")).reason("INVALID_ACTIVITY_CALLER")
        }
        Intent::NoMail => plain("this service is not configured to send mail").reason("EMAIL_SENDING_DISABLED"),
        Intent::Empty(list) => plain(&format!("invalid request body: `{list}` must not be empty")),
        Intent::Duplicate(list) => plain(&format!("invalid request body: `{list}` contains a duplicate element")),
        Intent::Threshold(text) | Intent::Text(text) => plain(text),
        Intent::QuorumUsers => plain("quorum users missing"),
        Intent::NoCredential(who) => plain(&format!("user missing valid credential: {who}")),
        Intent::PublicKey => plain("invalid public key: expected a public key on its curve in hexadecimal"),
        Intent::Detail(text) => plain(text),
        Intent::Transaction(text) => plain(text).reason("INVALID_TRANSACTION"),
        Intent::TransactionType(text) => plain(text).reason("UNSUPPORTED_TRANSACTION_TYPE"),
        Intent::NotExported => {
            plain("wallet account has not been exported").reason("WALLET_ACCOUNT_NOT_EXPORTED")
        }
        Intent::Attestation(error) => plain(&error.to_string()),
        Intent::OidcToken => plain("invalid OIDC token").reason("INVALID_OIDC_TOKEN"),
        Intent::Cursor => plain("invalid request body: the cursor does not refer to an item of this list"),
    }
}

fn authn(reason: &Authn) -> ApiError {
    let plain = |message: &str| ApiError::new(Code::Unauthenticated, message);
    match reason {
        Authn::None | Authn::UnknownSession => {
            plain("no valid authentication signature found for request").reason("SIGNATURE_MISSING")
        }
        Authn::Several => plain("more than one stamp found for request").reason("SIGNATURE_INVALID"),
        Authn::Unreadable(text) => plain(text),
        Authn::UnknownKey { organization, public_key, parent } => {
            let searched = if *parent { "organization or its parent organization" } else { "organization" };
            plain(&format!(
                "could not find public key in {searched}: organizationId={organization} publicKey={public_key}"
            ))
            .reason("PUBLIC_KEY_NOT_FOUND")
        }
        Authn::UnknownCredential { organization, credential_id } => plain(&format!(
            "credential ID could not be found in organization or its parent organization: \
             organizationId={organization} credentialId={credential_id}"
        ))
        .reason("CREDENTIAL_NOT_FOUND"),
        Authn::Unattested => plain("no user found for attested identity").reason("PUBLIC_KEY_NOT_FOUND"),
        Authn::SeveralChildren(lookup) => {
            let credential = if *lookup == Lookup::CredentialId { "credential ID" } else { "public key" };
            plain(&format!("more than one suborg associated with a {credential}")).reason("CREDENTIAL_CONFLICT")
        }
        Authn::Signature => plain("could not verify api key signature").reason("SIGNATURE_INVALID"),
        Authn::Assertion => plain("could not verify WebAuthN signature").reason("SIGNATURE_INVALID"),
        Authn::Registrant => {
            let text = "a new organization must be stamped with the passkey that it registers (X-Stamp-Webauthn header)";
            plain(text).reason("SIGNATURE_INVALID")
        }
        Authn::Expired => plain("expired api key").reason("API_KEY_EXPIRED").expired(),
        Authn::SessionOnSubmit => plain(
            "cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)",
        )
        .reason("SIGNATURE_MISSING"),
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

fn missing(reason: &Missing) -> ApiError {
    let plain = |message: &str| ApiError::new(Code::NotFound, message);
    match reason {
        Missing::Organization => {
            plain("no organization found with the given ID").reason("ORGANIZATION_NOT_FOUND")
        }
        Missing::Activity => plain("no activity found with the given ID"),
        Missing::Fingerprint => plain(
            "No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint.",
        ),
        Missing::User(user, organization) => {
            plain(&format!("unable to find user {user} in organization {organization}"))
        }
        Missing::ApiKey(id) => plain(&format!("no api key found with ID {id}")),
        Missing::Record(noun, id) => plain(&format!("no {noun} found with ID {id}")),
        Missing::Other(noun) => plain(&format!("no {noun} found with the given ID")),
        Missing::SigningResource => {
            plain("Could not find any resource to sign with. Addresses are case sensitive.")
        }
        Missing::WalletAccount(text) => plain(&format!("Could not find wallet account with {text}")),
    }
}

fn conflict(reason: &Conflict) -> ApiError {
    let plain = |message: &str| ApiError::new(Code::AlreadyExists, message);
    match reason {
        Conflict::Name(noun) => plain(&format!("{noun} name must be unique")),
        Conflict::PublicKey => plain("public key is already registered in this organization"),
        Conflict::CredentialId => plain("credential ID is already registered in this organization"),
        Conflict::OauthProvider => plain("OAuth provider already exists in this organization")
            .reason("OAUTH_PROVIDER_ALREADY_EXISTS"),
        Conflict::User => plain("user ID is already taken in this organization"),
        Conflict::Path(account) => plain(&format!("path already exists in wallet account {account}")),
        Conflict::Seed(wallet) => {
            plain(&format!("seed for wallet {wallet} already imported in this organization"))
        }
        Conflict::ImportedKey(key) => {
            plain(&format!("private key with ID {key} has already been imported in this organization"))
        }
    }
}

fn limit(reason: &Limit) -> String {
    match reason {
        Limit::Count(nouns, limit, _) => format!("organization has reached its limit of {limit} {nouns}"),
        Limit::LongLivedApiKeys => "user has exceeded maximum long-lived api keys".to_owned(),
        Limit::Authenticators => "user has exceeded maximum authenticators".to_owned(),
        Limit::Waiting(limit) => format!(
            "organization has reached its limit of {limit} activities waiting for votes (`waiting_activities`)"
        ),
        Limit::Denials(limit) => format!(
            "credential has reached its limit of {limit} denied activities within an hour (`denials_per_hour`)"
        ),
        Limit::Bytes(noun, limit, setting) => {
            format!("organization has reached its limit of {limit} bytes of {noun} (`{setting}`)")
        }
        Limit::Organizations(limit) => {
            format!("this service has reached its limit of {limit} organizations (`organizations`)")
        }
    }
}

fn not_implemented(reason: &Unimplemented) -> String {
    match reason {
        Unimplemented::Type(name) => format!("unimplemented: {name} is not offered by this service"),
        Unimplemented::Feature(text) => format!("unimplemented: {text}"),
    }
}
