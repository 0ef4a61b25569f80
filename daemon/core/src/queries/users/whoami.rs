//! Returns the caller and their organization.
//!
//! - `{}` is answered.
//! - `{"parameters": {}}` is refused with 400: invalid request body: `parameters`: not allowed in a query
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;
use crate::view::CredentialScope;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Identity {
    organization_id: OrganizationId,
    organization_name: String,
    user_id: UserId,
    username: String,
}

/// Returns the caller and their organization, which may be a sub-organization of the named one.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Whoami {}

impl Query for Whoami {
    const COST: Cost = Cost::Small;
    const ATTESTED: bool = true;
    const SCOPE: CredentialScope = CredentialScope::SubOrganizations;
    type Answer = Identity;

    fn answer(self, context: &QueryContext<'_>) -> Result<Identity, RequestError> {
        let (home, caller) = (context.caller.organization, context.caller.user);
        let parent;
        let organization = if home == context.id() {
            context.organization
        } else {
            parent = context.world.organization(home)?.ok_or(Missing::Organization)?;
            &parent
        };
        let user = organization.user(caller).ok_or(Missing::User(caller, home))?;
        Ok(Identity {
            organization_id: home,
            organization_name: organization.head.name.to_string(),
            user_id: caller,
            username: user.name.to_string(),
        })
    }
}
