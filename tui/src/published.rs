//! The JSON that scripts read: every time is a text in UTC (RFC 3339), whatever the daemon and this program use
//! themselves. The members of files and of signed bytes are not changed.

use serde_json::{Map, Value};

use crate::text::rfc3339;

/// Members that hold what somebody signed or what a kind defines; they are printed as they are.
const VERBATIM: [&str; 5] = ["intent", "result", "parameters", "message", "stamp"];

/// Returns data with its times as text. A member `fooAtMillis` becomes `fooAt`, and an object of seconds and nanoseconds
/// becomes its time.
pub(crate) fn published(data: Value) -> Value {
    match data {
        Value::Object(members) => match time(&members) {
            Some(time) => Value::String(time),
            None => Value::Object(members.into_iter().map(|(name, value)| member(name, value)).collect()),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(published).collect()),
        other => other,
    }
}

fn member(name: String, value: Value) -> (String, Value) {
    if VERBATIM.contains(&name.as_str()) {
        return (name, value);
    }
    let Some(short) = time_name(&name).filter(|_| value.is_u64() || value.is_null()) else {
        return (name, published(value));
    };
    let value = value.as_u64().map_or(Value::Null, |millis| Value::String(rfc3339(millis)));
    (short, value)
}

/// Returns the name under which a member with a time in milliseconds is published.
pub(crate) fn time_name(name: &str) -> Option<String> {
    match name {
        "atMillis" => Some("at".to_owned()),
        "nowMillis" => Some("now".to_owned()),
        "nextMillis" => Some("nextAt".to_owned()),
        "dueMillis" => Some("dueAt".to_owned()),
        "nextDueMillis" => Some("nextDueAt".to_owned()),
        "countedSinceMillis" => Some("countedSince".to_owned()),
        _ => name.ends_with("AtMillis").then(|| name.trim_end_matches("Millis").to_owned()),
    }
}

/// Returns the time that an object of the wire states.
fn time(members: &Map<String, Value>) -> Option<String> {
    if members.len() != 2 || members.get("nanos")?.as_str()? != "0" {
        return None;
    }
    let seconds: u64 = members.get("seconds")?.as_str()?.parse().ok()?;
    Some(rfc3339(seconds.saturating_mul(1000)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_published_in_utc() {
        let data = json!({"createdAt": {"seconds": "1700000000", "nanos": "0"}, "uses": [{"atMillis": 1_700_000_000_123_u64}],
            "expiresAtMillis": null, "remainingMillis": 5, "nowMillis": 0, "dueMillis": 1});
        let expected = json!({"createdAt": "2023-11-14T22:13:20Z", "uses": [{"at": "2023-11-14T22:13:20.123Z"}],
            "expiresAt": null, "remainingMillis": 5, "now": "1970-01-01T00:00:00Z", "dueAt": "1970-01-01T00:00:00.001Z"});
        assert_eq!(published(data), expected);
    }

    #[test]
    fn what_was_signed_is_published_as_it_is() {
        let data = json!({"intent": {"atMillis": 5}, "result": {"seconds": "1", "nanos": "0"}, "message": "{}",
            "other": {"seconds": "x", "nanos": "0"}, "third": {"seconds": "1", "nanos": "0", "more": 1}});
        assert_eq!(published(data.clone()), data);
    }
}
