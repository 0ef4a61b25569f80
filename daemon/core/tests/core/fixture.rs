//! A test organization with users, keys and other records, built through the public entry points.

use quorate_common::api_error::ApiError;
use quorate_common::bounded::{Email, Label};
use quorate_common::bundle::{Sealed, TargetPublicKey};
use quorate_common::ids::{ApiKeyId, AuthenticatorId, OrganizationId, ProviderId, UserId};
use quorate_common::stamp::{ApiKeyCurve, Stamp, Stamper};
use quorate_core::authn::{Credentials, Header};
use quorate_core::creation;
use quorate_core::kinds;
use quorate_core::limits::Limits;
use quorate_core::mail::Mail;
use quorate_core::model::Millis;
use quorate_core::model::layout::IndexKey;
use quorate_core::model::record::Record;
use quorate_core::params::{NewApiKey, NewUser};
use serde_json::{Value, json};

use crate::memory::Memory;
use crate::oauth2_provider::ENVELOPE;
use crate::passkey::Passkey;
use crate::sign_in::{self, Prepared};
use crate::{samples, secrets};

/// Current time of the tests: 2026-01-01T00:00:00Z.
pub(crate) const NOW: Millis = 1_767_225_600_000;

/// Returns the key pair with this number, which is the same in every run.
pub(crate) fn stamper(number: u32) -> Stamper {
    let mut secret = [1; 32];
    secret[..4].copy_from_slice(&number.to_be_bytes());
    Stamper::new(ApiKeyCurve::P256, &secret).expect("a small number is a scalar")
}

/// Returns the public key with this number.
pub(crate) fn public_key(number: u32) -> String {
    stamper(number).public_key().to_owned()
}

/// Returns the uncompressed public key with this number.
pub(crate) fn target_public_key(number: u32) -> String {
    TargetPublicKey::parse(&public_key(number)).expect("a point").hex()
}

/// Encodes a stamp as a header value: base64url of its JSON.
pub(crate) fn header(stamp: &Stamp) -> String {
    use base64ct::Encoding;
    let members =
        json!({"publicKey": stamp.public_key, "scheme": stamp.scheme.name(), "signature": stamp.signature});
    base64ct::Base64UrlUnpadded::encode_string(members.to_string().as_bytes())
}

/// How a request is authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuthMethod {
    /// By a stamp of the numbered key.
    Stamp,
    /// By a stamp of a mailed key.
    Mailed([u8; 32]),
    /// By a session.
    Session,
    /// By an assertion of the passkey with this name.
    Passkey(&'static str),
}

/// A person with a key.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// Organization of the user.
    pub(crate) home: OrganizationId,
    /// The user.
    pub(crate) user: UserId,
    /// Ids of the API keys, in the order of registration.
    pub(crate) keys: Vec<ApiKeyId>,
    /// Number of the key that stamps.
    pub(crate) number: u32,
    /// How requests are authenticated.
    pub(crate) auth: AuthMethod,
    /// Authenticator, if there is one.
    pub(crate) authenticator: Option<AuthenticatorId>,
    /// OAuth identity, if there is one.
    pub(crate) provider: Option<ProviderId>,
}

impl Person {
    /// Returns the headers of a request with this body.
    pub(crate) fn stamps(&self, body: &[u8]) -> Credentials {
        let stamper = match self.auth {
            AuthMethod::Session => {
                return Credentials { session: Header::Once("token".to_owned()), ..Credentials::default() };
            }
            AuthMethod::Passkey(name) => {
                let webauthn = Header::Once(Passkey::of(name).header(body));
                return Credentials { webauthn, ..Credentials::default() };
            }
            AuthMethod::Stamp => stamper(self.number),
            AuthMethod::Mailed(secret) => Stamper::new(ApiKeyCurve::P256, &secret).expect("a key"),
        };
        let stamp = stamper.stamp(body).expect("stamping succeeds");
        Credentials { stamp: Header::Once(header(&stamp)), ..Credentials::default() }
    }
}

