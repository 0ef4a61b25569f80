//! The facts about an activity that policies can query, as the rules of its kind collect them.

use quorate_common::ids::{MfaPolicyId, UserId};
use quorate_common::wire::AuthenticationType;
use quorate_policy::Value;
use quorate_policy::request::{self, Subject};

use crate::model::{PrivateKey, Secret, Wallet, WalletAccount};

/// The facts that policies can query, in addition to the type and the parameters.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// User whose credentials are changed, if nothing else is changed.
    pub own_credentials_of: Option<UserId>,
    /// MFA policies of the proposer that must be met, whatever their conditions are: the activity could weaken them.
    pub guarded_by: Vec<MfaPolicyId>,
    /// Methods that the activity helps the proposer to prove, by a code that is sent to a verified contact of theirs.
    pub own_codes: Vec<AuthenticationType>,
    /// Objects of the activity that the policy language knows. Each subject is judged separately, and the
    /// strictest outcome decides, so that a batch is never judged more leniently than its members.
    pub subjects: Vec<Subject>,
}

impl Facts {
    /// Returns the facts of an action on wallets, each judged separately.
    pub fn of_each<'a>(wallets: impl IntoIterator<Item = &'a Wallet>) -> Self {
        let each = wallets.into_iter().map(|one| Subject { wallet: Some(wallet(one)), ..Subject::default() });
        Self { subjects: each.collect(), ..Self::default() }
    }

    /// Returns the facts of an action on wallets, all judged together.
    pub fn of_all<'a>(wallets: impl IntoIterator<Item = &'a Wallet>) -> Self {
        let wallets = wallets.into_iter().map(wallet).collect();
        Self { subjects: vec![Subject { wallets, ..Subject::default() }], ..Self::default() }
    }

    /// Returns the facts of a signature by a wallet account.
    pub fn of_account(account: &WalletAccount, of: Option<&Wallet>) -> Self {
        Self::of_account_with(account, of, None)
    }

    /// Returns the facts of the export of a wallet account: policies can also query its derivation.
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

    /// Adds the decoded content that is signed: the name of a root object, and its value.
    #[must_use]
    pub fn about(self, content: (&'static str, Value)) -> Self {
        self.about_each([content])
    }

    /// Adds the decoded content of several things that are signed, each judged separately. Without content,
    /// they are judged once.
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

    /// Returns the facts of the export of secrets, each judged separately.
    pub fn of_secrets<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let about = |secret: &Secret| {
            let properties = secret.static_properties.iter();
            let content = request::secret(properties.map(|one| (one.key.as_str(), one.value.as_str())));
            Subject { content: vec![content], ..Subject::default() }
        };
        Self { subjects: secrets.into_iter().map(about).collect(), ..Self::default() }
    }

    /// Returns the facts of a signature by a private key.
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
