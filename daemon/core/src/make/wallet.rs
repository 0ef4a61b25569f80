//! Wallets and accounts: what must hold of new ones, and how they come about.

use quorate_chain::address::{AddressFlaw, address};
use quorate_chain::curve::SecretKey;
use quorate_chain::derive::derive;
use quorate_chain::mnemonic::{Mnemonic, Seed};
use quorate_common::bounded::Label;
use quorate_common::ids::{WalletAccountId, WalletId};
use zeroize::Zeroizing;

use crate::cx::{Cx, NewWallet};
use crate::model::{Millis, Wallet, WalletAccount};
use crate::params::{WalletAccountParams, WalletParams};
use crate::refusal::{Clash, Corrupt, Intent, Refusal};
use crate::secret::SecretBytes;
use crate::view::{View, distinct, room};

/// No two accounts of one request are the same, and each address format fits its curve and is offered.
pub fn check_accounts(accounts: &[WalletAccountParams]) -> Result<(), Refusal> {
    for (place, account) in accounts.iter().enumerate() {
        let same = |other: &WalletAccountParams| {
            other.curve == account.curve
                && other.path == account.path
                && other.address_format == account.address_format
        };
        if accounts.iter().skip(place.saturating_add(1)).any(same) {
            return Err(Intent::Text("invalid path").into());
        }
        if !account.address_format.fits(account.curve) {
            return Err(Intent::Text("invalid address format").into());
        }
    }
    Ok(())
}

/// No two accounts to be kept bear one name.
pub fn names_differ(accounts: &[WalletAccountParams]) -> Result<(), Refusal> {
    distinct(accounts.iter().filter_map(|account| account.name.as_ref()), "accounts")
}

/// No other account of the organization bears a name of these.
pub fn names_are_free(accounts: &[WalletAccountParams], view: &View<'_>) -> Result<(), Refusal> {
    names_differ(accounts)?;
    accounts
        .iter()
        .filter_map(|account| account.name.as_ref())
        .try_for_each(|name| view.account_name_is_free(name))
}

/// The organization has room for one more wallet, of this name and with these accounts.
pub fn check_new(name: &Label, accounts: &[WalletAccountParams], view: &View<'_>) -> Result<(), Refusal> {
    check_accounts(accounts)?;
    names_are_free(accounts, view)?;
    view.wallet_name_is_free(name)?;
    room(view.organization.wallets().count(), 1, view.limits().wallets, "wallets", "wallets")
}

/// A wallet as described, with its secret and accounts.
pub fn wallet(params: WalletParams, cx: &mut Cx<'_, '_>) -> Result<NewWallet, Refusal> {
    let length = params.mnemonic_length.unwrap_or_default();
    let mnemonic = Mnemonic::generate(length, cx.entropy())
        .map_err(|_| Corrupt::Invariant("the random source gives no mnemonic"))?;
    let seed = mnemonic.seed("");
    let secret = SecretBytes::wallet(&mnemonic, "", &seed);
    keep(params.wallet_name, &seed, None, secret, params.accounts.into_vec(), cx)
}

/// What somebody brings in: a mnemonic with its passphrase, and the seed of both.
pub struct Imported {
    mnemonic: Mnemonic,
    passphrase: Zeroizing<String>,
    seed: Seed,
    digest: [u8; 16],
}

/// Reads a mnemonic and, on the line behind it, its passphrase. It must not have been imported before.
pub fn imported(text: &[u8], view: &View<'_>) -> Result<Imported, Refusal> {
    let invalid = || Intent::Text("invalid mnemonic");
    let text = std::str::from_utf8(text).map_err(|_| invalid())?;
    let (phrase, passphrase) = text.split_once('\n').unwrap_or((text, ""));
    check_passphrase(passphrase, text)?;
    let mnemonic = Mnemonic::parse(phrase).map_err(|_| invalid())?;
    let seed = mnemonic.seed(passphrase);
    let digest = view.seed_digest(seed.as_bytes());
    if let Some(known) = view.organization.wallets().find(|wallet| wallet.seed_digest == Some(digest)) {
        return Err(Clash::Seed(known.id.to_string()).into());
    }
    Ok(Imported { mnemonic, passphrase: Zeroizing::new(passphrase.to_owned()), seed, digest })
}

/// The passphrase behind a mnemonic is one that somebody meant. Every passphrase makes a wallet, so that nobody would be told
/// that what came in with a line break made another wallet than theirs.
fn check_passphrase(passphrase: &str, text: &str) -> Result<(), Intent> {
    if passphrase.is_empty() {
        return Ok(());
    }
    if passphrase.trim().is_empty() {
        return Err(Intent::Text("invalid passphrase: it is only white space"));
    }
    if Mnemonic::parse(text).is_ok() {
        return Err(Intent::Text(
            "invalid mnemonic: it stands on several lines, of which those behind the first are its passphrase",
        ));
    }
    if passphrase.contains(char::is_control) {
        return Err(Intent::Text("invalid passphrase: it holds a control character, such as a line break"));
    }
    Ok(())
}

/// An imported wallet with its secret and accounts.
pub fn import(
    name: Label,
    imported: &Imported,
    accounts: Vec<WalletAccountParams>,
    cx: &mut Cx<'_, '_>,
) -> Result<NewWallet, Refusal> {
    let secret = SecretBytes::wallet(&imported.mnemonic, &imported.passphrase, &imported.seed);
    keep(name, &imported.seed, Some(imported.digest), secret, accounts, cx)
}

/// A wallet with this seed, whose digest is kept if it was imported.
fn keep(
    name: Label,
    seed: &Seed,
    seed_digest: Option<[u8; 16]>,
    secret: SecretBytes,
    params: Vec<WalletAccountParams>,
    cx: &mut Cx<'_, '_>,
) -> Result<NewWallet, Refusal> {
    let (now, id) = (cx.now(), WalletId::random(cx.random()));
    let accounts = accounts(seed, id, 0, params, now, &mut || cx.random())?;
    let wallet = Wallet {
        id,
        name,
        accounts: u32::try_from(accounts.len()).unwrap_or(u32::MAX),
        exported: false,
        imported: seed_digest.is_some(),
        seed_digest,
        created: now,
        updated: now,
    };
    Ok(NewWallet { wallet, secret, accounts })
}

/// Accounts derived from a seed, the first with ordinal `first`.
pub fn accounts(
    seed: &Seed,
    wallet: WalletId,
    first: u32,
    params: Vec<WalletAccountParams>,
    now: Millis,
    random: &mut dyn FnMut() -> [u8; 16],
) -> Result<Vec<WalletAccount>, Refusal> {
    let mut accounts = Vec::with_capacity(params.len());
    for (ordinal, params) in (first..).zip(params) {
        let key: SecretKey =
            derive(params.curve, seed, &params.path).map_err(|_| Intent::Text("invalid path"))?;
        let address = address(params.address_format, key.public())
            .map_err(|AddressFlaw::UnfitCurve| Refusal::from(Intent::Text("invalid address format")))?;
        accounts.push(WalletAccount {
            id: WalletAccountId::random(random()),
            wallet,
            ordinal,
            curve: params.curve,
            path: params.path,
            format: params.address_format,
            address,
            public_key: key.public().compressed_hex(),
            name: params.name,
            exported: false,
            created: now,
            updated: 0,
        });
    }
    Ok(accounts)
}
