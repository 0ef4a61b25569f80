//! Returns everything in an organization that is bounded in number.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OrganizationData {
    organization_id: OrganizationId,
    name: String,
    users: Vec<wire::User>,
    policies: Vec<wire::Policy>,
    private_keys: Vec<wire::PrivateKey>,
    invitations: Vec<wire::Invitation>,
    tags: Vec<wire::Tag>,
    root_quorum: wire::Quorum,
    features: Vec<wire::Feature>,
    wallets: Vec<wire::Wallet>,
    smart_contract_interface_references: Vec<wire::SmartContractInterfaceReference>,
}

/// Returns everything in an organization that is bounded in number.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetOrganization {}

impl Query for GetOrganization {
    type Answer = OrganizationData;

    fn answer(self, context: &QueryContext<'_>) -> Result<OrganizationData, RequestError> {
        let organization = context.organization;
        Ok(OrganizationData {
            organization_id: context.id(),
            name: organization.head.name.to_string(),
            users: organization.users().map(User::wire).collect(),
            policies: organization.policies().map(|parsed| parsed.policy.wire()).collect(),
            private_keys: organization.private_keys().map(PrivateKey::wire).collect(),
            invitations: organization.records.invitations.iter().map(Invitation::wire).collect(),
            tags: organization.tags().map(Tag::wire).collect(),
            root_quorum: organization.quorum(),
            features: organization.features(),
            wallets: organization.wallets().map(Wallet::wire).collect(),
            smart_contract_interface_references: organization
                .records
                .smart_contract_interfaces
                .iter()
                .map(SmartContractInterface::reference)
                .collect(),
        })
    }
}
