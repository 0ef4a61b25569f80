//! Checks of a message that validators make as well.

use solana_message::VersionedMessage;
use solana_message::v0::MessageAddressTableLookup;

use super::SIGNATURE_BYTES;
use super::error::{MAX_ACCOUNTS, SolanaError};

/// First bit of a versioned message. The other bits of the byte are the version.
const VERSION_MARK: u8 = 0x80;

/// Returns the offset of the message, if its version is supported.
pub(super) fn message_start(bytes: &[u8]) -> Result<usize, SolanaError> {
    let slots = *bytes.first().ok_or(SolanaError::UnexpectedEnd)?;
    // Later versions begin with their number. That many signatures would not fit in any case.
    if slots & VERSION_MARK != 0 {
        return Err(SolanaError::Version(slots & !VERSION_MARK));
    }
    let start = usize::from(slots).saturating_mul(SIGNATURE_BYTES).saturating_add(1);
    let first = *bytes.get(start).ok_or(SolanaError::UnexpectedEnd)?;
    if first > VERSION_MARK { Err(SolanaError::Version(first & !VERSION_MARK)) } else { Ok(start) }
}

/// Checks the header against the signatures and the static accounts.
pub(super) fn check_accounts(message: &VersionedMessage, slots: usize) -> Result<(), SolanaError> {
    let (header, keys) = (message.header(), message.static_account_keys());
    let signers = usize::from(header.num_required_signatures);
    if signers != slots {
        return Err(SolanaError::SignatureCount { slots, signers });
    }
    if signers.saturating_add(header.num_readonly_unsigned_accounts.into()) > keys.len() {
        return Err(SolanaError::Header);
    }
    if header.num_readonly_signed_accounts >= header.num_required_signatures {
        return Err(SolanaError::FeePayer);
    }
    let duplicate =
        keys.iter().enumerate().position(|(index, key)| keys.iter().take(index).any(|one| one == key));
    duplicate.map_or(Ok(()), |index| Err(SolanaError::DuplicateKey(index)))
}

/// Checks the lookup tables and the number of all accounts.
pub(super) fn check_tables(message: &VersionedMessage) -> Result<(), SolanaError> {
    let tables = message.address_table_lookups().unwrap_or_default();
    let mut accounts = message.static_account_keys().len();
    for (index, table) in tables.iter().enumerate() {
        if tables.iter().take(index).any(|one| one.account_key == table.account_key) {
            return Err(SolanaError::DuplicateTable(index));
        }
        let looked_up = looked_up(table);
        if looked_up == 0 {
            return Err(SolanaError::EmptyTable(index));
        }
        accounts = accounts.saturating_add(looked_up);
    }
    if accounts > MAX_ACCOUNTS { Err(SolanaError::Accounts) } else { Ok(()) }
}

fn looked_up(table: &MessageAddressTableLookup) -> usize {
    table.writable_indexes.len().saturating_add(table.readonly_indexes.len())
}

/// Checks the programs and accounts to which instructions refer.
pub(super) fn check_instructions(message: &VersionedMessage) -> Result<(), SolanaError> {
    let keys = message.static_account_keys().len();
    let tables = message.address_table_lookups().unwrap_or_default();
    let accounts = tables.iter().map(looked_up).fold(keys, usize::saturating_add);
    for (index, instruction) in message.instructions().iter().enumerate() {
        match usize::from(instruction.program_id_index) {
            0 => return Err(SolanaError::CallsFeePayer(index)),
            program if program >= keys => return Err(SolanaError::Program(index)),
            _ => {}
        }
        if instruction.accounts.iter().any(|account| usize::from(*account) >= accounts) {
            return Err(SolanaError::Account(index));
        }
    }
    Ok(())
}
