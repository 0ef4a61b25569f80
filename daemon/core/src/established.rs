//! Whether a credential of a sub-organization is known to be that of its user. Everybody with a sub-organization can
//! register public keys and credential ids of other people there. That must neither lead those people to it nor keep
//! them from their own, when they look themselves up or log in at the parent.

use quorate_common::ids::OrganizationId;
use quorate_common::stamp::ApiKeyCurve;

use crate::error::Corrupt;
use crate::model::last_use::{Credential, LastUses};
use crate::model::layout::sign_in;
use crate::model::record::Record as _;
use crate::model::user::IdentityProof;
use crate::model::{Millis, OauthProvider, Organization, User};
use crate::world::World;

/// How a credential is named.
#[derive(Debug, Clone, Copy)]
pub enum Named<'a> {
    /// API key on a curve with this public key.
    Key(ApiKeyCurve, &'a str),
    /// Passkey with this credential id.
    Passkey(&'a str),
}

/// What is known of a credential in an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// No user of the organization has it.
    Absent,
    /// A user has it, but nothing proves that the user can use it.
    Registered,
    /// It was created together with the organization, or has been used there.
    Established,
}

/// Returns what is known of a credential in an organization.
///
/// # Errors
/// If the store cannot be read.
pub fn standing(
    world: &dyn World,
    organization: &Organization,
    named: Named<'_>,
) -> Result<Standing, Corrupt> {
    let found = match named {
        Named::Key(curve, public_key) => organization.holder(curve, public_key).and_then(|member| {
            let (key, _) = member.stamp_key(curve, public_key)?;
            Some((&member.user, key.created, Credential::ApiKey(key.id)))
        }),
        Named::Passkey(id) => organization.passkey(id).map(|(user, authenticator, _)| {
            (user, authenticator.created, Credential::Passkey(authenticator.id))
        }),
    };
    let Some((user, created, credential)) = found else { return Ok(Standing::Absent) };
    let is_established = is_established(world, organization, user, created, credential)?;
    Ok(if is_established { Standing::Established } else { Standing::Registered })
}

/// Returns what is known of an identity in an organization. An identity that was registered by its claims counts only
/// beside a token of the same person, and if it was created together with the organization or was used there: anyone who
/// runs an application of the issuer has tokens of its visitors.
///
/// # Errors
/// If the store cannot be read.
pub fn identity_standing(
    world: &dyn World,
    organization: &Organization,
    is: &dyn Fn(&OauthProvider) -> bool,
) -> Result<Standing, Corrupt> {
    let mut best = Standing::Absent;
    for user in organization.users() {
        for identity in user.oauth_providers.iter().filter(|one| is(one)) {
            let standing = match identity.proof {
                IdentityProof::Token => Standing::Established,
                IdentityProof::Claim => Standing::Absent,
                IdentityProof::SamePerson => {
                    let credential = Credential::Identity(identity.id);
                    let is_established =
                        is_established(world, organization, user, identity.created, credential)?;
                    if is_established { Standing::Registered } else { Standing::Absent }
                }
            };
            best = best.max(standing);
        }
    }
    Ok(best)
}

fn is_established(
    world: &dyn World,
    organization: &Organization,
    user: &User,
    created: Millis,
    credential: Credential,
) -> Result<bool, Corrupt> {
    // The parent created the organization, or the authentication proxy, which checks sign-ups.
    if created <= organization.head.created {
        return Ok(true);
    }
    let stored = world.records().read(&sign_in::last_uses(organization.id(), user.id))?;
    let record = stored.map(|bytes| LastUses::decode(&bytes)).transpose()?.unwrap_or_default();
    Ok(record.uses.iter().any(|(known, _)| *known == credential))
}

/// Returns the organizations that count for somebody with a credential: those in which it is established or, if there
/// are none, those in which it is registered. Public keys of wallets are known to everybody, so those only count where
/// they are established.
///
/// # Errors
/// If the store cannot be read.
pub fn that_count(
    world: &dyn World,
    ids: &[OrganizationId],
    named: Named<'_>,
) -> Result<Vec<OrganizationId>, Corrupt> {
    let mut found = Vec::new();
    for id in ids {
        let Some(organization) = world.organization(*id)? else { continue };
        found.push((standing(world, &organization, named)?, *id));
    }
    let is_wallet = matches!(named, Named::Key(curve, _) if curve != ApiKeyCurve::P256);
    let least = if is_wallet { Standing::Established } else { Standing::Registered };
    let best = found.iter().map(|(standing, _)| *standing).max().unwrap_or(Standing::Absent);
    Ok(found
        .into_iter()
        .filter(|(standing, _)| *standing >= least && *standing == best)
        .map(|(_, id)| id)
        .collect())
}
