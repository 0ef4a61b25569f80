//! Parameters of users of an organization, and of root users of a sub-organization.

use quorate_common::bounded::{AtMost, Email, Label, Phone};
use quorate_common::ids::TagId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::credential::{
    ApiKeyParams, ApiKeyParamsV2, AuthenticatorParams, AuthenticatorParamsV2, OauthProviderParams,
    OauthProviderParamsV2,
};
use super::{NewApiKey, NewAuthenticator, NewOauthProvider};
use crate::limits::BATCH;

/// A list of parameters.
type List<T> = AtMost<T, BATCH>;

/// Intended access of a user. It is recorded but has no effect.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum AccessType {
    /// Web browser.
    #[serde(rename = "ACCESS_TYPE_WEB")]
    Web,
    /// API.
    #[serde(rename = "ACCESS_TYPE_API")]
    Api,
    /// Web browser and API.
    #[serde(rename = "ACCESS_TYPE_ALL")]
    All,
}

impl AccessType {
    /// Returns the name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Web => "ACCESS_TYPE_WEB",
            Self::Api => "ACCESS_TYPE_API",
            Self::All => "ACCESS_TYPE_ALL",
        }
    }
}

/// A user to create.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// Name of the user.
    pub name: Label,
    /// Email address.
    pub email: Option<Email>,
    /// Phone number.
    pub phone: Option<Phone>,
    /// API keys to register.
    pub api_keys: Vec<NewApiKey>,
    /// Authenticators to register.
    pub authenticators: Vec<NewAuthenticator>,
    /// OAuth identities to register.
    pub oauth_providers: Vec<NewOauthProvider>,
    /// Tags of the user.
    pub tags: Vec<TagId>,
}

impl NewUser {
    /// Returns whether the user has a credential that does not expire.
    pub fn has_lasting_credential(&self) -> bool {
        let lasting_key = self.api_keys.iter().any(|key| key.expiration_seconds.is_none());
        lasting_key || !self.authenticators.is_empty() || !self.oauth_providers.is_empty()
    }
}

fn into<A: Into<B>, B>(list: List<A>) -> Vec<B> {
    list.into_iter().map(Into::into).collect()
}

/// A user to create (version 1).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserParams {
    user_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    access_type: AccessType,
    #[serde(default)]
    api_keys: List<ApiKeyParams>,
    #[serde(default)]
    authenticators: List<AuthenticatorParams>,
    #[serde(default)]
    user_tags: List<TagId>,
}

impl From<UserParams> for NewUser {
    fn from(params: UserParams) -> Self {
        Self {
            name: params.user_name,
            email: params.user_email,
            phone: None,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: Vec::new(),
            tags: params.user_tags.into_vec(),
        }
    }
}

/// A user to create (version 2).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserParamsV2 {
    user_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    #[serde(default)]
    api_keys: List<ApiKeyParams>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    user_tags: List<TagId>,
}

impl From<UserParamsV2> for NewUser {
    fn from(params: UserParamsV2) -> Self {
        Self {
            name: params.user_name,
            email: params.user_email,
            phone: None,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: Vec::new(),
            tags: params.user_tags.into_vec(),
        }
    }
}

/// A user to create (version 3).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserParamsV3 {
    user_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_phone_number: Option<Phone>,
    #[serde(default)]
    api_keys: List<ApiKeyParamsV2>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    oauth_providers: List<OauthProviderParams>,
    #[serde(default)]
    user_tags: List<TagId>,
}

impl From<UserParamsV3> for NewUser {
    fn from(params: UserParamsV3) -> Self {
        Self {
            name: params.user_name,
            email: params.user_email,
            phone: params.user_phone_number,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: into(params.oauth_providers),
            tags: params.user_tags.into_vec(),
        }
    }
}

/// A user to create (version 4).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserParamsV4 {
    user_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_phone_number: Option<Phone>,
    #[serde(default)]
    api_keys: List<ApiKeyParamsV2>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    oauth_providers: List<OauthProviderParamsV2>,
    #[serde(default)]
    user_tags: List<TagId>,
}

impl From<UserParamsV4> for NewUser {
    fn from(params: UserParamsV4) -> Self {
        Self {
            name: params.user_name,
            email: params.user_email,
            phone: params.user_phone_number,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: into(params.oauth_providers),
            tags: params.user_tags.into_vec(),
        }
    }
}

/// A user for a machine, with API keys only.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiOnlyUserParams {
    user_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    #[serde(default)]
    user_tags: List<TagId>,
    #[serde(default)]
    api_keys: List<ApiKeyParams>,
}

impl From<ApiOnlyUserParams> for NewUser {
    fn from(params: ApiOnlyUserParams) -> Self {
        Self {
            name: params.user_name,
            email: params.user_email,
            phone: None,
            api_keys: into(params.api_keys),
            authenticators: Vec::new(),
            oauth_providers: Vec::new(),
            tags: params.user_tags.into_vec(),
        }
    }
}

/// A root user with P-256 API keys and authenticators.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootUserParams {
    user_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    #[serde(default)]
    api_keys: List<ApiKeyParams>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
}

impl From<RootUserParams> for NewUser {
    fn from(params: RootUserParams) -> Self {
        Self {
            name: params.user_name,
            email: params.user_email,
            phone: None,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: Vec::new(),
            tags: Vec::new(),
        }
    }
}

/// A root user who may have OAuth identities.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootUserParamsV2 {
    user_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    #[serde(default)]
    api_keys: List<ApiKeyParams>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    oauth_providers: List<OauthProviderParams>,
}

impl From<RootUserParamsV2> for NewUser {
    fn from(params: RootUserParamsV2) -> Self {
        Self {
            name: params.user_name,
            email: params.user_email,
            phone: None,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: into(params.oauth_providers),
            tags: Vec::new(),
        }
    }
}

/// A root user with API keys on selectable curves.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootUserParamsV3 {
    user_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    #[serde(default)]
    api_keys: List<ApiKeyParamsV2>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    oauth_providers: List<OauthProviderParams>,
}

impl From<RootUserParamsV3> for NewUser {
    fn from(params: RootUserParamsV3) -> Self {
        Self {
            name: params.user_name,
            email: params.user_email,
            phone: None,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: into(params.oauth_providers),
            tags: Vec::new(),
        }
    }
}

/// A root user who may have a phone number.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootUserParamsV4 {
    user_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_phone_number: Option<Phone>,
    #[serde(default)]
    api_keys: List<ApiKeyParamsV2>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    oauth_providers: List<OauthProviderParams>,
}

impl From<RootUserParamsV4> for NewUser {
    fn from(params: RootUserParamsV4) -> Self {
        Self {
            name: params.user_name,
            email: params.user_email,
            phone: params.user_phone_number,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: into(params.oauth_providers),
            tags: Vec::new(),
        }
    }
}

/// A root user whose OAuth identities may be given by their claims.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootUserParamsV5 {
    user_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_phone_number: Option<Phone>,
    #[serde(default)]
    api_keys: List<ApiKeyParamsV2>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    oauth_providers: List<OauthProviderParamsV2>,
}

impl From<RootUserParamsV5> for NewUser {
    fn from(params: RootUserParamsV5) -> Self {
        Self {
            name: params.user_name,
            email: params.user_email,
            phone: params.user_phone_number,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: into(params.oauth_providers),
            tags: Vec::new(),
        }
    }
}
