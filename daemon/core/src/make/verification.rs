//! Verification tokens: issued for an accepted code, and used as proof of a contact.

use quorate_common::bounded::{Email, Phone};
use quorate_common::client_signature::{self, ClientSignatureError, LoginStatement};
use quorate_common::ids::VerificationTokenId;
use quorate_common::token::{TokenEnd, UnsignedToken, VerificationClaims};

use super::one_time_code::Accepted;
use crate::authentication::UsedToken;
use crate::error::{Conflict, Corrupt, Intent, RequestError};
use crate::execution::Execution;
use crate::model::one_time_code::{Claim, Contact, OtpType, TokenUsage};
use crate::model::{Millis, Organization, User};
use crate::params::credential::VerificationToken;
use crate::params::one_time_code::ClientSignature;
use crate::params::user::UserResult;
use crate::view::{OwnRecords, View};
use crate::world::Installation;

/// The only scheme of client signatures.
const SCHEME: &str = "CLIENT_SIGNATURE_SCHEME_API_P256";

/// Issues a token that proves the contact of an accepted code. Its bytes do not state whether the code could be guessed, so
/// that is recorded.
///
/// # Errors
/// If the quorum key cannot sign it.
pub fn issue<T>(
    accepted: &Accepted<T>,
    public_key: Option<String>,
    exp: TokenEnd,
    context: &mut Execution<'_>,
) -> Result<String, RequestError> {
    let (contact, ends) = (&accepted.contact, exp.millis());
    let claims = VerificationClaims {
        // The id states when the token was issued, which a store that was restored must know.
        id: VerificationTokenId::timed(context.now(), context.random()),
        verification_type: contact.otp_type(),
        contact: contact.as_str().to_owned(),
        organization_id: context.organization.id(),
        public_key,
        exp,
    };
    let error = || Corrupt::Invariant("a verification token cannot be made");
    let token = UnsignedToken::verification(&claims).map_err(|_| error())?;
    let signature = context.installation().quorum_key().sign(token.statement())?;
    if !accepted.is_strong {
        context.claim(Claim::TokenUse(claims.organization_id, claims.id, TokenUsage::Step), ends);
    }
    Ok(token.signed(&signature).ok_or_else(error)?)
}

/// Checks that a token was not used in this way before.
///
/// # Errors
/// [`Conflict::VerificationToken`] if it was, or the error of the store.
pub fn check_unused(
    token: &UsedToken,
    usage: TokenUsage,
    records: OwnRecords<'_>,
) -> Result<(), RequestError> {
    let is_used = records.is_token_used(token.issuer, token.id, usage)?;
    if is_used { Err(Conflict::VerificationToken.into()) } else { Ok(()) }
}

/// A token that was checked, and the contact that it proves.
pub struct Proof {
    /// Contact.
    pub contact: Contact,
    claims: VerificationClaims,
}

/// Checks a token, as [`check`] does, for the organization of a view.
///
/// # Errors
/// [`Intent::VerificationToken`] if the token fails one of the checks.
pub fn read(token: &str, view: &View<'_>) -> Result<Proof, RequestError> {
    check(token, view.installation(), view.organization, view.now)
}

/// Checks a token: that this service signed it, for the organization or its parent, and that it has not ended.
///
/// # Errors
/// [`Intent::EndedVerificationToken`] if it has ended, and [`Intent::VerificationToken`] if it fails another check.
pub fn check(
    token: &str,
    installation: &dyn Installation,
    organization: &Organization,
    now: Millis,
) -> Result<Proof, RequestError> {
    let claims = VerificationClaims::read(token, &installation.quorum_key().public_key())
        .filter(|claims| {
            let issuer = claims.organization_id;
            issuer == organization.id() || Some(issuer) == organization.head.parent
        })
        .ok_or(Intent::VerificationToken)?;
    // What is known of its uses ends with a restore.
    if claims.exp.millis() <= now || claims.id.millis().unwrap_or_default() < installation.restored() {
        return Err(Intent::EndedVerificationToken.into());
    }
    let text = claims.contact.clone();
    let contact = match claims.verification_type {
        OtpType::Email => Email::parse(text).map(Contact::Email),
        OtpType::Sms => Phone::parse(text).map(Contact::Phone),
    };
    Ok(Proof { contact: contact.map_err(|_| Intent::VerificationToken)?, claims })
}

