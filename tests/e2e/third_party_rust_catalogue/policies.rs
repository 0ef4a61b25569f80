//! Policies, their evaluations, and votes.

use quorate_tests::keys::Key;
use serde_json::{Value, json};
use turnkey_client::TurnkeyClientError;

use super::{Caller, Participants, assert_refused, listed, plain, text};
use crate::third_party_rust::client;

/// Creates a user without permissions.
async fn clerk(Participants { daemon, alice, .. }: &Participants) -> (String, Caller) {
    let key = Key::named("rust clerk");
    let created = submit!(alice, create_users, {"users": [{"userName": "clerk", "authenticators": [],
        "oauthProviders": [], "userTags": [], "apiKeys": [{"apiKeyName": "clerk",
            "publicKey": key.public_key(), "curveType": "API_KEY_CURVE_P256"}]}]});
    let clerk = alice.sibling(client(daemon, &key.secret_hex()), &alice.organization);
    (text(&created["userIds"][0]).to_owned(), clerk)
}

pub(super) async fn policies(participants: &Participants) {
    let alice = &participants.alice;
    let (user, clerk) = clerk(participants).await;
    let consensus = format!("approvers.any(user, user.id == '{user}')");
    let created = submit!(alice, create_policy, {"policyName": "clerk", "effect": "EFFECT_DENY", "notes": "noted",
        "condition": "activity.kind == 'CREATE_WALLET'", "consensus": consensus});
    let id = text(&created["policyId"]);
    assert_eq!(created, json!({"policyId": id}));
    let denied = try_submit!(clerk, create_wallet, {"walletName": "denied", "accounts": []});
    assert_refused(denied, 403, "You don't have sufficient permissions to take this action.");

    let policy = |name: &str| {
        json!({"policyName": name, "effect": "EFFECT_DENY", "notes": "",
            "condition": "activity.kind == 'EXPORT_WALLET'"})
    };
    let created = submit!(alice, create_policies, {"policies": [policy("one"), policy("two")]});
    let more = &created["policyIds"];
    assert_eq!(created, json!({"policyIds": [text(&more[0]), text(&more[1])]}));
    let updated = submit!(alice, update_policy, {"policyId": id, "policyName": "renamed", "policyEffect": "EFFECT_ALLOW"});
    assert_eq!(updated, json!({"policyId": id}));
    assert_eq!(
        fetch!(alice, get_policy, {"policyId": id}),
        json!({"policy": {"policyId": id, "policyName": "renamed", "effect": "EFFECT_ALLOW", "notes": "noted",
            "condition": "activity.kind == 'CREATE_WALLET'", "consensus": consensus, "createdAt": "time",
            "updatedAt": "time"}})
    );
    let names = listed(&fetch!(alice, get_policies, {}), "policies", "policyName");
    assert_eq!(names, ["one", "renamed", "two"]);

    evaluations(participants, &clerk, id, more).await;
    assert_eq!(submit!(alice, delete_policy, {"policyId": id}), json!({"policyId": id}));
    assert_eq!(submit!(alice, delete_policies, {"policyIds": more}), json!({"policyIds": more}));
    assert_eq!(fetch!(alice, get_policies, {}), json!({"policies": []}));
    submit!(alice, delete_users, {"userIds": [user]});
}

async fn evaluations(
    Participants { alice, .. }: &Participants,
    clerk: &Caller,
    allows: &str,
    others: &Value,
) {
    let created =
        try_submit!(clerk, create_wallet, {"walletName": "allowed", "accounts": []}).expect("allowed");
    let evaluations = fetch!(alice, get_policy_evaluations, {"activityId": created.activity_id});
    let activity = fetch!(alice, get_activity, {"activityId": created.activity_id});
    let vote = &evaluations["policyEvaluations"][0];
    let mut outcomes = vote["policyEvaluations"].as_array().expect("outcomes").clone();
    outcomes.sort_by_key(|outcome| outcome["outcome"].to_string());
    let mut denials = [text(&others[0]), text(&others[1])];
    denials.sort_unstable();
    assert_eq!(outcomes[0], json!({"policyId": allows, "outcome": "OUTCOME_ALLOW"}));
    let mut policy_ids = [text(&outcomes[1]["policyId"]), text(&outcomes[2]["policyId"])];
    policy_ids.sort_unstable();
    assert_eq!(policy_ids, denials);
    assert_eq!(outcomes[1]["outcome"], "OUTCOME_DENY_IMPLICIT");
    assert_eq!(
        evaluations,
        json!({"policyEvaluations": [{"id": text(&vote["id"]), "activityId": created.activity_id,
            "organizationId": alice.organization, "voteId": activity["activity"]["votes"][0]["id"],
            "policyEvaluations": vote["policyEvaluations"], "createdAt": "time"}]})
    );
    let wallet = created.result.wallet_id;
    submit!(alice, delete_wallets, {"walletIds": [wallet], "deleteWithoutExport": true});
}

fn waits<T: std::fmt::Debug>(answer: Result<T, TurnkeyClientError>) -> String {
    match answer {
        Err(TurnkeyClientError::ActivityRequiresApproval(id)) => id,
        other => panic!("expected a wait for approval, got {other:?}"),
    }
}

pub(super) async fn votes(Participants { daemon, alice, bob }: &Participants) {
    let ids = [daemon.root_id(0), daemon.root_id(1)];
    assert_eq!(submit!(alice, update_root_quorum, {"threshold": 2, "userIds": ids}), json!({}));
    assert_eq!(fetch!(alice, get_organization_configs, {})["configs"]["quorum"]["threshold"], 2);

    let id = waits(try_submit!(alice, create_wallet, {"walletName": "refused", "accounts": []}));
    let pending = fetch!(alice, get_activity, {"activityId": id});
    let fingerprint = text(&pending["activity"]["fingerprint"]);
    let rejection = try_submit!(bob, reject_activity, {"fingerprint": fingerprint}).expect("rejected");
    assert_eq!(rejection.r#type.as_str_name(), "ACTIVITY_TYPE_REJECT_ACTIVITY");
    let rejected = &fetch!(alice, get_activity, {"activityId": id})["activity"];
    assert_eq!(rejected["status"], "ACTIVITY_STATUS_REJECTED");
    let selections = [0, 1].map(|index| text(&rejected["votes"][index]["selection"]));
    assert_eq!(selections, ["VOTE_SELECTION_APPROVED", "VOTE_SELECTION_REJECTED"]);
    let listed = fetch!(alice, get_activities, {"filterByStatus": ["ACTIVITY_STATUS_REJECTED"],
        "filterByType": ["ACTIVITY_TYPE_CREATE_WALLET"], "paginationOptions":
            {"limit": "1", "before": "", "after": ""}});
    assert_eq!(listed, json!({"activities": [rejected]}));

    let id = waits(try_submit!(alice, update_root_quorum, {"threshold": 1, "userIds": ids}));
    let pending = fetch!(alice, get_activity, {"activityId": id});
    let fingerprint = text(&pending["activity"]["fingerprint"]);
    let approved = try_submit!(bob, approve_activity, {"fingerprint": fingerprint}).expect("approved");
    assert_eq!(approved.id, id);
    assert_eq!(plain(&approved)["status"], "ACTIVITY_STATUS_COMPLETED");
    assert_eq!(
        fetch!(alice, get_organization_configs, {})["configs"]["quorum"],
        json!({"threshold": 1, "userIds": ids})
    );
}
