//! Sign-up with a verification token: a root user of a new sub-organization proves their contact.

use quorate_common::client_signature::{self, ClientSignatureError, SignUpStatement};
use quorate_common::ids::VerificationTokenId;
use serde::{Deserialize, Serialize};

use super::verification::{self, Proof};
use crate::error::{Intent, RequestError};
use crate::execution::Execution;
use crate::model::User;
use crate::model::one_time_code::{Contact, TokenUsage};
use crate::params::NewUser;
use crate::params::credential::VerificationToken;
use crate::params::one_time_code::ClientSignature;
use crate::params::user::{OauthProviderFormat, RootUserParamsV4, StatedUser};
use crate::view::View;

/// A verification token that is used to sign up, and what the client signed about it.
pub struct SignUp {
    token: Option<VerificationToken>,
    signature: Option<ClientSignature>,
    stated: Result<Stated, ClientSignatureError>,
    is_bound: bool,
}

/// What a client signed, compared with the root users of the request.
struct Stated {
    token: VerificationTokenId,
    /// For each root user, the first member that differs from the statement, if one does.
    differences: Vec<Option<&'static str>>,
}

/// The root user whose contact is proved, by its position, and the proof.
pub struct ProvedUser {
    position: usize,
    proof: Proof,
}

impl SignUp {
    /// Compares the statement with the root users. Returns `None` if there is neither a token nor a signature. With
    /// `is_bound`, only a token of `VERIFY_OTP` version 2 is accepted.
    pub fn read<'a, O>(
        token: Option<VerificationToken>,
        signature: Option<ClientSignature>,
        users: impl IntoIterator<Item = &'a RootUserParamsV4<O>>,
        is_bound: bool,
    ) -> Option<Self>
    where
        O: OauthProviderFormat + for<'de> Deserialize<'de> + 'a,
    {
        if token.is_none() && signature.is_none() {
            return None;
        }
        let statement = signature
            .as_ref()
            .ok_or(ClientSignatureError::Missing)
            .and_then(|one| SignUpStatement::read(one.message.as_str()).ok_or(ClientSignatureError::SignUp));
        let stated = statement.and_then(|statement| {
            let user = stated_user::<O>(&statement).ok_or(ClientSignatureError::UnknownMember)?;
            let differences = users.into_iter().map(|one| one.difference(&user)).collect();
            Ok(Stated { token: statement.token_id, differences })
        });
        Some(Self { token, signature, stated, is_bound })
    }

    /// Checks that the token proves the contact of exactly one of these users, and that the key of the token signed the
    /// sign-up of that user.
    ///
    /// # Errors
    /// If the token is missing or is not accepted, if it proves the contact of none or of several users, or if the signature does
    /// not state the sign-up.
    pub fn check(&self, users: &[NewUser], view: &View<'_>) -> Result<ProvedUser, RequestError> {
        let token = self.token.as_ref().ok_or(Intent::VerificationToken)?;
        let proof = verification::read(token.reveal(), view)?;
        if self.is_bound {
            proof.check_bound()?;
        }
        let mut holders = users.iter().enumerate().filter(|(_, user)| has_contact(user, &proof.contact));
        let (Some((position, _)), None) = (holders.next(), holders.next()) else {
            return Err(Intent::OtherContact.into());
        };
        proof.check_signed(self.signature.as_ref(), |_, id| {
            let stated = self.stated.as_ref().map_err(|error| *error)?;
            if stated.token != id {
                return Err(ClientSignatureError::Token);
            }
            match stated.differences.get(position) {
                Some(None) => Ok(()),
                Some(Some(member)) => Err(ClientSignatureError::User(member)),
                None => Err(ClientSignatureError::SignUp),
            }
        })?;
        Ok(ProvedUser { position, proof })
    }
}

impl ProvedUser {
    /// Returns the user at a position, with the contact as proved if it is that of this user.
    #[must_use]
    pub fn verified(&self, position: usize, user: User) -> User {
        if position == self.position { self.proof.contact.verified(user) } else { user }
    }

    /// Uses the token, which is possible once.
    ///
    /// # Errors
    /// If it was used to sign up before, or the store cannot be read.
    pub fn use_once(&self, context: &mut Execution<'_>) -> Result<(), RequestError> {
        self.proof.use_once(TokenUsage::SignUp, context)
    }
}

/// Returns the user that a statement describes. Returns `None` if it contains members that are not known.
fn stated_user<O>(statement: &SignUpStatement) -> Option<StatedUser<O>>
where
    O: OauthProviderFormat + Serialize + for<'de> Deserialize<'de>,
{
    let user: StatedUser<O> = serde_json::from_value(statement.user().clone()).ok()?;
    let known = serde_json::to_value(&user).ok()?;
    client_signature::has_only(statement.user(), &known).then_some(user)
}

fn has_contact(user: &NewUser, contact: &Contact) -> bool {
    match contact {
        Contact::Email(email) => user.email.as_ref() == Some(email),
        Contact::Phone(phone) => user.phone.as_ref() == Some(phone),
    }
}
