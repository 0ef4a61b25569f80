//! Names in place of ids and addresses: which member takes what, and what the organization has of it.

use quorate_common::ids::UserId;
use quorate_common::wire::{OrganizationDetail, WalletAccount};
use serde_json::Value;

use crate::book::Book;

/// What a member names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noun {
    User,
    UserTag,
    PrivateKeyTag,
    PrivateKey,
    Wallet,
    Account,
    Policy,
    MfaPolicy,
    ApiKey,
    Authenticator,
    OauthProvider,
    Credential,
    Oauth2Credential,
    Secret,
    Contract,
    Endpoint,
    Invitation,
    Profile,
    Organization,
    /// A private key or an account, by id or address.
    Signer,
    /// The address of an account.
    OwnAddress,
    /// Any address of the address book.
    Address,
}

impl Noun {
    const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::UserTag => "user tag",
            Self::PrivateKeyTag => "private key tag",
            Self::PrivateKey => "private key",
            Self::Wallet => "wallet",
            Self::Account | Self::OwnAddress => "wallet account",
            Self::Policy => "policy",
            Self::MfaPolicy => "MFA policy",
            Self::ApiKey => "API key",
            Self::Authenticator => "authenticator",
            Self::OauthProvider => "OAuth provider",
            Self::Credential => "credential",
            Self::Oauth2Credential => "OAuth 2.0 credential",
            Self::Secret => "secret",
            Self::Contract => "contract interface",
            Self::Endpoint => "webhook endpoint",
            Self::Invitation => "invitation",
            Self::Profile => "session profile",
            Self::Organization => "organization",
            Self::Signer => "account or private key",
            Self::Address => "address",
        }
    }
}

/// Endings of the names of members, longest first where one contains another.
const MEMBERS: [(&str, Noun); 26] = [
    ("usertagid", Noun::UserTag),
    ("usertag", Noun::UserTag),
    ("privatekeytagid", Noun::PrivateKeyTag),
    ("privatekeytag", Noun::PrivateKeyTag),
    ("privatekeyid", Noun::PrivateKey),
    ("walletaccountid", Noun::Account),
    ("walletid", Noun::Wallet),
    ("mfapolicyid", Noun::MfaPolicy),
    ("policyid", Noun::Policy),
    ("apikeyid", Noun::ApiKey),
    ("authenticatorid", Noun::Authenticator),
    ("providerid", Noun::OauthProvider),
    ("oauth2credentialid", Noun::Oauth2Credential),
    ("secretid", Noun::Secret),
    ("smartcontractinterfaceid", Noun::Contract),
    ("endpointid", Noun::Endpoint),
    ("invitationid", Noun::Invitation),
    ("sessionprofileid", Noun::Profile),
    ("organizationid", Noun::Organization),
    ("userid", Noun::User),
    ("signwith", Noun::Signer),
    ("smartcontractaddress", Noun::Address),
    ("tagid", Noun::UserTag),
    ("keyid", Noun::PrivateKey),
    ("accountid", Noun::Account),
    ("contractid", Noun::Contract),
];

/// A value with the name that it is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Value of the member: an id or an address.
    pub(crate) value: String,
    /// Untrusted.
    pub(crate) name: String,
}

/// Candidates of a member.
pub(crate) type Candidates = Vec<Candidate>;

/// Records whose names can be used.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) organization: &'a OrganizationDetail,
    pub(crate) accounts: &'a [WalletAccount],
    /// Whether the organization has accounts that were not read, so that a name could be theirs as well.
    pub(crate) has_more_accounts: bool,
    pub(crate) book: &'a Book,
}

fn noun(member: &str, schema: &Value) -> Option<Noun> {
    let name = member.to_lowercase();
    let name = name.strip_suffix('s').unwrap_or(&name);
    let is_id = schema.get("format").and_then(Value::as_str) == Some("uuid");
    match name {
        "id" if is_id => return Some(Noun::Credential),
        "addres" => return Some(Noun::OwnAddress),
        _ => {}
    }
    let known = MEMBERS.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, noun)| *noun);
    known.filter(|noun| is_id || matches!(noun, Noun::Signer | Noun::Address | Noun::PrivateKey))
}