/// The test organization and its people.
#[derive(Clone)]
pub(crate) struct Fixture {
    /// Store of the core.
    pub(crate) memory: Memory,
    /// The organization.
    pub(crate) id: OrganizationId,
    /// The two members of its root quorum.
    pub(crate) roots: [Person; 2],
    /// A user without any policy.
    pub(crate) user: Person,
    /// A user on whom others act.
    pub(crate) spare: Person,
    /// A user whose key expires one minute after [`NOW`].
    pub(crate) expiring: Person,
    /// A user who stamps with a recovery key.
    pub(crate) recovering: Person,
    /// The root user of the first sub-organization.
    pub(crate) child: Person,
    /// The root user of the second sub-organization.
    pub(crate) sibling: Person,
    /// A wallet, and the address of its account on secp256k1.
    pub(crate) wallet: (String, String),
    /// The account of the wallet.
    pub(crate) account: String,
    /// A private key on secp256k1.
    pub(crate) private_key: String,
    /// A tag on the spare user.
    pub(crate) user_tag: String,
    /// A tag on the private key.
    pub(crate) private_key_tag: String,
    /// A policy that never applies.
    pub(crate) policy: String,
    /// The root user of another, empty organization.
    pub(crate) bare: Person,
    /// The invited person: not a user yet; `user` is the id to register with.
    pub(crate) invited: Person,
    /// The person who creates an organization: not a user yet; `user` is the id to register with.
    pub(crate) registrant: Person,
    /// Invitation of the invited person.
    pub(crate) invitation: String,
    /// A webhook endpoint without subscriptions.
    pub(crate) endpoint: String,
    /// A session profile.
    pub(crate) session_profile: String,
    /// An MFA policy of the spare user that never applies.
    pub(crate) mfa_policy: String,
    /// A credential at an OAuth 2.0 provider.
    pub(crate) oauth2_credential: String,
    /// A smart contract interface.
    pub(crate) interface: String,
    /// A mnemonic and a private key that the first root user can import.
    pub(crate) bundles: [String; 2],
    /// A secret.
    pub(crate) secret: String,
    /// A secret that the first root user can import: parameters without a name.
    pub(crate) sealed_secret: Value,
    /// Codes and tokens that sign in.
    pub(crate) sign_in: Prepared,
    /// The fingerprint of a waiting activity, proposed by the second root user.
    pub(crate) waiting: String,
    serial: u64,
}

