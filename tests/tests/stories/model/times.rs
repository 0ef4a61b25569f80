//! Times of what is told: kept apart from what the model knows, and watched. The first never changes, the
//! second never goes back.

use std::collections::BTreeMap;

use serde_json::Value;

use super::views;

/// Members that name an object, the most telling first.
const IDS: [&str; 13] = [
    "walletAccountId",
    "walletId",
    "apiKeyId",
    "authenticatorId",
    "providerId",
    "userId",
    "policyId",
    "privateKeyId",
    "tagId",
    "invitationId",
    "sessionProfileId",
    "smartContractInterfaceId",
    "id",
];

/// When what was made and last changed, by id, in seconds.
#[derive(Default)]
pub(super) struct Times(BTreeMap<String, (u64, u64)>);

impl Times {
    /// A value without its times, which are noted, and with its lists in a fixed order.
    pub(super) fn taken_from(&mut self, told: &Value) -> Value {
        match told {
            Value::Array(items) => {
                let mut items = items.iter().map(|item| self.taken_from(item)).collect();
                views::sort(&mut items);
                items
            }
            Value::Object(members) => {
                self.note(told);
                let timeless =
                    members.iter().filter(|(name, _)| !["createdAt", "updatedAt"].contains(&name.as_str()));
                timeless.map(|(name, value)| (name.clone(), self.taken_from(value))).collect()
            }
            other => other.clone(),
        }
    }

    fn note(&mut self, told: &Value) {
        let (Some(created), Some(updated)) = (seconds(&told["createdAt"]), seconds(&told["updatedAt"]))
        else {
            return;
        };
        let id = IDS.iter().find_map(|name| told[*name].as_str());
        let id = id.unwrap_or_else(|| panic!("what has times has an id: {told:#}"));
        assert!(created <= updated, "changed before it was made: {told:#}");
        if let Some((created_before, updated_before)) = self.0.insert(id.to_owned(), (created, updated)) {
            assert_eq!(created_before, created, "made once only: {told:#}");
            assert!(updated_before <= updated, "time goes back: {told:#}");
        }
    }
}

/// Seconds since 1970 of a time.
fn seconds(time: &Value) -> Option<u64> {
    let text = time["seconds"].as_str()?;
    Some(text.parse().unwrap_or_else(|_| panic!("expected seconds: {time}")))
}
