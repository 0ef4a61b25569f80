//! Facts about Solana transactions for policies.

use quorate_policy::Value;

use crate::contract::Interfaces;

use super::{
    Account, Act, Instruction, Lookup, LookupTable, ProgramInterfaces, System, Token, TokenTransfer,
    Transaction,
};

impl Transaction {
    /// Returns the facts that policies can query.
    pub(in super::super) fn facts(&self, interfaces: &dyn Interfaces) -> Value {
        let known = self.interfaces(interfaces);
        let acts: Vec<Act<'_>> = self.instructions().map(|instruction| instruction.act()).collect();
        let transfers = acts.iter().filter_map(|act| match act {
            Act::System(System::Transfer { from, to, lamports }) => Some(transfer(from, to, *lamports)),
            _ => None,
        });
        let token_transfers = acts.iter().filter_map(|act| match act {
            Act::Token(Token::Transfer(transfer)) => Some(token_transfer(transfer)),
            _ => None,
        });
        Value::record([
            ("account_keys", Value::texts(self.keys.iter().cloned())),
            ("program_keys", Value::texts(self.programs().map(str::to_owned))),
            ("instructions", self.instructions().map(|one| self.instruction(one, &known)).collect()),
            ("transfers", transfers.collect()),
            ("spl_transfers", token_transfers.collect()),
            ("recent_blockhash", Value::text(self.recent_blockhash())),
            ("address_table_lookups", self.tables.iter().map(table).collect()),
            (
                "address_table_lookup_references",
                self.lookups.iter().map(|lookup| self.reference(lookup)).collect(),
            ),
        ])
    }

    fn instruction(&self, instruction: Instruction<'_>, known: &ProgramInterfaces) -> Value {
        let accounts = instruction.all().filter_map(|account| match account {
            Account::Static(key, index) => Some(Value::record([
                ("account_key", Value::text(key.to_owned())),
                ("signer", Value::from(index < self.required())),
                ("writable", Value::from(self.is_writable(index))),
            ])),
            Account::LookedUp(_) => None,
        });
        let lookups = instruction.all().filter_map(|account| match account {
            Account::Static(..) => None,
            Account::LookedUp(lookup) => Some(self.reference(lookup)),
        });
        Value::record([
            ("program_key", Some(Value::text(instruction.program().to_owned()))),
            ("accounts", Some(accounts.collect())),
            ("instruction_data_hex", Some(Value::text(const_hex::encode(instruction.data())))),
            ("address_table_lookups", Some(lookups.collect())),
            ("parsed_instruction_data", instruction.decode_with(known).map(|read| read.facts())),
        ])
    }

    fn reference(&self, lookup: &Lookup) -> Value {
        let key = self.tables.get(lookup.table).map(|table| Value::text(table.key.clone()));
        Value::record([
            ("address_table_key", key),
            ("index", Some(Value::int(lookup.index))),
            ("writable", Some(Value::from(lookup.writable))),
        ])
    }
}

fn transfer(from: &str, to: &str, lamports: u64) -> Value {
    Value::record([
        ("from", Value::text(from.to_owned())),
        ("to", Value::text(to.to_owned())),
        ("amount", Value::int(lamports)),
    ])
}

fn token_transfer(transfer: &TokenTransfer<'_>) -> Value {
    let mint = transfer.mint.map(|(mint, _)| mint).unwrap_or_default();
    Value::record([
        ("from", Value::text(transfer.from.to_owned())),
        ("to", Value::text(transfer.to.to_owned())),
        ("amount", Value::int(transfer.amount)),
        ("owner", Value::text(transfer.owner.to_owned())),
        ("signers", Value::texts(transfer.signers.iter().map(|signer| (*signer).to_owned()))),
        ("token_mint", Value::text(mint.to_owned())),
    ])
}

fn table(table: &LookupTable) -> Value {
    let integers = |indexes: &[u8]| indexes.iter().map(|index| Value::int(*index)).collect::<Value>();
    Value::record([
        ("address_table_key", Value::text(table.key.clone())),
        ("writable_indexes", integers(&table.writable)),
        ("readonly_indexes", integers(&table.readonly)),
    ])
}
