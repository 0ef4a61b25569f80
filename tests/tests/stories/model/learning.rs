//! What only answers tell: ids of things that are made beside others, public keys, ids of recorded refusals. It is
//! taken over when it is first seen, and must stay what it is from then on.

use serde_json::Value;

use super::comparison::{self, Answers};
use super::world::{Organization, User};

/// Takes over what the model does not know yet.
pub(super) fn learn(organization: &mut Organization, answers: &Answers) {
    for told in list(&answers["list_users"]) {
        if let Some(user) = organization.users.iter_mut().find(|user| told["userId"] == user.id.as_str()) {
            learn_credentials(user, told);
        }
    }
    for told in list(&answers["list_private_keys"]) {
        let known = organization.private_keys.iter_mut();
        for key in known.filter(|key| told["privateKeyId"] == key.id.as_str()) {
            let addresses = list(&told["addresses"]).iter().map(|address| text(&address["address"]));
            key.addresses.get_or_insert_with(|| addresses.collect());
            key.public_key.get_or_insert_with(|| text(&told["publicKey"]));
        }
    }
    for told in list(&answers["list_wallet_accounts"]) {
        let known = organization.accounts.iter_mut().filter(|account| {
            told["walletId"] == account.wallet.as_str()
                && told["path"] == account.place.path.as_str()
                && told["curve"] == format!("CURVE_{}", account.place.curve)
                && told["addressFormat"] == format!("ADDRESS_FORMAT_{}", account.place.format)
        });
        for account in known {
            account.id.get_or_insert_with(|| text(&told["walletAccountId"]));
            account.public_key.get_or_insert_with(|| text(&told["publicKey"]));
        }
    }
    // Newest first, like the answer: what comes after something known is known.
    let told = comparison::in_order_of_creation(organization, &answers["list_activities"]);
    for (activity, told) in organization.activities.iter_mut().rev().zip(&told) {
        if told["fingerprint"] == activity.fingerprint() {
            activity.id.get_or_insert_with(|| text(&told["id"]));
        }
    }
}

fn learn_credentials(user: &mut User, told: &Value) {
    for key in list(&told["apiKeys"]) {
        let known = user.api_keys.iter_mut();
        for known in known.filter(|known| key["credential"]["publicKey"] == known.public_key.as_str()) {
            known.id.get_or_insert_with(|| text(&key["apiKeyId"]));
        }
    }
    for authenticator in list(&told["authenticators"]) {
        let known = user.authenticators.iter_mut();
        for known in known.filter(|known| authenticator["credentialId"] == known.credential.as_str()) {
            known.id.get_or_insert_with(|| text(&authenticator["authenticatorId"]));
        }
    }
    for provider in list(&told["oauthProviders"]) {
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
