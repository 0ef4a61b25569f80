//! Flags of activities that change what expressions read: names, mail addresses and tags. Anyone who chooses them decides
//! which policies apply.

use quorate_policy::{ExpressionKind, Program, Property};

use crate::kinds::prelude::*;

/// Maximum number of expressions that a flag names; the others are counted.
const NAMED: usize = 4;

/// Flags that expressions of the organization read a property which the activity sets.
pub(in crate::kinds) fn flag_name(
    property: Property,
    description: &mut Description,
    context: &ReviewContext<'_>,
) {
    flag(property, &|program| program.reads(property), description, context);
}

/// Flags that expressions of the organization depend on who or what has these tags. A tag that does not exist yet is
/// not among them: no expression can name it.
pub(in crate::kinds) fn flag_tags(
    property: Property,
    tags: &[&str],
    description: &mut Description,
    context: &ReviewContext<'_>,
) {
    flag(property, &|program| program.reads_tags(property, tags), description, context);
}

fn flag(
    property: Property,
    depends: &dyn Fn(&Program) -> bool,
    description: &mut Description,
    context: &ReviewContext<'_>,
) {
    let readers = readers(property, depends, context);
    let named = readers.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let (others, verb) = match readers.len().saturating_sub(NAMED) {
        0 => (String::new(), if readers.len() == 1 { "reads" } else { "read" }),
        1 => (" and 1 other".to_owned(), "read"),
        more => (format!(" and {more} others"), "read"),
    };
    if !readers.is_empty() {
        let text = format!("May give or withdraw authority: {named}{others} {verb} {property}.");
        description.flag_high("read-by-policies", text);
    }
}

