//! Learns what only answers report: ids of resources that are created together with others, public keys, ids
//! of recorded errors. A value is stored when first reported and must not change.

use serde_json::Value;

use super::comparison::{self, Answers};
use super::world::{Organization, User};

/// Stores reported values that the model does not know yet.
pub(super) fn learn(organization: &mut Organization, answers: &Answers) {
    for reported in list(&answers["list_users"]) {
        if let Some(user) = organization.users.iter_mut().find(|user| reported["userId"] == user.id.as_str())
        {
            learn_credentials(user, reported);
        }
    }
    for reported in list(&answers["list_private_keys"]) {
        let known = organization.private_keys.iter_mut();
        for key in known.filter(|key| reported["privateKeyId"] == key.id.as_str()) {
            let addresses = list(&reported["addresses"]).iter().map(|address| text(&address["address"]));
            key.addresses.get_or_insert_with(|| addresses.collect());
            key.public_key.get_or_insert_with(|| text(&reported["publicKey"]));
        }
    }
    for reported in list(&answers["list_wallet_accounts"]) {
        let known = organization.accounts.iter_mut().filter(|account| {
            reported["walletId"] == account.wallet.as_str()
                && reported["path"] == account.derivation.path.as_str()
                && reported["curve"] == format!("CURVE_{}", account.derivation.curve)
                && reported["addressFormat"] == format!("ADDRESS_FORMAT_{}", account.derivation.format)
        });
        for account in known {
            account.id.get_or_insert_with(|| text(&reported["walletAccountId"]));
            account.public_key.get_or_insert_with(|| text(&reported["publicKey"]));
        }
    }
    // Both lists are newest first: everything older than a known activity is known.
    let reported = comparison::in_order_of_creation(organization, &answers["list_activities"]);
    for (activity, reported) in organization.activities.iter_mut().rev().zip(&reported) {
        if reported["fingerprint"] == activity.fingerprint() {
            activity.id.get_or_insert_with(|| text(&reported["id"]));
        }
    }
}

fn learn_credentials(user: &mut User, reported: &Value) {
    for key in list(&reported["apiKeys"]) {
        let known = user.api_keys.iter_mut();
        for known in known.filter(|known| key["credential"]["publicKey"] == known.public_key.as_str()) {
            known.id.get_or_insert_with(|| text(&key["apiKeyId"]));
        }
    }
    for authenticator in list(&reported["authenticators"]) {
        let known = user.authenticators.iter_mut();
        for known in known.filter(|known| authenticator["credentialId"] == known.credential.as_str()) {
            known.id.get_or_insert_with(|| text(&authenticator["authenticatorId"]));
        }
    }
    for provider in list(&reported["oauthProviders"]) {
        let known = user.providers.iter_mut();
        for known in known.filter(|known| provider["subject"] == known.subject.as_str()) {
            known.id.get_or_insert_with(|| text(&provider["providerId"]));
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("expected a list, not {value}"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("expected a text, not {value}")).to_owned()
}
