//! The errors of requests, grouped by cause and status.

mod wire;

use quorate_common::client_signature::ClientSignatureError;
use quorate_common::ids::{ApiKeyId, OrganizationId, UserId};
use quorate_common::json::JsonError;
use quorate_common::webauthn::AttestationError;

use crate::evaluation::Evaluation;

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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Intent {
    /// The body, or one of its members, is malformed.
    #[error("{0}")]
    Body(JsonError),
    /// `organizationId` is not a valid id.
    #[error("malformed organization ID provided")]
    OrganizationId,
    /// The activity type is unknown, or does not belong to the path.
    #[error("invalid request body: `type` does not belong to this path")]
    Type,
    /// `timestampMs` is malformed, too old, or too far ahead. Contains the message.
    #[error("{0}")]
    Time(&'static str),
    /// The caller's key belongs to a different organization than the one acted upon.
    #[error(
        "organization mismatch: request is targeting organization (\"{target}\"), but voters are in organization (\"{voters}\")"
    )]
    OtherOrganization {
        /// Organization acted upon.
        target: OrganizationId,
        /// Organization of the caller.
        voters: OrganizationId,
    },
    /// Sub-organizations cannot do this. Contains the action, as it follows "cannot" in the message.
    #[error("sub-organizations cannot {0}")]
    ClosedToChildren(&'static str),
    /// No mail server is configured.
    #[error("this service is not configured to send mail")]
    NoMail,
    /// A feature that the request needs is not enabled in the organization. Contains its name.
    #[error("{0} is not enabled in this organization")]
    FeatureOff(&'static str),
    /// A feature that users of sub-organizations need is not enabled in the parent. Contains its name.
    #[error("{0} is not enabled in the parent of this organization")]
    FeatureOffInParent(&'static str),
    /// No SMS gateway is configured.
    #[error("this service is not configured to send SMS")]
    NoSms,
    /// A one-time code is wrong, expired, used, unknown or was tried too often. All look the same.
    #[error("Invalid OTP code")]
    OtpCode,
    /// Too many codes were sent to the same receiver. Contains their number, and the minutes in which they are counted.
    #[error(
        "Max number of OTPs have been initiated please wait and try again: a contact, or a `userIdentifier`, gets {0} \
         codes within {1} minutes"
    )]
    TooManyCodes(usize, u64),
    /// The receiver has as many codes as can be valid at a time. Contains their number, and the seconds after which
    /// another one can be sent although none of them is used.
    #[error(
        "Max number of OTPs have been initiated please wait and try again: {0} codes of the contact, or of the \
         `userIdentifier`, are still valid and unused; another one can be sent after {1} s at the latest"
    )]
    TooManyValidCodes(usize, u64),
    /// Too many mails with a key were sent to the same address. Contains the same numbers.
    #[error(
        "Max number of OTPs have been initiated please wait and try again: an address gets {0} mails with a key \
         within {1} minutes"
    )]
    TooManyMails(usize, u64),
    /// Users of a sub-organization requested too many codes, mails with a key and invitations. Contains the same numbers.
    #[error(
        "Max number of OTPs have been initiated please wait and try again: the users of a sub-organization get {0} \
         codes, mails with a key and invitations within {1} minutes; those that its parent requests do not count"
    )]
    TooManyOfChild(usize, u64),
    /// Users of all sub-organizations of a parent requested too many such messages. Contains the same numbers.
    #[error(
        "Max number of OTPs have been initiated please wait and try again: the users of all sub-organizations of a \
         parent get {0} codes, mails with a key and invitations within {1} minutes (`sub_organization_messages`), and the \
         first one of each sub-organization; those that the parent requests do not count"
    )]
    TooManyOfChildren(usize, u64),
    /// A registered organization requested too many codes, mails with a key and invitations. Contains the same numbers.
    #[error(
        "Max number of OTPs have been initiated please wait and try again: an organization that was registered over the \
         API gets {0} codes, mails with a key and invitations within {1} minutes, until the operator trusts it"
    )]
    TooManyOfRegistered(usize, u64),
    /// All registered organizations together requested too many such messages. Contains the same numbers.
    #[error(
        "Max number of OTPs have been initiated please wait and try again: all organizations that were registered over \
         the API get {0} codes, mails with a key and invitations within {1} minutes, except those that the operator \
         trusts"
    )]
    TooManyOfAllRegistered(usize, u64),
    /// SMS are not sent to such phone numbers.
    #[error("codes by SMS are not sent to phone numbers with this prefix (`prefixes` in [sms])")]
    PhonePrefix,
    /// Users of all sub-organizations, or all registered organizations, had too many SMS sent. Contains the number.
    #[error(
        "Max number of OTPs have been initiated please wait and try again: the users of all sub-organizations of a \
         parent, and all organizations that were registered over the API, get {0} codes by SMS within an hour \
         (`sub_organization_sms`)"
    )]
    TooManySms(usize),
    /// A verification token is not one of this service, or is for another organization.
    #[error("invalid verification token")]
    VerificationToken,
    /// A verification token of this service has ended. It must stay so, whatever the clock shows later.
    #[error("invalid verification token")]
    EndedVerificationToken,
    /// A verification token proves another contact than the one that it is used for.
    #[error("verification token proves another contact")]
    OtherContact,
    /// The signature of a client does not state the use of its verification token.
    #[error("invalid client signature: {0}")]
    ClientSignature(ClientSignatureError),
    /// A list that must not be empty is empty. Contains its name.
    #[error("invalid request body: `{0}` must not be empty")]
    Empty(&'static str),
    /// A list contains the same element more than once. Contains its name.
    #[error("invalid request body: `{0}` contains a duplicate element")]
    Duplicate(&'static str),
    /// A quorum threshold is less than one or greater than the number of members. Contains the message.
    #[error("{0}")]
    Threshold(&'static str),
    /// A member of the root quorum is missing, or would be deleted.
    #[error("quorum users missing")]
    QuorumUsers,
    /// A user would be left without a credential. Contains the name or id of the user.
    #[error("user missing valid credential: {0}")]
    NoCredential(String),
    /// A key is not a valid public key on its curve.
    #[error("invalid public key: expected a public key on its curve in hexadecimal")]
    PublicKey,
    /// Any other invalid member. Contains the documented message.
    #[error("{0}")]
    Text(&'static str),
    /// Like `Text`, with a message that is composed at runtime.
    #[error("{0}")]
    Detail(String),
    /// A transaction cannot be decoded, or cannot be signed with this key. Contains the reason.
    #[error("{0}")]
    Transaction(String),
    /// Transactions of this type cannot be signed. Contains the message.
    #[error("{0}")]
    TransactionType(String),
    /// A wallet account that was never exported would be deleted, and its key possibly lost.
    #[error("wallet account has not been exported")]
    NotExported,
    /// The attestation of an authenticator cannot be verified.
    #[error("{0}")]
    Attestation(AttestationError),
    /// An ID token cannot be verified, or belongs to no user. Contains the reason for the log: clients do not learn
    /// whether somebody has an identity.
    #[error("invalid OIDC token")]
    OidcToken(&'static str),
    /// The keys of the issuer of an ID token cannot be read. Contains the reason.
    #[error("invalid OIDC token: {0}")]
    OidcIssuer(&'static str),
    /// ID tokens are not accepted by this service.
    #[error("OAUTH disallowed: this service is not configured to accept ID tokens (`[oidc]`)")]
    OauthOff,
    /// The service issues no ID tokens of its own.
    #[error("this service is not configured for OAuth 2.0 (`[oauth2]`)")]
    Oauth2Off,
    /// An authorization code cannot be exchanged. Contains the reason.
    #[error("OAuth 2.0 authentication failed: {0}")]
    Oauth2(&'static str),
    /// A pagination cursor does not refer to an item of the list.
    #[error("invalid request body: the cursor does not refer to an item of this list")]
    Cursor,
}

/// The reason why a request cannot be authenticated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Authn {
    /// There is no stamp.
    #[error("no valid authentication signature found for request")]
    None,
    /// There is more than one stamp.
    #[error("more than one stamp found for request")]
    Several,
    /// The stamp is malformed. Contains the documented message.
    #[error("{0}")]
    Unreadable(String),
    /// The API key is not registered in the organization, nor in its parent if that was searched.
    #[error("could not find public key in {}: organizationId={organization} publicKey={public_key}", searched(*.parent))]
    UnknownKey {
        /// Organization that was searched.
        organization: OrganizationId,
        /// Public key of the stamp.
        public_key: String,
        /// Whether the parent organization was searched as well.
        parent: bool,
    },
    /// The passkey is not registered in the organization, nor in its parent.
    #[error(
        "credential ID could not be found in organization or its parent organization: organizationId={organization} credentialId={credential_id}"
    )]
    UnknownCredential {
        /// Organization that was searched.
        organization: OrganizationId,
        /// Credential id of the stamp.
        credential_id: String,
    },
    /// No user has the contact or the identity that an attested stamp proves. Contains the organization that was
    /// searched.
    #[error("no user found for attested identity organizationId={0}")]
    Unattested(OrganizationId),
    /// An attested stamp is given for a request that it does not authenticate.
    #[error(
        "an attested stamp only opens sessions, proves who the caller is, and proves steps of MFA policies"
    )]
    AttestedOnly,
    /// More than one sub-organization has the credential. Contains its noun.
    #[error("more than one suborg associated with a {0}")]
    SeveralChildren(&'static str),
    /// The signature of an API key cannot be verified.
    #[error("could not verify api key signature")]
    Signature,
    /// The assertion of a passkey cannot be verified.
    #[error("could not verify WebAuthN signature")]
    Assertion,
    /// A request that creates an organization is not stamped with the passkey that it registers.
    #[error(
        "a new organization must be stamped with the passkey that it registers (X-Stamp-Webauthn header)"
    )]
    Registrant,
    /// The API key has expired.
    #[error("expired api key")]
    Expired,
    /// The feature of a recovery key is not on anymore, or was off since the key was made.
    #[error("expired recovery key: recovery by mail was disabled since it was sent")]
    RecoveryOff,
    /// A session is given where a stamp is required.
    #[error(
        "cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)"
    )]
    SessionOnSubmit,
    /// The read-only session has ended.
    #[error("expired session")]
    ExpiredSession,
    /// The session is unknown.
    #[error("no valid authentication signature found for request")]
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
    /// The session of the caller is limited by a profile, which does not permit this.
    Session,
    /// The caller has a recovery key, which does not permit this.
    RecoveryKey,
    /// Only a recovery key may propose this, and the caller has another credential.
    NoRecoveryKey,
    /// The activity would wait for votes, but its parameters contain a secret that is stored nowhere.
    Waiting,
    /// The proposer must prove further authentication methods, but the activity cannot wait for them.
    Authenticators,
    /// An attested stamp does not prove the next step of an MFA policy.
    Token,
    /// The one-time code of an attested stamp could be guessed, so it proves no step of an MFA policy.
    WeakCode,
}

