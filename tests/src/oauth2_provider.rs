//! The program `tests/clients/npm/oauth2_provider.mjs`: a certified authorization server in place of X and Discord.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use hyper::Method;
use serde_json::{Value, json};

use crate::http::Listener;
use crate::paths;

/// An application at a provider: its provider, its client id and its client secret.
pub type Application = (&'static str, &'static str, &'static str);

/// The applications that the server knows.
pub const APPLICATIONS: [Application; 2] = [
    ("OAUTH2_PROVIDER_X", "x-client", "canary+secret/%:of-x"),
    ("OAUTH2_PROVIDER_DISCORD", "112233", "canary-secret-of-discord"),
];

/// A running authorization server. It ends when it is dropped.
pub struct Oauth2Provider {
    child: Child,
    url: String,
}

impl Oauth2Provider {
    /// Starts the server; its packages must be installed.
    pub fn start() -> Self {
        let mut child = Command::new("node")
            .arg("oauth2_provider.mjs")
            .current_dir(paths::clients().join("npm"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node can be started");
        let mut line = String::new();
        let output = child.stdout.take().expect("an output");
        BufReader::new(output).read_line(&mut line).expect("the server prints its URL");
        let ready: Value = serde_json::from_str(&line).expect("JSON");
        let url = ready["url"].as_str().expect("a URL").to_owned();
        Self { child, url }
    }

    /// Returns the keys of the section `[oauth2]` that name this server.
    pub fn configuration(&self) -> String {
        let url = &self.url;
        format!(
            "x_token_url = \"{url}/token\"\nx_user_url = \"{url}/x/users/me\"\ndiscord_token_url = \"{url}/token\"\n\
             discord_user_url = \"{url}/discord/users/@me\"\nallow_networks = [\"127.0.0.0/8\"]\nallow_http = true\n"
        )
    }

    async fn control(&self, name: &str, members: Value) -> Value {
        let address: SocketAddr =
            self.url.strip_prefix("http://").expect("no TLS").parse().expect("an address");
        let mut connection = Listener::Tcp(address).connect().await.expect("the server listens");
        let body = members.to_string().into_bytes();
        connection
            .call(Method::POST, &format!("/control/{name}"), &[], &body)
            .await
            .expect("an answer")
            .success()
    }

    /// Signs a user in; returns the authorization code, and the URL that it was sent to.
    pub async fn code(&self, client_id: &str, verifier: &str, subject: &str) -> (String, String) {
        let members = json!({"client_id": client_id, "verifier": verifier, "subject": subject});
        let answer = self.control("code", members).await;
        let text = |name: &str| answer[name].as_str().expect("a text").to_owned();
        (text("code"), text("redirectUri"))
    }

    /// Encrypts a client secret to a public key, as clients do.
    pub async fn envelope(&self, secret: &str, key: &str) -> String {
        let answer = self.control("envelope", json!({"secret": secret, "key": key})).await;
        answer["envelope"].as_str().expect("a text").to_owned()
    }

    /// Decrypts an encrypted access token with a secret key in hex, as clients do.
    pub async fn bearer_token(&self, bundle: &str, key: &str) -> String {
        let answer = self.control("bundle", json!({"bundle": bundle, "key": key})).await;
        answer["plain"].as_str().expect("a text").to_owned()
    }
}

impl Drop for Oauth2Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