/// Returns the names of policies, MFA policies and session profiles whose outcome depends on a property.
fn readers(
    property: Property,
    depends: &dyn Fn(&Program) -> bool,
    context: &ReviewContext<'_>,
) -> Vec<String> {
    let organization = context.organization;
    let reads = |kind: ExpressionKind, text: &str| {
        // Most expressions are skipped without parsing them. One that cannot be parsed here may read anything.
        text.contains(property.member())
            && Program::parse(kind, text).map_or(true, |program| depends(&program))
    };
    let condition = |text: &str| reads(ExpressionKind::Condition, text);
    let policies = organization
        .policies
        .iter()
        .filter(|policy| condition(&policy.condition) || reads(ExpressionKind::Consensus, &policy.consensus));
    let policies =
        policies.map(|policy| format!("the policy {}", context.policy_named(&policy.policy_id.to_string())));
    let of_users = organization.users.iter().flat_map(|user| {
        let own = user.mfa_policies.iter().filter(|policy| condition(&policy.condition));
        own.map(|policy| {
            let name = stated(&policy.mfa_policy_name);
            format!("the MFA policy {name} of {}", context.user_named(&user.user_id.to_string()))
        })
    });
    let profiles = organization.session_profiles.iter().filter(|profile| condition(&profile.scope));
    let profiles =
        profiles.map(|profile| format!("the session profile {}", stated(&profile.session_profile_name)));
    policies.chain(of_users).chain(profiles).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use quorate_common::console::OrganizationDetail;
    use quorate_common::ids::PolicyId;
    use quorate_common::wire::{Policy, Timestamp};
    use serde_json::{Value, json};

    use super::*;
    use crate::kinds::decode;
    use crate::testing::Fixture;

    const WALLET: &str = "51515151-5151-5151-5151-515151515151";
    const TAG: &str = "7f7f7f7f-7f7f-7f7f-7f7f-7f7f7f7f7f7f";

    /// Returns an organization with one policy.
    fn with_policy(condition: &str, consensus: &str) -> OrganizationDetail {
        let mut organization = Fixture::new(3, 2).with_all_records();
        organization.policies = vec![Policy {
            policy_id: PolicyId::from_bytes([0x61; 16]),
            policy_name: "treasurer".to_owned(),
            effect: "EFFECT_ALLOW".to_owned(),
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
            notes: String::new(),
            consensus: consensus.to_owned(),
            condition: condition.to_owned(),
            time: None,
        }];
        organization
    }

    /// Returns the flags of the highest level.
    fn flags(organization: &OrganizationDetail, kind: &str, parameters: &Value) -> Vec<String> {
        let decoded = decode(&format!("ACTIVITY_TYPE_{kind}"), parameters, &ReviewContext::of(organization));
        assert_eq!(decoded.undecoded, None, "{kind}");
        let flags = decoded.description.flags.into_iter().filter(|flag| flag.name == "read-by-policies");
        flags.map(|flag| format!("{} {}", flag.level.word(), flag.text)).collect()
    }

    fn check(organization: &OrganizationDetail, kind: &str, parameters: &Value, reads: &str) {
        let found = flags(organization, kind, parameters);
        let ends = format!("reads {reads}.");
        let is_expected =
            if reads.is_empty() { found.is_empty() } else { found.iter().any(|text| text.ends_with(&ends)) };
        assert!(is_expected, "{kind} {parameters}: {found:?}");
        assert!(
            found.iter().all(|text| text.starts_with("HIGH May give or withdraw authority: the ")),
            "{found:?}"
        );
    }

    #[test]
    fn names_of_users_that_policies_read() {
        let (mira, jo) = (Fixture::user(0), Fixture::user(1));
        let by = |expression: &str| with_policy("true", &format!("approvers.any(u, {expression})"));
        let (name, mail, id) =
            (by("u.alias == 'treasurer'"), by("u.email == 't@acme.example'"), by("u.id == 'alias'"));
        let user = json!({"userName": "treasurer", "userEmail": "t@acme.example", "apiKeys": [], "authenticators": [],
            "oauthProviders": [], "userTags": []});
        let invitation = json!({"receiverUserName": "treasurer", "receiverUserEmail": "t@acme.example",
            "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB", "senderUserId": mira});
        for (kind, parameters, sets_name, sets_mail) in [
            ("UPDATE_USER_NAME", json!({"userId": jo, "userName": "treasurer"}), true, false),
            ("UPDATE_USER", json!({"userId": jo, "userName": "treasurer"}), true, false),
            ("UPDATE_USER", json!({"userId": jo, "userEmail": "t@acme.example"}), false, true),
            ("UPDATE_USER", json!({"userId": jo, "userPhoneNumber": "+491"}), false, false),
            ("UPDATE_USER_EMAIL", json!({"userId": jo, "userEmail": "t@acme.example"}), false, true),
            ("UPDATE_USER_PHONE_NUMBER", json!({"userId": jo, "userPhoneNumber": "+491"}), false, false),
            ("CREATE_USERS_V3", json!({"users": [user]}), true, true),
            ("CREATE_INVITATIONS", json!({"invitations": [invitation]}), true, true),
        ] {
            check(&name, kind, &parameters, if sets_name { "user.alias" } else { "" });
            check(&mail, kind, &parameters, if sets_mail { "user.email" } else { "" });
            check(&id, kind, &parameters, "");
        }
        check(&name, "UPDATE_USER_NAME", &json!({"userId": mira, "userName": "mira"}), "");
    }

    #[test]
    fn names_of_wallets_and_keys_that_policies_read() {
        let wallet = with_policy("wallets.any(w, w.label == 'hot')", "approvers.count() >= 1");
        let key = with_policy("private_key.label == 'hot'", "approvers.count() >= 1");
        let new_key = json!({"privateKeyName": "hot", "curve": "CURVE_ED25519", "addressFormats": [], "privateKeyTags": []});
        let imported = json!({"userId": Fixture::user(0), "walletName": "hot", "privateKeyName": "hot", "accounts": [],
            "encryptedBundle": "", "curve": "CURVE_ED25519", "addressFormats": []});
        for (kind, parameters, reads_wallet, reads_key) in [
            ("UPDATE_WALLET", json!({"walletId": WALLET, "walletName": "hot"}), true, false),
            ("UPDATE_WALLET", json!({"walletId": WALLET, "walletName": "treasury-hot"}), false, false),
            ("UPDATE_WALLET_ACCOUNT_NAME", json!({"walletAccountId": WALLET, "name": "hot"}), false, false),
            ("CREATE_WALLET", json!({"walletName": "hot", "accounts": []}), true, false),
            ("IMPORT_WALLET", imported.clone(), true, false),
            ("CREATE_PRIVATE_KEYS_V2", json!({"privateKeys": [new_key]}), false, true),
            ("IMPORT_PRIVATE_KEY", imported, false, true),
        ] {
            check(&wallet, kind, &parameters, if reads_wallet { "wallet.label" } else { "" });
            check(&key, kind, &parameters, if reads_key { "private_key.label" } else { "" });
        }
    }

    #[test]
    fn tags_that_policies_read() {
        let jo = Fixture::user(1);
        let uses = |tag: &str| with_policy("true", &format!("approvers.any(u, u.tags.contains('{tag}'))"));
        let (this, other) = (uses(TAG), uses("7e7e7e7e-7e7e-7e7e-7e7e-7e7e7e7e7e7e"));
        for (kind, parameters, expected) in [
            (
                "UPDATE_USER_TAG",
                json!({"userTagId": TAG, "addUserIds": [jo], "removeUserIds": []}),
                "user.tags",
            ),
            (
                "UPDATE_USER_TAG",
                json!({"userTagId": TAG, "newUserTagName": "x", "addUserIds": [], "removeUserIds": []}),
                "",
            ),
            ("DELETE_USER_TAGS", json!({"userTagIds": [TAG]}), "user.tags"),
            ("UPDATE_USER", json!({"userId": jo, "userTagIds": [TAG]}), "user.tags"),
            ("CREATE_USER_TAG", json!({"userTagName": "x", "userIds": [jo]}), ""),
        ] {
            check(&this, kind, &parameters, expected);
            check(&other, kind, &parameters, "");
        }
        let counts = with_policy("true", "approvers.all(u, u.tags.count() == 0)");
        check(&counts, "CREATE_USER_TAG", &json!({"userTagName": "x", "userIds": [jo]}), "user.tags");
        let keys = with_policy(&format!("private_key.tags.contains('{TAG}')"), "");
        let update = json!({"privateKeyTagId": TAG, "addPrivateKeyIds": [], "removePrivateKeyIds": [WALLET]});
        check(&keys, "UPDATE_PRIVATE_KEY_TAG", &update, "private_key.tags");
    }

    #[test]
    fn other_readers_are_named() {
        let rename = json!({"walletId": WALLET, "walletName": "hot"});
        let mut organization = with_policy("wallet.label == nonsense", "");
        let unreadable = "HIGH May give or withdraw authority: the policy \"treasurer\" [s] \
            (61616161-6161-6161-6161-616161616161) reads wallet.label.";
        assert_eq!(flags(&organization, "UPDATE_WALLET", &rename), [unreadable]);
        organization.policies.clear();
        assert_eq!(flags(&organization, "UPDATE_WALLET", &rename), [""; 0]);
        organization.users[1].mfa_policies[0].condition = "wallet.label != 'hot'".to_owned();
        organization.session_profiles[0].scope = "wallet.label == 'hot'".to_owned();
        let text = format!(
            "HIGH May give or withdraw authority: the MFA policy \"two factors\" [s] of \"jo\" [s] ({}), \
             the session profile \"payouts\" [s] read wallet.label.",
            Fixture::user(1)
        );
        assert_eq!(flags(&organization, "UPDATE_WALLET", &rename), [text]);
        let policy = with_policy("wallet.label == 'hot'", "").policies.remove(0);
        organization.policies = vec![policy; 9];
        let found = flags(&organization, "UPDATE_WALLET", &rename);
        assert!(found[0].ends_with(" and 7 others read wallet.label."), "{found:?}");
    }
}
