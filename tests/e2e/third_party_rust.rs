//! The unmodified crate `turnkey_client` does the main job.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::{keys, proof};
use serde_json::json;
use turnkey_client::generated::external::activity::v1::Activity;
use turnkey_client::generated::immutable::activity::v1::{
    ApiKeyParamsV2, ApproveActivityIntent, CreateSubOrganizationIntentV8, CreateUsersIntentV4,
    CreateWalletIntent, RejectActivityIntent, RootUserParamsV5, SignRawPayloadIntentV2, SignRawPayloadResult,
    UpdateRootQuorumIntent, UserParamsV4, WalletAccountParams, WalletParams, result::Inner,
};
use turnkey_client::generated::immutable::common::v1::{
    AddressFormat, ApiKeyCurve, Curve, HashFunction, PathFormat, PayloadEncoding,
};
use turnkey_client::generated::services::coordinator::public::v1::{GetActivityRequest, GetWhoamiRequest};
use turnkey_client::{TurnkeyClient, TurnkeyClientError, TurnkeyP256ApiKey};

pub(crate) type Client = TurnkeyClient<TurnkeyP256ApiKey>;

pub(crate) fn client(daemon: &Daemon, secret: &str) -> Client {
    let key = TurnkeyP256ApiKey::from_strings(secret, None).expect("a P-256 secret");
    let builder = Client::builder().api_key(key).base_url(daemon.credentials().base_url.clone());
    builder.build().expect("a client")
}

fn account() -> WalletAccountParams {
    WalletAccountParams {
        curve: Curve::Secp256k1,
        path_format: PathFormat::Bip32,
        path: "m/44'/60'/0'/0/0".to_owned(),
        address_format: AddressFormat::Uncompressed,
        name: None,
    }
}

fn payload(sign_with: &str, text: &str) -> SignRawPayloadIntentV2 {
    SignRawPayloadIntentV2 {
        sign_with: sign_with.to_owned(),
        payload: text.to_owned(),
        encoding: PayloadEncoding::TextUtf8,
        hash_function: HashFunction::Sha256,
        external_signer_pubkey: None,
    }
}

fn api_key(key: &keys::Key) -> ApiKeyParamsV2 {
    ApiKeyParamsV2 {
        api_key_name: "first".to_owned(),
        public_key: key.public_key().to_owned(),
        curve_type: ApiKeyCurve::P256,
        expiration_seconds: None,
    }
}

fn child(key: &keys::Key) -> CreateSubOrganizationIntentV8 {
    CreateSubOrganizationIntentV8 {
        sub_organization_name: "rust child".to_owned(),
        root_users: vec![RootUserParamsV5 {
            user_name: "child root".to_owned(),
            user_email: None,
            user_phone_number: None,
            api_keys: vec![api_key(key)],
            authenticators: Vec::new(),
            oauth_providers: Vec::new(),
        }],
        root_quorum_threshold: 1,
        wallet: Some(WalletParams {
            wallet_name: "child wallet".to_owned(),
            accounts: vec![account()],
            mnemonic_length: None,
        }),
        disable_email_recovery: None,
        disable_email_auth: None,
        disable_sms_auth: None,
        disable_otp_email_auth: None,
        verification_token: None,
        client_signature: None,
    }
}

fn outsider(key: &keys::Key) -> CreateUsersIntentV4 {
    let user = UserParamsV4 {
        user_name: "outsider".to_owned(),
        user_email: None,
        user_phone_number: None,
        api_keys: vec![api_key(key)],
        authenticators: Vec::new(),
        oauth_providers: Vec::new(),
        user_tags: Vec::new(),
    };
    CreateUsersIntentV4 { users: vec![user] }
}

fn wallet(name: &str) -> CreateWalletIntent {
    CreateWalletIntent { wallet_name: name.to_owned(), accounts: vec![account()], mnemonic_length: None }
}

fn assert_signed(public_key: &str, text: &str, result: &SignRawPayloadResult) {
    let result = json!({ "r": result.r, "s": result.s, "v": result.v });
    assert!(
        proof::is_signed(public_key, text.as_bytes(), &result),
        "the signature of {text:?} does not verify"
    );
}

fn signature(activity: Activity) -> SignRawPayloadResult {
    match activity.result.and_then(|result| result.inner) {
        Some(Inner::SignRawPayloadResult(result)) => result,
        other => panic!("expected a signature, got {other:?}"),
    }
}

pub(crate) fn assert_refused<T: std::fmt::Debug>(
    answer: Result<T, TurnkeyClientError>,
    status: u16,
    message: &str,
) {
    match answer {
        Err(TurnkeyClientError::UnexpectedHttpStatus(actual, body)) => {
            assert_eq!(actual, status, "{body}");
            assert!(body.contains(message), "{body}");
        }
        other => panic!("expected an error, got {other:?}"),
    }
}

