//! Every reason to say no, grouped by whose fault it is and what to answer. One conversion to the wire form.

use quorate_common::fault::{Code, Fault};
use quorate_common::ids::{ApiKeyId, OrganizationId, UserId};
use quorate_common::json::{Flaw, Rule};
use quorate_common::webauthn::AttestationFlaw;
use quorate_policy::decide::PolicyOutcome;
use serde_json::json;

use crate::model::{Evaluation, layout::Lookup};

/// Why a request is not carried out.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The request itself is wrong.
    Intent(Intent),
    /// No valid stamp.
    Authn(Authn),
    /// The caller is known and may not do this.
    Denied(Denied),
    /// A named thing does not exist, or belongs to somebody else.
    Missing(Missing),
    /// A named thing exists already.
    Clash(Clash),
    /// A limit is reached.
    Limit(Limit),
    /// Not offered here.
    Unoffered(Unoffered),
    /// A record is damaged, or a check of our own failed. Details go to the log, not to the caller.
    Corrupt(Corrupt),
}

/// The request itself is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// The body or a member of it has the wrong form.
    Body(Flaw),
    /// `organizationId` is not an id.
    OrganizationId,
    /// The type does not belong to the path, or is not known.
    Type,
    /// `timestampMs` is missing, unreadable, too old or ahead.
    Time(&'static str),
    /// The caller's key belongs to another organization than the one acted upon.
    OtherOrganization {
        /// Organization acted upon.
        target: OrganizationId,
        /// Organization of the caller.
        voters: OrganizationId,
    },
    /// Closed to sub-organizations. Holds what they cannot do.
    ClosedToChildren(&'static str),
    /// Nothing is configured that could send mail.
    NoMail,
    /// A list that needs an element is empty. Holds its name.
    Empty(&'static str),
    /// An element stands twice. Holds the name of the list.
    Twice(&'static str),
    /// The threshold is below one or above the number of members.
    Threshold(&'static str),
    /// Root users are missing or would go away.
    QuorumUsers,
    /// A user would have no credential.
    NoCredential(String),
    /// A key is not a public key of its curve.
    PublicKey,
    /// Something a member names does not fit. Holds the documented text.
    Text(&'static str),
    /// As `Text`, with runtime text.
    Detail(String),
    /// What is to be signed cannot be read, or not by this key. Holds why.
    Transaction(String),
    /// Transactions of this type are not signed. Holds which.
    TransactionType(String),
    /// A wallet account would go of which nobody may have a copy.
    NotExported,
    /// An authenticator's registration does not hold.
    Attestation(AttestationFlaw),
    /// An identity token cannot be verified.
    OidcToken,
    /// A cursor names nothing.
    Cursor,
}

/// No valid stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authn {
    /// No stamp at all.
    None,
    /// More than one stamp.
    Several,
    /// The stamp is unreadable. Holds the documented text.
    Unreadable(String),
    /// The key is not registered where it is looked for.
    UnknownKey {
        /// Organization it was looked for in.
        organization: OrganizationId,
        /// Key of the stamp.
        public_key: String,
        /// Whether a parent was looked in, too.
        parent: bool,
    },
    /// A passkey that is not registered where it is looked for.
    UnknownCredential {
        /// Organization it was looked for in.
        organization: OrganizationId,
        /// Credential id of the stamp.
        credential_id: String,
    },
    /// An attested stamp, which proves a sign-in that is not known.
    Unattested,
    /// A look-up by this found the credential in several sub-organizations.
    SeveralChildren(Lookup),
    /// The signature does not fit.
    Signature,
    /// The assertion of a passkey does not hold.
    Assertion,
    /// An organization is founded by somebody else than the holder of its passkey.
    Founder,
    /// The key has come to its end.
    Expired,
    /// A session where a stamp is needed.
    SessionOnSubmit,
    /// A session that is not known.
    UnknownSession,
}

/// The caller may not do this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// No rule allows it. Holds what each policy said.
    Policies(Vec<Evaluation>),
    /// A policy denies it. Holds what each policy said.
    Explicit(Vec<Evaluation>),
    /// The caller can have no part in this decision.
    NotYours,
    /// Requests are not taken from the caller's address.
    Address,
}

/// A named thing does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// Organization.
    Organization,
    /// Activity by id.
    Activity,
    /// Activity by fingerprint.
    Fingerprint,
    /// User.
    User(UserId, OrganizationId),
    /// API key.
    ApiKey(ApiKeyId),
    /// A record by its id. Holds its noun and the id.
    Record(&'static str, String),
    /// Anything else. Holds its noun.
    Thing(&'static str),
    /// What `signWith` names.
    SigningResource,
    /// Wallet account by address or path.
    WalletAccount(String),
}

/// A named thing exists already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clash {
    /// A name is taken. Holds the noun of what bears it.
    Name(&'static str),
    /// A public key is registered already.
    PublicKey,
    /// An authenticator is registered already.
    CredentialId,
    /// An OAuth identity belongs to somebody already.
    OauthProvider,
    /// A user has this id already.
    User,
    /// The wallet has this account already. Holds the id of the account.
    Path(String),
    /// This seed was imported already. Holds the id of the wallet.
    Seed(String),
    /// This private key was imported already. Holds its id.
    ImportedKey(String),
}

/// A limit is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// As many as allowed. Holds the plural noun, the limit, and the name of the setting if it can be set.
    Count(&'static str, usize, Option<&'static str>),
    /// As many long-lived API keys as a user may have.
    LongLivedApiKeys,
    /// As many authenticators as a user may have.
    Authenticators,
    /// As many activities wait for votes as may. Holds the limit.
    Waiting(usize),
    /// As many attempts by a credential were denied within the life of a body as may be. Holds the limit.
    Denials(usize),
    /// As many organizations without a parent as may be founded. Holds the limit.
    Organizations(usize),
    /// As many bytes as an organization may have of something. Holds what they are of, the limit, and the name of the
    /// setting.
    Bytes(&'static str, usize, &'static str),
}

/// Not offered here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unoffered {
    /// A type of the API that this service does not have.
    Type(String),
    /// A feature of a known type. Holds a sentence.
    Feature(String),
}

/// A fault of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Corrupt {
    /// A stored record does not open, parse or agree with others. Holds which kind of record.
    #[error("a stored {0} is damaged")]
    Record(&'static str),
    /// The store could not be read. Holds the cause for the log.
    #[error("the store could not be read: {0}")]
    Store(String),
    /// The store failed and is being reopened.
    #[error("the store is being reopened after a failure")]
    Unavailable,
    /// The records of an organization are not those that its head was sealed with: someone changed them on disk.
    #[error("the stored records of organization {0} were changed outside the service; run `quorated verify`")]
    Altered(OrganizationId),
    /// An organization changed while it was read, since this version of it. The answer is to be computed again.
    #[error("organization {0} changed after its version {1} was read")]
    Outdated(OrganizationId, u64),
    /// A signature did not stand the check by the second implementation, and was withheld.
    #[error("a signature failed its check and was withheld")]
    Signature,
    /// Something that cannot be, by our own rules. Holds a sentence for the log.
    #[error("{0}")]
    Invariant(&'static str),
    /// The work ended before its answer. It stands here, since nothing may be concluded from what was not read.
    #[error("{0}")]
    Stopped(Stopped),
}

/// Why work ended before its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// It read as many rows as an answer may cost. Holds the limit.
    #[error("the answer would take more than {0} rows of the store (`rows_per_answer`)")]
    Rows(usize),
    /// Nobody waits for the answer any more.
    #[error("the client went away")]
    Cancelled,
}

macro_rules! into_refusal {
    ($($group:ident),*) => {$(
        impl From<$group> for Refusal {
            fn from(reason: $group) -> Self {
                Self::$group(reason)
            }
        }
    )*};
}

into_refusal!(Intent, Authn, Denied, Missing, Clash, Limit, Unoffered, Corrupt);

impl From<Flaw> for Refusal {
    fn from(flaw: Flaw) -> Self {
        Self::Intent(Intent::Body(flaw))
    }
}

impl Refusal {
    /// The wire form.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Intent(reason) => intent(reason),
            Self::Authn(reason) => authn(reason),
            Self::Denied(reason) => denied(reason),
            Self::Missing(reason) => missing(reason),
            Self::Clash(reason) => clash(reason),
            Self::Limit(reason) => {
                let fault = Fault::new(Code::ResourceExhausted, limit(reason));
                reason.key().into_iter().fold(fault, Fault::limit)
            }
            Self::Unoffered(reason) => Fault::new(Code::Unimplemented, unoffered(reason)),
            Self::Corrupt(Corrupt::Unavailable) => {
                Fault::new(Code::Unavailable, "the service is reopening its store; try again later")
            }
            Self::Corrupt(Corrupt::Altered(_)) => Fault::new(
                Code::Internal,
                "the stored records of this organization were changed outside the service; its operator must restore them",
            )
            .reason("RECORDS_ALTERED"),
            Self::Corrupt(Corrupt::Stopped(stopped)) => stopped.fault(),
            Self::Corrupt(_) => Fault::new(Code::Internal, "internal server error").reason("INTERNAL"),
        }
    }
}