/// An object that the request names and that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// Organization by its id.
    #[error("no organization found with the given ID")]
    Organization,
    /// Activity by its id.
    #[error("no activity found with the given ID")]
    Activity,
    /// Activity by its fingerprint.
    #[error(
        "No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint."
    )]
    Fingerprint,
    /// User, and the organization that was searched.
    #[error("unable to find user {0} in organization {1}")]
    User(UserId, OrganizationId),
    /// User by a contact. Contains its noun.
    #[error("no user found with this {0}")]
    Contact(&'static str),
    /// API key by its id.
    #[error("no api key found with ID {0}")]
    ApiKey(ApiKeyId),
    /// Any other record. Contains its noun and its id.
    #[error("no {0} found with ID {1}")]
    Record(&'static str, String),
    /// Any other object, where the message does not contain its id. Contains its noun.
    #[error("no {0} found with the given ID")]
    Other(&'static str),
    /// Wallet account or private key that `signWith` names.
    #[error("Could not find any resource to sign with. Addresses are case sensitive.")]
    SigningResource,
    /// Wallet account. Contains the address or path, as it follows "with" in the message.
    #[error("Could not find wallet account with {0}")]
    WalletAccount(String),
}

/// A conflict with an existing object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The name is in use. Contains the noun of the named object.
    #[error("{0} name must be unique")]
    Name(&'static str),
    /// The verification token was already used in this way.
    #[error("verification token has already been used")]
    VerificationToken,
    /// Several users have the contact, and none of them, or several, proved it.
    #[error("several users have this contact")]
    Contact,
    /// The public key is already registered.
    #[error("public key is already registered in this organization")]
    PublicKey,
    /// The authenticator is already registered.
    #[error("credential ID is already registered in this organization")]
    CredentialId,
    /// The OAuth identity already belongs to a user.
    #[error("OAuth provider already exists in this organization")]
    OauthProvider,
    /// Another caller sent the same bytes, which mean something else for them.
    #[error("another user sent the same bytes; send the request with another `timestampMs`")]
    Body,
    /// The authentication proxy acts in the name of the user.
    #[error(
        "the authentication proxy uses this user: its credentials and contacts cannot change, and it cannot join the root quorum"
    )]
    AuthProxy,
    /// The user id is already in use.
    #[error("user ID is already in use in this organization")]
    User,
    /// A new user would have an id that an expression names.
    #[error(
        "user ID is already named by a policy, an MFA policy or a session profile of this organization; choose a random one"
    )]
    NamedUser,
    /// The wallet already has an account at this path. Contains the id of the account.
    #[error("path already exists in wallet account {0}")]
    Path(String),
    /// The seed was already imported. Contains the id of the wallet.
    #[error("seed for wallet {0} already imported in this organization")]
    Seed(String),
    /// The private key was already imported. Contains its id.
    #[error("private key with ID {0} has already been imported in this organization")]
    ImportedKey(String),
}