#[tokio::test]
async fn the_rust_client_does_the_main_job() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let organization = daemon.credentials().organization_id.clone();
    let alice = client(&daemon, &daemon.credentials().root_users[0].private_key);
    let now = || alice.current_timestamp();

    let whoami = alice.get_whoami(GetWhoamiRequest { organization_id: organization.clone() }).await.unwrap();
    assert_eq!(whoami.user_id, daemon.root_id(0));
    assert_eq!(whoami.organization_name, daemon.credentials().organization_name);

    let created = alice.create_wallet(organization.clone(), now(), wallet("rust")).await.unwrap();
    let address = created.result.addresses[0].clone();
    let signed =
        alice.sign_raw_payload(organization.clone(), now(), payload(&address, "signed alone")).await.unwrap();
    assert_signed(&address, "signed alone", &signed.result);

    let child_key = keys::Key::named("rust child");
    let created =
        alice.create_sub_organization(organization.clone(), now(), child(&child_key)).await.unwrap().result;
    let child_client = client(&daemon, &child_key.secret_hex());
    let child_address = created.wallet.expect("a wallet").addresses[0].clone();
    let request = payload(&child_address, "signed in the child");
    let signed =
        child_client.sign_raw_payload(created.sub_organization_id.clone(), now(), request).await.unwrap();
    assert_signed(&child_address, "signed in the child", &signed.result);

    let unknown = client(&daemon, &keys::Key::named("rust unknown").secret_hex());
    let answer = unknown.get_whoami(GetWhoamiRequest { organization_id: organization.clone() }).await;
    assert_refused(answer, 401, "could not find public key in organization");
    let request = payload(&format!("0x{}", "00".repeat(20)), "text");
    let answer = child_client.sign_raw_payload(created.sub_organization_id, now(), request).await;
    assert_refused(answer, 404, "Could not find any resource to sign with");
    let outsider_key = keys::Key::named("rust outsider");
    alice.create_users(organization.clone(), now(), outsider(&outsider_key)).await.unwrap();
    let denied = client(&daemon, &outsider_key.secret_hex())
        .create_wallet(organization, now(), wallet("denied"))
        .await;
    assert_refused(denied, 403, "You don't have sufficient permissions to take this action.");
}

#[tokio::test]
async fn the_rust_client_reports_waiting_and_rejected_activities() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let organization = daemon.credentials().organization_id.clone();
    let alice = client(&daemon, &daemon.credentials().root_users[0].private_key);
    let bob = client(&daemon, &daemon.credentials().root_users[1].private_key);
    let now = || alice.current_timestamp();

    let created = alice.create_wallet(organization.clone(), now(), wallet("rust")).await.unwrap();
    let address = created.result.addresses[0].clone();
    let user_ids = vec![daemon.root_id(0).to_owned(), daemon.root_id(1).to_owned()];
    alice
        .update_root_quorum(organization.clone(), now(), UpdateRootQuorumIntent { threshold: 2, user_ids })
        .await
        .unwrap();

    let waits = |answer: Result<_, TurnkeyClientError>| match answer {
        Err(TurnkeyClientError::ActivityRequiresApproval(id)) => id,
        Err(other) => panic!("expected a wait for approval, got {other:?}"),
        Ok(()) => panic!("expected a wait for approval, got a signature"),
    };
    let answer =
        alice.sign_raw_payload(organization.clone(), now(), payload(&address, "signed by two")).await;
    let id = waits(answer.map(|_| ()));
    let request = GetActivityRequest { organization_id: organization.clone(), activity_id: id };
    let pending = alice.get_activity(request.clone()).await.unwrap().activity.expect("an activity");
    let intent = ApproveActivityIntent { fingerprint: pending.fingerprint };
    let approved = bob.approve_activity(organization.clone(), now(), intent).await.unwrap();
    assert_eq!(approved.id, request.activity_id);
    assert_signed(&address, "signed by two", &signature(approved));
    let fetched = alice.get_activity(request).await.unwrap().activity.expect("an activity");
    assert_signed(&address, "signed by two", &signature(fetched));

    // This client accepts a rejection as done only if the answer is COMPLETED.
    let answer = alice.sign_raw_payload(organization.clone(), now(), payload(&address, "not signed")).await;
    let request =
        GetActivityRequest { organization_id: organization.clone(), activity_id: waits(answer.map(|_| ())) };
    let pending = alice.get_activity(request.clone()).await.unwrap().activity.expect("an activity");
    let intent = RejectActivityIntent { fingerprint: pending.fingerprint };
    bob.reject_activity(organization, now(), intent).await.unwrap();
    let fetched = alice.get_activity(request).await.unwrap().activity.expect("an activity");
    assert_eq!(fetched.status.as_str_name(), "ACTIVITY_STATUS_REJECTED");
}
