//! What the rules of a kind found out that policies may ask about.

use quorate_common::ids::UserId;
use quorate_policy::Value;
use quorate_policy::request::{self, Subject};

use crate::model::{PrivateKey, Secret, Wallet, WalletAccount};

/// What a policy may ask about an activity, beside its type and parameters.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The user whose own credentials are changed, if nothing else is.
    pub own_credentials_of: Option<UserId>,
    /// What the activity is about, if that is something policies know. Each subject is judged by itself, and the
    /// activity is decided as the strictest of them, so that a batch is never weaker than its members.
    pub subjects: Vec<Subject>,
}

impl Facts {
    /// Of something that is done to the credentials of a user and nothing else.
    pub fn of_own_credentials(user: UserId) -> Self {
        Self { own_credentials_of: Some(user), ..Self::default() }
    }

    /// Of something that is done to wallets, each judged by itself.
    pub fn of_each<'a>(wallets: impl IntoIterator<Item = &'a Wallet>) -> Self {
        let each = wallets.into_iter().map(|one| Subject { wallet: Some(wallet(one)), ..Subject::default() });
        Self { subjects: each.collect(), ..Self::default() }
    }

    /// Of something that is done to wallets, all judged together.
    pub fn of_all<'a>(wallets: impl IntoIterator<Item = &'a Wallet>) -> Self {
        let wallets = wallets.into_iter().map(wallet).collect();
        Self { subjects: vec![Subject { wallets, ..Subject::default() }], ..Self::default() }
    }

    /// Of something that a wallet account signs.
    pub fn of_account(account: &WalletAccount, of: Option<&Wallet>) -> Self {
        Self::of_account_with(account, of, None)
    }

    /// Of a wallet account that is taken out: policies may ask where it stands in its wallet, too.
    pub fn of_exported_account(account: &WalletAccount, of: Option<&Wallet>) -> Self {
        let derivation = request::Derivation {
            path: account.path.to_string(),
            curve: account.curve.name().to_owned(),
            address_format: account.format.name().to_owned(),
        };
        Self::of_account_with(account, of, Some(derivation))
    }

    fn of_account_with(
        account: &WalletAccount,
        of: Option<&Wallet>,
        derivation: Option<request::Derivation>,
    ) -> Self {
        let account = request::WalletAccount {
            address: account.address.clone(),
            wallet_id: account.wallet.to_string(),
            derivation,
        };
        let subject = Subject { wallet: of.map(wallet), account: Some(account), ..Subject::default() };
        Self { subjects: vec![subject], ..Self::default() }
    }

    /// The same, with what is known of what is signed: a root and its facts.
    #[must_use]
    pub fn about(self, content: (&'static str, Value)) -> Self {
        self.about_each([content])
    }

    /// The same for each of several things that are signed, judged by themselves. Where nothing is known of them, they are
    /// all alike, and judged once.
    #[must_use]
    pub fn about_each(self, contents: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let about = |(root, value): (&'static str, Value)| {
            let mut subjects = self.subjects.clone();
            for subject in &mut subjects {
                subject.content.push((root.to_owned(), value.clone()));
            }
            subjects
        };
        let subjects: Vec<Subject> = contents.into_iter().flat_map(about).collect();
        if subjects.is_empty() { self } else { Self { subjects, ..self } }
    }

    /// Of secrets that are taken out, each judged by itself.
    pub fn of_secrets<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let about = |secret: &Secret| {
            let properties = secret.static_properties.iter();
            let content = request::secret(properties.map(|one| (one.key.as_str(), one.value.as_str())));
            Subject { content: vec![content], ..Subject::default() }
        };
        Self { subjects: secrets.into_iter().map(about).collect(), ..Self::default() }
    }

    /// Of something that a private key signs.
    pub fn of_private_key(key: &PrivateKey) -> Self {
        let key = request::PrivateKey {
            id: key.id.to_string(),
            label: key.name.to_string(),
            tags: key.tags.iter().map(ToString::to_string).collect(),
            imported: key.imported,
            exported: key.exported,
        };
        Self { subjects: vec![Subject { private_key: Some(key), ..Subject::default() }], ..Self::default() }
    }
}

fn wallet(wallet: &Wallet) -> request::Wallet {
    request::Wallet {
        id: wallet.id.to_string(),
        label: wallet.name.to_string(),
        imported: wallet.imported,
        exported: wallet.exported,
    }
}
