//! Names that policies read: anyone who changes them changes authority, so the page refers to the console.

use super::*;

const REFERS: &str = "Approve this in the console";

#[tokio::test]
async fn names_refer_to_the_console() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let user = scene.accept(&browser).await;
    scene.permit(&user).await;
    let page = scene.page("approve");
    let open = async |activity: &Value| {
        let id = activity["id"].as_str().expect("an id");
        open_activity(&browser, &page, scene.organization(), id).await;
    };
    let root = scene.daemon.root(0);
    let rename = json!({"userId": user, "userName": "treasurer"});
    open(&root.waiting("ACTIVITY_TYPE_UPDATE_USER_NAME", &rename).await).await;
    browser.shows("#vote-reason", REFERS).await;
    assert!(!browser.is_shown("#approve").await && browser.is_shown("#reject").await);

    // No policy reads names, so a name for something new changes nothing.
    let wallet = scene.waiting_wallet("hot").await;
    open(&wallet).await;
    browser.shows("#status", "verified").await;
    assert!(browser.is_shown("#approve").await);
    let policy = json!({"policyName": "hot", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.action == 'SIGN' && wallet.label == 'hot'", "consensus": "approvers.count() >= 2"});
    scene.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy).await;
    open(&wallet).await;
    browser.shows("#vote-reason", "policies of your organization read names or tags").await;
    assert!(!browser.is_shown("#approve").await && browser.is_shown("#reject").await);
    expect_silence(&browser).await;
    browser.close().await;
}

#[tokio::test]
async fn names_are_dangerous_if_the_daemon_does_not_report_the_policies() {
    let Some(browser) = Browser::start().await else { return };
    let scene = Scene::start().await;
    let user = scene.accept(&browser).await;
    scene.permit(&user).await;
    let wallet = scene.waiting_wallet("hot").await;
    let port = start_on_port(scene.daemon.http(), |answer| {
        if let Some(members) = answer.as_object_mut() {
            members.remove("policies");
        }
    })
    .await;
    let page = format!("http://localhost:{port}/pages/approve");
    open_activity(&browser, &page, scene.organization(), wallet["id"].as_str().expect("an id")).await;
    browser.shows("#vote-reason", REFERS).await;
    assert!(!browser.is_shown("#approve").await);
    browser.close().await;
}
