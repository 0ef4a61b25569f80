//! What a policy may ask about an activity.

use quorate_common::catalog::{Action, Resource};
use quorate_common::ids::UserId;
use quorate_policy::Value;

use crate::model::{PrivateKey, Wallet, WalletAccount};

/// What a policy may ask about an activity, beside its type.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The user whose own credentials are changed, if nothing else is.
    pub own_credentials_of: Option<UserId>,
    /// The wallet that is used.
    pub wallet: Option<Wallet>,
    /// The wallets of a request that is about several.
    pub wallets: Vec<Wallet>,
    /// The account that signs.
    pub account: Option<WalletAccount>,
    /// The private key that signs.
    pub private_key: Option<PrivateKey>,
    /// Members of `activity.params`.
    pub params: Vec<(&'static str, Value)>,
    /// What else the activity does, each judged by itself: it is decided as the strictest of them, so that a
    /// batch is never weaker than its members.
    pub more: Vec<Facts>,
}

impl Facts {
    /// Of something that is done to the credentials of a user and nothing else.
    pub fn of_own_credentials(user: UserId) -> Self {
        Self { own_credentials_of: Some(user), ..Self::default() }
    }

    /// Of something that is done to wallets, each judged by itself.
    pub fn of_each(wallets: impl IntoIterator<Item = Wallet>) -> Self {
        let mut each = wallets.into_iter().map(|wallet| Self { wallet: Some(wallet), ..Self::default() });
        let first = each.next().unwrap_or_default();
        Self { more: each.collect(), ..first }
    }

    /// The roots that conditions read, for an activity of this kind.
    pub(super) fn roots(
        &self,
        activity_type: &'static str,
        kind: &'static str,
        acts: Option<(Action, Resource)>,
    ) -> Value {
        let word = |value: Option<serde_json::Value>| {
            value.and_then(|value| value.as_str().map(str::to_owned)).map(Value::text)
        };
        let activity = Value::record([
            ("type", Some(Value::text(activity_type))),
            ("kind", Some(Value::text(kind))),
            ("action", word(acts.and_then(|(action, _)| serde_json::to_value(action).ok()))),
            ("resource", word(acts.and_then(|(_, resource)| serde_json::to_value(resource).ok()))),
            ("params", Some(Value::record(self.params.clone()))),
        ]);
        Value::record([
            ("activity", Some(activity)),
            ("wallet", self.wallet.as_ref().map(wallet)),
            ("wallets", (!self.wallets.is_empty()).then(|| Value::list(self.wallets.iter().map(wallet)))),
            ("wallet_account", self.account.as_ref().map(account)),
            ("private_key", self.private_key.as_ref().map(private_key)),
        ])
    }
}

fn wallet(wallet: &Wallet) -> Value {
    Value::record([
        ("id", Value::text(wallet.id.to_string())),
        ("label", Value::text(wallet.name.to_string())),
        ("imported", Value::Bool(wallet.imported)),
        ("exported", Value::Bool(wallet.exported)),
    ])
}

fn account(account: &WalletAccount) -> Value {
    Value::record([
        ("address", Value::text(account.address.clone())),
        ("wallet_id", Value::text(account.wallet.to_string())),
    ])
}

fn private_key(key: &PrivateKey) -> Value {
    Value::record([
        ("id", Value::text(key.id.to_string())),
        ("label", Value::text(key.name.to_string())),
        ("tags", Value::texts(key.tags.iter().map(ToString::to_string))),
        ("imported", Value::Bool(key.imported)),
        ("exported", Value::Bool(key.exported)),
    ])
}
