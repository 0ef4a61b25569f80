//! API client of one user: an organization, a key and a listener. Stamps what it sends and checks no answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::Method;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::http::{Connection, Listener, NoAnswer, Reply};
use crate::keys::Key;

/// A user of the API. Clones share the key, not the connection.
pub struct Caller {
    listener: Listener,
    organization: String,
    key: Key,
    connection: Mutex<Option<Connection>>,
}

impl Clone for Caller {
    fn clone(&self) -> Self {
        Self::new(self.listener.clone(), &self.organization, self.key.clone())
    }
}

impl Caller {
    /// Creates a caller that acts on `organization`.
    pub fn new(listener: Listener, organization: &str, key: Key) -> Self {
        Self { listener, organization: organization.to_owned(), key, connection: Mutex::default() }
    }

    /// Returns a caller on the same listener and organization, with another key.
    #[must_use]
    pub fn with_key(&self, key: &Key) -> Self {
        Self::new(self.listener.clone(), &self.organization, key.clone())
    }

    /// Returns a caller on the same listener and with the same key, which acts on another organization.
    #[must_use]
    pub fn on(&self, organization: &str) -> Self {
        Self::new(self.listener.clone(), organization, self.key.clone())
    }

    /// Returns the id of the organization that it acts on.
    pub fn organization(&self) -> &str {
        &self.organization
    }

    /// Returns the key that stamps the requests.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Returns the listener that it connects to.
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// Returns the body of a submit request with the current time, which proposes a new activity each time.
    pub fn proposal(&self, activity_type: &str, parameters: &Value) -> Vec<u8> {
        self.proposal_at(&now_millis().to_string(), activity_type, parameters)
    }

    /// Returns the body of a submit request with this timestamp.
    pub fn proposal_at(&self, timestamp_millis: &str, activity_type: &str, parameters: &Value) -> Vec<u8> {
        let body = json!({
            "type": activity_type,
            "timestampMs": timestamp_millis,
            "organizationId": self.organization,
            "parameters": parameters,
        });
        body.to_string().into_bytes()
    }

    /// Submits a new activity.
    pub async fn submit(&self, activity_type: &str, parameters: &Value) -> Reply {
        self.send(&submit_path(activity_type), &self.proposal(activity_type, parameters)).await
    }

    /// Submits an activity that must complete at once, and returns it.
    pub async fn completed(&self, activity_type: &str, parameters: &Value) -> Value {
        self.submit(activity_type, parameters).await.activity_in("COMPLETED")
    }

    /// Submits an activity that must wait for votes, and returns it.
    pub async fn waiting(&self, activity_type: &str, parameters: &Value) -> Value {
        self.submit(activity_type, parameters).await.activity_in("CONSENSUS_NEEDED")
    }

    /// Submits an activity that must complete at once, and returns its result.
    pub async fn result(&self, activity_type: &str, parameters: &Value) -> Value {
        self.submit(activity_type, parameters).await.result()
    }

    /// Approves an activity that this approval must complete, and returns it.
    pub async fn approved(&self, fingerprint: &Value) -> Value {
        self.approve(fingerprint).await.activity_in("COMPLETED")
    }

    /// Approves an activity.
    pub async fn approve(&self, fingerprint: &Value) -> Reply {
        self.submit("ACTIVITY_TYPE_APPROVE_ACTIVITY", &json!({ "fingerprint": fingerprint })).await
    }

    /// Rejects an activity.
    pub async fn reject(&self, fingerprint: &Value) -> Reply {
        self.submit("ACTIVITY_TYPE_REJECT_ACTIVITY", &json!({ "fingerprint": fingerprint })).await
    }

    /// Sends a query. The organization is added to `members`.
    pub async fn query(&self, name: &str, mut members: Value) -> Reply {
        members["organizationId"] = json!(self.organization);
        self.send(&format!("/public/v1/query/{name}"), members.to_string().as_bytes()).await
    }

    /// Sends a query that must succeed, and returns the body of the answer.
    pub async fn fetch(&self, name: &str, members: Value) -> Value {
        self.query(name, members).await.success()
    }

