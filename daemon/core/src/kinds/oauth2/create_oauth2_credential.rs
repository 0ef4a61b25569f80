//! Stores the client id and the client secret of an application at an OAuth 2.0 provider.

use quorate_common::ids::Oauth2CredentialId;
use quorate_common::wire::Oauth2Provider;

use crate::kinds::prelude::*;
use crate::make::oauth2;
use crate::model::Oauth2Credential;
use crate::params::oauth2::{CLIENT_ID, ENVELOPE, Oauth2CredentialResult};

/// Stores the client id and the client secret of an application at X or Discord, by which users of that provider can
/// sign in.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    provider: Oauth2Provider,
    client_id: Text<CLIENT_ID>,
    /// Client secret, encrypted to the first half of `quorumPublicKeys`.
    encrypted_client_secret: Text<ENVELOPE>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL";
    const NUMBER: u16 = 98;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Auth));
    type Plan = ();
    type Outcome = Oauth2CredentialResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        oauth2::check(self.provider, self.client_id.as_str(), self.encrypted_client_secret.as_str(), view)?;
        view.check_room::<Oauth2Credential>(1)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Self::Outcome, RequestError> {
        let (id, now) = (Oauth2CredentialId::random(context.random()), context.now());
        context.change(Change::put(Oauth2Credential {
            id,
            provider: self.provider,
            client_id: self.client_id.into_string(),
            encrypted_client_secret: self.encrypted_client_secret.into_string(),
            created: now,
            updated: now,
        }));
        Ok(Oauth2CredentialResult { oauth2_credential_id: id })
    }
}
