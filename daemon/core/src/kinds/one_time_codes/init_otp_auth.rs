//! Sends a one-time code to a user, which opens a session.

use crate::kinds::prelude::*;
use crate::make::code_request::{self, Delivery};
use crate::make::one_time_code::Flow;
use crate::make::sign_in;
use crate::params::one_time_code::{AppCodeParams, CodeParams, CodeRequest, DefaultCodeParams, OtpResult};

/// Sends a one-time code to a user, which opens a session.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V1(DefaultCodeParams);

/// Sends a one-time code to a user, which opens a session. Version 2 states the length and the letters of
/// the code.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V2(CodeParams);

/// Sends a one-time code to a user in the name of an application, which opens a session.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V3(AppCodeParams);

/// The version-independent parameters.
pub(in crate::kinds) struct Request(CodeRequest);

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_OTP_AUTH";
    const NUMBER: u16 = 77;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_OTP_AUTH_V2";
    const NUMBER: u16 = 83;
}

impl Version for V3 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_OTP_AUTH_V3";
    const NUMBER: u16 = 111;
    const RESULT: Option<&'static str> = Some("initOtpAuthResultV2");
}

convert_wrapped!(V1, V2, V3 => Request);

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Auth));
    const OPEN_TO_PARENT: bool = true;
    type Plan = (UserId, Delivery);
    type Outcome = OtpResult;

    fn rules(&self, view: &View<'_>) -> Result<(UserId, Delivery), RequestError> {
        let delivery = code_request::check(&self.0, view)?;
        Ok((sign_in::holder(&delivery.contact, view.organization)?.id, delivery))
    }

    fn execute(
        self,
        (user, delivery): (UserId, Delivery),
        context: &mut Execution<'_>,
    ) -> Result<OtpResult, RequestError> {
        Ok(OtpResult { otp_id: code_request::send(&self.0, delivery, Flow::Auth(user), context)?.id })
    }
}
