//! Creates a sub-organization with its root users and, optionally, private keys or a wallet.

use quorate_common::ids::{OrganizationId, UserId};

use crate::kinds::prelude::*;
use crate::make::user::{self, SignIn};
use crate::make::{private_key, quorum, wallet};
use crate::model::change::NewOrganization;
use crate::model::organization::Head;
use crate::model::{FeatureName, RootQuorum};
use crate::params::keys::{PrivateKeyResult, WalletResult};
use crate::params::{NewUser, PrivateKeyParams, WalletParams};

mod client_signature;
mod results;
pub(in crate::kinds) mod v1;
pub(in crate::kinds) mod v2;
pub(in crate::kinds) mod v3;
pub(in crate::kinds) mod v4;
pub(in crate::kinds) mod v5;
pub(in crate::kinds) mod v6;
pub(in crate::kinds) mod v7;
pub(in crate::kinds) mod v8;

pub(in crate::kinds) struct CreateSubOrganization;

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    name: Label,
    root_users: Vec<NewUser>,
    threshold: i32,
    private_keys: Vec<PrivateKeyParams>,
    wallet: Option<WalletParams>,
    disabled: DisabledFeatures,
    verified_contact: bool,
}

/// Sign-in features that a new organization has by default.
const DEFAULT_FEATURES: [FeatureName; 4] =
    [FeatureName::EmailRecovery, FeatureName::EmailAuth, FeatureName::SmsAuth, FeatureName::OtpEmailAuth];

/// Sign-in features that the new organization does not get.
#[derive(Default)]
struct DisabledFeatures(Vec<FeatureName>);

impl DisabledFeatures {
    /// Collects the features whose flag is present and true.
    fn from_flags<const N: usize>(flags: [(FeatureName, Option<bool>); N]) -> Self {
        Self(flags.into_iter().filter(|(_, flag)| *flag == Some(true)).map(|(name, _)| name).collect())
    }

    fn allows(&self, name: FeatureName) -> bool {
        !self.0.contains(&name)
    }

    fn remaining(&self) -> impl Iterator<Item = FeatureName> {
        DEFAULT_FEATURES.into_iter().filter(|name| self.allows(*name))
    }
}

/// The version-independent result.
pub(in crate::kinds) struct Created {
    id: OrganizationId,
    root_user_ids: Vec<UserId>,
    private_keys: Vec<PrivateKeyResult>,
    wallet: Option<WalletResult>,
}

impl Kind for CreateSubOrganization {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Organization));
    const GATE: Gate = Gate::Policy;
    type Intent = Request;
    type Plan = u32;
    type Outcome = Created;

    fn rules(request: &Request, view: &View<'_>) -> Result<(Facts, u32), RequestError> {
        if view.organization.head.parent.is_some() {
            return Err(Wrong::ClosedToChildren("create sub-organizations").into());
        }
        user::reject_verification_token(request.verified_contact)?;
        not_empty(&request.root_users, "rootUsers")?;
        let threshold = u32::try_from(request.threshold).unwrap_or(0);
        if threshold == 0 {
            return Err(Wrong::Threshold("quorum threshold must be non-zero integer").into());
        }
        if usize::try_from(threshold).unwrap_or(usize::MAX) > request.root_users.len() {
            return Err(Wrong::Threshold("quorum threshold must not exceed the number of root users").into());
        }
        let limits = view.limits();
        let disabled = &request.disabled;
        let sign_in = SignIn {
            email: disabled.allows(FeatureName::EmailAuth) || disabled.allows(FeatureName::OtpEmailAuth),
            sms: disabled.allows(FeatureName::SmsAuth),
        };
        let credentials = user::check(&request.root_users, None, sign_in, limits)?;
        quorum::of_new_users(&request.root_users, threshold, sign_in)?;
        user::check_origins(&credentials, view)?;
        check_limit(0, request.root_users.len(), limits.users, "users", "users")?;
        private_key::check(&request.private_keys)?;
        // A new organization has no tags.
        if let Some(tag) = request.private_keys.iter().flat_map(|key| &key.private_key_tags).next() {
            return Err(Missing::Record("private key tag", tag.to_string()).into());
        }
        if let Some(wallet) = &request.wallet {
            wallet::check_accounts(&wallet.accounts)?;
            wallet::names_differ(&wallet.accounts)?;
        }
        Ok((Facts::default(), threshold))
    }

    fn execute(
        request: Request,
        threshold: u32,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Created, RequestError> {
        let mut changes = Vec::new();
        let mut members = Vec::with_capacity(request.root_users.len());
        for new in request.root_users {
            let user = user::user(new, context)?;
            members.push(user.id);
            changes.push(Change::PutUser(user));
        }
        let mut private_keys = Vec::with_capacity(request.private_keys.len());
        for params in request.private_keys {
            let (key_changes, result) = private_key::private_key(params, context)?;
            changes.extend(key_changes);
            private_keys.push(result);
        }
        let wallet = match request.wallet {
            None => None,
            Some(params) => {
                let wallet = wallet::wallet(params, context)?;
                let result =
                    WalletResult { wallet_id: wallet.id(), addresses: AtMost::cut(wallet.addresses()) };
                changes.extend(wallet.changes());
                Some(result)
            }
        };
        let quorum = RootQuorum { threshold, members: members.clone() };
        let parent = Some(context.organization.id());
        let head = Head {
            features: request.disabled.remaining().map(|name| (name, None)).collect(),
            ..Head::new(context.organization_id(), parent, request.name, quorum, context.now())
        };
        let created = Created { id: head.id, root_user_ids: members, private_keys, wallet };
        context.create_organization(NewOrganization { head, changes });
        Ok(created)
    }
}
