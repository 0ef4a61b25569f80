//! Makes the key of a session, and mails it to its user, encrypted to a key of the client.

use quorate_common::bounded::Email;
use quorate_common::ids::{ApiKeyId, UserId};

use super::session::{self, BundledSession};
use super::{one_time_code, sign_in};
use crate::error::{Corrupt, Intent, RequestError};
use crate::execution::Execution;
use crate::mail::Mail;
use crate::messages::Branding;
use crate::model::one_time_code::Contact;
use crate::model::queued_message::Purpose;
use crate::model::user::KeySource;
use crate::model::{Millis, User};
use crate::params::mailed_key::MailedKeyRequest;
use crate::params::session::BundledSessionResult;
use crate::view::View;

/// A key to make, whose parameters were checked.
pub struct MailedKey {
    /// User who gets it.
    pub user: User,
    session: BundledSession,
    branding: Branding,
}

/// Composes the mail, with the bundle of the key and its lifetime in minutes.
type Compose = fn(&Email, &str, u64, &Branding, &str, Millis) -> Result<Mail, Corrupt>;

/// Checks the parameters of a key. `flow` names it, unless its request does.
///
/// # Errors
/// If mail cannot be sent, a parameter is invalid, or the email address is not that of one user.
pub fn check(request: &MailedKeyRequest, flow: &str, view: &View<'_>) -> Result<MailedKey, RequestError> {
    if !view.sends_mail() {
        return Err(Intent::NoMail.into());
    }
    let session = BundledSession::check(&request.target, request.name.as_ref(), flow, view)?;
    let branding = request.customization.branding(&request.sender, view)?;
    let user = sign_in::holder(&Contact::Email(request.email.clone()), view.organization)?.clone();
    Ok(MailedKey { user, session, branding })
}

impl MailedKey {
    /// Makes the key and mails it. Returns the ids of the user and the key.
    ///
    /// # Errors
    /// If too many such mails were sent to the address, or the mail cannot be composed.
    pub fn send(
        self,
        request: &MailedKeyRequest,
        source: KeySource,
        compose: Compose,
        context: &mut Execution<'_>,
    ) -> Result<(UserId, ApiKeyId), RequestError> {
        let Self { user, session, branding } = self;
        one_time_code::count_mail(&Contact::Email(request.email.clone()), context)?;
        let BundledSessionResult { user_id, api_key_id, credential_bundle: bundle } =
            session.open(user, source, request.seconds, request.invalidates_existing, context)?;
        let (organization, now) =
            (context.view().shown_name(context.organization.head.name.as_str()), context.now());
        let seconds = session::seconds(request.seconds);
        let mut mail = compose(&request.email, &bundle, seconds / 60, &branding, &organization, now)?;
        mail.expires = Some(now.saturating_add(seconds.saturating_mul(1000)));
        mail.purpose = Some(Purpose::ApiKey(user_id, api_key_id));
        context.send(mail);
        Ok((user_id, api_key_id))
    }
}
