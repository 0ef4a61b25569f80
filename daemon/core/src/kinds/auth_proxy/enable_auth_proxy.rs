//! Creates the user in whose name the authentication proxy stamps requests.

use quorate_chain::curve::{Curve, SecretKey};
use quorate_common::stamp::ApiKeyCurve;

use crate::error::Corrupt;
use crate::kinds::prelude::*;
use crate::make::user;
use crate::params::user::UserResult;
use crate::params::{NewApiKey, NewUser};
use crate::secret::SecretBytes;

/// Name of the user and of the API key.
const NAME: &str = "authentication proxy (key held by the daemon)";

/// Creates the user in whose name the authentication proxy stamps requests. Policies decide what that user may do.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(extend("properties" = {}))]
pub(in crate::kinds) struct Intent {}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_ENABLE_AUTH_PROXY";
    const NUMBER: u16 = 95;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::AuthProxy));
    type Plan = Label;
    type Outcome = UserResult;

    fn rules(&self, view: &View<'_>) -> Result<Label, RequestError> {
        if view.organization.head.parent.is_some() {
            return Err(Wrong::ClosedToChildren("enable the authentication proxy").into());
        }
        if view.organization.head.auth_proxy.is_some() {
            return Err(Wrong::Text("the authentication proxy is already enabled").into());
        }
        check_limit(view.organization.users().count(), 1, view.limits().users, "users", "users")?;
        Ok(Label::parse(NAME.to_owned()).map_err(|_| Corrupt::Invariant("a constant is not a label"))?)
    }

    fn execute(self, name: Label, context: &mut Execution<'_>) -> Result<UserResult, RequestError> {
        let secret = SecretKey::generate(Curve::P256, context.entropy())
            .map_err(|_| Corrupt::Invariant("the random source yields no key"))?;
        let key = NewApiKey {
            name: name.clone(),
            curve: ApiKeyCurve::P256,
            public_key: secret.public().compressed_hex(),
            expiration_seconds: None,
        };
        let user = user::user(NewUser { api_keys: vec![key], ..NewUser::new(name, None) }, context)?;
        let user_id = user.id;
        context.change(Change::AddAuthProxy(user, SecretBytes::private_key(&secret)));
        Ok(UserResult { user_id })
    }
}
