//! Sends a recovery key to a user by mail.

use quorate_common::bounded::ExpirationSeconds;

use crate::kinds::prelude::*;
use crate::limits::LONGEST_RECOVERY_SECONDS;
use crate::make::mailed_key::{self, MailedKey};
use crate::make::sign_in;
use crate::messages;
use crate::model::one_time_code::Contact;
use crate::model::user::KeySource;
use crate::params::mailed_key::{AppRecoveryMailParams, MailedKeyRequest, RecoveryMailParams};

/// Sends a recovery key to the user with an email address, encrypted to the target key. The key can only register a
/// new authenticator.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V1(RecoveryMailParams);

/// Sends a recovery key in the name of an application. The key can only register a new authenticator.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V2(AppRecoveryMailParams);

const TOO_LONG: &str =
    "invalid request body: `parameters.expirationSeconds`: a recovery key lives at most 86400 seconds";

/// The version-independent parameters.
pub(in crate::kinds) struct Request(MailedKeyRequest);

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_id: UserId,
}

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY";
    const NUMBER: u16 = 47;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2";
    const NUMBER: u16 = 110;
    const RESULT: Option<&'static str> = Some("initUserEmailRecoveryResult");
}

convert_wrapped!(V1, V2 => Request);

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Recovery));
    const OPEN_TO_PARENT: bool = true;
    type Plan = MailedKey;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<MailedKey, RequestError> {
        let user = sign_in::holder(&Contact::Email(self.0.email.clone()), view.organization);
        let is_root = user.is_ok_and(|user| view.organization.is_root(user.id));
        let has_older_feature = view.organization.feature(FeatureName::RootUserEmailRecovery).is_some();
        if !(is_root && has_older_feature) {
            sign_in::check_feature(FeatureName::EmailRecovery, view.organization)?;
        }
        if self
            .0
            .seconds
            .as_ref()
            .is_some_and(|ExpirationSeconds(seconds)| *seconds > LONGEST_RECOVERY_SECONDS)
        {
            return Err(Wrong::Text(TOO_LONG).into());
        }
        mailed_key::check(&self.0, "Recovery", view)
    }

    fn execute(self, key: MailedKey, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let (user_id, _) = key.send(&self.0, KeySource::Recovery, messages::recovery, context)?;
        Ok(Outcome { user_id })
    }
}