impl Known<'_> {
    /// Returns whether the candidates of a member include accounts, which are read separately.
    pub(crate) fn needs_accounts(member: &str, schema: &Value) -> bool {
        matches!(noun(member, schema), Some(Noun::Account | Noun::Signer | Noun::OwnAddress))
    }

    /// Returns what a member can name.
    pub(crate) fn candidates(&self, member: &str, schema: &Value) -> Candidates {
        noun(member, schema).map(|noun| self.of_noun(noun)).unwrap_or_default()
    }

    /// Returns that the organization has nothing that a member could name, if so.
    pub(crate) fn nothing_for(&self, member: &str, schema: &Value) -> Option<String> {
        let noun = noun(member, schema).filter(|noun| *noun != Noun::Address)?;
        let is_empty = self.of_noun(noun).is_empty() && !self.has_more_accounts;
        is_empty.then(|| format!("This organization has no {} yet.", noun.word()))
    }

    /// Returns the id or the address for a name in a member.
    ///
    /// # Errors
    ///
    /// Returns why it is not clear which record has the name.
    pub(crate) fn id_of(&self, text: &str, member: &str, schema: &Value) -> Result<String, String> {
        let id = id_of(text, &self.candidates(member, schema))?;
        if id != text && self.has_more_accounts && Self::needs_accounts(member, schema) {
            return Err(format!(
                "{text} may be the name of several accounts, because not all were read: use an address or an id"
            ));
        }
        Ok(id)
    }

    fn of_noun(&self, noun: Noun) -> Candidates {
        let known = self.organization;
        match noun {
            Noun::User => each(&known.users, |user| (user.user_id.to_string(), &user.user_name)),
            Noun::UserTag => self.tags("TAG_TYPE_USER"),
            Noun::PrivateKeyTag => self.tags("TAG_TYPE_PRIVATE_KEY"),
            Noun::PrivateKey => self.private_keys(),
            Noun::Wallet => {
                each(&known.wallets, |wallet| (wallet.wallet_id.to_string(), &wallet.wallet_name))
            }
            Noun::Policy => {
                each(&known.policies, |policy| (policy.policy_id.to_string(), &policy.policy_name))
            }
            Noun::Secret => {
                let there = known.secrets.iter();
                there
                    .map(|one| candidate(one.secret_id.to_string(), one.name.as_deref().unwrap_or_default()))
                    .collect()
            }
            Noun::Contract => each(&known.smart_contract_interfaces, |one| {
                (one.smart_contract_interface_id.to_string(), &one.label)
            }),
            Noun::Endpoint => each(&known.webhook_endpoints, |one| (one.endpoint_id.to_string(), &one.name)),
            Noun::Invitation => {
                each(&known.invitations, |one| (one.invitation_id.to_string(), &one.receiver_user_name))
            }
            Noun::Profile => each(&known.session_profiles, |one| {
                (one.session_profile_id.to_string(), &one.session_profile_name)
            }),
            Noun::Oauth2Credential => {
                each(&known.oauth2_credentials, |one| (one.oauth2_credential_id.to_string(), &one.client_id))
            }
            Noun::Organization => {
                vec![candidate(known.head.organization_id.to_string(), &known.head.organization_name)]
            }
            Noun::MfaPolicy | Noun::ApiKey | Noun::Authenticator | Noun::OauthProvider | Noun::Credential => {
                self.of_users(noun)
            }
            Noun::Account => self.accounts(|account| account.wallet_account_id.to_string()),
            Noun::OwnAddress => self.accounts(|account| account.address.clone()),
            Noun::Signer => {
                let mut all = self.accounts(|account| account.address.clone());
                all.extend(self.private_keys());
                all
            }
            Noun::Address => self
                .book
                .entries()
                .iter()
                .map(|entry| candidate(entry.address.clone(), &entry.marked()))
                .collect(),
        }
    }

    fn tags(&self, tag_type: &str) -> Candidates {
        let tags = self.organization.tags.iter().filter(|tag| tag.tag_type == tag_type);
        tags.map(|tag| candidate(tag.tag_id.to_string(), &tag.tag_name)).collect()
    }

    fn private_keys(&self) -> Candidates {
        each(&self.organization.private_keys, |key| (key.private_key_id.to_string(), &key.private_key_name))
    }

    fn accounts(&self, value: fn(&WalletAccount) -> String) -> Candidates {
        let named = |account: &WalletAccount| {
            let wallets = self.organization.wallets.iter();
            let mut of_account = wallets.filter(|wallet| wallet.wallet_id == account.wallet_id);
            let wallet = of_account.next().map(|wallet| wallet.wallet_name.as_str()).unwrap_or_default();
            let name = account.name.clone().unwrap_or_else(|| format!("{wallet} {}", account.path));
            candidate(value(account), &name)
        };
        self.accounts.iter().map(named).collect()
    }

    /// Returns what belongs to users: credentials and MFA policies, each with the name of its user.
    fn of_users(&self, noun: Noun) -> Candidates {
        let is = |wanted: Noun| noun == wanted || noun == Noun::Credential && wanted != Noun::MfaPolicy;
        let mut found = Vec::new();
        for user in &self.organization.users {
            let mut add = |wanted: Noun, id: String, name: &str| {
                if is(wanted) {
                    found.push(candidate(id, &format!("{}: {name}", user.user_name)));
                }
            };
            for key in &user.api_keys {
                add(Noun::ApiKey, key.api_key_id.to_string(), &key.api_key_name);
            }
            for passkey in &user.authenticators {
                add(Noun::Authenticator, passkey.authenticator_id.to_string(), &passkey.authenticator_name);
            }
            for provider in &user.oauth_providers {
                add(Noun::OauthProvider, provider.provider_id.to_string(), &provider.provider_name);
            }
            for policy in &user.mfa_policies {
                add(Noun::MfaPolicy, policy.mfa_policy_id.to_string(), &policy.mfa_policy_name);
            }
        }
        found
    }
}

