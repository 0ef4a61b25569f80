//! The pages in a real browser: an invited person registers a passkey, accepts the invitation, and approves a waiting
//! activity. The vote verifies independently, and the page refuses what a lying daemon shows.

mod links;
mod lost_answers;
mod names;
mod text;

use std::path::Path;
use std::sync::{Arc, Mutex};

use base64ct::{Base64UrlUnpadded, Encoding};
use hyper::Method;
use quorate_common::fingerprint::Fingerprint;
use quorate_tests::browser::{Browser, keys};
use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::Reply;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;
use quorate_tests::requests::{self, CREATE_WALLET};
use quorate_tests::tampering_proxy::start_on_port;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
const FILES: [&str; 7] = ["", "accept", "approve", "pages.css", "pages.js", "icon.svg", "settings.json"];
/// A wallet name that is markup, reorders text, and contains an invisible character.
const HOSTILE: &str = "<img src=x onerror=document.title='owned'> \u{202e}evil\u{200b}";

/// A daemon that serves the pages, with a root quorum of two, and the mailbox of the invited person.
struct Scene {
    daemon: Daemon,
    mailbox: Mailbox,
}

impl Scene {
    async fn start() -> Self {
        let mailbox = Mailbox::start(0);
        let daemon = Daemon::start(Options::quorum(2, 2).with_mail(mailbox.url()).with_pages()).await;
        Self { daemon, mailbox }
    }

    fn page(&self, name: &str) -> String {
        format!("http://localhost:{}/pages/{name}", self.daemon.address().port())
    }

    fn organization(&self) -> &str {
        &self.daemon.credentials().organization_id
    }

    /// Proposes an activity as one root user, approves it as the other one, and returns it.
    async fn agreed(&self, activity_type: &str, parameters: &Value) -> Value {
        let waiting = self.daemon.root(0).waiting(activity_type, parameters).await;
        self.daemon.root(1).approved(&waiting["fingerprint"]).await
    }

    /// Invites a person and returns the link in the mail.
    async fn invite(&self) -> String {
        let invitation = json!({"invitations": [{"receiverUserName": "guest",
            "receiverUserEmail": "guest@example.org", "receiverUserTags": [],
            "accessType": "ACCESS_TYPE_WEB", "senderUserId": self.daemon.root_id(0)}]});
        self.agreed("ACTIVITY_TYPE_CREATE_INVITATIONS", &invitation).await;
        let mail = self.mailbox.next();
        let link = mail.text.lines().find(|line| line.starts_with("http"));
        link.unwrap_or_else(|| panic!("no link in {}", mail.text)).to_owned()
    }

    /// Permits every activity that this user and somebody else approve.
    async fn permit(&self, user: &str) {
        let policy = json!({"policyName": "guest", "effect": "EFFECT_ALLOW", "notes": "",
            "condition": "true",
            "consensus": format!("approvers.count() >= 2 && approvers.any(user, user.id == '{user}')")});
        self.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy).await;
    }

    async fn waiting_wallet(&self, name: &str) -> Value {
        self.daemon.root(0).waiting(CREATE_WALLET, &requests::wallet(name)).await
    }

    /// Accepts an invitation with a passkey, and returns the id of the new user.
    async fn accept(&self, browser: &Browser) -> String {
        browser.open(&self.invite().await).await;
        browser.shows("#accept h2", "You were invited").await;
        browser.click("#accept-form button").await;
        browser.shows("#status", "The invitation is accepted.").await;
        browser.text("#user-id").await
    }
}

/// Signs in on the page for approvals and opens an activity.
async fn open_activity(browser: &Browser, page: &str, organization: &str, activity: &str) {
    browser.open(&format!("{page}#organization={organization}&activity={activity}")).await;
    // A change of the fragment alone does not load the page again.
    browser.command("refresh", json!({})).await;
    browser.shows("#sign-in h2", "Sign in").await;
    browser.click("#sign-in-form button").await;
    browser.shows("#review h2", "Review").await;
}

