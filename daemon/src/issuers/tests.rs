//! Fetching keys from issuers with various kinds of behaviour, on loopback.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::atomic::{AtomicUsize, Ordering};

use quorate_common::ids::OrganizationId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::*;

const KEYS: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"one","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;

/// How an issuer answers requests for one of its two documents.
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
    /// Its configuration names keys at this URL.
    PointsAt(&'static str),
    /// Its key set has this many keys.
    HasKeys(usize),
    /// Its key set has at least this many bytes.
    HasBytes(usize),
}

/// A document of an issuer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Document {
    Configuration,
    Keys,
}

/// An issuer on loopback. It counts the connections.
struct Issuer {
    url: String,
    connections: Arc<AtomicUsize>,
    release: Arc<Notify>,
}

impl Issuer {
    async fn start(behavior: Behavior) -> Self {
        Self::start_as("127.0.0.1", Document::Keys, behavior).await
    }

    /// Starts an issuer with this name, which answers requests for one document in this way.
    async fn start_as(name: &str, document: Document, behavior: Behavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{name}:{}", listener.local_addr().unwrap().port());
        let (connections, release) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let (count, released, issuer) = (Arc::clone(&connections), Arc::clone(&release), url.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(stream, (document, behavior), issuer.clone(), Arc::clone(&released)));
            }
        });
        Self { url, connections, release }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn answer(
    mut stream: TcpStream,
    (special, behavior): (Document, Behavior),
    issuer: String,
    release: Arc<Notify>,
) {
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
        let keys = match behavior {
            Behavior::PointsAt(url) => url.to_owned(),
            _ => format!("{issuer}/keys"),
        };
        format!(r#"{{"issuer":"{named}","jwks_uri":"{keys}"}}"#)
    } else if let Behavior::HasKeys(count) = behavior {
        let key = KEYS.strip_prefix(r#"{"keys":["#).unwrap().strip_suffix("]}").unwrap();
        format!(r#"{{"keys":[{}]}}"#, vec![key; count].join(","))
    } else if let Behavior::HasBytes(bytes) = behavior {
        format!("{KEYS:bytes$}")
    } else {
        KEYS.to_owned()
    };
    let is_ordinary = is_configuration != (special == Document::Configuration);
    let ok = |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let text = match behavior {
        _ if is_ordinary => ok(&document),
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
    while behavior == Behavior::Floods && !is_ordinary && stream.write_all(&[b' '; 4096]).await.is_ok() {}
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
async fn large_key_sets_displace_each_other_and_none_of_other_tenants() {
    let issuers = issuers();
    let other = Issuer::start(Behavior::Answers).await;
    issuers.load(&other.url, None, tenant(2)).await.unwrap();
    let holder = [Holder::from(&tenant(1))];
    let name = |number: usize| format!("http://127.0.0.1:{}", 1000 + number);
    let count = CACHE_BYTES / DOCUMENT_BYTES + 2;
    for number in 0..count {
        let keys = IssuerKeys::parse(KEYS.as_bytes()).unwrap();
        issuers.keep(&name(number), Ok((keys, DOCUMENT_BYTES)), Duration::ZERO, &holder);
    }
    let is_cached = |number: usize| issuers.keys(&name(number), None).is_some();
    assert!(is_cached(count - 1) && is_cached(count - 2), "the newest");
    assert!(!is_cached(0), "the oldest");
    assert!(issuers.keys(&other.url, Some("one")).unwrap().is_ok(), "that of another tenant");
}

#[tokio::test]
async fn a_large_key_set_is_fetched_once_although_many_others_hold_less() {
    let (issuer, issuers) = (Issuer::start(Behavior::HasBytes(60_000)).await, issuers());
    for number in 0..250 {
        let keys = IssuerKeys::parse(KEYS.as_bytes()).unwrap();
        let holder = [Holder::from(&organization(255, number))];
        let name = format!("http://127.0.0.1:{}", 1000 + u32::from(number));
        issuers.keep(&name, Ok((keys, 40_000)), Duration::ZERO, &holder);
    }
    for _ in 0..10 {
        issuers.load(&issuer.url, Some("one"), organization(255, 251)).await.unwrap();
        assert!(issuers.keys(&issuer.url, Some("one")).unwrap().is_ok());
    }
    assert_eq!(issuer.connections(), 2);
}

#[tokio::test]
async fn a_flood_of_unknown_key_ids_causes_one_fetch() {
    let (issuer, issuers) = (Issuer::start(Behavior::Answers).await, issuers());
    issuers.load(&issuer.url, None, tenant(1)).await.unwrap();
    for fetches in [2, 3] {
        // The clock is paused only to move it, because requests to the issuer take real time.
        tokio::time::pause();
        tokio::time::advance(REFRESH).await;
        tokio::time::resume();
        for round in 0..2 {
            let loads: Vec<_> = (0..100)
                .map(|number| {
                    let (issuers, url) = (issuers.clone(), issuer.url.clone());
                    let id = format!("unknown {round} {number}");
                    tokio::spawn(async move { issuers.load(&url, Some(&id), tenant(number)).await })
                })
                .collect();
            for load in loads {
                load.await.unwrap().unwrap();
            }
            assert_eq!(issuer.connections(), 2 * fetches, "two requests for each fetch");
        }
    }
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
        "http://a.example",
        "https://localhost",
        "https://a.localhost.",
        "https://127.1",
        "https://2130706433",
        "https://0x7f000001",
        "https://0177.0.0.1",
        "https://2852039166",
        "https://[::1]",
        "https://[::ffff:127.0.0.1]",
        "https://[::ffff:a9fe:a9fe]",
        "https://[64:ff9b::a9fe:a9fe]",
        "https://[2002:7f00:1::]",
        "https://[fd00:ec2::254]",
        "https://10.0.0.1:8443/tenant",
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
    use Document::{Configuration, Keys};
    let unexpected = "invalid OIDC token: its issuer does not answer as expected";
    let invalid_keys = "invalid OIDC token: the keys of its issuer are not valid";
    let invalid_configuration = "invalid OIDC token: the configuration of its issuer is not valid";
    for (document, behavior, expected, connections) in [
        (Keys, Behavior::Silent, unexpected, 2),
        (Keys, Behavior::Redirects, unexpected, 2),
        (Keys, Behavior::Floods, unexpected, 2),
        (Keys, Behavior::Fails, unexpected, 2),
        (Keys, Behavior::SendsAPage, invalid_keys, 2),
        (Keys, Behavior::HasKeys(0), invalid_keys, 2),
        (Keys, Behavior::HasKeys(65), invalid_keys, 2),
        (Keys, Behavior::HasKeys(10_000), unexpected, 2),
        (Configuration, Behavior::Silent, unexpected, 1),
        (Configuration, Behavior::Redirects, unexpected, 1),
        (Configuration, Behavior::Floods, unexpected, 1),
        (Configuration, Behavior::Fails, unexpected, 1),
        (Configuration, Behavior::SendsAPage, invalid_configuration, 1),
        (Configuration, Behavior::IsAnother, invalid_configuration, 1),
    ] {
        let (issuer, issuers) = (Issuer::start_as("127.0.0.1", document, behavior).await, issuers());
        for _ in 0..2 {
            issuers.load(&issuer.url, None, tenant(1)).await.unwrap();
            assert_eq!(message(issuers.keys(&issuer.url, None)), expected, "{document:?} {behavior:?}");
        }
        assert_eq!(issuer.connections(), connections, "{document:?} {behavior:?}");
    }
}

#[tokio::test]
async fn keys_are_not_fetched_from_addresses_that_are_not_allowed() {
    for url in [
        "http://169.254.169.254/keys",
        "http://2852039166/keys",
        "http://0xa9fea9fe/keys",
        "http://[::ffff:169.254.169.254]/keys",
        "http://[::ffff:127.0.0.1]/keys",
        "http://[64:ff9b::a9fe:a9fe]/keys",
        "http://10.0.0.1/keys",
        "http://[fd00:ec2::254]/keys",
        "http://user@127.0.0.1/keys",
        "http:127.0.0.1/keys",
        "file:///etc/passwd",
        "ftp://127.0.0.1/keys",
        "/keys",
        "",
    ] {
        let (issuer, issuers) = (Issuer::start(Behavior::PointsAt(url)).await, issuers());
        issuers.load(&issuer.url, None, tenant(1)).await.unwrap();
        let expected = "invalid OIDC token: its issuer names an address that is not allowed";
        assert_eq!(message(issuers.keys(&issuer.url, None)), expected, "{url}");
        assert_eq!(issuer.connections(), 1, "{url}");
    }
}

#[tokio::test]
async fn a_name_of_an_issuer_is_checked_at_each_request() {
    let (own, inside) =
        (&["127.0.0.1"][..], "invalid OIDC token: its issuer has an address that is not allowed");
    for (answers, expected, connections) in [
        (&[own, own][..], Ok(()), 2),
        (&[&["10.0.0.1"]], Err(inside), 0),
        (&[&["127.0.0.1", "10.0.0.1"]], Err(inside), 0),
        (&[&["::ffff:127.0.0.1"]], Err(inside), 0),
        // The second answer, for the keys, differs from the first.
        (&[own, &["169.254.169.254"]], Err(inside), 1),
        (&[own, &["::ffff:169.254.169.254"]], Err(inside), 1),
        (&[own, &["127.0.0.1", "fd00:ec2::254"]], Err(inside), 1),
    ] {
        let issuer = Issuer::start_as("issuer.example", Document::Keys, Behavior::Answers).await;
        let mut issuers = issuers();
        let network = "127.0.0.0/8".parse().unwrap();
        let policy = ReceiverPolicy { allow_networks: vec![network], allow_http: true };
        Arc::get_mut(&mut issuers.0).unwrap().dialler = Dialler::with_answers(policy, answers);
        issuers.load(&issuer.url, None, tenant(1)).await.unwrap();
        match expected {
            Ok(()) => assert!(issuers.keys(&issuer.url, None).unwrap().is_ok()),
            Err(expected) => assert_eq!(message(issuers.keys(&issuer.url, None)), expected, "{answers:?}"),
        }
        assert_eq!(issuer.connections(), connections, "{answers:?}");
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
    // Half of the share is for issuers that were prompt before.
    for _ in 0..shares::REQUESTS_OF_SUB_ORGANIZATION / 2 {
        let issuer = Issuer::start(Behavior::Silent).await;
        waiting.push(issuers.join(&issuer.url, organization(1, 9)).unwrap());
    }
    let other = Issuer::start(Behavior::Answers).await;
    assert_eq!(
        issuers.load(&other.url, None, organization(1, 9)).await.unwrap_err().code,
        Code::ResourceExhausted
    );
    issuers.load(&other.url, None, organization(1, 3)).await.unwrap();
    let another = Issuer::start(Behavior::Answers).await;
    issuers.load(&another.url, None, tenant(1)).await.unwrap();
    issuers.load(&other.url, None, tenant(2)).await.unwrap();
    // The deadline of the fetches ends them.
    for mut ended in waiting {
        let _ = ended.changed().await;
    }
    let another = Issuer::start(Behavior::Answers).await;
    issuers.load(&another.url, None, organization(1, 9)).await.unwrap();
}

#[tokio::test]
async fn issuers_that_were_slow_leave_room_for_others() {
    let issuers = issuers();
    let prompt = Issuer::start(Behavior::Answers).await;
    issuers.load(&prompt.url, None, tenant(1)).await.unwrap();
    let mut slow = Vec::new();
    for _ in 0..shares::REQUESTS_OF_PARENT / 2 {
        slow.push(Issuer::start(Behavior::Silent).await);
    }
    let join = |issuer: &Issuer| issuers.join(&issuer.url, tenant(1));
    let mut ended: Vec<_> = slow.iter().map(|issuer| join(issuer).unwrap()).collect();
    // New ones have to wait, but not one that was prompt before.
    let new = Issuer::start(Behavior::Answers).await;
    assert_eq!(join(&new).unwrap_err().code, Code::ResourceExhausted);
    let _ = join(&prompt).unwrap().changed().await;
    for one in &mut ended {
        let _ = one.changed().await;
    }
    // Each was slow once. From now on, they occupy a quarter of the share.
    let again: Vec<_> = slow.iter().filter_map(|issuer| join(issuer).ok()).collect();
    assert_eq!(again.len(), shares::REQUESTS_OF_PARENT / 4);
    issuers.load(&new.url, None, tenant(1)).await.unwrap();
}