fn candidate(value: String, name: &str) -> Candidate {
    Candidate { value, name: name.to_owned() }
}

fn each<T>(all: &[T], parts: fn(&T) -> (String, &String)) -> Candidates {
    all.iter()
        .map(|one| {
            let (value, name) = parts(one);
            candidate(value, name)
        })
        .collect()
}

/// Returns the parameters with ids in place of names, where a member takes an id.
///
/// # Errors
///
/// Returns which name is of no record or of several.
pub(crate) fn resolved(
    value: &Value,
    member: &str,
    schema: &Value,
    known: &Known<'_>,
) -> Result<Value, String> {
    let choices = schema.get("anyOf").and_then(Value::as_array);
    let present =
        choices.and_then(|all| all.iter().find(|one| one.get("type") != Some(&Value::from("null"))));
    let schema = present.unwrap_or(schema);
    let inner = |name: &str| schema.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| Ok((name.clone(), resolved(value, name, inner(name), known)?)))
            .collect::<Result<serde_json::Map<_, _>, String>>()
            .map(Value::Object),
        Value::Array(items) => {
            let schema = schema.get("items").unwrap_or(&Value::Null);
            items.iter().map(|item| resolved(item, member, schema, known)).collect()
        }
        Value::String(text) => known.id_of(text, member, schema).map(Value::from),
        other => Ok(other.clone()),
    }
}

/// Returns the id for a name. Text that is already a value, or no name of a record, stays as it is; the schema
/// reports it if it is not an id.
fn id_of(text: &str, candidates: &[Candidate]) -> Result<String, String> {
    // A record that is named like an id must not take the place of another one.
    let is_id = text.parse::<UserId>().is_ok();
    if is_id || candidates.iter().any(|candidate| candidate.value == text) {
        return Ok(text.to_owned());
    }
    let named: Vec<&Candidate> = candidates.iter().filter(|candidate| candidate.name == text).collect();
    match named.as_slice() {
        [] => Ok(text.to_owned()),
        [only] => Ok(only.value.clone()),
        several => {
            let ids: Vec<&str> = several.iter().map(|candidate| candidate.value.as_str()).collect();
            Err(format!("{text} is the name of {} records: use an id, {}", ids.len(), ids.join(" or ")))
        }
    }
}