/// Verifies a passkey vote with a library that neither the daemon nor the browser uses.
fn verify_passkey_vote(vote: &Value, origin: &str, fingerprint: &Value) {
    use base64ct::{Base64UrlUnpadded, Encoding};
    use p256::ecdsa::signature::Verifier;
    let decode =
        |value: &Value| Base64UrlUnpadded::decode_vec(value.as_str().expect("text")).expect("base64url");
    assert_eq!(vote["scheme"], "SIGNATURE_SCHEME_TK_WEBAUTHN");
    let message = vote["message"].as_str().expect("the signed body");
    let body: Value = serde_json::from_str(message).expect("the body is JSON");
    assert_eq!(&body["parameters"]["fingerprint"], fingerprint);
    let assertion: Value =
        serde_json::from_str(vote["signature"].as_str().expect("text")).expect("an assertion");
    let (data, client) = (decode(&assertion["authenticatorData"]), decode(&assertion["clientDataJson"]));
    let stated: Value = serde_json::from_slice(&client).expect("client data");
    let challenge = Base64UrlUnpadded::encode_string(const_hex::encode(Sha256::digest(message)).as_bytes());
    assert_eq!((&stated["challenge"], &stated["origin"]), (&json!(challenge), &json!(origin)));
    assert_eq!((&data[..32], data[32] & 5), (&Sha256::digest("localhost")[..], 5), "present and verified");
    let cose = decode(&vote["publicKey"]);
    let point = [&[4], &cose[10..42], &cose[45..77]].concat();
    let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(&point).expect("a point");
    let signature = p256::ecdsa::Signature::from_der(&decode(&assertion["signature"])).expect("DER");
    key.verify(&[&data[..], &Sha256::digest(&client)].concat(), &signature).expect("the signature verifies");
}

async fn expect_silence(browser: &Browser) {
    assert_eq!(browser.log().await, Vec::<String>::new(), "the browser reports violations or errors");
}

/// Writes pictures of the page into the folder that a variable names, for people who work on its looks.
async fn pictures(browser: &Browser, name: &str) {
    let Some(folder) = std::env::var_os("PAGES_PICTURES") else { return };
    for (look, width, scheme) in [("light", 1000, "light"), ("dark", 1000, "dark"), ("narrow", 360, "light")]
    {
        browser.look(width, scheme).await;
        browser.picture(&Path::new(&folder).join(format!("{name}-{look}.png"))).await;
    }
}

#[tokio::test]
async fn invited_person_registers_a_passkey_and_approves() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let user = scene.accept(&browser).await;
    assert_eq!(browser.run("return location.hash").await, "", "the key is not kept in the address");
    pictures(&browser, "accepted").await;
    let root = scene.daemon.root(0);
    let created = root.fetch("get_user", json!({ "userId": user })).await["user"].clone();
    assert_eq!((&created["userName"], &created["apiKeys"]), (&json!("guest"), &json!([])));
    scene.permit(&user).await;
    let wallet = scene.waiting_wallet(HOSTILE).await;

    browser.open(&scene.page(&format!("approve#organization={}", scene.organization()))).await;
    browser.shows("#sign-in h2", "Sign in").await;
    pictures(&browser, "sign-in").await;
    browser.click("#sign-in-form button").await;
    browser.shows("#status", "1 activity waits").await;
    pictures(&browser, "inbox").await;
    browser.click("#waiting button").await;
    browser.shows("#status", "verified").await;
    let fields = browser.text("#fields").await;
    assert!(fields.contains("<img src=x onerror=") && fields.contains("<U+202E>evil<U+200B>"), "{fields}");
    assert!(fields.contains("contains invisible characters"), "{fields}");
    let title = browser.run("return [document.title, document.images.length]").await;
    assert_eq!(title, json!(["Review and vote · Quorate", 0]), "markup is shown as text");
    let digits = wallet["fingerprint"].as_str().expect("a fingerprint").trim_start_matches("sha256:");
    assert_eq!(browser.text("#fingerprint").await.replace(' ', ""), digits);
    let votes = browser.text("#votes").await;
    assert!(
        votes.contains("Proposal, signature verified") && votes.contains("Reported by the daemon"),
        "{votes}"
    );
    assert!(browser.text("#reported").await.contains("2 of 2 members"));
    pictures(&browser, "review").await;
    browser.click("#approve").await;
    browser.shows("#status", "The daemon shows your approval").await;
    let votes = browser.text("#votes").await;
    assert!(votes.contains("Approval, signature verified"), "the page verifies its own vote: {votes}");
    assert!(browser.text("#reported").await.contains("completed"));
    pictures(&browser, "approved").await;

    let after = root.activity(&wallet["id"]).await;
    assert_eq!(after["status"], "ACTIVITY_STATUS_COMPLETED");
    let vote = &after["votes"][1];
    assert_eq!(vote["userId"], json!(user));
    let origin = format!("http://localhost:{}", scene.daemon.address().port());
    verify_passkey_vote(vote, &origin, &wallet["fingerprint"]);
    expect_silence(&browser).await;
    browser.close().await;
}

