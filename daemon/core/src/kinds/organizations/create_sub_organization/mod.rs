//! Creates a sub-organization with its root users and, optionally, private keys or a wallet.

use std::marker::PhantomData;

use crate::execution::NewWallet;
use crate::kinds::prelude::*;
use crate::make::credential;
use crate::make::sign_up::{ProvedUser, SignUp};
use crate::make::user::{self, SignIn};
use crate::make::{oidc, private_key, quorum, wallet};
use crate::model::RootQuorum;
use crate::model::change::NewOrganization;
use crate::model::organization::Head;
use crate::params::keys::WalletResult;
use crate::params::{NewUser, PrivateKeyParams, WalletParams};

mod early;
mod features;
mod results;
mod with_contact;
mod with_wallet;

use features::DisabledFeatures;
use results::Created;

pub(in crate::kinds) use early::{V1, V2, V3};
pub(in crate::kinds) use with_contact::{V7, V8};
pub(in crate::kinds) use with_wallet::{V4, V5, V6};

/// The version-independent parameters of the versions with the result `O`.
pub(in crate::kinds) struct Request<O> {
    name: Label,
    root_users: Vec<NewUser>,
    threshold: i32,
    private_keys: Vec<PrivateKeyParams>,
    wallet: Option<WalletParams>,
    disabled: DisabledFeatures,
    sign_up: Option<SignUp>,
    outcome: PhantomData<O>,
}

impl<O> Request<O> {
    /// Returns a request for an organization without keys and with the default features.
    fn new(name: Label, root_users: impl IntoIterator<Item: Into<NewUser>>, threshold: i32) -> Self {
        Self {
            name,
            root_users: root_users.into_iter().map(Into::into).collect(),
            threshold,
            private_keys: Vec::new(),
            wallet: None,
            disabled: DisabledFeatures::default(),
            sign_up: None,
            outcome: PhantomData,
        }
    }
}

impl<O: From<Created> + Serialize + JsonSchema + 'static> Kind for Request<O> {
    const ACTS: Acts = Some((Action::Create, Resource::Organization));
    type Plan = (u32, Option<ProvedUser>);
    type Outcome = O;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        if view.organization.head.parent.is_some() {
            return Err(Wrong::ClosedToChildren("create sub-organizations").into());
        }
        let proved = self.sign_up.as_ref().map(|one| one.check(&self.root_users, view)).transpose()?;
        not_empty(&self.root_users, "rootUsers")?;
        let threshold = quorum::threshold(self.threshold)?;
        if usize::try_from(threshold).unwrap_or(usize::MAX) > self.root_users.len() {
            return Err(Wrong::Threshold("quorum threshold must not exceed the number of root users").into());
        }
        let (limits, disabled) = (view.limits(), &self.disabled);
        let sign_in = SignIn {
            email: disabled.allows(FeatureName::EmailAuth) || disabled.allows(FeatureName::OtpEmailAuth),
            sms: disabled.allows(FeatureName::SmsAuth),
        };
        let credentials = user::check(&self.root_users, None, sign_in, limits)?;
        quorum::of_new_users(&self.root_users, threshold, sign_in)?;
        credential::check_origins(&credentials, view)?;
        oidc::verify_tokens(self.root_users.iter().flat_map(|user| &user.oauth_providers), view)?;
        check_limit(0, self.root_users.len(), limits.users, "users", "users")?;
        private_key::check(&self.private_keys)?;
        // A new organization has no tags.
        if let Some(tag) = self.private_keys.iter().flat_map(|key| &key.private_key_tags).next() {
            return Err(Missing::Record("private key tag", tag.to_string()).into());
        }
        if let Some(wallet) = &self.wallet {
            wallet::check_accounts(&wallet.accounts)?;
            wallet::names_differ(&wallet.accounts)?;
        }
        Ok((threshold, proved))
    }

    fn has_secret(&self) -> bool {
        self.sign_up.is_some() || self.root_users.iter().any(NewUser::has_token)
    }

    fn execute(
        self,
        (threshold, proved): Self::Plan,
        context: &mut Execution<'_>,
    ) -> Result<O, RequestError> {
        let mut changes = Vec::new();
        let mut members = Vec::with_capacity(self.root_users.len());
        for (position, new) in self.root_users.into_iter().enumerate() {
            let user = user::user(new, context)?;
            let user = match &proved {
                Some(proved) => proved.verified(position, user),
                None => user,
            };
            members.push(user.id);
            changes.push(Change::PutUser(user));
        }
        let mut private_keys = Vec::with_capacity(self.private_keys.len());
        for params in self.private_keys {
            let (key_changes, result) = private_key::private_key(params, context)?;
            changes.extend(key_changes);
            private_keys.push(result);
        }
        let wallet = self.wallet.map(|params| wallet::wallet(params, context)).transpose()?;
        let result = |wallet: &NewWallet| WalletResult {
            wallet_id: wallet.id(),
            addresses: AtMost::cut(wallet.addresses()),
        };
        let wallet_result = wallet.as_ref().map(result);
        changes.extend(wallet.into_iter().flat_map(NewWallet::changes));
        let quorum = RootQuorum { threshold, members: members.clone() };
        let parent = Some(context.organization.id());
        let head = Head {
            features: self.disabled.remaining().map(|name| (name, None)).collect(),
            registered: context.organization.head.registered,
            ..Head::new(context.organization_id(), parent, self.name, quorum, context.now())
        };
        let created = Created { id: head.id, root_user_ids: members, private_keys, wallet: wallet_result };
        // Last, so that a sign-up that fails does not use up the token.
        if let Some(proved) = proved {
            proved.use_once(context)?;
        }
        context.create_organization(NewOrganization { head, changes });
        Ok(created.into())
    }
}
