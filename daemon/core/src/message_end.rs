//! When a queued message has become useless, because what it is for has ended.

use quorate_common::ids::ApiKeyId;

use crate::error::Corrupt;
use crate::model::layout::{self, Class, sign_in};
use crate::model::one_time_code::ATTEMPTS;
use crate::model::organization::Head;
use crate::model::queued_message::{Purpose, StoredMessage};
use crate::model::record::Record;
use crate::model::{ApiKey, Invitation, Millis, SnapshotRecord as _, User};
use crate::records;
use crate::world::{Page, Records};

/// Returns whether the code, the key or the invitation in a message has ended, so that the message need not be sent. It
/// has not if its record is damaged, or if nothing is known about it.
///
/// # Errors
/// If the store cannot be read.
pub fn is_useless<M: StoredMessage>(
    message: &M,
    records: &dyn Records,
    now: Millis,
) -> Result<bool, Corrupt> {
    let (Some(origin), Some(purpose)) = (message.origin(), message.purpose()) else { return Ok(false) };
    let organization = origin.organization;
    let head = match records::head(records, organization) {
        Ok(head) if head.as_ref().is_none_or(|head| head.deleted.is_some()) => return Ok(true),
        Ok(head) => head,
        Err(Corrupt::Record(_)) => None,
        Err(unknown) => return Err(unknown),
    };
    match purpose {
        Purpose::Code(id) => {
            let is_gone = records.keys(Page::first(&sign_in::code(organization, id), 1))?.is_empty();
            let attempts = records.keys(Page::first(&sign_in::attempts(organization, id), ATTEMPTS))?;
            Ok(is_gone || attempts.len() >= ATTEMPTS)
        }
        Purpose::ApiKey(user, key) => {
            let of_user = layout::entity(organization, Class::USER, user.as_bytes());
            // Somebody else may have the former mailbox of the user, and must not get the key.
            let is_valid = |user: &User| message.contact().is_of(user) && has_key(user, key, head.as_ref());
            lacks::<User>(records, &of_user, is_valid)
        }
        Purpose::Invitation(id) => {
            lacks::<Invitation>(records, &Invitation::key(organization, id), |one| one.waits(now))
        }
    }
}

/// Returns whether a user has a key that can still be used.
fn has_key(user: &User, key: ApiKeyId, head: Option<&Head>) -> bool {
    let is_admitted =
        |one: &ApiKey| !one.is_recovery() || head.is_none_or(|head| head.admits_recovery(user.id, one));
    user.api_keys.iter().any(|one| one.id == key && is_admitted(one))
}

/// Returns whether a record is missing, or does not have a property.
fn lacks<R: Record>(
    records: &dyn Records,
    key: &[u8],
    has: impl FnOnce(&R) -> bool,
) -> Result<bool, Corrupt> {
    match records.read(key) {
        Ok(None) => Ok(true),
        Ok(Some(bytes)) => Ok(R::decode(&bytes).is_ok_and(|record| !has(&record))),
        Err(Corrupt::Record(_)) => Ok(false),
        Err(unknown) => Err(unknown),
    }
}