#[tokio::test]
async fn invited_person_pastes_an_api_key() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let key = Key::named("guest of the pages");
    let link = scene.invite().await;
    browser.open(&link).await;
    browser.shows("#accept h2", "You were invited").await;
    pictures(&browser, "accept").await;
    browser.click("#use-key").await;
    browser.fill("#public-key", "02ff").await;
    browser.click("#accept-form button").await;
    browser.shows("#error", "not a compressed P-256 key").await;
    pictures(&browser, "accept-key").await;
    browser.fill("#public-key", key.public_key()).await;
    browser.click("#accept-form button").await;
    browser.shows("#status", "The invitation is accepted.").await;
    let user = browser.text("#user-id").await;

    let guest = Caller::new(scene.daemon.http(), scene.organization(), key.clone());
    assert_eq!(guest.fetch("whoami", json!({})).await["userId"], json!(user));
    let created = guest.fetch("get_user", json!({ "userId": user })).await["user"].clone();
    assert_eq!(created["authenticators"], json!([]), "the temporary authenticator is deleted");
    assert_eq!(created["apiKeys"][0]["credential"]["publicKey"], key.public_key());
    let (_, secret) = link.split_once("privateKey=").expect("the link contains the key");
    assert!(!scene.daemon.log().contains(secret), "the key of the invitation reached the server");
    expect_silence(&browser).await;
    browser.close().await;
}

#[tokio::test]
async fn pages_work_with_the_keyboard_only() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    browser.open(&scene.invite().await).await;
    browser.shows("#accept h2", "You were invited").await;
    browser.tab_to("#use-passkey").await;
    browser.tab_to("#passkey-name").await;
    browser.press(keys::ENTER).await;
    browser.shows("#status", "The invitation is accepted.").await;
    let user = browser.text("#user-id").await;
    scene.permit(&user).await;
    let wallet = scene.waiting_wallet("keyboard").await;

    browser.tab_to("#to-approve").await;
    browser.press(keys::ENTER).await;
    browser.shows("#sign-in h2", "Sign in").await;
    browser.tab_to("#organization-id").await;
    browser.press(keys::ENTER).await;
    browser.shows("#status", "1 activity waits").await;
    browser.tab_to("#waiting button").await;
    browser.press(keys::ENTER).await;
    browser.shows("#status", "verified").await;
    browser.tab_to("#reject").await;
    browser.press(keys::ENTER).await;
    browser.shows("#status", "The daemon shows your rejection").await;
    let after = scene.daemon.root(0).activity(&wallet["id"]).await;
    assert_eq!(
        (&after["status"], &after["votes"][1]["userId"]),
        (&json!("ACTIVITY_STATUS_REJECTED"), &json!(user))
    );
    let unnamed = browser
        .run(
            "return [...document.querySelectorAll('input, button, a')].filter((one) => \
              !(one.labels?.length || one.textContent.trim())).length",
        )
        .await;
    assert_eq!(unnamed, 0, "every control has a name");
    expect_silence(&browser).await;
    browser.close().await;
}

/// A lie of the daemon about an activity, and what the page shows then.
type Lie = (&'static str, Tamper, &'static str);
type Tamper = fn(&mut Value);

