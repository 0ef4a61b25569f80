//! Validates, generates and imports wallets, and derives their accounts.

use quorate_chain::address::{AddressError, address};
use quorate_chain::curve::SecretKey;
use quorate_chain::derive::derive;
use quorate_chain::mnemonic::{Mnemonic, Seed};
use quorate_common::bounded::{AtMost, Label};
use quorate_common::ids::{WalletAccountId, WalletId};
use zeroize::Zeroizing;

use crate::error::{Conflict, Corrupt, Intent, RequestError};
use crate::execution::{Execution, NewWallet};
use crate::model::{Millis, Wallet, WalletAccount};
use crate::params::keys::NewWalletResult;
use crate::params::{WalletAccountParams, WalletParams};
use crate::secret::SecretBytes;
use crate::view::{View, distinct};

/// Checks that no two accounts of a request are the same, and that each address format fits its curve.
///
/// # Errors
/// If an account occurs twice, or an address format does not fit its curve.
pub fn check_accounts(accounts: &[WalletAccountParams]) -> Result<(), RequestError> {
    for (index, account) in accounts.iter().enumerate() {
        let same = |other: &WalletAccountParams| {
            other.curve == account.curve
                && other.path == account.path
                && other.address_format == account.address_format
        };
        if accounts.iter().skip(index.saturating_add(1)).any(same) {
            return Err(Intent::Text("invalid path").into());
        }
        if !account.address_format.fits(account.curve) {
            return Err(Intent::Text("invalid address format").into());
        }
    }
    Ok(())
}

/// Checks that no two accounts have the same name.
///
/// # Errors
/// If two have.
pub fn names_differ(accounts: &[WalletAccountParams]) -> Result<(), RequestError> {
    distinct(accounts.iter().filter_map(|account| account.name.as_ref()), "accounts")
}

/// Checks that the names of new accounts are unique in the organization.
///
/// # Errors
/// If a name is already in use or occurs twice.
pub fn names_are_free(accounts: &[WalletAccountParams], view: &View<'_>) -> Result<(), RequestError> {
    names_differ(accounts)?;
    accounts
        .iter()
        .filter_map(|account| account.name.as_ref())
        .try_for_each(|name| view.account_name_is_free(name))
}

/// Checks a new wallet: its name, its accounts and the limit.
///
/// # Errors
/// If a name is already in use, an account is invalid, or the limit is reached.
pub fn check_new(
    name: &Label,
    accounts: &[WalletAccountParams],
    view: &View<'_>,
) -> Result<(), RequestError> {
    check_accounts(accounts)?;
    names_are_free(accounts, view)?;
    view.name_is_free(|present: &Wallet| present.name == *name)?;
    view.check_room::<Wallet>(1)
}

/// Generates a wallet with its secret and accounts.
///
/// # Errors
/// If the source of randomness yields no mnemonic, or a path or address format is invalid.
pub fn wallet(params: WalletParams, context: &mut Execution<'_>) -> Result<NewWallet, RequestError> {
    let length = params.mnemonic_length.unwrap_or_default();
    let mnemonic = Mnemonic::generate(length, context.entropy())
        .map_err(|_| Corrupt::Invariant("the source of randomness yields no mnemonic"))?;
    let seed = mnemonic.seed("");
    let secret = SecretBytes::wallet(&mnemonic, "", &seed);
    from_seed(params.wallet_name, &seed, None, secret, params.accounts.into_vec(), context)
}

/// Adds a new wallet to the organization and returns its id and its addresses.
pub(crate) fn add(wallet: NewWallet, context: &mut Execution<'_>) -> NewWalletResult {
    let result = NewWalletResult { wallet_id: wallet.id(), addresses: AtMost::cut(wallet.addresses()) };
    context.change_all(wallet.changes());
    result
}

/// An imported mnemonic with its passphrase, and the seed of both.
pub struct Imported {
    mnemonic: Mnemonic,
    passphrase: Zeroizing<String>,
    seed: Seed,
    digest: [u8; 16],
}

/// Parses a mnemonic and, on the next line, its optional passphrase.
///
/// # Errors
/// If either is invalid, or the seed was imported before.
pub fn parse_imported(text: &[u8], view: &View<'_>) -> Result<Imported, RequestError> {
    let invalid = || Intent::Text("invalid mnemonic");
    let text = std::str::from_utf8(text).map_err(|_| invalid())?;
    let (phrase, passphrase) = text.split_once('\n').unwrap_or((text, ""));
    check_passphrase(passphrase, text)?;
    let mnemonic = Mnemonic::parse(phrase).map_err(|_| invalid())?;
    let seed = mnemonic.seed(passphrase);
    let digest = view.seed_digest(seed.as_bytes());
    if let Some(known) = view.organization.wallets().find(|wallet| wallet.seed_digest == Some(digest)) {
        return Err(Conflict::Seed(known.id.to_string()).into());
    }
    Ok(Imported { mnemonic, passphrase: Zeroizing::new(passphrase.to_owned()), seed, digest })
}

/// Checks that a passphrase is plausible. Every passphrase results in a valid wallet, so a stray line break
/// would silently import another wallet than the intended one.
fn check_passphrase(passphrase: &str, text: &str) -> Result<(), Intent> {
    if passphrase.is_empty() {
        return Ok(());
    }
    if passphrase.trim().is_empty() {
        return Err(Intent::Text("invalid passphrase: contains only white space"));
    }
    if Mnemonic::parse(text).is_ok() {
        return Err(Intent::Text(
            "invalid mnemonic: must be on one line; everything after the first line is the passphrase",
        ));
    }
    if passphrase.contains(char::is_control) {
        return Err(Intent::Text("invalid passphrase: contains a control character, such as a line break"));
    }
    Ok(())
}

/// Creates an imported wallet with its secret and accounts.
///
/// # Errors
/// If a path or address format is invalid.
pub fn import(
    name: Label,
    imported: &Imported,
    accounts: Vec<WalletAccountParams>,
    context: &mut Execution<'_>,
) -> Result<NewWallet, RequestError> {
    let secret = SecretBytes::wallet(&imported.mnemonic, &imported.passphrase, &imported.seed);
    from_seed(name, &imported.seed, Some(imported.digest), secret, accounts, context)
}

/// Creates a wallet with this seed. The digest of the seed is stored if it was imported.
fn from_seed(
    name: Label,
    seed: &Seed,
    seed_digest: Option<[u8; 16]>,
    secret: SecretBytes,
    params: Vec<WalletAccountParams>,
    context: &mut Execution<'_>,
) -> Result<NewWallet, RequestError> {
    let (now, id) = (context.now(), WalletId::random(context.random()));
    let accounts = accounts(seed, id, 0, params, now, &mut || context.random())?;
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

/// Derives accounts from a seed; the first gets the ordinal `first`.
///
/// # Errors
/// If a path cannot be derived on its curve, or an address format does not fit.
pub fn accounts(
    seed: &Seed,
    wallet: WalletId,
    first: u32,
    params: Vec<WalletAccountParams>,
    now: Millis,
    random: &mut dyn FnMut() -> [u8; 16],
) -> Result<Vec<WalletAccount>, RequestError> {
    let mut accounts = Vec::with_capacity(params.len());
    for (ordinal, params) in (first..).zip(params) {
        let key: SecretKey =
            derive(params.curve, seed, &params.path).map_err(|_| Intent::Text("invalid path"))?;
        let address =
            address(params.address_format, key.public()).map_err(|AddressError::UnsupportedCurve| {
                RequestError::from(Intent::Text("invalid address format"))
            })?;
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
