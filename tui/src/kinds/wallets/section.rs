//! Wallets with the accounts that were loaded.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::Wallet;

use crate::kinds::count;
use crate::kinds::section::{Item, Listed, Row, SectionData};
use crate::text::{clean, date_time, pad, quoted};

impl Listed for Wallet {
    fn all(organization: &OrganizationDetail) -> &[Self] {
        &organization.wallets
    }

    fn item(&self, data: &SectionData<'_>) -> Item {
        let mut lines =
            vec![format!("wallet    {}  created {}", self.wallet_id, date_time(self.created_at.millis()))];
        lines.push(format!("exported  {}   imported {}", self.exported, self.imported));
        if data.of == Some(self.wallet_id) {
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
        let exported = if self.exported { "exported [!]" } else { "never exported" };
        let row = format!("{} {} {exported}", pad(&clean(&self.wallet_name), 24), self.wallet_id);
        Item { wallet: Some(self.wallet_id), ..Item::new(&self.wallet_name, row, lines) }
    }

    fn line(&self, _: &OrganizationDetail) -> Row {
        ("wallet", format!("{} {}", self.wallet_id, quoted(&self.wallet_name)))
    }
}