const LIES: [Lie; 11] = [
    (
        "another intent",
        |activity| activity["intent"]["createWalletIntent"]["walletName"] = json!("harmless"),
        "other parameters than the signed bytes: walletName",
    ),
    (
        "another fingerprint",
        |activity| activity["fingerprint"] = json!(Fingerprint::of(b"something else").to_string()),
        "No signed bytes have the fingerprint",
    ),
    (
        "other signed bytes with their own fingerprint",
        |activity| {
            let message = activity["votes"][0]["message"].as_str().expect("text").replace("lie", "LIE");
            activity["fingerprint"] = json!(Fingerprint::of(message.as_bytes()).to_string());
            activity["intent"]["createWalletIntent"]["walletName"] = json!("LIE");
            activity["votes"][0]["message"] = json!(message);
        },
        "the signature does not match the signed bytes",
    ),
    ("another type", |activity| activity["type"] = json!("ACTIVITY_TYPE_DELETE_WALLETS"), "another type"),
    (
        "another key",
        |activity| activity["votes"][0]["publicKey"] = json!(Key::named("somebody").public_key()),
        "the signature does not match the signed bytes",
    ),
    (
        "a changed signature",
        |activity| {
            let signature = activity["votes"][0]["signature"].as_str().expect("text");
            activity["votes"][0]["signature"] = json!(signature.replacen("02", "03", 1));
        },
        "A vote does not verify",
    ),
    (
        "the proposal as a rejection",
        |activity| activity["votes"][0]["selection"] = json!("VOTE_SELECTION_REJECTED"),
        "the proposal is shown as a rejection",
    ),
    (
        "the proposal as the vote of somebody else, too",
        |activity| {
            let mut vote = activity["votes"][0].clone();
            vote["activityId"] = json!("00000000-0000-4000-8000-000000000001");
            activity["votes"].as_array_mut().expect("a list").push(vote);
        },
        "the vote belongs to another activity",
    ),
    (
        "the proposal as the approval of another user",
        |activity| {
            let mut vote = activity["votes"][0].clone();
            vote["userId"] = json!("00000000-0000-4000-8000-000000000001");
            activity["votes"].as_array_mut().expect("a list").push(vote);
        },
        "votes of several users are signed with this key",
    ),
    (
        "the proposal twice",
        |activity| {
            let vote = activity["votes"][0].clone();
            activity["votes"].as_array_mut().expect("a list").push(vote);
        },
        "this signed vote is shown twice",
    ),
    (
        "another activity",
        |activity| activity["id"] = json!("00000000-0000-4000-8000-000000000001"),
        "another activity",
    ),
];

/// Lies about the vote of a passkey.
const LATER_LIES: [Lie; 5] = [
    (
        "the approval as that of a third user",
        |activity| {
            let mut vote = activity["votes"][1].clone();
            vote["userId"] = json!("00000000-0000-4000-8000-000000000001");
            vote["user"]["userName"] = json!("carol");
            activity["votes"].as_array_mut().expect("a list").push(vote);
        },
        "votes of several users are signed with this key",
    ),
    (
        "the approval as that of a third user, with other bits that the encoding of the key does not use",
        |activity| {
            let mut vote = activity["votes"][1].clone();
            let key = vote["publicKey"].as_str().expect("text");
            let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
            let (head, last) = key.split_at(key.len() - 1);
            let index = alphabet.find(last).expect("base64url");
            vote["publicKey"] = json!(format!("{head}{}", &alphabet[index + 1..index + 2]));
            vote["userId"] = json!("00000000-0000-4000-8000-000000000001");
            activity["votes"].as_array_mut().expect("a list").push(vote);
        },
        "votes of several users are signed with this key",
    ),
    (
        "another choice",
        |activity| activity["votes"][1]["selection"] = json!("VOTE_SELECTION_REJECTED"),
        "the signed bytes are not this vote",
    ),
    (
        "other bytes",
        |activity| {
            let message =
                activity["votes"][1]["message"].as_str().expect("text").replace("sha256:", "sha256:0");
            activity["votes"][1]["message"] = json!(message);
        },
        "the signature does not match the signed bytes",
    ),
    (
        "another authenticator data",
        |activity| {
            let signature = activity["votes"][1]["signature"].as_str().expect("text");
            let mut assertion: Value = serde_json::from_str(signature).expect("an assertion");
            let data = assertion["authenticatorData"].as_str().expect("text").replacen('A', "B", 1);
            assertion["authenticatorData"] = json!(data);
            activity["votes"][1]["signature"] = json!(assertion.to_string());
        },
        "A vote does not verify",
    ),
];

