//! Fetching keys from issuers with various kinds of behaviour, on loopback.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::atomic::{AtomicUsize, Ordering};

use quorate_common::ids::OrganizationId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::*;

const KEYS: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"one","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;

/// How an issuer answers requests for its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behavior {
    Answers,
    /// Answers after it was released.
    Waits,
    /// Never answers.
    Silent,
    Redirects,
    /// Sends a body without an end.
    Floods,
    Fails,
    SendsAPage,
    /// Its configuration is that of another issuer.
    IsAnother,
    /// Its configuration names keys at an address that is not allowed.
    PointsInside,
}

/// An issuer on loopback. It counts the connections.
struct Issuer {
    url: String,
    connections: Arc<AtomicUsize>,
    release: Arc<Notify>,
}

impl Issuer {
    async fn start(behavior: Behavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (connections, release) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let (count, released, issuer) = (Arc::clone(&connections), Arc::clone(&release), url.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(stream, behavior, issuer.clone(), Arc::clone(&released)));
            }
        });
        Self { url, connections, release }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn answer(mut stream: TcpStream, behavior: Behavior, issuer: String, release: Arc<Notify>) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0; 1];
        if stream.read(&mut byte).await.unwrap_or(0) == 0 {
            return;
        }
        request.extend(byte);
    }
    let is_configuration = request.starts_with(b"GET /.well-known/openid-configuration HTTP/1.1");
    let document = if is_configuration {
        let named = if behavior == Behavior::IsAnother { "https://other.example" } else { issuer.as_str() };
        let inside = behavior == Behavior::PointsInside;
        let keys = if inside { "http://169.254.169.254/keys".to_owned() } else { format!("{issuer}/keys") };
        format!(r#"{{"issuer":"{named}","jwks_uri":"{keys}"}}"#)
    } else {
        KEYS.to_owned()
    };
    let ok = |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let text = match behavior {
        _ if is_configuration => ok(&document),
        Behavior::Waits => {
            release.notified().await;
            ok(&document)
        }
        Behavior::Silent => {
            let _ = stream.read_to_end(&mut request).await;
            return;
        }
        Behavior::Redirects => {
            format!("HTTP/1.1 302 Found\r\nLocation: {issuer}/elsewhere\r\nContent-Length: 0\r\n\r\n")
        }
        Behavior::Floods => "HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n".to_owned(),
        Behavior::Fails => "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n".to_owned(),
        Behavior::SendsAPage => ok("<html></html>"),
        _ => ok(&document),
    };
    let _ = stream.write_all(text.as_bytes()).await;
    while behavior == Behavior::Floods && !is_configuration && stream.write_all(&[b' '; 4096]).await.is_ok() {
    }
}

fn issuers() -> Issuers {
    let receivers = ReceiverPolicy::dev();
    let mut issuers = Issuers::new(OidcSettings { receivers, ..OidcSettings::default() });
    Arc::get_mut(&mut issuers.0).unwrap().deadline = Duration::from_millis(500);
    issuers
}

/// Returns an organization of a tenant of its own.
fn tenant(number: u8) -> Account {
    organization(number, number)
}

/// Returns an organization of a tenant.
fn organization(tenant: u8, number: u8) -> Account {
    let [tenant, organization] = [tenant, number].map(|byte| OrganizationId::from_bytes([byte; 16]));
    Account { tenant, organization }
}

/// Returns the message of an error.
fn message(keys: Option<Result<Arc<IssuerKeys>, RequestError>>) -> String {
    match keys.unwrap() {
        Ok(_) => panic!("there are keys"),
        Err(error) => error.api_error().message,
    }
}

#[tokio::test]
async fn keys_are_fetched_once_and_cached() {
    let (issuer, issuers) = (Issuer::start(Behavior::Answers).await, issuers());
    assert!(issuers.keys(&issuer.url, Some("one")).is_none());
    let loads: Vec<_> = (0..20)
        .map(|_| {
            let (issuers, url) = (issuers.clone(), issuer.url.clone());
            tokio::spawn(async move { issuers.load(&url, None, tenant(1)).await })
        })
        .collect();
    for load in loads {
        load.await.unwrap().unwrap();
    }
    issuers.load(&issuer.url, Some("one"), tenant(1)).await.unwrap();
    assert!(issuers.keys(&issuer.url, Some("one")).unwrap().unwrap().has("one"));
    assert!(issuers.keys(&issuer.url, None).unwrap().is_ok());
    // One request for the configuration and one for the keys.
    assert_eq!(issuer.connections(), 2);
}

