//! Describes what each kind of activity does, from the bytes that the proposer signed. A kind is one file and
//! two lines here. Nothing in this module reads the daemon's rendering, a clock, a file or the network.

use serde_json::Value;

mod accept_invitation;
mod activate_billing_tier;
mod allowlist;
mod approve_activity;
mod block;
mod create_api_keys;
mod create_api_only_users;
mod create_authenticators;
mod create_invitations;
mod create_oauth_providers;
mod create_organization;
mod create_policies;
mod create_policy;
mod create_private_key_tag;
mod create_private_keys;
mod create_session_profile;
mod create_smart_contract_interface;
mod create_sub_organization;
mod create_user_tag;
mod create_users;
mod create_wallet;
mod create_wallet_accounts;
mod create_webhook_endpoint;
mod credential;
mod delete_api_keys;
mod delete_authenticators;
mod delete_invitation;
mod delete_oauth_providers;
mod delete_organization;
mod delete_payment_method;
mod delete_policies;
mod delete_policy;
mod delete_private_key_tags;
mod delete_private_keys;
mod delete_secrets;
mod delete_smart_contract_interface;
mod delete_sub_organization;
mod delete_user_tags;
mod delete_users;
mod delete_wallet_accounts;
mod delete_wallets;
mod delete_webhook_endpoint;
mod description;
mod disable_private_key;
mod endpoint;
mod export_private_key;
mod export_secrets;
mod export_wallet;
mod export_wallet_account;
mod import_private_key;
mod import_secrets;
mod import_wallet;
mod init_import_private_key;
mod init_import_secrets;
mod init_import_wallet;
mod key_deletion;
mod key_export;
mod organization_deletion;
mod payload;
mod policy;
mod reader;
mod reject_activity;
mod remove_ip_allowlist;
mod remove_organization_feature;
mod scene;
mod schema;
mod secret;
mod set_ip_allowlist;
mod set_organization_feature;
mod set_payment_method;
mod sign_raw_payload;
mod sign_raw_payloads;
mod sign_transaction;
mod tag;
mod transaction;
mod update_allowed_origins;
mod update_organization_name;
mod update_policy;
mod update_private_key_tag;
mod update_root_quorum;
mod update_user;
mod update_user_email;
mod update_user_name;
mod update_user_phone_number;
mod update_user_tag;
mod update_wallet;
mod update_wallet_account_name;
mod update_webhook_endpoint;
mod user_change;

pub(crate) use description::{Change, Danger, Description, Field, Flag, Level};
pub(crate) use reader::{Reader, Undecodable};
pub(crate) use scene::{Scene, count, stated};
pub(crate) use schema::leaves;