impl Limit {
    /// The key in `[limits]`, if the limit can be set.
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
    fn fault(self) -> Fault {
        match self {
            Self::Rows(_) => Fault::new(
                Code::ResourceExhausted,
                format!("{self}; ask for a page with `paginationOptions`"),
            )
            .limit("rows_per_answer"),
            Self::Cancelled => Fault::new(Code::Unavailable, self.to_string()),
        }
    }
}

fn intent(reason: &Intent) -> Fault {
    let plain = |message: &str| Fault::new(Code::InvalidArgument, message);
    match reason {
        Intent::Body(flaw @ Flaw::Member { rule: Rule::Email, .. }) => {
            plain(&flaw.to_string()).reason("INVALID_EMAIL")
        }
        Intent::Body(flaw) => plain(&flaw.to_string()),
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
        Intent::NoMail => plain("this service has no way to send mail").reason("EMAIL_SENDING_DISABLED"),
        Intent::Empty(list) => plain(&format!("invalid request body: `{list}` must not be empty")),
        Intent::Twice(list) => plain(&format!("invalid request body: `{list}` holds an element twice")),
        Intent::Threshold(text) | Intent::Text(text) => plain(text),
        Intent::QuorumUsers => plain("quorum users missing"),
        Intent::NoCredential(who) => plain(&format!("user missing valid credential: {who}")),
        Intent::PublicKey => plain("invalid public key: expected a public key of its curve in hex"),
        Intent::Detail(text) => plain(text),
        Intent::Transaction(text) => plain(text).reason("INVALID_TRANSACTION"),
        Intent::TransactionType(text) => plain(text).reason("UNSUPPORTED_TRANSACTION_TYPE"),
        Intent::NotExported => {
            plain("wallet account has not been exported").reason("WALLET_ACCOUNT_NOT_EXPORTED")
        }
        Intent::Attestation(flaw) => plain(&flaw.to_string()),
        Intent::OidcToken => plain("invalid OIDC token").reason("INVALID_OIDC_TOKEN"),
        Intent::Cursor => plain("invalid request body: the cursor names nothing in this list"),
    }
}

