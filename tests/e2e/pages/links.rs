//! Links to the pages: invitations, activities by fingerprint, and the page that lists the pages.

use super::*;

#[tokio::test]
async fn invitation_link_names_the_organization_and_can_be_used_once() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let root = scene.daemon.root(0);
    let sender = root.fetch("whoami", json!({})).await;
    browser.open(&scene.page("accept")).await;
    browser.shows("#no-link h2", "Open the link in the mail").await;
    assert_eq!(browser.text("#status").await, "", "the page does not load any more");

    // Only the fragment of the address changes, and the page reads it.
    let link = scene.invite().await;
    browser.open(&link).await;
    browser.shows("#accept h2", "You were invited").await;
    assert_eq!(browser.run("return location.hash").await, "", "the key is not kept in the address");
    assert_eq!(browser.text("#status").await, "", "the page does not load any more");
    assert_eq!(json!(browser.text("#organization-name").await), sender["organizationName"]);
    assert_eq!(json!(browser.text("#sender").await), sender["username"]);
    assert!(browser.text("#accept").await.contains("not verified"));
    browser.click("#accept-form button").await;
    browser.shows("#status", "The invitation is accepted.").await;

    assert_eq!(browser.passkeys().await.len(), 1);

    browser.open(&link).await;
    browser.shows("#accept h2", "You were invited").await;
    browser.click("#accept-form button").await;
    browser.shows("#ended h2", "This invitation was used").await;
    browser.shows("#error", "invitation has been accepted").await;
    assert!(!browser.is_shown("#accept-form").await && browser.is_shown("#ended-used").await);
    assert!(!browser.is_shown("#ended-passkey").await);
    assert_eq!(browser.passkeys().await.len(), 1, "a used link leaves no passkey on the device");
    pictures(&browser, "used").await;
    browser.close().await;
}

#[tokio::test]
async fn passkey_of_an_invitation_that_ended_meanwhile_is_forgotten() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let link = scene.invite().await;
    browser.open(&link).await;
    browser.shows("#accept h2", "You were invited").await;
    browser.click("#accept-form button").await;
    browser.shows("#status", "The invitation is accepted.").await;
    let [kept] = browser.passkeys().await.try_into().expect("one passkey");
    let organization = scene.daemon.root(0).fetch("whoami", json!({})).await["organizationName"].clone();
    let organization = organization.as_str().expect("a name");
    assert_eq!(kept["userName"], format!("guest at {organization}"), "a picker shows this name");

    browser.open(&link).await;
    browser.shows("#accept h2", "You were invited").await;
    // As if somebody else accepted it after the page has checked it.
    browser.run("checkInvitation = async () => {};").await;
    browser.click("#accept-form button").await;
    browser.shows("#ended-passkey", "registered nowhere").await;
    let left = browser.passkeys().await;
    assert_eq!(left.iter().map(|one| &one["credentialId"]).collect::<Vec<_>>(), [&kept["credentialId"]]);
    browser.close().await;
}

#[tokio::test]
async fn unregistered_passkey_is_explained_at_the_sign_in() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let user = scene.accept(&browser).await;
    scene.agreed("ACTIVITY_TYPE_DELETE_USERS", &json!({"userIds": [user]})).await;
    browser.open(&scene.page(&format!("approve#organization={}", scene.organization()))).await;
    browser.shows("#sign-in h2", "Sign in").await;
    browser.click("#sign-in-form button").await;
    let error = browser.shows("#error", "This passkey is not registered in this organization").await;
    assert!(error.contains("choose another passkey") && !error.contains("credentialId"), "{error}");
    browser.close().await;
}