#[tokio::test]
async fn lies_of_the_daemon_are_refused() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let user = scene.accept(&browser).await;
    scene.permit(&user).await;
    let wallet = scene.waiting_wallet("lie").await;
    let id = wallet["id"].as_str().expect("an id");
    let lie: Arc<Mutex<Option<Tamper>>> = Arc::default();
    let current = Arc::clone(&lie);
    let port = start_on_port(scene.daemon.http(), move |answer| {
        if let (Some(lie), Some(activity)) = (*current.lock().expect("no panic"), answer.get_mut("activity"))
            && activity["type"] == CREATE_WALLET
        {
            lie(activity);
        }
    })
    .await;
    let page = format!("http://localhost:{port}/pages/approve");
    let check = async |(name, tamper, expected): Lie| {
        *lie.lock().expect("no panic") = Some(tamper);
        open_activity(&browser, &page, scene.organization(), id).await;
        browser.shows("#error", "Do not approve").await;
        let shown = browser.text("#review").await;
        assert!(shown.contains(expected), "{name}: {shown}");
        let offers = (browser.is_shown("#approve").await, browser.is_shown("#reject").await);
        assert_eq!(offers, (false, false), "{name}: a vote is offered");
        pictures(&browser, &format!("lie-{}", name.replace(' ', "-"))).await;
    };
    for lie in LIES {
        check(lie).await;
    }
    *lie.lock().expect("no panic") = None;
    open_activity(&browser, &page, scene.organization(), id).await;
    browser.shows("#status", "verified").await;
    browser.click("#approve").await;
    browser.shows("#status", "The daemon shows your approval").await;
    for lie in LATER_LIES {
        check(lie).await;
    }
    // A vote that something in between kept, and replaced by one with a signature of its own over the same bytes.
    let other = scene.waiting_wallet("kept").await;
    *lie.lock().expect("no panic") = None;
    open_activity(&browser, &page, scene.organization(), other["id"].as_str().expect("an id")).await;
    browser.shows("#status", "verified").await;
    *lie.lock().expect("no panic") = Some(sign_votes_again);
    browser.click("#approve").await;
    browser.shows("#error", "does not show your vote").await;
    browser.close().await;
}

/// Replaces the signatures of all votes but the proposal by ones of another key.
fn sign_votes_again(activity: &mut Value) {
    let votes = activity["votes"].as_array_mut().expect("a list");
    for vote in votes.iter_mut().skip(1) {
        let stamp = Key::named("somebody").stamp(vote["message"].as_str().expect("text").as_bytes());
        let stamp: Value =
            serde_json::from_slice(&Base64UrlUnpadded::decode_vec(&stamp).expect("base64url")).expect("JSON");
        for member in ["publicKey", "scheme", "signature"] {
            vote[member] = stamp[member].clone();
        }
    }
}