    /// Returns the time of the daemon behind the local socket, in milliseconds since 1970.
    ///
    /// # Panics
    /// Panics if it does not answer.
    pub async fn daemon_millis(&self) -> u64 {
        let reply = self.call(Method::GET, "/console/v1/status", &[], b"").await;
        reply.success()["nowMillis"].as_u64().expect("a time")
    }

    /// Queries the current state of an activity.
    pub async fn activity(&self, id: &Value) -> Value {
        self.query("get_activity", json!({ "activityId": id })).await.activity()
    }

    /// Queries all activities page by page, newest first.
    pub async fn activities(&self) -> Vec<Value> {
        self.activities_by(100).await
    }

    /// Queries all activities, newest first, in pages of `length`.
    pub async fn activities_by(&self, length: usize) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let mut options = json!({ "limit": length.to_string() });
            if let Some(last) = all.last() {
                options["after"] = last["id"].clone();
            }
            let reply =
                self.query("list_activities", json!({ "paginationOptions": options })).await.success();
            let page = reply["activities"].as_array().expect("a list of activities");
            all.extend(page.iter().cloned());
            if page.len() < length {
                return all;
            }
        }
    }

    /// Sends a body with its stamp. Panics if no answer arrives.
    pub async fn send(&self, path: &str, body: &[u8]) -> Reply {
        self.try_send(path, body).await.unwrap_or_else(|lost| panic!("no answer from {path}: {}", lost.0))
    }

    /// Sends a body with its stamp.
    ///
    /// # Errors
    ///
    /// Returns [`NoAnswer`] if no answer arrives.
    pub async fn try_send(&self, path: &str, body: &[u8]) -> Result<Reply, NoAnswer> {
        let stamp = self.key.stamp(body);
        let headers = [("content-type", "application/json"), (self.key.header_name(), stamp.as_str())];
        self.try_call(Method::POST, path, &headers, body).await
    }

    /// Sends any request. Panics if no answer arrives.
    pub async fn call(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let reply = self.try_call(method, path, headers, body).await;
        reply.unwrap_or_else(|lost| panic!("no answer from {path}: {}", lost.0))
    }

    /// Sends anything.
    ///
    /// # Errors
    ///
    /// Returns [`NoAnswer`] if no answer arrives.
    pub async fn try_call(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Reply, NoAnswer> {
        let mut kept = self.connection.lock().await;
        let mut connection = match kept.take() {
            Some(connection) if connection.is_usable() => connection,
            _ => self.listener.connect().await?,
        };
        let reply = connection.call(method, path, headers, body).await?;
        *kept = Some(connection);
        Ok(reply)
    }
}

/// Returns the path of an activity type: without its prefix and version, in lower case.
pub fn submit_path(activity_type: &str) -> String {
    let name = activity_type.strip_prefix("ACTIVITY_TYPE_").unwrap_or(activity_type);
    let name = match name.rsplit_once("_V") {
        Some((name, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    };
    format!("/public/v1/submit/{}", name.to_ascii_lowercase())
}

/// Returns milliseconds since 1970, never the same value twice, so that two bodies of one scenario never
/// coincide.
pub fn now_millis() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_millis();
    let now = u64::try_from(now).expect("milliseconds fit");
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)));
    now.max(last.expect("the update always returns a value") + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submit_paths_omit_the_version() {
        for (activity_type, path) in [
            ("ACTIVITY_TYPE_CREATE_WALLET", "/public/v1/submit/create_wallet"),
            ("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "/public/v1/submit/sign_raw_payload"),
            ("ACTIVITY_TYPE_OAUTH2_AUTHENTICATE", "/public/v1/submit/oauth2_authenticate"),
        ] {
            assert_eq!(submit_path(activity_type), path);
        }
    }

    #[test]
    fn now_millis_never_repeats() {
        let instants: Vec<u64> = (0..1000).map(|_| now_millis()).collect();
        assert!(instants.is_sorted_by(|earlier, later| earlier < later));
    }
}
