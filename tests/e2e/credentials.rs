//! Operators find the credentials, sessions and invitations of an organization, and end them.

use std::time::Instant;

use quorate_tests::caller::{Caller, now_millis};
use quorate_tests::daemon::{Daemon, Options, POLL_INTERVAL};
use quorate_tests::http::TIMEOUT;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;
use quorate_tests::operator::{Ended, Operator};
use quorate_tests::passkey::Passkey;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Time by which the system clock is set at once.
const CLOCK_STEP_MILLIS: u64 = 1_000;

/// Logs in, and returns the caller with the key of the session.
async fn log_in(user: &Caller) -> Caller {
    let key = Key::named("session");
    let login = json!({"publicKey": key.public_key()});
    user.completed("ACTIVITY_TYPE_STAMP_LOGIN", &login).await;
    user.with_key(&key)
}

async fn listed(operator: &Operator, more: &[&str]) -> Vec<Value> {
    operator.run(&[&["user", "ls"], more].concat()).await.with(0).lines()
}

/// Waits until every listed credential was used, and returns them.
async fn used(operator: &Operator, more: &[&str]) -> Vec<Value> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let listed = listed(operator, more).await;
        if !listed.is_empty() && listed.iter().all(|one| one["lastUsedAt"].is_string()) {
            return listed;
        }
        assert!(Instant::now() < deadline, "not used in time: {listed:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Returns the milliseconds since 1970 of a time in UTC (RFC 3339).
fn millis(time: &Value) -> Option<u64> {
    let (date, clock) = time.as_str()?.strip_suffix('Z')?.split_once('T')?;
    let numbers =
        |text: &str, mark: char| text.split(mark).map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>();
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let (date, clock) = (numbers(date, '-')?, numbers(clock, ':')?);
    let [year, month, day] = date[..] else { return None };
    let [hour, minute, second] = clock[..] else { return None };
    // Years begin in March, so that the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000 + fraction.parse::<u64>().ok()?)
}

/// Returns whether a time of the daemon is between two times of this process. The system clock may be set between them.
fn is_between(time: &Value, from: u64, to: u64) -> bool {
    millis(time).is_some_and(|time| (from - CLOCK_STEP_MILLIS..=to + CLOCK_STEP_MILLIS).contains(&time))
}

#[tokio::test]
async fn a_session_is_found_by_its_last_use_and_ended() {
    let mut daemon = Daemon::start(Options::quorum(1, 2)).await;
    let operator = Operator::root(&daemon, 0);
    let (leaver, name) = (daemon.root(1), daemon.credentials().root_users[1].user_name.clone());
    assert_eq!(listed(&operator, &["--sessions"]).await, Vec::<Value>::new());

    let before = now_millis();
    let session = log_in(&leaver).await;
    session.fetch("whoami", json!({})).await;
    let sessions = used(&operator, &[&name, "--sessions"]).await;
    let [found] = sessions.as_slice() else { panic!("one session: {sessions:#?}") };
    assert_eq!((&found["user"], &found["kind"]), (&json!(name), &json!("session by login")));
    assert!(is_between(&found["lastUsedAt"], before, now_millis()), "{found}");
    let end = millis(&found["addedAt"]).expect("a time") + 900_000;
    assert_eq!(millis(&found["expiresAt"]), Some(end));
    // The key with which the user logged in was used as well; that of the other root user was not.
    let keys = used(&operator, &[&name]).await;
    assert_eq!(keys.len(), 2, "{keys:#?}");

    // What was used before a regular stop is recorded, and a kill leaves what was recorded.
    let token = leaver.result("ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION", &json!({})).await;
    let token = token["session"].as_str().expect("a token").to_owned();
    let body = json!({"organizationId": leaver.organization()}).to_string().into_bytes();
    let who =
        leaver.call(hyper::Method::POST, "/public/v1/query/whoami", &[("x-session", &token)], &body).await;
    assert_eq!(who.status, 200, "{who}");
    daemon.stop(Signal::TERM).await;
    daemon.restart().await;
    let stopped = listed(&operator, &[&name]).await;
    assert!(stopped.iter().all(|one| one["lastUsedAt"].is_string()), "{stopped:#?}");
    daemon.kill();
    daemon.restart().await;
    assert_eq!(without_remaining(listed(&operator, &[&name]).await), without_remaining(stopped.clone()));
    assert!(!json!(stopped).to_string().contains(&token));
    assert_eq!(stopped.len(), 3, "{stopped:#?}");

    let id = found["id"].as_str().expect("an id");
    let review = operator.run(&["user", "revoke", id, "--dry-run"]).await.with(0).json();
    assert_eq!(review["type"], "ACTIVITY_TYPE_DELETE_API_KEYS", "{review:#}");
    let session = Caller::new(daemon.http(), leaver.organization(), session.key().clone());
    session.fetch("whoami", json!({})).await;
    let _revoked = operator.run(&["user", "revoke", id]).await.with(0);
    session.query("whoami", json!({})).await.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
    let _gone = operator.run(&["user", "revoke", id]).await.with(3);

    let sessions = listed(&operator, &["--sessions"]).await;
    let [read_only] = sessions.as_slice() else { panic!("one session: {sessions:#?}") };
    assert_eq!((&read_only["kind"], &read_only["revocation"]), (&json!("read-only session"), &Value::Null));
    let _alone = operator.run(&["user", "revoke", read_only["id"].as_str().expect("an id")]).await.with(2);
    assert_eq!(listed(&operator, &["--unused", "1"]).await, Vec::<Value>::new());
    // Without a name, the credentials of all users are listed.
    assert_eq!(listed(&operator, &[]).await.len(), 3);
}

/// Returns the passkey as it is listed.
async fn listed_passkey(operator: &Operator) -> Value {
    let all = listed(operator, &[]).await;
    all.into_iter().find(|one| one["kind"] == "passkey").expect("the passkey")
}

/// Sends an activity that the passkey stamps.
async fn propose(root: &Caller, counter: u32) {
    let parameters = json!({"userTagName": format!("tag {counter}"), "userIds": []});
    let body = root.proposal("ACTIVITY_TYPE_CREATE_USER_TAG", &parameters);
    let stamp = Passkey { counter, ..Passkey::of("counts") }.header(&body);
    let path = "/public/v1/submit/create_user_tag";
    let headers = [("content-type", "application/json"), ("x-stamp-webauthn", stamp.as_str())];
    let reply = root.call(hyper::Method::POST, path, &headers, &body).await;
    assert_eq!(reply.status, 200, "{reply}");
}

#[tokio::test]
async fn a_passkey_whose_counter_went_back_is_accepted_and_shown() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let (root, operator) = (daemon.root(0), Operator::root(&daemon, 0));
    let user = &daemon.credentials().root_users[0].user_id;
    let passkey = Passkey { counter: 8, ..Passkey::of("counts") }.registration();
    let parameters = json!({"userId": user, "authenticators": [passkey]});
    root.completed("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &parameters).await;
    propose(&root, 9).await;
    let _recorded = used(&operator, &[]).await;
    assert_eq!(listed_passkey(&operator).await["counterWentBack"], Value::Null);
    let before = now_millis();
    propose(&root, 7).await;
    daemon.stop(Signal::TERM).await;
    daemon.restart().await;
    let back = listed_passkey(&operator).await["counterWentBack"].clone();
    assert_eq!((&back["counter"], &back["after"]), (&json!(7), &json!(9)));
    let after = now_millis();
    assert!(is_between(&back["at"], before, after), "{before} {back} {after}");
    // After a restart, the recorded counter is that of the last use.
    let root = daemon.root(0);
    propose(&root, 6).await;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let metrics = root.call(hyper::Method::GET, "/metrics", &[], b"").await;
        let metrics = String::from_utf8(metrics.body.to_vec()).expect("UTF-8");
        if metrics.contains("quorate_passkey_counters_went_back_total 1") {
            break;
        }
        assert!(Instant::now() < deadline, "not reported in time:\n{metrics}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let back = listed_passkey(&operator).await["counterWentBack"].clone();
    assert_eq!((&back["counter"], &back["after"]), (&json!(6), &json!(7)));
}

/// Removes the remaining time, which differs in each answer.
fn without_remaining(mut listed: Vec<Value>) -> Vec<Value> {
    for one in &mut listed {
        one.as_object_mut().expect("an object").remove("remainingMillis");
    }
    listed
}

/// Runs a command with text output as nobody, with the credentials file only.
async fn as_nobody(daemon: &Daemon, operator: &Operator, more: &[&str]) -> Ended {
    let file = daemon.credentials_file();
    let file = file.to_str().expect("a path in UTF-8");
    operator.run_raw(&[&["--credentials", file], more].concat(), "").await
}

#[tokio::test]
async fn nobody_but_a_user_of_a_sub_organization_revokes_its_credentials() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let (root, operator) = (daemon.root(0), Operator::root(&daemon, 0));
    let key = Key::named("of the sub-organization");
    let user = json!({"userName": "dora", "apiKeys": [{"apiKeyName": "k", "publicKey": key.public_key(),
        "curveType": "API_KEY_CURVE_P256"}], "authenticators": [], "oauthProviders": []});
    let child = json!({"subOrganizationName": "child", "rootUsers": [user], "rootQuorumThreshold": 1});
    let created = root.result("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child).await;
    let id = created["subOrganizationId"].as_str().expect("an id").to_owned();
    let dora = root.on(&id).with_key(&key);
    log_in(&dora).await;

    // The parent reads what there is, and who can end it.
    let sub = ["--organization", &id];
    let shown = as_nobody(&daemon, &operator, &[&sub[..], &["user", "ls"]].concat()).await.with(0).output;
    assert!(shown.contains("revoke: only a user of this organization can revoke it"), "{shown}");
    assert!(!shown.contains("quorate user revoke"), "{shown}");
    let sessions = [&sub[..], &["--json", "user", "ls", "--sessions"]].concat();
    let session = as_nobody(&daemon, &operator, &sessions).await.with(0).json();
    assert_eq!(session["revocation"], Value::Null, "{session}");
    let session = session["id"].as_str().expect("an id");
    let refused = as_nobody(&daemon, &operator, &[&sub[..], &["user", "revoke", session]].concat()).await;
    let text = &refused.with(2).stderr;
    assert!(text.contains("only a user of this organization can revoke the session by login"), "{text}");

    // Its own user does.
    let person = json!({"userId": created["rootUserIds"][0], "userName": "dora", "publicKey": key.public_key(),
        "privateKey": key.secret_hex()});
    let dora = Operator::of(&daemon, &id, &person);
    let shown = dora.run_raw(&[&dora.identity()[..], &["user".into(), "ls".into()]].concat(), "").await;
    let shown = shown.with(0).output;
    assert!(shown.contains(&format!("revoke: quorate user revoke {session} (DELETE_API_KEYS)")), "{shown}");
    let review = dora.run(&["user", "revoke", session, "--dry-run"]).await.with(0).json();
    let sentence = review["sentence"].as_str().expect("a sentence");
    assert!(sentence.starts_with("End 1 session of \"dora\""), "{sentence}");
    let _revoked = dora.run(&["user", "revoke", session]).await.with(0);
    assert_eq!(listed_sessions(&dora).await, 0);
}

async fn listed_sessions(operator: &Operator) -> usize {
    listed(operator, &["--sessions"]).await.len()
}

#[tokio::test]
async fn the_only_credential_of_a_user_is_refused_before_anything_is_sent() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (root, operator) = (daemon.root(0), Operator::root(&daemon, 0));
    let name = &daemon.credentials().root_users[1].user_name;
    let keys = listed(&operator, &[name]).await;
    let [only] = keys.as_slice() else { panic!("one key: {keys:#?}") };
    let id = only["id"].as_str().expect("an id");
    let before = root.activities().await.len();
    let review = operator.run(&["user", "revoke", id, "--dry-run"]).await.with(0).json();
    assert_eq!((&review["risk"], &review["blocked"]), (&json!("HIGH"), &json!(true)), "{review:#}");
    let refused = operator.run(&["user", "revoke", id, "--allow-flag", "last-credential"]).await.with(4);
    assert!(refused.stderr.contains("user missing valid credential"), "{refused:#?}");
    assert_eq!(root.activities().await.len(), before);
    // The daemon agrees.
    let deletion = json!({"userId": daemon.root_id(1), "apiKeyIds": [id]});
    let reply = root.submit("ACTIVITY_TYPE_DELETE_API_KEYS", &deletion).await;
    assert!(reply.expect_error(400, 3, "*").starts_with("user missing valid credential"));
}

#[tokio::test]
async fn an_invitation_that_bounced_is_marked() {
    let mailbox = Mailbox::answering(&["550 5.1.1 no such user"]);
    let daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    let operator = Operator::root(&daemon, 0);
    let invitation = json!({"invitations": [{"receiverUserName": "guest", "receiverUserEmail": "guest@example.org",
        "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB", "senderUserId": daemon.root_id(0)}]});
    daemon.root(0).completed("ACTIVITY_TYPE_CREATE_INVITATIONS", &invitation).await;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let all = listed(&operator, &[]).await;
        let invited = all.iter().find(|one| one["kind"] == "invitation").expect("an invitation");
        if invited["mail"]["state"] == "Bounce" {
            assert_eq!(invited["mail"]["answer"], "550 5.1.1 no such user");
            break;
        }
        assert!(Instant::now() < deadline, "no bounce in time: {invited:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    for (command, expected) in
        [(["user", "ls"], "[!] its mail bounced"), (["org", "get"], "[!] mail bounced")]
    {
        let all = [&operator.identity()[..], &command.map(str::to_owned)].concat();
        let shown = operator.run_raw(&all, "").await.with(0).output;
        assert!(shown.contains(expected) && shown.contains("550 5.1.1 no such user"), "{shown}");
    }
}

#[tokio::test]
async fn a_sub_organization_is_found_by_a_verified_contact() {
    let mailbox = Mailbox::start(0);
    let daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    let (root, operator) = (daemon.root(0), Operator::root(&daemon, 0));
    let feature = json!({"name": "FEATURE_NAME_OTP_EMAIL_AUTH"});
    root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
    let wanted = json!({"otpType": "OTP_TYPE_EMAIL", "contact": "dora+x@example.org"});
    let otp = root.result("ACTIVITY_TYPE_INIT_OTP", &wanted).await["otpId"].clone();
    let mail = mailbox.next();
    let code = mail.text.lines().find_map(|line| line.strip_prefix("    ")).expect("a code").trim_end();
    let verified = root.result("ACTIVITY_TYPE_VERIFY_OTP", &json!({"otpId": otp, "otpCode": code})).await;
    let child = |name: &str, email: &str| {
        json!({"subOrganizationName": name, "rootQuorumThreshold": 1, "rootUsers": [{"userName": name,
            "userEmail": email, "apiKeys": [{"apiKeyName": "k", "publicKey": Key::named(name).public_key(),
            "curveType": "API_KEY_CURVE_P256"}], "authenticators": [], "oauthProviders": []}]})
    };
    let mut proven = child("dora", "dora+x@example.org");
    proven["verificationToken"] = verified["verificationToken"].clone();
    let create = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
    let id = root.result(create, &proven).await["subOrganizationId"].clone();
    root.completed(create, &child("claims", "other@example.org")).await;
    let found = operator.run(&["org", "ls", "--contact", "Dora+X@example.org"]).await.with(0).json();
    assert_eq!((&found["organizationId"], &found["organizationName"]), (&id, &json!("dora")));
    for (contact, parent) in
        [("other@example.org", root.organization()), ("dora+x@example.org", id.as_str().unwrap())]
    {
        let none = operator.run(&["org", "ls", "--contact", contact, "--parent", parent]).await.with(0);
        assert_eq!(none.lines(), Vec::<Value>::new(), "a stated contact is not verified");
    }
}