/// All kinds that this console decodes, sorted.
static KINDS: &[&dyn Kind] = &[
    &accept_invitation::AcceptInvitation,
    &activate_billing_tier::ActivateBillingTier,
    &approve_activity::ApproveActivity,
    &create_api_keys::CreateApiKeys,
    &create_api_only_users::CreateApiOnlyUsers,
    &create_authenticators::CreateAuthenticators,
    &create_invitations::CreateInvitations,
    &create_oauth_providers::CreateOauthProviders,
    &create_organization::CreateOrganization,
    &create_policies::CreatePolicies,
    &create_policy::CreatePolicy,
    &create_private_key_tag::CreatePrivateKeyTag,
    &create_private_keys::CreatePrivateKeys,
    &create_session_profile::CreateSessionProfile,
    &create_smart_contract_interface::CreateSmartContractInterface,
    &create_sub_organization::CreateSubOrganization,
    &create_user_tag::CreateUserTag,
    &create_users::CreateUsers,
    &create_wallet::CreateWallet,
    &create_wallet_accounts::CreateWalletAccounts,
    &create_webhook_endpoint::CreateWebhookEndpoint,
    &delete_api_keys::DeleteApiKeys,
    &delete_authenticators::DeleteAuthenticators,
    &delete_invitation::DeleteInvitation,
    &delete_oauth_providers::DeleteOauthProviders,
    &delete_organization::DeleteOrganization,
    &delete_payment_method::DeletePaymentMethod,
    &delete_policies::DeletePolicies,
    &delete_policy::DeletePolicy,
    &delete_private_key_tags::DeletePrivateKeyTags,
    &delete_private_keys::DeletePrivateKeys,
    &delete_secrets::DeleteSecrets,
    &delete_smart_contract_interface::DeleteSmartContractInterface,
    &delete_sub_organization::DeleteSubOrganization,
    &delete_user_tags::DeleteUserTags,
    &delete_users::DeleteUsers,
    &delete_wallet_accounts::DeleteWalletAccounts,
    &delete_wallets::DeleteWallets,
    &delete_webhook_endpoint::DeleteWebhookEndpoint,
    &disable_private_key::DisablePrivateKey,
    &export_private_key::ExportPrivateKey,
    &export_secrets::ExportSecrets,
    &export_wallet::ExportWallet,
    &export_wallet_account::ExportWalletAccount,
    &import_private_key::ImportPrivateKey,
    &import_secrets::ImportSecrets,
    &import_wallet::ImportWallet,
    &init_import_private_key::InitImportPrivateKey,
    &init_import_secrets::InitImportSecrets,
    &init_import_wallet::InitImportWallet,
    &reject_activity::RejectActivity,
    &remove_ip_allowlist::RemoveIpAllowlist,
    &remove_organization_feature::RemoveOrganizationFeature,
    &set_ip_allowlist::SetIpAllowlist,
    &set_organization_feature::SetOrganizationFeature,
    &set_payment_method::SetPaymentMethod,
    &sign_raw_payload::SignRawPayload,
    &sign_raw_payloads::SignRawPayloads,
    &sign_transaction::SignTransaction,
    &update_allowed_origins::UpdateAllowedOrigins,
    &update_organization_name::UpdateOrganizationName,
    &update_policy::UpdatePolicy,
    &update_private_key_tag::UpdatePrivateKeyTag,
    &update_root_quorum::UpdateRootQuorum,
    &update_user::UpdateUser,
    &update_user_email::UpdateUserEmail,
    &update_user_name::UpdateUserName,
    &update_user_phone_number::UpdateUserPhoneNumber,
    &update_user_tag::UpdateUserTag,
    &update_wallet::UpdateWallet,
    &update_wallet_account_name::UpdateWalletAccountName,
    &update_webhook_endpoint::UpdateWebhookEndpoint,
];

/// One kind of activity in all its versions.
pub(crate) trait Kind: Sync {
    /// Returns the versions of the kind: type, member of `intent`, and schema of the parameters.
    fn versions(&self) -> &'static [Version];

    /// Returns the name of the kind for people, such as `Create policy`.
    fn title(&self) -> &'static str;

    /// Describes what the parameters do to the organization.
    ///
    /// # Errors
    ///
    /// Fails if a required member is absent or has the wrong type.
    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable>;

    /// Returns the replacement of a string member that is too long to read or must not be shown, or `None` to
    /// show it unchanged. A member of the objects in a list is named `list[].member`.
    fn abridged(&self, _member: &str, _text: &str) -> Option<String> {
        None
    }

    /// Returns a phrase that names what the daemon does not store as it was signed. Nobody can verify such
    /// activities afterwards.
    fn hidden(&self, _activity_type: &str) -> Option<&'static str> {
        None
    }
}

/// One version of a kind.
pub(crate) struct Version {
    /// `ACTIVITY_TYPE_*`.
    pub(crate) activity_type: &'static str,
    /// Member of `intent`.
    pub(crate) intent: &'static str,
    /// Members of the parameters, in the notation of [`schema`].
    pub(crate) schema: &'static str,
}

/// Returns the kind and the version of an activity type.
pub(crate) fn of_type(activity_type: &str) -> Option<(&'static dyn Kind, &'static Version)> {
    KINDS.iter().find_map(|kind| {
        let version = kind.versions().iter().find(|version| version.activity_type == activity_type)?;
        Some((*kind, version))
    })
}

/// Returns a phrase that names what the daemon does not store as it was signed for this type, see
/// [`Kind::hidden`].
pub(crate) fn hidden(activity_type: &str) -> Option<&'static str> {
    of_type(activity_type).and_then(|(kind, _)| kind.hidden(activity_type))
}

