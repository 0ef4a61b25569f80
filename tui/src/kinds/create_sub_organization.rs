//! Creates a sub-organization with its root users and, if requested, keys.

use std::fmt::Write as _;

use super::create_private_keys::private_key;
use super::create_users::credentials;
use super::create_wallet::wallet;
use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::quoted;

pub(super) struct CreateSubOrganization;

impl Kind for CreateSubOrganization {
    fn versions(&self) -> &'static [Version] {
        &VERSIONS
    }

    fn title(&self) -> &'static str {
        "Create sub-organization"
    }

    fn describe(&self, parameters: &Reader<'_>, _: &Scene<'_>) -> Result<Description, Undecodable> {
        let Some(name) = parameters.maybe_text("subOrganizationName")? else {
            return first_version(parameters);
        };
        let threshold = parameters.number("rootQuorumThreshold")?;
        let users = parameters.list("rootUsers")?;
        let mut named = Vec::new();
        for user in &users {
            named.push(format!("{} with {}", quoted(user.text("userName")?), credentials(user)?));
        }
        let number = count(users.len(), "root user");
        let mut sentence = format!(
            "Create the sub-organization {} with {number} and a root quorum threshold of {threshold}: {}.",
            quoted(name),
            listed(named)
        );
        if let Some(requested) = parameters.object("wallet")? {
            let _ = write!(sentence, " It starts with {}", wallet(&requested)?);
        }
        let keys = parameters.list("privateKeys")?;
        if !keys.is_empty() {
            let keys = keys.iter().map(private_key).collect::<Result<Vec<_>, _>>()?;
            let _ = write!(sentence, " It starts with the private keys {}.", listed(keys));
        }
        let mut description =
            Description::new(format!("{}, root {threshold} of {}", quoted(name), users.len()), sentence);
        if threshold == 1 && users.len() > 1 {
            description.flag(
                Level::Med,
                "one-can-act",
                format!("Any ONE of its {number} can do anything in it alone: the threshold is 1."),
            );
        }
        sign_in(parameters, &mut description)?;
        Ok(description)
    }
}

fn first_version(parameters: &Reader<'_>) -> Result<Description, Undecodable> {
    let name = quoted(parameters.text("name")?);
    let passkey = match parameters.object("rootAuthenticator")? {
        Some(passkey) => quoted(passkey.text("authenticatorName")?),
        None => "none".to_owned(),
    };
    let mut description = Description::new(
        name.clone(),
        format!("Create the sub-organization {name} with one root user who holds the passkey {passkey}."),
    );
    sign_in(parameters, &mut description)?;
    Ok(description)
}

/// Flags the ways to sign in that are enabled. All are enabled in a new sub-organization unless they are
/// disabled.
fn sign_in(parameters: &Reader<'_>, description: &mut Description) -> Result<(), Undecodable> {
    let ways = [
        ("disableEmailRecovery", "e-mail recovery"),
        ("disableEmailAuth", "e-mail sign-in"),
        ("disableSmsAuth", "SMS codes"),
        ("disableOtpEmailAuth", "e-mail codes"),
    ];
    let mut on = Vec::new();
    for (member, words) in ways {
        if !parameters.yes(member)? {
            on.push(words.to_owned());
        }
    }
    if !on.is_empty() {
        description.flag(
            Level::Low,
            "sign-in-open",
            format!("Ways to sign in or recover access that are enabled from the start: {}.", listed(on)),
        );
    }
    Ok(())
}

const COMMON: [&str; 8] = [
    "name rootAuthenticator:Authenticator2",
    "subOrganizationName rootUsers[]:Root1 rootQuorumThreshold",
    "subOrganizationName rootUsers[]:Root1 rootQuorumThreshold privateKeys[]:PrivateKey",
    "subOrganizationName rootUsers[]:Root1 rootQuorumThreshold wallet:Wallet disableEmailRecovery disableEmailAuth",
    "subOrganizationName rootUsers[]:Root2 rootQuorumThreshold wallet:Wallet disableEmailRecovery disableEmailAuth",
    "subOrganizationName rootUsers[]:Root3 rootQuorumThreshold wallet:Wallet disableEmailRecovery disableEmailAuth",
    "subOrganizationName rootUsers[]:Root4 rootQuorumThreshold wallet:Wallet disableEmailRecovery disableEmailAuth disableSmsAuth disableOtpEmailAuth verificationToken clientSignature:Signature",
    "subOrganizationName rootUsers[]:Root5 rootQuorumThreshold wallet:Wallet disableEmailRecovery disableEmailAuth disableSmsAuth disableOtpEmailAuth verificationToken clientSignature:Signature",
];

static VERSIONS: [Version; 8] = {
    let [v1, v2, v3, v4, v5, v6, v7, v8] = COMMON;
    [
        version("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION", "createSubOrganizationIntent", v1),
        version("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2", "createSubOrganizationIntentV2", v2),
        version("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3", "createSubOrganizationIntentV3", v3),
        version("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4", "createSubOrganizationIntentV4", v4),
        version("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5", "createSubOrganizationIntentV5", v5),
        version("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6", "createSubOrganizationIntentV6", v6),
        version("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", "createSubOrganizationIntentV7", v7),
        version("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", "createSubOrganizationIntentV8", v8),
    ]
};

const fn version(activity_type: &'static str, intent: &'static str, schema: &'static str) -> Version {
    Version { activity_type, intent, schema }
}