#[tokio::test]
async fn names_in_the_link_are_untrusted() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let link = scene.invite().await;
    let (head, _) = link.split_once("&organizationName=").expect("the link contains the names");
    let (_, keys) = link.split_once("&publicKey=").expect("the link contains the key");
    let forged = "&organizationName=%3Cimg%20src=x%3E%E2%80%AE&sender=%D0%B0%D1%80%D1%80%D3%8F%D0%B5";
    browser.open(&format!("{head}{forged}&publicKey={keys}")).await;
    browser.shows("#accept h2", "You were invited").await;
    assert_eq!(browser.text("#organization-name").await, "<img src=x><U+202E>");
    let name = browser.run("return document.getElementById('passkey-name').value").await;
    assert_eq!(name, "Passkey at <img src=x><U+202E>");
    assert!(browser.is_shown("#sender-note").await, "letters that look Latin are marked");
    assert_eq!(browser.run("return document.images.length").await, 0);
    browser.open(&format!("{head}&publicKey={keys}")).await;
    browser.shows("#organization-name", "not named in the link").await;
    expect_silence(&browser).await;
    browser.close().await;
}

#[tokio::test]
async fn key_leaves_the_address_bar_before_anything_can_fail() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let link = scene.invite().await;
    // The settings of the pages cannot be read.
    let port = start_on_port(scene.daemon.http(), |answer| {
        if answer.get("relyingPartyId").is_some() {
            *answer = Value::Null;
        }
    })
    .await;
    let (_, path) = link.split_once("/pages/").expect("a link to the pages");
    browser.open(&format!("http://localhost:{port}/pages/{path}")).await;
    browser.run("return new Promise((done) => { const wait = () => document.getElementById('error').textContent ? done() : setTimeout(wait, 10); wait(); });").await;
    assert_eq!(browser.run("return location.hash").await, "", "the key is not kept in the address");
    assert!(!browser.is_shown("#accept-form").await);
    browser.close().await;
}

#[tokio::test]
async fn link_opens_one_activity_by_its_fingerprint() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let user = scene.accept(&browser).await;
    scene.permit(&user).await;
    let wanted = scene.waiting_wallet("wanted").await;
    let other = scene.waiting_wallet("other").await;
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let fingerprint = text(&wanted["fingerprint"]);
    let link = |port: u16, fingerprint: &str| {
        let organization = scene.organization();
        format!("http://localhost:{port}/pages/approve#organization={organization}&fingerprint={fingerprint}")
    };
    let sign_in = async |link: &str| {
        browser.open(link).await;
        browser.shows("#sign-in h2", "Sign in").await;
        browser.click("#sign-in-form button").await;
    };
    let port = scene.daemon.address().port();
    sign_in(&link(port, &fingerprint)).await;
    browser.shows("#checks", "It is the fingerprint that you opened.").await;
    assert!(browser.text("#fields").await.contains("wanted"));
    assert!(browser.is_shown("#approve").await);

    let absent = Fingerprint::of(b"nothing").to_string();
    sign_in(&link(port, &absent)).await;
    browser.shows("#error", "No waiting activity has this fingerprint").await;

    // A daemon that answers with another activity under the wanted fingerprint.
    let (id, other_id, stated) = (text(&wanted["id"]), other["id"].clone(), fingerprint.clone());
    let port = start_on_port(scene.daemon.http(), move |answer| {
        for activity in answer.get_mut("activities").and_then(Value::as_array_mut).into_iter().flatten() {
            let is_wanted = activity["id"] == json!(id);
            if is_wanted {
                activity["fingerprint"] = json!("sha256:00");
            } else if activity["id"] == other_id {
                activity["fingerprint"] = json!(stated);
            }
        }
    })
    .await;
    sign_in(&link(port, &fingerprint)).await;
    browser.shows("#checks", "It is not the fingerprint that you opened.").await;
    assert!(!browser.is_shown("#approve").await && !browser.is_shown("#reject").await);
    browser.close().await;
}

#[tokio::test]
async fn first_page_leads_to_the_others() {
    let Some(browser) = Browser::start().await else { return };
    let daemon = Daemon::start(Options::quorum(1, 1).with_pages()).await;
    browser.open(&format!("http://localhost:{}/pages/", daemon.address().port())).await;
    browser.shows("h1", "Pages for people with a browser").await;
    browser.tab_to("a").await;
    browser.press(keys::ENTER).await;
    browser.shows("#sign-in h2", "Sign in").await;
    assert_eq!(browser.text("#status").await, "", "the page does not load any more");
    expect_silence(&browser).await;
    browser.close().await;
}