impl Fixture {
    /// Creates the fixture. If `threshold` is two, both root users must approve everything.
    pub(crate) fn new(threshold: u32) -> Self {
        let mut memory = Memory::default();
        let users = (0..2).map(|number| new_user(&format!("root {number}"), number)).collect();
        let new_organization = memory.with_runtime(NOW, |_, runtime| {
            let name = Label::parse("house".to_owned()).expect("a label");
            let (limits, index) = (Limits::default(), IndexKey::new([7; 32]));
            creation::organization(name, users, 2, &limits, &index, runtime)
        });
        let new_organization = new_organization.unwrap_or_else(|error| panic!("{error:?}"));
        let id = new_organization.id;
        memory.commit(new_organization.commit);
        let person = |number: usize| Person {
            home: id,
            user: new_organization.root_users[number].id,
            keys: new_organization.root_users[number].api_keys.iter().map(|key| key.id).collect(),
            number: u32::try_from(number).expect("a small number"),
            auth: AuthMethod::Stamp,
            authenticator: None,
            provider: None,
        };
        let roots = [person(0), person(1)];
        let placeholder = roots[0].clone();
        let mut fixture = Self {
            memory,
            id,
            user: placeholder.clone(),
            spare: placeholder.clone(),
            expiring: placeholder.clone(),
            recovering: placeholder.clone(),
            child: placeholder.clone(),
            sibling: placeholder.clone(),
            bare: placeholder.clone(),
            invited: placeholder.clone(),
            registrant: Person {
                user: UserId::random([8; 16]),
                auth: AuthMethod::Passkey("registrant"),
                ..placeholder
            },
            roots,
            wallet: Default::default(),
            account: String::new(),
            private_key: String::new(),
            user_tag: String::new(),
            private_key_tag: String::new(),
            policy: String::new(),
            invitation: String::new(),
            endpoint: String::new(),
            session_profile: String::new(),
            mfa_policy: String::new(),
            oauth2_credential: String::new(),
            interface: String::new(),
            bundles: Default::default(),
            secret: String::new(),
            sealed_secret: Value::Null,
            sign_in: Prepared::default(),
            waiting: String::new(),
            serial: 0,
        };
        fixture.populate();
        if threshold == 1 {
            let members = fixture.roots.each_ref().map(|root| root.user);
            fixture.execute("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &json!({"threshold": 1, "userIds": members}));
        }
        fixture
    }

    fn populate(&mut self) {
        self.execute(
            "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE",
            &json!({"name": "FEATURE_NAME_WEBHOOK", "value": "https://hooks.example.org/house"}),
        );
        let key = |number: u32, lifetime: Option<&str>| {
            let mut key = json!({"apiKeyName": format!("key {number}"), "publicKey": public_key(number)});
            if let Some(lifetime) = lifetime {
                key["expirationSeconds"] = json!(lifetime);
            }
            key
        };
        let user = |name: &str, keys: Value| {
            json!({"userName": name, "apiKeys": keys, "authenticators": [samples::authenticator(name)],
                "oauthProviders": [samples::provider(name)]})
        };
        let users = json!({"users": [
            user("user", json!([key(10, None), key(11, None)])),
            user("spare", json!([key(12, None), key(13, None)])),
            {"userName": "expiring", "apiKeys": [key(14, Some("60"))]},
        ]});
        let created = self.execute("ACTIVITY_TYPE_CREATE_USERS_V4", &users);
        let ids = created["result"]["createUsersResult"]["userIds"].clone();
        let organization = self.memory.stored(self.id);
        let person = |index: usize, number: u32| {
            let id: UserId = ids[index].as_str().expect("an id").parse().expect("an id");
            let user = organization.user(id).expect("the user exists");
            Person {
                home: self.id,
                user: id,
                keys: user.api_keys.iter().map(|key| key.id).collect(),
                number,
                auth: AuthMethod::Stamp,
                authenticator: user.authenticators.first().map(|one| one.id),
                provider: user.oauth_providers.first().map(|one| one.id),
            }
        };
        (self.user, self.spare, self.expiring) = (person(0, 10), person(1, 12), person(2, 14));
        let account = |path: &str| account(path, "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM");
        let wallet = json!({"walletName": "wallet", "accounts": [account("m/44'/60'/0'/0/0")]});
        let created = self.execute("ACTIVITY_TYPE_CREATE_WALLET", &wallet);
        let created = &created["result"]["createWalletResult"];
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        self.wallet = (text(&created["walletId"]), text(&created["addresses"][0]));
        let body = json!({"organizationId": self.id, "walletId": self.wallet.0}).to_string().into_bytes();
        let accounts = self.memory.query("list_wallet_accounts", &self.roots[0].stamps(&body), &body, NOW);
        self.account = text(&accounts.expect("accounts are listed")["accounts"][0]["walletAccountId"]);
        let keys = json!({"privateKeys": [{"privateKeyName": "key", "curve": "CURVE_SECP256K1",
            "addressFormats": ["ADDRESS_FORMAT_ETHEREUM"], "privateKeyTags": []}]});
        let created = self.execute("ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", &keys);
        self.private_key =
            text(&created["result"]["createPrivateKeysResultV2"]["privateKeys"][0]["privateKeyId"]);
        let tag = json!({"userTagName": "tag", "userIds": [self.spare.user]});
        let created = self.execute("ACTIVITY_TYPE_CREATE_USER_TAG", &tag);
        self.user_tag = text(&created["result"]["createUserTagResult"]["userTagId"]);
        let tag = json!({"privateKeyTagName": "tag", "privateKeyIds": [self.private_key]});
        let created = self.execute("ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG", &tag);
        self.private_key_tag = text(&created["result"]["createPrivateKeyTagResult"]["privateKeyTagId"]);
        let policy =
            json!({"policyName": "nothing", "effect": "EFFECT_ALLOW", "condition": "false", "notes": ""});
        let created = self.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
        self.policy = text(&created["result"]["createPolicyResult"]["policyId"]);
        self.child = self.create_child("child", 20);
        self.sibling = self.create_child("sibling", 21);
        self.bare = self.create_bare_organization();
        self.sign_in = sign_in::prepare(self);
        self.recovering = self.create_recovering();
        self.populate_settings();
        let mnemonic = "legal winner thank year wave sausage worth useful legal winner thank yellow";
        self.bundles = [
            self.import_bundle("WALLET", mnemonic.as_bytes()),
            self.import_bundle("PRIVATE_KEY", &[0x46; 32]),
        ];
        let mut sealed = secrets::sealed(self, &[b"value", b"fresh"]);
        self.sealed_secret = sealed.remove(1);
        self.secret = secrets::imported(self, sealed.remove(0), "secret", &[("env", "prod")]);
        let mfa = json!({"userId": self.spare.user, "mfaPolicyName": "never", "condition": "false", "order": 7,
            "requiredAuthenticationMethods": [{"any": [{"type": "AUTHENTICATION_TYPE_PASSKEY"}]}]});
        let created = self.execute("ACTIVITY_TYPE_CREATE_MFA_POLICY", &mfa);
        self.mfa_policy = text(&created["result"]["createMfaPolicyResult"]["mfaPolicyId"]);
        let application =
            json!({"provider": "OAUTH2_PROVIDER_X", "clientId": "client", "encryptedClientSecret": ENVELOPE});
        let created = self.execute("ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL", &application);
        self.oauth2_credential =
            text(&created["result"]["createOauth2CredentialResult"]["oauth2CredentialId"]);
        let roots = self.roots.clone();
        let waits = json!({"walletName": "waiting", "accounts": []});
        let created = self.submit(&roots[1], self.id, "ACTIVITY_TYPE_CREATE_WALLET", &waits, NOW);
        self.waiting = text(&created.expect("a root user may propose")["activity"]["fingerprint"]);
    }

    /// Creates a user without credentials, and mails them a recovery key.
    fn create_recovering(&mut self) -> Person {
        let email = "recovering@house.example";
        let users = json!({"users": [{"userName": "recovering", "userEmail": email, "apiKeys": [], "authenticators": [],
            "oauthProviders": [], "userTags": []}]});
        let created = self.execute("ACTIVITY_TYPE_CREATE_USERS_V4", &users);
        let user = created["result"]["createUsersResult"]["userIds"][0].as_str().expect("an id");
        let user = user.parse().expect("an id");
        let parameters = sign_in::mailed(&json!({"email": email}));
        let sent = self.execute("ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY", &parameters);
        let auth = AuthMethod::Mailed(sign_in::mailed_secret(self, &sent));
        Person { user, keys: Vec::new(), auth, ..self.roots[0].clone() }
    }

    /// Creates the settings of the organization.
    fn populate_settings(&mut self) {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let invitation = json!({"invitations": [{"receiverUserName": "guest", "receiverUserEmail": "guest@house.example",
            "receiverUserTags": [self.user_tag], "accessType": "ACCESS_TYPE_WEB", "senderUserId": self.roots[0].user}]});
        let created = self.execute("ACTIVITY_TYPE_CREATE_INVITATIONS", &invitation);
        self.invitation = text(&created["result"]["createInvitationsResult"]["invitationIds"][0]);
        let user = UserId::random([9; 16]);
        self.invited = Person { user, auth: AuthMethod::Mailed(self.mailed_key()), ..self.roots[0].clone() };
        let endpoint =
            json!({"url": "https://hooks.example.org/endpoint", "name": "endpoint", "subscriptions": []});
        let created = self.execute("ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT", &endpoint);
        self.endpoint = text(&created["result"]["createWebhookEndpointResult"]["endpointId"]);
        let profile = json!({"sessionProfileName": "signer", "scope": "activity.action == 'SIGN'"});
        let created = self.execute("ACTIVITY_TYPE_CREATE_SESSION_PROFILE", &profile);
        self.session_profile = text(&created["result"]["createSessionProfileResult"]["sessionProfileId"]);
        let interface = json!({"smartContractAddress": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
            "smartContractInterface": "[]", "type": "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM", "label": "token", "notes": ""});
        let created = self.execute("ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE", &interface);
        self.interface =
            text(&created["result"]["createSmartContractInterfaceResult"]["smartContractInterfaceId"]);
        let method = json!({"paymentMethodId": "method", "cardHolderName": "Holder", "cardHolderEmail": "h@house.example"});
        self.execute("ACTIVITY_TYPE_SET_PAYMENT_METHOD_V2", &method);
        // The list of a key has no effect while the organization has none.
        let list =
            json!({"publicKey": public_key(13), "rules": [{"cidr": "192.0.2.0/24", "label": "office"}]});
        self.execute("ACTIVITY_TYPE_SET_IP_ALLOWLIST", &list);
        let bare = self.bare.clone();
        let enabled = self.submit(&bare, bare.home, "ACTIVITY_TYPE_ENABLE_AUTH_PROXY", &json!({}), NOW);
        enabled.expect("a root user may enable the proxy");
    }

    /// Returns a bundle that the first root user can import as this noun.
    pub(crate) fn import_bundle(&mut self, noun: &str, plaintext: &[u8]) -> String {
        let user = json!({"userId": self.roots[0].user});
        let created = self.execute(&format!("ACTIVITY_TYPE_INIT_IMPORT_{noun}"), &user);
        bundle_for(&created, noun, plaintext)
    }

    /// Returns the private key in the last email.
    pub(crate) fn mailed_key(&self) -> [u8; 32] {
        let (_, mail) = self.memory.rows(b'y').last().expect("an email was sent");
        let mail = Mail::decode(mail).expect("the email decodes");
        let key = mail
            .text
            .lines()
            .find_map(|line| line.strip_prefix("private key"))
            .expect("the email contains a key");
        const_hex::decode_to_array(key.trim()).expect("the key is hex")
    }

    /// Creates a second organization with one root user.
    fn create_bare_organization(&mut self) -> Person {
        let new_organization = self.memory.with_runtime(NOW, |_, runtime| {
            let name = Label::parse("bare".to_owned()).expect("a label");
            let (limits, index) = (Limits::default(), IndexKey::new([7; 32]));
            creation::organization(name, vec![new_user("alone", 40)], 1, &limits, &index, runtime)
        });
        let new_organization = new_organization.unwrap_or_else(|error| panic!("{error:?}"));
        let (home, user) = (new_organization.id, new_organization.root_users[0].clone());
        self.memory.commit(new_organization.commit);
        let keys = user.api_keys.iter().map(|key| key.id).collect();
        Person { home, user: user.id, keys, number: 40, ..self.roots[0].clone() }
    }

    fn create_child(&mut self, name: &str, number: u32) -> Person {
        let email = (name == "child").then_some("root1@house.example");
        let users = json!([{"userName": "root", "userEmail": email, "apiKeys": [{"apiKeyName": "key",
            "publicKey": public_key(number), "curveType": "API_KEY_CURVE_P256"}]}]);
        let child = json!({"subOrganizationName": name, "rootUsers": users, "rootQuorumThreshold": 1});
        let created = self.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child);
        let created = &created["result"]["createSubOrganizationResultV7"];
        let home: OrganizationId =
            created["subOrganizationId"].as_str().expect("an id").parse().expect("an id");
        let user: UserId = created["rootUserIds"][0].as_str().expect("an id").parse().expect("an id");
        let keys = self
            .memory
            .stored(home)
            .user(user)
            .expect("the record exists")
            .api_keys
            .iter()
            .map(|key| key.id)
            .collect();
        Person { home, user, keys, number, auth: AuthMethod::Stamp, authenticator: None, provider: None }
    }

