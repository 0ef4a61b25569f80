//! Exchanges with providers of various kinds of behaviour, on loopback.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use quorate_common::ids::OrganizationId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

const TOKEN: &str = r#"{"token_type":"bearer","access_token":"the-access-token"}"#;
const USER: &str = r#"{"data":{"id":"42","name":"ann"}}"#;

/// How a provider answers one of the two requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behavior {
    Answers,
    /// Never answers.
    Silent,
    Redirects,
    /// A valid answer, followed by blanks up to a length that is not allowed.
    Floods,
    Status(u16),
    SendsAPage,
    /// JSON without what is needed.
    SendsNothing,
}

/// A provider on loopback, whose requests can be read.
struct Provider {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    async fn start(token: Behavior, user: Behavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, token, user, Arc::clone(&seen)));
            }
        });
        Self { url, requests }
    }

    fn exchanges(&self) -> Exchanges {
        let mut settings = Oauth2Settings::new("https://keys.example".to_owned());
        settings.receivers = ReceiverPolicy::dev();
        settings.x =
            Endpoints { token: format!("{}/token?a=b", self.url), user: format!("{}/user", self.url) };
        Exchanges { deadline: Duration::from_millis(500), ..Exchanges::new(settings) }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn answer(mut stream: TcpStream, token: Behavior, user: Behavior, requests: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    let is_complete = |request: &[u8]| {
        let text = String::from_utf8_lossy(request).to_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        body.len() >= length.map_or(0, |length| length.parse().unwrap())
    };
    while !is_complete(&request) {
        if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let is_token = request.starts_with(b"POST /token?a=b HTTP/1.1");
    requests.lock().unwrap().push(String::from_utf8(request).unwrap());
    let (behavior, document) = if is_token { (token, TOKEN) } else { (user, USER) };
    let response = |status: u16, body: &str| {
        format!(
            "HTTP/1.1 {status} Any\r\nLocation: /elsewhere\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let text = match behavior {
        Behavior::Answers => response(200, document),
        Behavior::Silent => {
            let _ = stream.read_to_end(&mut Vec::new()).await;
            return;
        }
        Behavior::Redirects => response(302, document),
        Behavior::Floods => response(200, &format!("{document}{}", " ".repeat(1024 * 1024))),
        Behavior::Status(status) => response(status, r#"{"error":"invalid_grant"}"#),
        Behavior::SendsAPage => response(200, "<!doctype html><html></html>"),
        Behavior::SendsNothing => response(200, "{}"),
    };
    let _ = stream.write_all(text.as_bytes()).await;
}

fn exchange() -> Exchange {
    let secret = |text: &str| Zeroizing::new(text.to_owned());
    Exchange {
        provider: Oauth2Provider::X,
        client_id: "client id".to_owned(),
        client_secret: secret("se:cr&et ü"),
        code: secret("a code+/"),
        redirect_uri: "https://app.example/callback?a=b".to_owned(),
        code_verifier: secret("verifier"),
        claim: b"claim".to_vec(),
        claim_ends: 0,
    }
}

#[tokio::test]
async fn a_code_identifies_its_user() {
    let provider = Provider::start(Behavior::Answers, Behavior::Answers).await;
    let user = provider.exchanges().make(&exchange()).await.unwrap();
    assert_eq!((user.subject.as_str(), user.bearer_token.as_str()), ("x:42", "the-access-token"));
    let [token, user] = provider.requests().try_into().unwrap();
    // "client+id:se%3Acr%26et+%C3%BC", encoded with Python's base64.
    assert!(token.contains("authorization: Basic Y2xpZW50K2lkOnNlJTNBY3IlMjZldCslQzMlQkM=\r\n"), "{token}");
    assert!(token.contains("content-type: application/x-www-form-urlencoded\r\n"), "{token}");
    let form = "grant_type=authorization_code&code=a+code%2B%2F&\
        redirect_uri=https%3A%2F%2Fapp.example%2Fcallback%3Fa%3Db&code_verifier=verifier";
    assert!(token.ends_with(&format!("\r\n\r\n{form}")), "{token}");
    assert!(user.starts_with("GET /user HTTP/1.1\r\n"), "{user}");
    assert!(user.contains("authorization: Bearer the-access-token\r\n"), "{user}");
}

#[tokio::test]
async fn hostile_providers_are_bounded() {
    const SILENT: &str = "the provider does not answer";
    const INCOMPLETE: &str = "the answer of the provider lacks the expected members";
    const ERROR: &str = "the provider answers with an error";
    const CODE: &str = "the provider rejected the authorization code";
    const CLIENT: &str = "the provider rejected the client id or the client secret";
    const SCOPE: &str = "the provider does not describe the user: the code may lack a scope";
    let rows = [
        (Behavior::Silent, SILENT, SILENT),
        (Behavior::Redirects, ERROR, ERROR),
        (Behavior::Floods, SILENT, SILENT),
        (Behavior::SendsAPage, INCOMPLETE, INCOMPLETE),
        (Behavior::SendsNothing, INCOMPLETE, INCOMPLETE),
        (Behavior::Status(400), CODE, ERROR),
        (Behavior::Status(401), CLIENT, SCOPE),
        (Behavior::Status(403), ERROR, SCOPE),
        (Behavior::Status(500), ERROR, ERROR),
    ];
    for (behavior, at_token, at_user) in rows {
        let provider = Provider::start(behavior, Behavior::Answers).await;
        let error = provider.exchanges().make(&exchange()).await.err();
        assert_eq!(error, Some(at_token), "{behavior:?}");
        assert_eq!(provider.requests().len(), 1, "{behavior:?}: nothing is sent again");

        let provider = Provider::start(Behavior::Answers, behavior).await;
        let error = provider.exchanges().make(&exchange()).await.err();
        assert_eq!(error, Some(at_user), "{behavior:?}");
        assert_eq!(provider.requests().len(), 2, "{behavior:?}: nothing is sent again");
    }
}

#[tokio::test]
async fn addresses_inside_are_not_contacted() {
    let provider = Provider::start(Behavior::Answers, Behavior::Answers).await;
    let address = Some("the provider has an address that is not allowed");
    let mut strict = provider.exchanges();
    strict.settings.receivers = ReceiverPolicy::default();
    assert_eq!(strict.make(&exchange()).await.err(), address);
    let mut inside = provider.exchanges();
    inside.settings.x.token = "http://169.254.169.254/token".to_owned();
    assert_eq!(inside.make(&exchange()).await.err(), address);
    assert!(provider.requests().is_empty());
}

fn account(tenant: u8, organization: u8) -> Account {
    let [tenant, organization] = [tenant, organization].map(|byte| OrganizationId::from_bytes([byte; 16]));
    Account { tenant, organization }
}

#[tokio::test]
async fn requests_with_the_same_code_wait_for_the_first() {
    let exchanges = Exchanges::new(Oauth2Settings::new("https://keys.example".to_owned()));
    let claim = exchange().claim;
    let Ok(Turn::Own(first)) = exchanges.begin(&claim, account(1, 1)) else { panic!("it is the first") };
    assert!(exchanges.is_in_progress(&claim));
    let Ok(Turn::Other(mut ended)) = exchanges.begin(&claim, account(1, 1)) else { panic!("it must wait") };
    drop(first);
    assert!(ended.changed().await.is_err(), "the first request has ended");
    assert!(!exchanges.is_in_progress(&claim));
}

#[test]
fn a_tenant_has_a_share_of_the_exchanges() {
    let exchanges = Exchanges::new(Oauth2Settings::new("https://keys.example".to_owned()));
    let begin = |number: u8, account| exchanges.begin(&vec![number], account);
    let waiting: Vec<_> = (0..4).map(|number| begin(number, account(1, 9)).unwrap()).collect();
    assert_eq!(begin(4, account(1, 9)).err().unwrap().code, Code::ResourceExhausted);
    begin(5, account(1, 1)).unwrap();
    begin(6, account(2, 2)).unwrap();
    drop(waiting);
    begin(7, account(1, 9)).unwrap();
}