/// The decoded parameters of an activity of any type.
pub(crate) struct Decoded {
    /// Name of the kind for people.
    pub(crate) title: String,
    /// Member of `intent`, for a known type.
    pub(crate) intent: Option<&'static str>,
    pub(crate) description: Description,
    /// All leaves of the parameters.
    pub(crate) fields: Vec<Field>,
    /// Members whose values are replaced among the fields.
    pub(crate) abridged: Vec<String>,
    /// Paths that the type does not define.
    pub(crate) unknown_members: Vec<String>,
    /// Why the parameters could not be decoded, if so.
    pub(crate) undecoded: Option<String>,
}

/// Decodes parameters and describes their effect. Never fails: parameters that cannot be decoded are marked
/// as undecoded and shown in full.
pub(crate) fn decode(activity_type: &str, parameters: &Value, scene: &Scene<'_>) -> Decoded {
    let mut fields = leaves(parameters);
    let Some((kind, version)) = of_type(activity_type) else {
        let reason = format!("this console does not know the type {}", crate::text::clean(activity_type));
        return undecoded(None, fields, reason);
    };
    let unknown_members = schema::unknown_members(parameters, version.schema);
    // The daemon ignores members that a version does not define, so the description must not use them.
    let read = schema::pruned(parameters, version.schema);
    match kind.describe(&Reader::new(&read), scene) {
        Ok(description) => {
            let abridged = abridge(kind, version, parameters, &mut fields);
            Decoded {
                title: kind.title().to_owned(),
                intent: Some(version.intent),
                description,
                fields,
                abridged,
                unknown_members,
                undecoded: None,
            }
        }
        Err(error) => undecoded(Some(version.intent), fields, error.to_string()),
    }
}

/// Replaces the values of abridged members among the fields, and returns the names of these members.
fn abridge(kind: &dyn Kind, version: &Version, parameters: &Value, fields: &mut [Field]) -> Vec<String> {
    let mut abridged = Vec::new();
    for (member, path, text) in texts(version.schema, parameters) {
        let shown = kind.abridged(&member, text);
        let field = fields.iter_mut().find(|field| field.name == path);
        if let (Some(shown), Some(field)) = (shown, field) {
            field.value = shown;
            if !abridged.contains(&member) {
                abridged.push(member);
            }
        }
    }
    abridged
}

/// Returns the strings in the parameters and in the objects of their lists: member name, path and string.
fn texts<'p>(schema: &str, parameters: &'p Value) -> Vec<(String, String, &'p str)> {
    let mut texts = Vec::new();
    for member in schema.split(' ') {
        let Some((list, inside)) = member.split_once("[]:") else {
            let text = parameters.get(member).and_then(Value::as_str);
            texts.extend(text.map(|text| (member.to_owned(), member.to_owned(), text)));
            continue;
        };
        let items = parameters.get(list).and_then(Value::as_array).map(Vec::as_slice);
        for (index, item) in items.unwrap_or_default().iter().enumerate() {
            for name in schema::named(inside).unwrap_or_default().split(' ') {
                let text = item.get(name).and_then(Value::as_str);
                let named = |text| (format!("{list}[].{name}"), format!("{list}[{index}].{name}"), text);
                texts.extend(text.map(named));
            }
        }
    }
    texts
}

/// Returns the result for bytes that cannot be decoded, for this reason.
pub(crate) fn undecoded(intent: Option<&'static str>, fields: Vec<Field>, reason: String) -> Decoded {
    let mut description = Description::new(
        "UNDECODED",
        format!("UNDECODED: {reason}. Its effect is unknown; the signed parameters are shown in full below."),
    );
    description.flag(
        Level::High,
        "undecoded",
        format!("It may do anything, because it cannot be decoded here: {reason}."),
    );
    description.danger("the word UNDECODED", "UNDECODED");
    Decoded {
        title: "UNDECODED".to_owned(),
        intent,
        description,
        fields,
        abridged: Vec::new(),
        unknown_members: Vec::new(),
        undecoded: Some(reason),
    }
}

#[cfg(test)]
mod tests;
