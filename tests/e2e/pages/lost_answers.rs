//! Answers to a vote that do not arrive: the vote may be executed, and the page finds out before it offers another one.

use super::*;

/// Lets the answers to requests whose path contains `path` be lost or replaced. The daemon receives the requests.
async fn answer_with(browser: &Browser, paths: &[&str], answer: &str) {
    let script = format!(
        "window.realFetch ??= window.fetch;
         window.fetch = async (url, options) => {{
           const answer = await window.realFetch(url, options);
           if (!{}.some((path) => String(url).includes(path))) return answer;
           {answer}
         }};",
        json!(paths)
    );
    browser.run(&script).await;
}

const LOST: &str = "throw new TypeError('Failed to fetch');";
const GATEWAY: &str = "return new Response('<html></html>', {status: 502});";
const REFUSED: &str = "return new Response('{\"code\":7,\"message\":\"no permission\"}', {status: 403});";
/// An answer that is as old as the proposal.
const OLD: &str = "const value = await answer.json();
    value.activity.votes.length = 1;
    return new Response(JSON.stringify(value));";

#[tokio::test]
async fn the_page_finds_a_vote_whose_answer_is_lost() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let user = scene.accept(&browser).await;
    scene.permit(&user).await;
    let page = scene.page("approve");
    for (name, answer) in [("lost", LOST), ("gateway", GATEWAY), ("refused", REFUSED)] {
        for (button, vote, status) in
            [("#approve", "approval", "COMPLETED"), ("#reject", "rejection", "REJECTED")]
        {
            let wallet = scene.waiting_wallet(&format!("{name} {vote}")).await;
            let id = wallet["id"].as_str().expect("an id");
            open_activity(&browser, &page, scene.organization(), id).await;
            browser.shows("#status", "verified").await;
            answer_with(&browser, &["approve_activity", "reject_activity"], answer).await;
            browser.click(button).await;
            let expected = format!("The daemon shows your {vote}, with your signature, although no");
            browser.shows("#status", &expected).await;
            assert!(!browser.is_shown("#approve").await && !browser.is_shown("#reject").await, "{name}");
            let after = scene.daemon.root(0).activity(&wallet["id"]).await;
            assert_eq!(after["status"], json!(format!("ACTIVITY_STATUS_{status}")), "{name}");
        }
    }
    browser.close().await;
}

/// Opens an activity that waits, as a user who may vote on it.
async fn open_waiting(browser: &Browser) -> (Scene, Value) {
    let scene = Scene::start().await;
    let user = scene.accept(browser).await;
    scene.permit(&user).await;
    let wallet = scene.waiting_wallet("lost").await;
    reopen(browser, &scene, &wallet).await;
    browser.shows("#status", "verified").await;
    (scene, wallet)
}

async fn reopen(browser: &Browser, scene: &Scene, wallet: &Value) {
    let id = wallet["id"].as_str().expect("an id");
    open_activity(browser, &scene.page("approve"), scene.organization(), id).await;
}

#[tokio::test]
async fn the_page_offers_another_vote_only_after_it_read_the_activity() {
    let Some(browser) = Browser::start().await else { return };
    let (scene, wallet) = open_waiting(&browser).await;
    answer_with(&browser, &["approve_activity", "get_activity"], LOST).await;
    browser.click("#approve").await;
    browser.shows("#error", "Your approval was sent and may have been recorded").await;
    browser.shows("#vote-reason", "does not know whether your approval was recorded").await;
    let offers = async || (browser.is_shown("#approve").await, browser.is_shown("#reject").await);
    assert_eq!(offers().await, (false, false), "no other vote is offered");
    pictures(&browser, "unknown-outcome").await;
    browser.click("#check").await;
    browser.shows("#error", "may have been recorded, but the activity cannot be read now").await;
    assert_eq!(offers().await, (false, false));
    // As if the vote were lost on its way to the daemon.
    answer_with(&browser, &["get_activity"], OLD).await;
    browser.click("#check").await;
    let expected = "No confirmation of your approval arrived. The activity was read again and does not show your \
        approval. You may vote again. If the first vote arrives late, it still counts.";
    browser.shows("#error", expected).await;
    answer_with(&browser, &[], "").await;
    browser.click("#back").await;
    browser.shows("#status", "0 activities wait").await;
    reopen(&browser, &scene, &wallet).await;
    let votes = browser.shows("#votes", "Approval, signature verified").await;
    assert_eq!(votes.matches("Approval").count(), 1, "{votes}");
    browser.close().await;
}

#[tokio::test]
async fn a_vote_that_never_arrived_is_cast_again() {
    let Some(browser) = Browser::start().await else { return };
    let (scene, wallet) = open_waiting(&browser).await;
    let swallow = "window.passOn = window.fetch;
        window.fetch = async (url, options) => {
          if (String(url).includes('approve_activity')) throw new TypeError('Failed to fetch');
          return window.passOn(url, options);
        };";
    browser.run(swallow).await;
    browser.click("#approve").await;
    browser.shows("#error", "does not show your approval. You may vote again.").await;
    assert!(browser.is_shown("#approve").await && browser.is_shown("#reject").await);
    browser.run("window.fetch = window.passOn;").await;
    browser.click("#approve").await;
    browser.shows("#status", "The daemon shows your approval, with your signature.").await;
    let after = scene.daemon.root(0).activity(&wallet["id"]).await;
    assert_eq!(after["status"], "ACTIVITY_STATUS_COMPLETED");
    assert_eq!(after["votes"].as_array().map(Vec::len), Some(2));
    browser.close().await;
}