fn authn(reason: &Authn) -> Fault {
    let plain = |message: &str| Fault::new(Code::Unauthenticated, message);
    match reason {
        Authn::None | Authn::UnknownSession => {
            plain("no valid authentication signature found for request").reason("SIGNATURE_MISSING")
        }
        Authn::Several => plain("more than one stamp found for request").reason("SIGNATURE_INVALID"),
        Authn::Unreadable(text) => plain(text),
        Authn::UnknownKey { organization, public_key, parent } => {
            let place = if *parent { "organization or its parent organization" } else { "organization" };
            plain(&format!(
                "could not find public key in {place}: organizationId={organization} publicKey={public_key}"
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
            let what = if *lookup == Lookup::CredentialId { "credential ID" } else { "public key" };
            plain(&format!("more than one suborg associated with a {what}")).reason("CREDENTIAL_CONFLICT")
        }
        Authn::Signature => plain("could not verify api key signature").reason("SIGNATURE_INVALID"),
        Authn::Assertion => plain("could not verify WebAuthN signature").reason("SIGNATURE_INVALID"),
        Authn::Founder => {
            let text = "a new organization must be stamped by the passkey that it registers (X-Stamp-Webauthn header)";
            plain(text).reason("SIGNATURE_INVALID")
        }
        Authn::Expired => plain("expired api key").reason("API_KEY_EXPIRED").expired(),
        Authn::SessionOnSubmit => plain(
            "cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)",
        )
        .reason("SIGNATURE_MISSING"),
    }
}

fn denied(reason: &Denied) -> Fault {
    let (inner, said) = match reason {
        Denied::Address => {
            return Fault::new(Code::PermissionDenied, "request IP address is not in the IP allowlist")
                .reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::NotYours => {
            return Fault::new(Code::PermissionDenied, "request not authorized")
                .reason("REQUEST_NOT_AUTHORIZED");
        }
        Denied::Policies(said) => ("No policies evaluated to outcome: Allow".to_owned(), said),
        Denied::Explicit(said) => {
            let deniers = said.iter().filter(|one| one.outcome == PolicyOutcome::DenyExplicit);
            let ids: Vec<String> = deniers.map(|one| one.policy.to_string()).collect();
            (format!("The following policies denied this action: {}", ids.join(", ")), said)
        }
    };
    let evaluations: Vec<_> = said.iter().map(Evaluation::wire).collect();
    let mut fault = Fault::new(
        Code::PermissionDenied,
        "You don't have sufficient permissions to take this action. A root user of the organization can add a policy that allows it.",
    );
    fault.details.push(json!({
        "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
        "message": inner,
        "policyEvaluations": evaluations,
    }));
    fault.reason("REQUEST_NOT_AUTHORIZED")
}

fn missing(reason: &Missing) -> Fault {
    let plain = |message: &str| Fault::new(Code::NotFound, message);
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
        Missing::Thing(noun) => plain(&format!("no {noun} found with the given ID")),
        Missing::SigningResource => {
            plain("Could not find any resource to sign with. Addresses are case sensitive.")
        }
        Missing::WalletAccount(text) => plain(&format!("Could not find wallet account with {text}")),
    }
}

fn clash(reason: &Clash) -> Fault {
    let plain = |message: &str| Fault::new(Code::AlreadyExists, message);
    match reason {
        Clash::Name(noun) => plain(&format!("{noun} name must be unique")),
        Clash::PublicKey => plain("public key is already registered in this organization"),
        Clash::CredentialId => plain("credential ID is already registered in this organization"),
        Clash::OauthProvider => plain("OAuth provider already exists in this organization")
            .reason("OAUTH_PROVIDER_ALREADY_EXISTS"),
        Clash::User => plain("user ID is already taken in this organization"),
        Clash::Path(account) => plain(&format!("path already exists in wallet account {account}")),
        Clash::Seed(wallet) => {
            plain(&format!("seed for wallet {wallet} already imported in this organization"))
        }
        Clash::ImportedKey(key) => {
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
            "organization has reached its limit of {limit} activities that wait for votes (`waiting_activities`)"
        ),
        Limit::Denials(limit) => format!(
            "credential has reached its limit of {limit} denied activities within an hour (`denials_per_hour`)"
        ),
        Limit::Bytes(what, limit, setting) => {
            format!("organization has reached its limit of {limit} bytes of {what} (`{setting}`)")
        }
        Limit::Organizations(limit) => {
            format!("this service has reached its limit of {limit} organizations (`organizations`)")
        }
    }
}

fn unoffered(reason: &Unoffered) -> String {
    match reason {
        Unoffered::Type(name) => format!("unimplemented: {name} is not offered by this service"),
        Unoffered::Feature(text) => format!("unimplemented: {text}"),
    }
}
