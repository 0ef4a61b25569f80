//! Opens a session for a user, with a key that is sent to them by mail.

use crate::kinds::prelude::*;
use crate::make::mailed_key::{self, MailedKey};
use crate::make::sign_in;
use crate::messages;
use crate::model::user::KeySource;
use crate::params::mailed_key::{AppSessionMailParams, MailedKeyRequest, SessionMailParams};

/// Opens a session for the user with an email address, and sends its key there, encrypted to the target key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V1(SessionMailParams);

/// The same as version 1.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V2(SessionMailParams);

/// Opens a session for the user with an email address, and sends its key there in the name of an application.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V3(AppSessionMailParams);

/// The version-independent parameters.
pub(in crate::kinds) struct Request(MailedKeyRequest);

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_id: UserId,
    api_key_id: ApiKeyId,
}

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_EMAIL_AUTH";
    const NUMBER: u16 = 56;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_EMAIL_AUTH_V2";
    const NUMBER: u16 = 71;
    const RESULT: Option<&'static str> = Some("emailAuthResult");
}

impl Version for V3 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_EMAIL_AUTH_V3";
    const NUMBER: u16 = 109;
    const RESULT: Option<&'static str> = Some("emailAuthResult");
}

convert_wrapped!(V1, V2, V3 => Request);

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Auth));
    const OPEN_TO_PARENT: bool = true;
    type Plan = MailedKey;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<MailedKey, RequestError> {
        sign_in::check_feature(FeatureName::EmailAuth, view.organization)?;
        mailed_key::check(&self.0, "Email Auth", view)
    }

    fn execute(self, key: MailedKey, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let (user_id, api_key_id) = key.send(&self.0, KeySource::EmailAuth, messages::credential, context)?;
        Ok(Outcome { user_id, api_key_id })
    }
}