    /// Submits an activity, has the second root user approve it if necessary, and returns the completed
    /// activity.
    pub(crate) fn execute(&mut self, activity_type: &str, parameters: &Value) -> Value {
        let [first, second] = self.roots.clone();
        let body = self.body(self.id, activity_type, parameters, NOW);
        let operation = operation(activity_type);
        let mut answer = self.send(&first, &operation, &body, NOW);
        if answer
            .as_ref()
            .is_ok_and(|answer| answer["activity"]["status"] == "ACTIVITY_STATUS_CONSENSUS_NEEDED")
        {
            answer = self.send(&second, &operation, &body, NOW);
        }
        let answer = answer.unwrap_or_else(|error| panic!("{activity_type}: {error:?}"));
        assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_COMPLETED", "{activity_type}");
        answer["activity"].clone()
    }

    /// Returns a new, unique body.
    pub(crate) fn body(
        &mut self,
        organization: OrganizationId,
        activity_type: &str,
        parameters: &Value,
        now: Millis,
    ) -> Vec<u8> {
        self.serial += 1;
        let mut body = json!({
            "type": activity_type,
            "timestampMs": now.to_string(),
            "organizationId": organization,
            "parameters": parameters,
            "serial": self.serial,
        });
        // The creation of an organization does not name an existing one.
        if activity_type.starts_with("ACTIVITY_TYPE_CREATE_ORGANIZATION") {
            body.as_object_mut().expect("an object").remove("organizationId");
        }
        body.to_string().into_bytes()
    }