/// A limit that the request would exceed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// A number of objects. Contains the plural noun, the limit, and the name of the setting if there is one.
    #[error("organization has reached its limit of {1} {0}")]
    Count(&'static str, usize, Option<&'static str>),
    /// Long-lived API keys of a user.
    #[error("user has exceeded maximum long-lived api keys")]
    LongLivedApiKeys,
    /// Authenticators of a user.
    #[error("user has exceeded maximum authenticators")]
    Authenticators,
    /// Activities that wait for votes. Contains the limit.
    #[error("organization has reached its limit of {0} activities waiting for votes (`waiting_activities`)")]
    Waiting(usize),
    /// Denied attempts by one credential within the lifetime of a body. Contains the limit.
    #[error("credential has reached its limit of {0} denied activities within an hour (`denials_per_hour`)")]
    Denials(usize),
    /// Top-level organizations. Contains the limit.
    #[error("this service has reached its limit of {0} organizations (`organizations`)")]
    Organizations(usize),
    /// Messages that wait to be sent. Contains the limit and the plural noun.
    #[error(
        "organization has reached its limit of {0} {1} waiting to be sent (`waiting_messages`); try again later"
    )]
    WaitingMessages(usize, &'static str),
    /// Bytes of messages that wait to be sent. Contains the limit and the plural noun.
    #[error(
        "organization has reached its limit of {0} bytes of {1} waiting to be sent (`waiting_message_bytes`); try again later"
    )]
    WaitingMessageBytes(usize, &'static str),
    /// Bytes that an organization uses. Contains a noun for their use, the limit, and the setting.
    #[error("organization has reached its limit of {1} bytes of {0} (`{2}`)")]
    Bytes(&'static str, usize, &'static str),
}

/// A part of the API that this service does not implement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unimplemented {
    /// A type of activity or query. Contains its name.
    #[error("unimplemented: {0} is not offered by this service")]
    Type(String),
    /// A feature of an implemented type. Contains a sentence.
    #[error("unimplemented: {0}")]
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

/// Returns the noun for the organizations in which a public key was searched.
const fn searched(parent: bool) -> &'static str {
    if parent { "organization or its parent organization" } else { "organization" }
}