#[tokio::test]
async fn script_reads_text_and_json_like_the_console() {
    let Some(browser) = Browser::start().await else { return };
    let daemon = Daemon::start(Options::quorum(1, 1).with_pages()).await;
    browser.open(&format!("http://localhost:{}/pages/approve", daemon.address().port())).await;
    browser.shows("#sign-in h2", "Sign in").await;
    let marks = |count: usize| "\u{301}".repeat(count);
    for (text, expected) in [
        ("plain name-1 (\u{fc})", "plain name-1 (\u{fc})"),
        ("a\u{202e}b", "a<U+202E>b"),
        ("\u{1b}[31mred\u{7}", "<U+001B>[31mred<U+0007>"),
        ("a\u{200b}b\u{ad}c\u{9b}d", "a<U+200B>b<U+00AD>c<U+009B>d"),
        ("line\nbreak\ttab", "line<U+000A>break<U+0009>tab"),
        ("e\u{301}", "e\u{301}"),
        (&format!("e{}x", marks(1000)), &format!("e{}<+996 marks>x", marks(4))),
        ("\u{301}x", "<U+0301>x"),
        ("\u{2066}i\u{2069}", "<U+2066>i<U+2069>"),
        ("\u{e0041}\u{a0}\u{3000}", "<U+E0041><U+00A0><U+3000>"),
        ("a\u{2800}\u{1d159}\u{1680}", "a<U+2800><U+1D159><U+1680>"),
        ("1\u{600}2\u{6dd}3\u{110bd}\u{13430}", "1<U+0600>2<U+06DD>3<U+110BD><U+13430>"),
    ] {
        let shown = browser.run(&format!("return clean({})", json!(text))).await;
        assert_eq!(shown, expected, "{text:?}");
    }
    for (text, is_read) in [
        (r#"{"a": [1, 0.5, -2], "b": "\u00e9\/", "c": {}}"#, true),
        (r#"{"a":1,"a":1}"#, false),
        (r#"{"a":12345678901234567890}"#, false),
        (r#"{"a":1e400}"#, false),
        (r#"{"a":1} x"#, false),
        (r#"{"a":"\ud800"}"#, true),
    ] {
        let script = format!("try {{ parsed({}); return true; }} catch {{ return false; }}", json!(text));
        assert_eq!(browser.run(&script).await, is_read, "{text}");
    }
    // The browser reports violations, which the other scenarios do not have.
    expect_silence(&browser).await;
    let evil = "const evil = document.createElement('script'); evil.textContent = 'document.title = 1'; \
        document.body.append(evil); await fetch('http://127.0.0.1:9/').catch(() => {}); return document.title;";
    let title = browser.run(&format!("return (async () => {{ {evil} }})();")).await;
    assert_eq!(title, "Review and vote · Quorate");
    let log = browser.log().await;
    let violations = log.iter().filter(|message| message.contains("Content Security Policy")).count();
    assert!(violations >= 2, "{log:?}");
    browser.close().await;
}

#[tokio::test]
async fn dangerous_kinds_refer_to_the_console() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let user = scene.accept(&browser).await;
    scene.permit(&user).await;
    let name = json!({"userId": user, "userName": "renamed", "userEmail": "x@example.org"});
    let update = scene.daemon.root(0).waiting("ACTIVITY_TYPE_UPDATE_USER", &name).await;
    let id = update["id"].as_str().expect("an id");
    open_activity(&browser, &scene.page("approve"), scene.organization(), id).await;
    browser.shows("#vote-reason", "Approve this in the console").await;
    assert!(!browser.is_shown("#approve").await && browser.is_shown("#reject").await);
    pictures(&browser, "high").await;

    // As if the configuration allowed them.
    let port = start_on_port(scene.daemon.http(), |answer| {
        if let Some(allow) = answer.get_mut("allowHigh") {
            *allow = json!(true);
        }
    })
    .await;
    let page = format!("http://localhost:{port}/pages/approve");
    open_activity(&browser, &page, scene.organization(), id).await;
    browser.shows("#high", "does not decode").await;
    browser.click("#approve").await;
    browser.shows("#error", "Type the last eight characters").await;
    let fingerprint = update["fingerprint"].as_str().expect("a fingerprint");
    browser.fill("#typed", &fingerprint[fingerprint.len() - 8..]).await;
    browser.click("#approve").await;
    browser.shows("#status", "The daemon shows your approval").await;
    browser.close().await;
}

#[tokio::test]
async fn files_have_strict_headers_and_tags() {
    let daemon = Daemon::start(Options::quorum(1, 1).with_pages()).await;
    let root = daemon.root(0);
    for name in FILES {
        let path = format!("/pages/{name}");
        let file = root.call(Method::GET, &path, &[], b"").await;
        let is_secret = name == "accept";
        assert_eq!(file.status, 200, "{file}");
        for (header, value) in [
            ("content-security-policy", POLICY),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", if is_secret { "no-store" } else { "no-cache" }),
        ] {
            assert_eq!(file.header(header), Some(value), "{name}: {header}");
        }
        assert_eq!(file.header("access-control-allow-origin"), None, "{name}");
        let tag = file.header("etag").expect("a tag").to_owned();
        let known = root.call(Method::GET, &path, &[("if-none-match", &tag)], b"").await;
        assert_eq!(
            (known.status, known.body.len(), known.header("etag")),
            (304, 0, Some(tag.as_str())),
            "{name}"
        );
        let changed = root.call(Method::GET, &path, &[("if-none-match", "\"0\"")], b"").await;
        assert_eq!(changed.status, 200, "{name}");
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            root.call(method, &path, &[], b"").await.expect_error(501, 12, "");
        }
    }
    let over_socket = Caller::new(daemon.socket(), root.organization(), root.key().clone());
    let absent = |reply: Reply| reply.expect_error(404, 5, "");
    for path in [
        "/pages",
        "/pages/index.html",
        "/pages/accept/",
        "/pages/../pages/accept",
        "/pages/ACCEPT",
        "/pages/bytes.js",
    ] {
        absent(root.call(Method::GET, path, &[], b"").await);
    }
    absent(over_socket.call(Method::GET, "/pages/accept", &[], b"").await);
}

#[tokio::test]
async fn pages_are_off_by_default() {
    let mailbox = Mailbox::start(0);
    let daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    for name in FILES {
        daemon.root(0).call(Method::GET, &format!("/pages/{name}"), &[], b"").await.expect_error(404, 5, "");
    }
    let invitation = json!({"invitations": [{"receiverUserName": "guest",
        "receiverUserEmail": "guest@example.org", "receiverUserTags": [],
        "accessType": "ACCESS_TYPE_WEB", "senderUserId": daemon.root_id(0)}]});
    daemon.root(0).completed("ACTIVITY_TYPE_CREATE_INVITATIONS", &invitation).await;
    assert!(!mailbox.next().text.contains("http"), "the mail has no link");
}