    /// Sends exactly these bytes.
    pub(crate) fn send(
        &mut self,
        person: &Person,
        operation: &str,
        body: &[u8],
        now: Millis,
    ) -> Result<Value, ApiError> {
        self.memory.submit(operation, &person.stamps(body), body, now)
    }

    /// Sends a new body with these parameters.
    pub(crate) fn submit(
        &mut self,
        person: &Person,
        organization: OrganizationId,
        activity_type: &str,
        parameters: &Value,
        now: Millis,
    ) -> Result<Value, ApiError> {
        let body = self.body(organization, activity_type, parameters, now);
        self.send(person, &operation(activity_type), &body, now)
    }
}

/// Encrypts to the import key that an activity created.
pub(crate) fn bundle_for(created: &Value, noun: &str, plaintext: &[u8]) -> String {
    let member = if noun == "WALLET" { "initImportWalletResult" } else { "initImportPrivateKeyResult" };
    seal_for(&created["result"][member]["importBundle"], plaintext).1
}

/// Returns the key in a message of the service, and the plaintext encrypted to it.
pub(crate) fn seal_for(message: &Value, plaintext: &[u8]) -> (String, String) {
    let message: Value = serde_json::from_str(message.as_str().expect("a text")).expect("JSON");
    let data = const_hex::decode(message["data"].as_str().expect("a text")).expect("hex");
    let data: Value = serde_json::from_slice(&data).expect("JSON");
    let target = TargetPublicKey::parse(data["targetPublic"].as_str().expect("a text")).expect("a point");
    let sealed = Sealed::new(&target, plaintext, &mut |buffer| buffer.fill(5)).expect("encryption succeeds");
    (target.hex(), sealed.to_json().expect("JSON"))
}

/// Returns the parameters of a root user with one key.
pub(crate) fn new_user(name: &str, number: u32) -> NewUser {
    let label = |text: &str| Label::parse(text.to_owned()).expect("a label");
    NewUser {
        name: label(name),
        email: Some(Email::parse(format!("root{number}@house.example")).expect("an address")),
        phone: None,
        api_keys: vec![NewApiKey {
            name: label("key"),
            curve: ApiKeyCurve::P256,
            public_key: public_key(number),
            expiration_seconds: None,
        }],
        authenticators: Vec::new(),
        oauth_providers: Vec::new(),
        tags: Vec::new(),
    }
}

/// Returns the parameters of a wallet account.
pub(crate) fn account(path: &str, curve: &str, format: &str) -> Value {
    json!({"curve": curve, "pathFormat": "PATH_FORMAT_BIP32", "path": path, "addressFormat": format})
}

/// Returns the operation of an activity type.
pub(crate) fn operation(activity_type: &str) -> String {
    let entry = kinds::find(activity_type).unwrap_or_else(|| panic!("{activity_type} is not in the table"));
    entry.operation()
}
