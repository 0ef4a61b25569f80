//! A request as somebody writes or signs it, made into what policies are asked about.

use std::collections::BTreeMap;

use quorate_common::catalog::Gate as CatalogGate;
use quorate_common::console::{OrganizationDetail, Signer};
use quorate_common::wire;
use quorate_policy::Timestamp;
use quorate_policy::decide::{Approver, PolicyOutcome, PolicyProgram};
use quorate_policy::request::{self, Named, Request, RequestFacts, Subject, named_of, names_of};
use quorate_policy::simulate::{Asked, Gate, House, Simulation};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::content::{self, Content};
use super::kinds;

/// A body, as far as policies read it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Body {
    /// `ACTIVITY_TYPE_*`.
    #[serde(rename = "type")]
    pub(crate) activity_type: String,
    /// The parameters.
    pub(crate) parameters: Box<RawValue>,
    /// Id of the user who asks, where that is told beside the body.
    #[serde(default)]
    pub(crate) requester: Option<String>,
}

/// What names of a request stand for, looked up beforehand.
pub(crate) type Looked = BTreeMap<String, Signer>;

/// A request, ready to be judged.
pub(crate) struct Made {
    activity_type: String,
    acts: Option<(String, String)>,
    parameters: Box<RawValue>,
    gate: Gate,
    own_credentials_of: Option<String>,
    subjects: Vec<Subject>,
}

impl Body {
    /// Names that have to be looked up before the request can be judged.
    pub(crate) fn names(&self) -> Vec<String> {
        let called = content::contracts(&self.activity_type, &self.members());
        names_of(&self.activity_type, &self.parameters).into_iter().chain(called).collect()
    }

    /// The request of a user. The error says why policies are not asked about it.
    pub(crate) fn made(&self, organization: &OrganizationDetail, looked: &Looked) -> Result<Made, String> {
        let kind = kinds::of_type(&self.activity_type)
            .ok_or_else(|| format!("{} is not a type that is offered", self.activity_type))?;
        let gate = match kind.gate {
            CatalogGate::Policy => Gate::Policy,
            CatalogGate::RootQuorum => Gate::RootQuorum,
            CatalogGate::OwnCredential => Gate::OwnCredential,
            CatalogGate::RootUser => Gate::RootUser,
            CatalogGate::Vote => return Err("votes are not decided by policies".to_owned()),
            CatalogGate::Invitation => {
                return Err("whoever holds the secret of an invitation may accept it".to_owned());
            }
            CatalogGate::Founder => {
                return Err("whoever holds the passkey may found an organization".to_owned());
            }
        };
        let members = self.members();
        let mut subjects = subjects(named_of(&self.activity_type), &members, organization, looked)?;
        let contents = content::of(&self.activity_type, &members, organization, looked)?;
        if !contents.is_empty() {
            if subjects.is_empty() {
                subjects.push(Subject::default());
            }
            let about = |content: Content| {
                let with = |subject: &Subject| Subject { content: vec![content.clone()], ..subject.clone() };
                subjects.iter().map(with).collect::<Vec<_>>()
            };
            subjects = contents.into_iter().flat_map(about).collect();
        }
        let own = (gate == Gate::OwnCredential).then(|| members.get("userId")).flatten();
        Ok(Made {
            activity_type: self.activity_type.clone(),
            acts: kind.acts.clone(),
            parameters: self.parameters.clone(),
            gate,
            own_credentials_of: own.and_then(Value::as_str).map(str::to_owned),
            subjects,
        })
    }

    fn members(&self) -> BTreeMap<String, Value> {
        serde_json::from_str(self.parameters.get()).unwrap_or_default()
    }
}

impl Made {
    /// Whether nobody but the root quorum decides on it.
    pub(crate) fn is_for_root_quorum_only(&self) -> bool {
        self.gate == Gate::RootQuorum
    }

    /// What the organization would say to it, asked by this user with these approvals at this time.
    pub(crate) fn verdict(
        &self,
        house: &House,
        requester: &str,
        approvals: &[Approver],
        now: u64,
    ) -> PolicyOutcome {
        house.verdict(&self.asked(requester, approvals, now))
    }

    /// What would happen to it, asked by this user with these approvals at this time.
    pub(crate) fn simulate(
        &self,
        house: &House,
        requester: &str,
        approvals: &[Approver],
        now: u64,
    ) -> Simulation {
        house.simulate(&self.asked(requester, approvals, now))
    }

    /// Whether a policy is about it, whoever agrees.
    pub(crate) fn is_matched(&self, program: &PolicyProgram, now: u64) -> bool {
        let Some(condition) = &program.condition else { return true };
        let request = self.request(now);
        let none = [Subject::default()];
        let subjects = if self.subjects.is_empty() { none.as_slice() } else { &self.subjects };
        subjects.iter().any(|subject| condition.evaluate(&RequestFacts::new(request, subject)) == Ok(true))
    }

