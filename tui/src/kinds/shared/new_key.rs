//! Descriptions of wallets, accounts and private keys that activities create.

use crate::kinds::prelude::*;

/// Returns a wallet to create as the end of a sentence.
pub(in crate::kinds) fn wallet(parameters: &Reader<'_>) -> Result<String> {
    let accounts = parameters.list("accounts")?;
    let named = accounts.iter().map(account).collect::<Result<Vec<_>, _>>()?;
    let words = match parameters.number("mnemonicLength")? {
        0 => 12,
        words => words,
    };
    let name = quoted(parameters.text("walletName")?);
    let (number, named) = (count(accounts.len(), "account"), listed(named));
    Ok(format!("a wallet {name} with a seed of {words} words and {number}: {named}."))
}

/// Returns an account to derive as text.
pub(in crate::kinds) fn account(account: &Reader<'_>) -> Result<String> {
    let path = clean(account.text("path")?);
    let curve = clean(account.text("curve")?.trim_start_matches("CURVE_"));
    let format = clean(account.text("addressFormat")?.trim_start_matches("ADDRESS_FORMAT_"));
    let name = account.maybe_text("name")?.map_or_else(String::new, |name| format!(" {}", quoted(name)));
    Ok(format!("{format}{name} at {path} ({curve})"))
}

/// Returns a private key to create as text.
pub(in crate::kinds) fn private_key(key: &Reader<'_>) -> Result<String> {
    let name = quoted(key.text("privateKeyName")?);
    let curve = clean(key.text("curve")?.trim_start_matches("CURVE_"));
    let formats = key.texts("addressFormats")?;
    let formats = listed(formats.iter().map(|format| clean(format.trim_start_matches("ADDRESS_FORMAT_"))));
    Ok(format!("{name} ({curve}, addresses: {formats})"))
}
