//! Version 1: one root user with one authenticator.

use super::results::Ids;
use super::{CreateSubOrganization, DisabledFeatures, Request};
use crate::kinds::prelude::*;
use crate::params::NewUser;
use crate::params::credential::AuthenticatorParamsV2;

/// Creates a sub-organization with one root user, who has one authenticator.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    name: Label,
    root_authenticator: AuthenticatorParamsV2,
}

impl Version for Intent {
    type Kind = CreateSubOrganization;
    type Outcome = Ids;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION";
    const NUMBER: u16 = 37;
    const RESULT: &'static str = "createSubOrganizationResult";
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        let root_user = NewUser {
            name: intent.root_authenticator.name(),
            email: None,
            phone: None,
            api_keys: Vec::new(),
            authenticators: vec![intent.root_authenticator.into()],
            oauth_providers: Vec::new(),
            tags: Vec::new(),
        };
        Self {
            name: intent.name,
            root_users: vec![root_user],
            threshold: 1,
            private_keys: Vec::new(),
            wallet: None,
            disabled: DisabledFeatures::default(),
            verified_contact: false,
        }
    }
}
