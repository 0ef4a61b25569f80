//! Parses a request, written by hand or signed, for the evaluation of policies.

use std::collections::BTreeMap;

use quorate_common::catalog::Gate as CatalogGate;
use quorate_common::console::OrganizationDetail;
use quorate_common::wire;
use quorate_policy::Timestamp;
use quorate_policy::decide::{Approver, PolicyOutcome, PolicyProgram};
use quorate_policy::request::{
    self, ObjectReference, Request, RequestFacts, Subject, lookup_names, reference_of,
};
use quorate_policy::simulate::{Gate, OrganizationRules, SimulatedRequest, Simulation};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::content::{self, Content, ResolvedNames};
use super::types::acts;
use crate::catalog;

/// The members of a request body that policies use.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Body {
    /// `ACTIVITY_TYPE_*`.
    #[serde(rename = "type")]
    pub(crate) activity_type: String,
    pub(crate) parameters: Box<RawValue>,
    /// Id of the proposer, if it is given with the body. Version 0.1 had another name for the member.
    #[serde(default, alias = "requester")]
    pub(crate) proposer: Option<String>,
}

/// A request that can be evaluated.
pub(crate) struct ParsedRequest {
    activity_type: String,
    acts: Option<(String, String)>,
    parameters: Box<RawValue>,
    gate: Gate,
    own_credentials_of: Option<String>,
    subjects: Vec<Subject>,
}

impl Body {
    /// Returns the body of a request that is not sent yet. Its proposer is not given.
    pub(crate) fn of(activity_type: &str, parameters: &serde_json::Value) -> Self {
        let parameters = serde_json::value::to_raw_value(parameters).unwrap_or_default();
        Self { activity_type: activity_type.to_owned(), parameters, proposer: None }
    }

    /// Returns the names that must be resolved before the request can be evaluated.
    pub(crate) fn names(&self) -> Vec<String> {
        let called = content::contracts(&self.activity_type, &self.members());
        lookup_names(&self.activity_type, &self.parameters).into_iter().chain(called).collect()
    }