    fn request(&self, now: u64) -> Request<'_> {
        Request {
            activity_type: &self.activity_type,
            acts: self.acts.as_ref().map(|(action, resource)| (action.as_str(), resource.as_str())),
            parameters: &self.parameters,
            now: instant(now),
        }
    }

    fn asked<'a>(&'a self, requester: &'a str, approvals: &'a [Approver], now: u64) -> Asked<'a> {
        Asked {
            request: self.request(now),
            subjects: &self.subjects,
            gate: self.gate,
            own_credentials_of: self.own_credentials_of.as_deref(),
            requester,
            approvals,
        }
    }
}

fn instant(now: u64) -> Option<Timestamp> {
    let nanoseconds = u32::try_from(now % 1000).ok()?.checked_mul(1_000_000)?;
    Timestamp::new(i64::try_from(now / 1000).ok()?, nanoseconds)
}

fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn subjects(
    named: Named,
    members: &BTreeMap<String, Value>,
    organization: &OrganizationDetail,
    looked: &Looked,
) -> Result<Vec<Subject>, String> {
    let wallet = |id: &String| {
        let found = organization.wallets.iter().find(|one| one.wallet_id.to_string() == *id);
        found.map(self::wallet).ok_or_else(|| format!("there is no wallet {id}"))
    };
    let of_wallet = |wallet| Subject { wallet: Some(wallet), ..Subject::default() };
    match named {
        Named::Nothing => Ok(Vec::new()),
        Named::Wallet(member) => {
            texts(members.get(member)).iter().map(|id| Ok(of_wallet(wallet(id)?))).collect()
        }
        Named::Wallets(member) => {
            let wallets = texts(members.get(member)).iter().map(wallet).collect::<Result<_, _>>()?;
            Ok(vec![Subject { wallets, ..Subject::default() }])
        }
        Named::Accounts(member) => {
            let accounts = texts(members.get(member));
            let ids = accounts.iter().map(|id| account(looked, id).map(|one| one.wallet_id.to_string()));
            let mut ids = ids.collect::<Result<Vec<_>, _>>()?;
            ids.sort_unstable();
            ids.dedup();
            ids.iter().map(|id| Ok(of_wallet(wallet(id)?))).collect()
        }
        Named::PrivateKey(member) => {
            let key = |id: &String| {
                let found =
                    organization.private_keys.iter().find(|one| one.private_key_id.to_string() == *id);
                let found = found.map(private_key).ok_or_else(|| format!("there is no private key {id}"))?;
                Ok(Subject { private_key: Some(found), ..Subject::default() })
            };
            texts(members.get(member)).iter().map(key).collect()
        }
        Named::Signer(member) | Named::Address(member) => {
            let is_taken_out = matches!(named, Named::Address(_));
            let written = texts(members.get(member));
            let signer = |name: &String| {
                let found = looked.get(name).ok_or_else(|| format!("nothing signs under {name}"))?;
                let wallet = found.wallet_account.as_ref().map(|one| wallet(&one.wallet_id.to_string()));
                Ok(Subject {
                    wallet: wallet.transpose()?,
                    account: found.wallet_account.as_ref().map(|one| wallet_account(one, is_taken_out)),
                    private_key: found.private_key.as_ref().map(private_key),
                    ..Subject::default()
                })
            };
            written.iter().map(signer).collect()
        }
    }
}

fn account<'l>(looked: &'l Looked, id: &str) -> Result<&'l wire::WalletAccount, String> {
    let found = looked.get(id).and_then(|signer| signer.wallet_account.as_ref());
    found.ok_or_else(|| format!("there is no wallet account {id}"))
}

fn wallet(wallet: &wire::Wallet) -> request::Wallet {
    request::Wallet {
        id: wallet.wallet_id.to_string(),
        label: wallet.wallet_name.clone(),
        imported: wallet.imported,
        exported: wallet.exported,
    }
}

/// Only requests that take an account out let policies ask where it stands in its wallet.
fn wallet_account(account: &wire::WalletAccount, is_taken_out: bool) -> request::WalletAccount {
    let derivation = is_taken_out.then(|| request::Derivation {
        path: account.path.clone(),
        curve: account.curve.clone(),
        address_format: account.address_format.clone(),
    });
    request::WalletAccount {
        address: account.address.clone(),
        wallet_id: account.wallet_id.to_string(),
        derivation,
    }
}

fn private_key(key: &wire::PrivateKey) -> request::PrivateKey {
    request::PrivateKey {
        id: key.private_key_id.to_string(),
        label: key.private_key_name.clone(),
        tags: key.private_key_tags.iter().map(ToString::to_string).collect(),
        imported: key.imported,
        exported: key.exported,
    }
}
