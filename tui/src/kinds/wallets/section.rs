//! Wallets with the accounts that were loaded.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::Wallet;

use crate::kinds::count;
use crate::kinds::section::{Item, Row, Section, SectionData};
use crate::text::{clean, date_time, pad, quoted};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Wallets", count: |detail| detail.wallets.len(), items: wallets };

fn wallets(data: &SectionData<'_>) -> Vec<Item> {
    let item = |wallet: &Wallet| {
        let mut lines = vec![format!(
            "wallet    {}  created {}",
            wallet.wallet_id,
            date_time(wallet.created_at.millis())
        )];
        lines.push(format!("exported  {}   imported {}", wallet.exported, wallet.imported));
        if data.of == Some(wallet.wallet_id) {
            for account in data.accounts {
                let name =
                    account.name.as_deref().map_or_else(String::new, |name| format!(" {}", quoted(name)));
                lines.push(format!(
                    "account   {}{name}  {} {}",
                    clean(&account.address),
                    clean(&account.path),
                    clean(account.address_format.trim_start_matches("ADDRESS_FORMAT_"))
                ));
            }
            lines.push(if data.more {
                "          Enter loads more accounts".to_owned()
            } else {
                format!("          {}, complete", count(data.accounts.len(), "account"))
            });
        } else {
            lines.push("          Enter loads its accounts".to_owned());
        }
        let exported = if wallet.exported { "exported [!]" } else { "never exported" };
        let row = format!("{} {} {exported}", pad(&clean(&wallet.wallet_name), 24), wallet.wallet_id);
        Item { wallet: Some(wallet.wallet_id), ..Item::new(&wallet.wallet_name, row, lines) }
    };
    data.detail.wallets.iter().map(item).collect()
}

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |wallet: &Wallet| ("wallet", format!("{} {}", wallet.wallet_id, quoted(&wallet.wallet_name)));
    organization.wallets.iter().map(line).collect()
}