    /// Parses the request.
    ///
    /// # Errors
    ///
    /// Fails with the reason if policies do not decide on it, or if it names unknown objects.
    pub(crate) fn parsed(
        &self,
        organization: &OrganizationDetail,
        resolved: &ResolvedNames,
    ) -> Result<ParsedRequest, String> {
        let entry = catalog::of_type(&self.activity_type)
            .ok_or_else(|| format!("{} is not a known activity type", self.activity_type))?;
        let gate = match entry.gate {
            CatalogGate::Policy => Gate::Policy,
            CatalogGate::RootQuorum => Gate::RootQuorum,
            CatalogGate::OwnCredential => Gate::OwnCredential,
            CatalogGate::RootUser => Gate::RootUser,
            CatalogGate::Vote => return Err("policies do not decide on votes".to_owned()),
            CatalogGate::Caller => {
                return Err("policies do not decide on this: every user can do it for themselves".to_owned());
            }
            CatalogGate::Invitation => {
                return Err(
                    "policies do not decide on this: the holder of an invitation's secret can accept it"
                        .to_owned(),
                );
            }
            CatalogGate::Registrant => {
                return Err(
                    "policies do not decide on this: the holder of the passkey can create an organization"
                        .to_owned(),
                );
            }
        };
        let members = self.members();
        let mut subjects = subjects(reference_of(&self.activity_type), &members, organization, resolved)?;
        let contents = content::of(&self.activity_type, &members, organization, resolved)?;
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
        Ok(ParsedRequest {
            activity_type: self.activity_type.clone(),
            acts: acts(entry),
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

impl ParsedRequest {
    /// Returns whether only the root quorum decides on it.
    pub(crate) fn is_for_root_quorum_only(&self) -> bool {
        self.gate == Gate::RootQuorum
    }

    /// Returns the decision on the request by this proposer with these approvals at this time.
    pub(crate) fn verdict(
        &self,
        rules: &OrganizationRules,
        proposer: &str,
        approvals: &[Approver],
        now: u64,
    ) -> PolicyOutcome {
        rules.verdict(&self.simulated(proposer, approvals, now))
    }

    /// Simulates the request by this proposer with these approvals at this time.
    pub(crate) fn simulate(
        &self,
        rules: &OrganizationRules,
        proposer: &str,
        approvals: &[Approver],
        now: u64,
    ) -> Simulation {
        rules.simulate(&self.simulated(proposer, approvals, now))
    }

    /// Returns whether the condition of a policy matches, independent of approvals.
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

    fn simulated<'a>(
        &'a self,
        proposer: &'a str,
        approvals: &'a [Approver],
        now: u64,
    ) -> SimulatedRequest<'a> {
        SimulatedRequest {
            request: self.request(now),
            subjects: &self.subjects,
            gate: self.gate,
            own_credentials_of: self.own_credentials_of.as_deref(),
            proposer,
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
    named: ObjectReference,
    members: &BTreeMap<String, Value>,
    organization: &OrganizationDetail,
    resolved: &ResolvedNames,
) -> Result<Vec<Subject>, String> {
    let wallet = |id: &String| {
        let found = organization.wallets.iter().find(|one| one.wallet_id.to_string() == *id);
        found.map(self::wallet).ok_or_else(|| format!("wallet {id} does not exist"))
    };
    let of_wallet = |wallet| Subject { wallet: Some(wallet), ..Subject::default() };
    match named {
        ObjectReference::Nothing => Ok(Vec::new()),
        ObjectReference::Wallet(member) => {
            texts(members.get(member)).iter().map(|id| Ok(of_wallet(wallet(id)?))).collect()
        }
        ObjectReference::Wallets(member) => {
            let wallets = texts(members.get(member)).iter().map(wallet).collect::<Result<_, _>>()?;
            Ok(vec![Subject { wallets, ..Subject::default() }])
        }
        ObjectReference::Accounts(member) => {
            let accounts = texts(members.get(member));
            let ids = accounts.iter().map(|id| account(resolved, id).map(|one| one.wallet_id.to_string()));
            let mut ids = ids.collect::<Result<Vec<_>, _>>()?;
            ids.sort_unstable();
            ids.dedup();
            ids.iter().map(|id| Ok(of_wallet(wallet(id)?))).collect()
        }
        ObjectReference::PrivateKey(member) => {
            let key = |id: &String| {
                let found =
                    organization.private_keys.iter().find(|one| one.private_key_id.to_string() == *id);
                let found =
                    found.map(private_key).ok_or_else(|| format!("private key {id} does not exist"))?;
                Ok(Subject { private_key: Some(found), ..Subject::default() })
            };
            texts(members.get(member)).iter().map(key).collect()
        }
        ObjectReference::Signer(member) | ObjectReference::Address(member) => {
            let is_exported = matches!(named, ObjectReference::Address(_));
            let written = texts(members.get(member));
            let signer = |name: &String| {
                let found = resolved.get(name).ok_or_else(|| format!("no key signs for {name}"))?;
                let wallet = found.wallet_account.as_ref().map(|one| wallet(&one.wallet_id.to_string()));
                Ok(Subject {
                    wallet: wallet.transpose()?,
                    account: found.wallet_account.as_ref().map(|one| wallet_account(one, is_exported)),
                    private_key: found.private_key.as_ref().map(private_key),
                    ..Subject::default()
                })
            };
            written.iter().map(signer).collect()
        }
    }
}

fn account<'l>(resolved: &'l ResolvedNames, id: &str) -> Result<&'l wire::WalletAccount, String> {
    let found = resolved.get(id).and_then(|signer| signer.wallet_account.as_ref());
    found.ok_or_else(|| format!("wallet account {id} does not exist"))
}

fn wallet(wallet: &wire::Wallet) -> request::Wallet {
    request::Wallet {
        id: wallet.wallet_id.to_string(),
        label: wallet.wallet_name.clone(),
        imported: wallet.imported,
        exported: wallet.exported,
    }
}

/// Converts a wallet account. Policies can use its derivation only if the request exports the account.
fn wallet_account(account: &wire::WalletAccount, is_exported: bool) -> request::WalletAccount {
    let derivation = is_exported.then(|| request::Derivation {
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
