//! Parameters of users of an organization, and of root users of a sub-organization.

use quorate_common::bounded::{AtMost, Email, Label, Phone};
use quorate_common::ids::{TagId, UserId};
use quorate_common::wire_enum;
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

wire_enum! {
    /// Intended access of a user. It is recorded but has no effect.
    #[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
    pub enum AccessType {
        /// Web browser.
        Web = "ACCESS_TYPE_WEB",
        /// API.
        Api = "ACCESS_TYPE_API",
        /// Web browser and API.
        All = "ACCESS_TYPE_ALL",
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserResult {
    pub(crate) user_id: UserId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsersResult {
    pub(crate) user_ids: List<UserId>,
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
    /// Returns a user without phone number, credentials and tags.
    pub const fn new(name: Label, email: Option<Email>) -> Self {
        Self {
            name,
            email,
            phone: None,
            api_keys: Vec::new(),
            authenticators: Vec::new(),
            oauth_providers: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// Returns whether a token proves an OAuth identity of the user.
    pub fn has_token(&self) -> bool {
        self.oauth_providers.iter().any(NewOauthProvider::has_token)
    }

    /// Returns whether the user has a credential that does not expire.
    pub fn has_lasting_credential(&self) -> bool {
        let lasting_key = self.api_keys.iter().any(|key| key.expiration_seconds.is_none());
        lasting_key || !self.authenticators.is_empty() || !self.oauth_providers.is_empty()
    }
}

fn into<A: Into<B>, B>(list: List<A>) -> Vec<B> {
    list.into_iter().map(Into::into).collect()
}

/// A format of API keys, which distinguishes versions of root users.
pub trait ApiKeyFormat: Serialize + JsonSchema + Into<NewApiKey> {
    /// Description of a root user with such keys.
    const ROOT_USER: &'static str;
}

impl ApiKeyFormat for ApiKeyParams {
    const ROOT_USER: &'static str = "A root user who may have OAuth identities.";
}

impl ApiKeyFormat for ApiKeyParamsV2 {
    const ROOT_USER: &'static str = "A root user with API keys on selectable curves.";
}

/// A format of OAuth identities, which distinguishes versions of users.
pub trait OauthProviderFormat: PartialEq + Serialize + JsonSchema + Into<NewOauthProvider> {
    /// Description of a user with such identities.
    const USER: &'static str;
    /// Description of a root user with such identities.
    const ROOT_USER: &'static str;
}

impl OauthProviderFormat for OauthProviderParams {
    const USER: &'static str = "A user to create (version 3).";
    const ROOT_USER: &'static str = "A root user who may have a phone number.";
}

impl OauthProviderFormat for OauthProviderParamsV2 {
    const USER: &'static str = "A user to create (version 4).";
    const ROOT_USER: &'static str = "A root user whose OAuth identities may be given by their claims.";
}

/// A user to create (version 1).
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserParams {
    user_name: Label,
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
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            tags: params.user_tags.into_vec(),
            ..Self::new(params.user_name, params.user_email)
        }
    }
}

/// A user to create (version 2).
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserParamsV2 {
    user_name: Label,
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
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            tags: params.user_tags.into_vec(),
            ..Self::new(params.user_name, params.user_email)
        }
    }
}

/// A user to create (versions 3 and 4).
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "O: Deserialize<'de>"))]
#[schemars(description = O::USER)]
pub struct UserParamsV3<O: OauthProviderFormat> {
    user_name: Label,
    user_email: Option<Email>,
    user_phone_number: Option<Phone>,
    #[serde(default)]
    api_keys: List<ApiKeyParamsV2>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    oauth_providers: List<O>,
    #[serde(default)]
    user_tags: List<TagId>,
}

impl<O: OauthProviderFormat> From<UserParamsV3<O>> for NewUser {
    fn from(params: UserParamsV3<O>) -> Self {
        Self {
            phone: params.user_phone_number,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: into(params.oauth_providers),
            tags: params.user_tags.into_vec(),
            ..Self::new(params.user_name, params.user_email)
        }
    }
}

/// A user for a machine, with API keys only.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiOnlyUserParams {
    user_name: Label,
    user_email: Option<Email>,
    #[serde(default)]
    user_tags: List<TagId>,
    #[serde(default)]
    api_keys: List<ApiKeyParams>,
}

impl From<ApiOnlyUserParams> for NewUser {
    fn from(params: ApiOnlyUserParams) -> Self {
        Self {
            api_keys: into(params.api_keys),
            tags: params.user_tags.into_vec(),
            ..Self::new(params.user_name, params.user_email)
        }
    }
}

/// A root user with P-256 API keys and authenticators.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootUserParams {
    user_name: Label,
    user_email: Option<Email>,
    #[serde(default)]
    api_keys: List<ApiKeyParams>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
}

impl From<RootUserParams> for NewUser {
    fn from(params: RootUserParams) -> Self {
        Self {
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            ..Self::new(params.user_name, params.user_email)
        }
    }
}

/// A root user who may have OAuth identities (versions 2 and 3).
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "K: Deserialize<'de>"))]
#[schemars(description = K::ROOT_USER)]
pub struct RootUserParamsV2<K: ApiKeyFormat> {
    user_name: Label,
    user_email: Option<Email>,
    #[serde(default)]
    api_keys: List<K>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    oauth_providers: List<OauthProviderParams>,
}

impl<K: ApiKeyFormat> From<RootUserParamsV2<K>> for NewUser {
    fn from(params: RootUserParamsV2<K>) -> Self {
        Self {
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: into(params.oauth_providers),
            ..Self::new(params.user_name, params.user_email)
        }
    }
}

/// A root user who may have a phone number (versions 4 and 5).
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "O: Deserialize<'de>"))]
#[schemars(description = O::ROOT_USER)]
pub struct RootUserParamsV4<O: OauthProviderFormat> {
    user_name: Label,
    user_email: Option<Email>,
    user_phone_number: Option<Phone>,
    #[serde(default)]
    api_keys: List<ApiKeyParamsV2>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    oauth_providers: List<O>,
}

/// What a client signs about a root user whose contact it proves.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "O: Deserialize<'de>"))]
pub struct StatedUser<O: OauthProviderFormat> {
    #[serde(default)]
    api_keys: List<ApiKeyParamsV2>,
    #[serde(default)]
    authenticators: List<AuthenticatorParamsV2>,
    #[serde(default)]
    oauth_providers: List<O>,
    email: Option<Email>,
    phone_number: Option<Phone>,
}

impl<O: OauthProviderFormat> RootUserParamsV4<O> {
    /// Returns the name of the first member of a statement that differs from the contacts and credentials of the user.
    pub fn difference(&self, stated: &StatedUser<O>) -> Option<&'static str> {
        let members = [
            ("email", self.user_email == stated.email),
            ("phoneNumber", self.user_phone_number == stated.phone_number),
            ("apiKeys", *self.api_keys == *stated.api_keys),
            ("authenticators", *self.authenticators == *stated.authenticators),
            ("oauthProviders", *self.oauth_providers == *stated.oauth_providers),
        ];
        members.into_iter().find(|(_, is_same)| !is_same).map(|(name, _)| name)
    }
}

impl<O: OauthProviderFormat> From<RootUserParamsV4<O>> for NewUser {
    fn from(params: RootUserParamsV4<O>) -> Self {
        Self {
            phone: params.user_phone_number,
            api_keys: into(params.api_keys),
            authenticators: into(params.authenticators),
            oauth_providers: into(params.oauth_providers),
            ..Self::new(params.user_name, params.user_email)
        }
    }
}
