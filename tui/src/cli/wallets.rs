//! `quorate wallet ls|get`.

use std::fmt::Write as _;

use quorate_common::wire::{Wallet, WalletAccount};
use serde_json::json;

use super::arguments::WalletCommand;
use super::loaded::LoadedOrganization;
use super::table::{self, Row, Table};
use crate::failure::Result;
use crate::output::{Answer, extended, summary};
use crate::session::Session;
use crate::text::{clean, quoted, rfc3339};

pub(super) async fn run(session: &Session, command: &WalletCommand) -> Result<Answer> {
    let loaded = LoadedOrganization::read(session).await?;
    match command {
        WalletCommand::Ls => Ok(list(&loaded.organization.wallets)),
        WalletCommand::Get { wallet } => {
            let wallet = loaded.wallet(wallet)?;
            Ok(show(wallet, &accounts(session, &loaded, wallet).await?))
        }
    }
}

fn list(wallets: &[Wallet]) -> Answer {
    let row = |wallet: &Wallet| -> Row {
        let cells = [
            wallet.wallet_name.clone(),
            wallet.wallet_id.to_string(),
            if wallet.exported { "exported [!]" } else { "never exported" }.to_owned(),
            rfc3339(wallet.created_at.millis()),
            if wallet.imported { "imported" } else { "created here" }.to_owned(),
        ];
        table::row(json!(wallet), &wallet.wallet_id, cells)
    };
    Table {
        noun: ("wallet", "wallets"),
        columns: &["NAME", "ID", "EXPORTED"],
        wide: &["CREATED", "ORIGIN"],
        rows: wallets.iter().map(row).collect(),
        none: "No wallets.",
        more: None,
    }
    .answer()
}

/// Reads all accounts of a wallet.
async fn accounts(
    session: &Session,
    loaded: &LoadedOrganization,
    wallet: &Wallet,
) -> Result<Vec<WalletAccount>> {
    let (mut accounts, mut after) = (Vec::new(), None);
    loop {
        let page = session.client.accounts(loaded.id, wallet.wallet_id, after).await?;
        accounts.extend(page.accounts);
        after = page.next;
        if after.is_none() {
            return Ok(accounts);
        }
    }
}

fn show(wallet: &Wallet, accounts: &[WalletAccount]) -> Answer {
    let mut text = format!(
        "{} {}\ncreated   {}\nexported  {}\nimported  {}\n",
        quoted(&wallet.wallet_name),
        wallet.wallet_id,
        rfc3339(wallet.created_at.millis()),
        wallet.exported,
        wallet.imported
    );
    for account in accounts {
        let name = account.name.as_deref().map_or_else(String::new, |name| format!("  {}", quoted(name)));
        let (address, path) = (clean(&account.address), clean(&account.path));
        let _ = writeln!(text, "account   {address}  {path}{name}");
    }
    let _ = writeln!(text, "{}", summary(accounts.len(), "account", "accounts"));
    let data = extended(json!(wallet), [("accounts", json!(accounts))]);
    Answer { names: Some(vec![wallet.wallet_id.to_string()]), ..Answer::one(data, text) }
}