#[tokio::test]
async fn unknown_key_ids_cause_one_fetch_a_minute() {
    let (issuer, issuers) = (Issuer::start(Behavior::Answers).await, issuers());
    issuers.load(&issuer.url, None, tenant(1)).await.unwrap();
    tokio::time::pause();
    for number in 0..100 {
        let keys = issuers.keys(&issuer.url, Some(&format!("unknown {number}")));
        assert!(!keys.unwrap().unwrap().has("unknown"), "no fetch is needed");
    }
    tokio::time::advance(REFRESH).await;
    assert!(issuers.keys(&issuer.url, Some("one")).unwrap().is_ok(), "known keys need no fetch");
    assert!(issuers.keys(&issuer.url, Some("unknown")).is_none());
    tokio::time::advance(LIFETIME).await;
    assert!(issuers.keys(&issuer.url, Some("one")).is_none(), "the keys are too old");
}

#[tokio::test]
async fn issuers_that_are_not_allowed_are_not_contacted() {
    let issuer = Issuer::start(Behavior::Answers).await;
    let settings = |issuers: &[&str], receivers| OidcSettings {
        issuers: issuers.iter().map(ToString::to_string).collect(),
        receivers,
        ..OidcSettings::default()
    };
    let strict = Issuers::new(settings(&[], ReceiverPolicy::default()));
    for url in [
        &issuer.url,
        "https://127.0.0.1/",
        "https://169.254.169.254",
        "ftp://a.example",
        "",
        "https://a@b.example",
    ] {
        assert_eq!(message(strict.keys(url, None)), "invalid OIDC token: its issuer is not allowed", "{url}");
    }
    let listed = Issuers::new(settings(&["https://accounts.example"], ReceiverPolicy::dev()));
    assert_eq!(message(listed.keys(&issuer.url, None)), "invalid OIDC token: its issuer is not allowed");
    assert!(listed.keys("https://accounts.example", None).is_none());
    let off = Issuers::new(OidcSettings { disabled: true, ..OidcSettings::default() });
    assert!(message(off.keys("https://accounts.example", None)).starts_with("OAUTH disallowed"));
    assert_eq!(issuer.connections(), 0);
}

#[tokio::test]
async fn hostile_issuers_are_bounded_and_their_failure_is_cached() {
    let unexpected = "invalid OIDC token: its issuer does not answer as expected";
    for (behavior, expected) in [
        (Behavior::Silent, unexpected),
        (Behavior::Redirects, unexpected),
        (Behavior::Floods, unexpected),
        (Behavior::Fails, unexpected),
        (Behavior::SendsAPage, "invalid OIDC token: the keys of its issuer are not valid"),
        (Behavior::IsAnother, "invalid OIDC token: the configuration of its issuer is not valid"),
        (Behavior::PointsInside, "invalid OIDC token: its issuer names an address that is not allowed"),
    ] {
        let (issuer, issuers) = (Issuer::start(behavior).await, issuers());
        issuers.load(&issuer.url, None, tenant(1)).await.unwrap();
        assert_eq!(message(issuers.keys(&issuer.url, None)), expected, "{behavior:?}");
        assert!(issuer.connections() <= 2, "{behavior:?}");
    }
}

#[tokio::test]
async fn a_slow_issuer_delays_its_own_callers_only() {
    let (slow, issuers) = (Issuer::start(Behavior::Waits).await, issuers());
    let waiting = tokio::spawn({
        let (issuers, url) = (issuers.clone(), slow.url.clone());
        async move { issuers.load(&url, None, tenant(1)).await }
    });
    let quick = Issuer::start(Behavior::Answers).await;
    issuers.load(&quick.url, None, tenant(1)).await.unwrap();
    assert!(issuers.keys(&quick.url, None).unwrap().is_ok());
    assert!(issuers.keys(&slow.url, None).is_none());
    slow.release.notify_one();
    waiting.await.unwrap().unwrap();
    assert!(issuers.keys(&slow.url, None).unwrap().is_ok());
}

#[tokio::test]
async fn a_tenant_has_a_share_of_the_fetches() {
    let issuers = issuers();
    let mut waiting = Vec::new();
    for _ in 0..FETCHES_OF_ORGANIZATION {
        let issuer = Issuer::start(Behavior::Silent).await;
        waiting.push(issuers.join(&issuer.url, tenant(1)).unwrap());
    }
    let other = Issuer::start(Behavior::Answers).await;
    assert_eq!(issuers.load(&other.url, None, tenant(1)).await.unwrap_err().code, Code::ResourceExhausted);
    issuers.load(&other.url, None, organization(1, 3)).await.unwrap();
    issuers.load(&other.url, None, tenant(2)).await.unwrap();
    // The deadline of the fetches ends them.
    for mut ended in waiting {
        let _ = ended.changed().await;
    }
    let another = Issuer::start(Behavior::Answers).await;
    issuers.load(&another.url, None, tenant(1)).await.unwrap();
}
