//! Times in answers: removed before the comparison with the model, and checked. The creation time never
//! changes, and the update time never goes back.

use std::collections::BTreeMap;

use serde_json::Value;

use super::views;

/// Members with an object's id, the most specific first.
const IDS: [&str; 14] = [
    "mfaPolicyId",
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

/// Creation and update time by id, in seconds.
#[derive(Default)]
pub(super) struct Times(BTreeMap<String, (u64, u64)>);

impl Times {
    /// Returns a value without its times, which are recorded, and with its lists in a fixed order.
    pub(super) fn strip(&mut self, reported: &Value) -> Value {
        match reported {
            Value::Array(items) => {
                let mut items = items.iter().map(|item| self.strip(item)).collect();
                views::sort(&mut items);
                items
            }
            Value::Object(members) => {
                self.record(reported);
                let timeless =
                    members.iter().filter(|(name, _)| !["createdAt", "updatedAt"].contains(&name.as_str()));
                timeless.map(|(name, value)| (name.clone(), self.strip(value))).collect()
            }
            other => other.clone(),
        }
    }

    fn record(&mut self, reported: &Value) {
        let (Some(created), Some(updated)) =
            (seconds(&reported["createdAt"]), seconds(&reported["updatedAt"]))
        else {
            return;
        };
        let id = IDS.iter().find_map(|name| reported[*name].as_str());
        let id = id.unwrap_or_else(|| panic!("an object with times has an id: {reported:#}"));
        assert!(created <= updated, "updated before it was created: {reported:#}");
        if let Some((created_before, updated_before)) = self.0.insert(id.to_owned(), (created, updated)) {
            assert_eq!(created_before, created, "creation time changed: {reported:#}");
            assert!(updated_before <= updated, "update time went back: {reported:#}");
        }
    }
}

/// Returns the seconds since 1970 of a time.
fn seconds(time: &Value) -> Option<u64> {
    let text = time["seconds"].as_str()?;
    Some(text.parse().unwrap_or_else(|_| panic!("expected seconds: {time}")))
}