/// Checks that a token, if there is one, proves a contact.
///
/// # Errors
/// [`Intent::VerificationToken`] if the token is not accepted, and [`Intent::OtherContact`] if it proves another contact.
pub fn prove(
    token: Option<&VerificationToken>,
    contact: Option<&Contact>,
    view: &View<'_>,
) -> Result<Option<Proof>, RequestError> {
    let Some(token) = token else { return Ok(None) };
    let proof = read(token.reveal(), view)?;
    if contact == Some(&proof.contact) { Ok(Some(proof)) } else { Err(Intent::OtherContact.into()) }
}

/// Writes a user with a changed contact, and uses up the token that proves it, if there is one.
///
/// # Errors
/// If the token was already used to change a contact, or the store cannot be read.
pub(crate) fn put_contact(
    (user, proof): (User, Option<Proof>),
    context: &mut Execution<'_>,
) -> Result<UserResult, RequestError> {
    if let Some(proof) = proof {
        proof.use_once(TokenUsage::Contact, context)?;
    }
    let user_id = user.id;
    context.update_user(user);
    Ok(UserResult { user_id })
}

impl Proof {
    /// Checks that the token has the form that `VERIFY_OTP` version 2 gives it: bound to a key.
    ///
    /// # Errors
    /// [`Intent::VerificationToken`] if it has not.
    pub fn check_bound(&self) -> Result<(), RequestError> {
        let is_bound = self.claims.public_key.is_some() && matches!(self.claims.exp, TokenEnd::Millis(_));
        if is_bound { Ok(()) } else { Err(Intent::VerificationToken.into()) }
    }

    /// Checks that the token is bound to a public key.
    ///
    /// # Errors
    /// [`Intent::VerificationToken`] if it is bound to another key, or to none.
    pub fn check_key(&self, public_key: &str) -> Result<(), RequestError> {
        let bound = self.claims.public_key.as_ref().filter(|key| key.eq_ignore_ascii_case(public_key));
        if bound.is_some() { Ok(()) } else { Err(Intent::VerificationToken.into()) }
    }

    /// Returns the organization that issued the token, the id of the token, and the time at which it ends.
    pub fn token(&self) -> UsedToken {
        UsedToken { issuer: self.claims.organization_id, id: self.claims.id, ends: self.claims.exp.millis() }
    }

    /// Checks that the key of the token signed a statement about this token that `states` accepts. A token without a
    /// key needs no signature.
    ///
    /// # Errors
    /// [`Intent::ClientSignature`] if there is no such signature.
    pub fn check_signed(
        &self,
        signature: Option<&ClientSignature>,
        states: impl FnOnce(&str, VerificationTokenId) -> Result<(), ClientSignatureError>,
    ) -> Result<(), RequestError> {
        let Some(key) = &self.claims.public_key else { return Ok(()) };
        let check = || {
            let signature = signature.ok_or(ClientSignatureError::Missing)?;
            let message = signature.message.as_str();
            if signature.scheme.as_str() != SCHEME {
                return Err(ClientSignatureError::Scheme);
            }
            if !signature.public_key.as_str().eq_ignore_ascii_case(key) {
                return Err(ClientSignatureError::Key);
            }
            client_signature::verify(message, key, signature.signature.as_str())?;
            states(message, self.claims.id)
        };
        Ok(check().map_err(Intent::ClientSignature)?)
    }

    /// Checks that the key of the token signed the login with a public key. A token without a key needs no
    /// signature.
    ///
    /// # Errors
    /// [`Intent::ClientSignature`] if there is no such signature.
    pub fn check_login(
        &self,
        signature: Option<&ClientSignature>,
        public_key: &str,
    ) -> Result<(), RequestError> {
        self.check_signed(signature, |message, token| {
            let statement = LoginStatement::read(message).ok_or(ClientSignatureError::Login)?;
            if statement.token_id != token {
                return Err(ClientSignatureError::Token);
            }
            let is_same = statement.login.public_key.eq_ignore_ascii_case(public_key);
            if is_same { Ok(()) } else { Err(ClientSignatureError::PublicKey) }
        })
    }

    /// Uses the token, which is possible once for each usage.
    ///
    /// # Errors
    /// [`Conflict::VerificationToken`] if it was used in this way before, or the error of the store.
    pub fn use_once(&self, usage: TokenUsage, context: &mut Execution<'_>) -> Result<(), RequestError> {
        let token = self.token();
        check_unused(&token, usage, context.records())?;
        context.claim(token.claim(usage), token.ends);
        Ok(())
    }
}
