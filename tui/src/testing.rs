//! Test data: an organization whose users really sign.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use quorate_common::activity::{Activity, Selection, Status, Vote};
use quorate_common::bounded::{AtMost, Decimal};
use quorate_common::console::custody::SealingKeyStatus;
use quorate_common::console::{
    ActivityRow, AttemptResult, DaemonStatus, EngineStatus, Health, LatencyBucket, MessageEvent, MessagePage,
    Mode, OrganizationDetail, OrganizationHead, QueueFigures, RequestFigures, ReviewRecord, RuleInputs,
    TEST_EVENT, Waiting, WaitingDelivery, WaitingReason, WaitingRule, WebhookAttempt, WebhookDeliveries,
    WebhookReceiver, WebhookReceivers,
};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{
    ActivityId, ApiKeyId, AuthenticatorId, EndpointId, InvitationId, MessageEventId, MfaPolicyId,
    Oauth2CredentialId, OrganizationId, PolicyId, PrivateKeyId, SecretId, SessionProfileId,
    SmartContractInterfaceId, TagId, UserId, VoteId, WalletId,
};
use quorate_common::stamp::{ApiKeyCurve, Stamp, Stamper};
use quorate_common::wire::{
    ApiKey, AuthenticationMethod, AuthenticationType, Authenticator, CounterWentBack, Credential, Invitation,
    InvitationMail, IpAllowlist, IpAllowlistRule, LastUse, MfaPolicy, Oauth2Credential, Oauth2Provider,
    PaymentMethod, Policy, PolicyOutcome, PrivateKey, Quorum, ReadOnlySession, RequiredAuthenticationMethod,
    Secret, SessionProfile, SmartContractInterface, StaticProperty, Tag, Timestamp, User, Wallet,
    WebhookEndpoint, WebhookSubscription,
};
use serde_json::{Value, json};

use crate::ballot::Ballot;
use crate::book::Book;
use crate::known_keys::KnownKeys;
use crate::proof::{Evidence, PinnedBy, Record, Review, Siblings, Viewer};

/// Current time in all tests: 2026-11-21 09:24:00 UTC.
pub(crate) const NOW: u64 = 1_795_253_040_000;
const NAMES: [&str; 5] = ["mira", "jo", "ana", "kenji", "sam"];

/// An organization of users with keys.
pub(crate) struct Fixture {
    people: usize,
    threshold: u32,
}

impl Fixture {
    /// Creates an organization with this many root users.
    pub(crate) fn new(people: usize, threshold: u32) -> Self {
        Self { people, threshold }
    }

    pub(crate) fn user(index: usize) -> UserId {
        UserId::from_bytes([0x10 + u8::try_from(index).unwrap(); 16])
    }

    /// Returns the figures of a daemon after some seconds.
    pub(crate) fn health(seconds: u64) -> Health {
        let ago = |seconds: u64| Some(Timestamp::from_millis(NOW - seconds * 1000));
        let load = (0..=seconds).map(|second| 20 + second % 7 * 5).sum::<u64>();
        let count = |part: u64| load * part / 100;
        let bound = |(up_to_micros, part)| LatencyBucket { up_to_micros, count: count(part) };
        let bounds = [500, 1000, 2500, 5000, 10_000, 25_000, 250_000, 1_000_000].map(Some);
        let parts = [20, 55, 80, 90, 95, 98, 99, 100, 100];
        Health {
            status: Self::status(),
            boot_id: Some("1".to_owned()),
            clock_behind_millis: 0,
            requests: RequestFigures {
                by_class: [("2xx", 95), ("4xx", 4), ("5xx", 1)]
                    .map(|(class, part)| (class.to_owned(), count(part)))
                    .into(),
                latency: bounds.into_iter().chain([None]).zip(parts).map(bound).collect(),
            },
            connections: 9 + seconds % 5,
            connections_refused: 2,
            stamps_refused: 3,
            passkey_counters_went_back: 0,
            limits_reached: [("requests_in_flight_per_client".to_owned(), seconds / 8)].into(),
            commits: count(50),
            clashes: 0,
            syncs: count(20),
            deliveries: [("delivered", 212), ("failed", 9)]
                .map(|(name, count)| (name.to_owned(), count))
                .into(),
            webhooks: QueueFigures {
                waiting: 3 + seconds % 4,
                is_more: false,
                oldest_at: ago(1300),
                next_at: ago(0),
                ..QueueFigures::default()
            },
            mail: QueueFigures {
                waiting: 1,
                next_at: Some(Timestamp::from_millis(NOW + 140_000)),
                ..QueueFigures::default()
            },
            sms: QueueFigures::default(),
            store_bytes: Some(4_402_341_479),
            disk_free_bytes: Some(12 << 30),
            disk_bytes: Some(40 << 30),
            reserve_bytes: 32 << 20,
            memory_bytes: Some(61 << 20),
            host_memory_bytes: Some(1 << 30),
            warnings: Vec::new(),
        }
    }

    /// Returns the status of a DEV daemon.
    pub(crate) fn status() -> DaemonStatus {
        DaemonStatus {
            protocol: 1,
            version: "0.1.0".to_owned(),
            mode: Mode::Dev,
            started_at: Timestamp::from_millis(NOW),
            now_millis: NOW,
            process_id: 1,
            base_url: None,
            quorum_public_key: String::new(),
            keys_locked: true,
            strict_deny_errors: false,
            sealing_key: Some(Box::new(SealingKeyStatus {
                term: 2,
                begun: Some(1_780_000_000_000),
                oldest_term: 1,
                sealings: 1 << 20,
                most_sealings: 1 << 31,
                sealed_again: 12_345,
            })),
            awaits_release: false,
            last_backup: None,
            journal: None,
            log: None,
            engine: Some(Box::new(EngineStatus {
                server: None,
                name: "redb".to_owned(),
                durability: [("two_phase", "true"), ("quick_repair", "false")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into(),
                warning: None,
                daemons: Vec::new(),
                notice_lag_millis: None,
            })),
            store: None,
        }
    }

    /// Returns the key of a user.
    pub(crate) fn stamper(index: usize) -> Stamper {
        Stamper::new(ApiKeyCurve::P256, &[u8::try_from(index).unwrap() + 1; 32]).unwrap()
    }

    pub(crate) fn id() -> OrganizationId {
        OrganizationId::from_bytes([0x9f; 16])
    }

    /// Returns the organization as the daemon shows it.
    pub(crate) fn organization(&self) -> OrganizationDetail {
        let day = Timestamp::from_millis(NOW - 30 * 86_400_000);
        let head = OrganizationHead {
            registered: None,
            trusted: None,
            organization_id: Self::id(),
            organization_name: "acme-treasury".to_owned(),
            parent_organization_id: None,
            version: 7,
            root_quorum: Quorum {
                threshold: self.threshold,
                user_ids: (0..self.people).map(Self::user).collect(),
            },
            created_at: day.clone(),
            updated_at: day.clone(),
        };
        OrganizationDetail {
            users: (0..self.people).map(|index| Self::user_record(index, &day)).collect(),
            wallets: vec![Wallet {
                wallet_id: WalletId::from_bytes([0x51; 16]),
                wallet_name: "treasury-hot".to_owned(),
                created_at: day.clone(),
                updated_at: day.clone(),
                exported: false,
                imported: false,
            }],
            private_keys: vec![PrivateKey {
                private_key_id: PrivateKeyId::from_bytes([0x77; 16]),
                public_key: "02".repeat(33),
                private_key_name: "release-signing".to_owned(),
                curve: "CURVE_SECP256K1".to_owned(),
                addresses: Vec::new(),
                private_key_tags: Vec::new(),
                created_at: day.clone(),
                updated_at: day.clone(),
                exported: false,
                imported: false,
            }],
            tags: vec![Tag {
                tag_id: TagId::from_bytes([0x7f; 16]),
                tag_name: "finance".to_owned(),
                tag_type: "TAG_TYPE_USER".to_owned(),
                created_at: day.clone(),
                updated_at: day,
            }],
            ..OrganizationDetail::of(head)
        }
    }

    /// Returns the organization with records of every kind.
    pub(crate) fn with_all_records(&self) -> OrganizationDetail {
        let mut organization = self.organization();
        let day = organization.head.created_at.clone();
        Self::add_invitations(&mut organization);
        organization.webhook_endpoints = vec![WebhookEndpoint {
            endpoint_id: EndpointId::from_bytes([0x83; 16]),
            organization_id: Self::id(),
            url: "https://hooks.acme.example/quorate".to_owned(),
            name: "ops".to_owned(),
            is_active: true,
            subscriptions: vec![WebhookSubscription {
                event_type: "ACTIVITY_UPDATES".to_owned(),
                filters_json: None,
                is_active: None,
            }],
        }];
        organization.session_profiles = vec![SessionProfile {
            session_profile_id: SessionProfileId::from_bytes([0x84; 16]),
            session_profile_name: "payouts".to_owned(),
            scope: "activity.action == 'SIGN'".to_owned(),
            expiration_seconds: Some("900".to_owned()),
            notes: None,
            created_at: day.clone(),
            updated_at: day.clone(),
        }];
        if let Some(user) = organization.users.get_mut(1) {
            user.mfa_policies = vec![Self::mfa_policy(&day)];
        }
        Self::add_sessions(&mut organization);
        organization.secrets = vec![
            Self::secret(0x86, Some("database"), &[("env", "prod"), ("owner", "ops")]),
            Self::secret(0x87, None, &[]),
        ];
        organization.oauth2_credentials = vec![Self::oauth2_credential(&day)];
        organization.smart_contract_interfaces = vec![SmartContractInterface {
            organization_id: Self::id(),
            smart_contract_interface_id: SmartContractInterfaceId::from_bytes([0x85; 16]),
            smart_contract_address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48".to_owned(),
            smart_contract_interface: String::new(),
            interface_type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM".to_owned(),
            label: "USDC".to_owned(),
            notes: String::new(),
            created_at: day.clone(),
            updated_at: day,
        }];
        organization.ip_allowlists = vec![
            Self::allowlist(None, &[("203.0.113.0/24", Some("office")), ("2001:db8::/48", None)]),
            Self::allowlist(Some(1), &[("198.51.100.7/32", None)]),
        ];
        organization.payment_method = Some(PaymentMethod {
            payment_method_id: "pm_1".to_owned(),
            last_four: "4242".to_owned(),
            card_holder_name: "Mira Acme".to_owned(),
            card_holder_email: "mira@acme.example".to_owned(),
        });
        organization.billing_tier = Some("product-1".to_owned());
        organization.auth_proxy_user_id = Some(Self::user(1));
        organization
    }

    /// Returns a receiver that fails, one that answers, and one that gets nothing.
    pub(crate) fn webhooks() -> WebhookReceivers {
        let deliveries = Self::deliveries();
        let subscription = |event_type: &str| WebhookSubscription {
            event_type: event_type.to_owned(),
            filters_json: None,
            is_active: None,
        };
        let receiver = |byte: u8, name: &str, url: &str| WebhookReceiver {
            endpoint_id: Some(EndpointId::from_bytes([byte; 16])),
            name: name.to_owned(),
            url: url.to_owned(),
            is_active: true,
            subscriptions: vec![subscription("ACTIVITY_UPDATES")],
            ..WebhookReceiver::default()
        };
        let failing = WebhookReceiver {
            waiting: 1000,
            is_more_waiting: true,
            oldest_at_millis: Some(NOW - 3 * 3_600_000),
            next_due_millis: Some(NOW + 140_000),
            parked: 12,
            delivered: 212,
            failed: 9,
            last: deliveries.attempts.first().cloned(),
            ..receiver(0x83, "ops \u{202e}spo", "https://hooks.acme.example/quorate?team=treasury")
        };
        let mut last = deliveries.attempts[3].clone();
        last.event_type = "ACTIVITY_UPDATES".to_owned();
        let payouts = receiver(0x84, "payouts", "https://eu.acme.example/in");
        let payouts = WebhookReceiver { delivered: 98, last: Some(last), ..payouts };
        let idle = receiver(0x85, "archive", "https://archive.acme.example/\u{1b}[31m");
        let idle = WebhookReceiver { is_active: false, subscriptions: vec![subscription("OTHER")], ..idle };
        WebhookReceivers { receivers: vec![failing, payouts, idle], counted_since_millis: NOW - 86_400_000 }
    }

    /// Returns a waiting delivery, and attempts with each result.
    pub(crate) fn deliveries() -> WebhookDeliveries {
        let activity = |byte: u8| ActivityId::from_bytes([byte; 16]);
        let attempt = |minutes: u64, result: AttemptResult, status: Option<u16>| WebhookAttempt {
            at_millis: NOW - minutes * 60_000,
            event_type: "ACTIVITY_UPDATES".to_owned(),
            event_id: activity(0x90 + u8::try_from(minutes).unwrap()).to_string(),
            organization_id: Some(Self::id()),
            activity_id: Some(activity(0x70 + u8::try_from(minutes).unwrap())),
            votes: 2,
            attempt: 4,
            result,
            status,
            error: status.is_none().then(|| "no answer in time".to_owned()),
            took_millis: if status.is_none() { 10_000 } else { 812 },
            next_millis: (result == AttemptResult::Failed).then_some(NOW + 140_000),
        };
        let test = WebhookAttempt {
            event_type: TEST_EVENT.to_owned(),
            organization_id: None,
            activity_id: None,
            attempt: 1,
            ..attempt(4, AttemptResult::Delivered, Some(200))
        };
        let waiting = WaitingDelivery {
            organization_id: Self::id(),
            activity_id: activity(0x71),
            votes: 2,
            attempts: 4,
            due_millis: NOW + 140_000,
        };
        let attempts = vec![
            attempt(1, AttemptResult::Failed, Some(503)),
            attempt(2, AttemptResult::GivenUp, None),
            attempt(3, AttemptResult::Refused, Some(404)),
            test,
        ];
        WebhookDeliveries { waiting: vec![waiting], attempts }
    }

    /// Returns messages in each state, newest first, and an earlier event of one of them.
    pub(crate) fn messages() -> MessagePage {
        let event = |byte: u8, event_type: &str, to: &str, answer: Option<&str>| MessageEvent {
            id: MessageEventId::from_bytes([byte; 16]),
            organization_id: Self::id(),
            activity_id: ActivityId::from_bytes([0x70 + (byte & 0xf); 16]),
            message_id: format!("{}.0", ActivityId::from_bytes([0x70 + (byte & 0xf); 16])),
            to_address: to.to_owned(),
            from_address: to.contains('@').then(|| "quorate@acme.example".to_owned()),
            event_type: event_type.to_owned(),
            answer: answer.map(str::to_owned),
            at_millis: NOW - u64::from(byte) * 60_000,
        };
        let events = vec![
            event(0x01, "Send", "+12025550123", None),
            event(0x02, "DeliveryDelay", "ann@acme.example", Some("451 4.7.1 come back later")),
            event(0x13, "Delivery", "lee@acme.example", Some("250 2.0.0 OK: queued as 4XyZ")),
            event(0x14, "Bounce", "nobody@acme.example", Some("550 5.1.1 no such user")),
            event(0x23, "Send", "lee@acme.example", None),
        ];
        MessagePage { events, next: None }
    }

    fn oauth2_credential(day: &Timestamp) -> Oauth2Credential {
        Oauth2Credential {
            oauth2_credential_id: Oauth2CredentialId::from_bytes([0x8a; 16]),
            organization_id: Self::id(),
            provider: Oauth2Provider::X,
            client_id: "acme-x-client".to_owned(),
            encrypted_client_secret: "ab".repeat(113),
            created_at: day.clone(),
            updated_at: day.clone(),
        }
    }

    /// Returns an MFA policy that requires an API key and a passkey.
    pub(crate) fn mfa_policy(day: &Timestamp) -> MfaPolicy {
        let step = |method_type| RequiredAuthenticationMethod {
            any: AtMost::cut(vec![AuthenticationMethod { method_type, id: None }]),
        };
        MfaPolicy {
            mfa_policy_id: MfaPolicyId::from_bytes([0x88; 16]),
            mfa_policy_name: "two factors".to_owned(),
            condition: "activity.action == 'SIGN'".to_owned(),
            required_authentication_methods: AtMost::cut(vec![
                step(AuthenticationType::ApiKey),
                step(AuthenticationType::Passkey),
            ]),
            order: 5,
            notes: None,
            created_at: day.clone(),
            updated_at: day.clone(),
        }
    }

    /// Adds an invitation that was delivered, one that was accepted, and one that bounced.
    fn add_invitations(organization: &mut OrganizationDetail) {
        let day = organization.head.created_at.clone();
        let invitation = |byte: u8, name: &str, status: &str| Invitation {
            invitation_id: InvitationId::from_bytes([byte; 16]),
            receiver_user_name: name.to_owned(),
            receiver_email: format!("{name}@acme.example"),
            receiver_user_tags: vec![TagId::from_bytes([0x7f; 16])],
            access_type: "ACCESS_TYPE_ALL".to_owned(),
            status: format!("INVITATION_STATUS_{status}"),
            created_at: day.clone(),
            updated_at: day.clone(),
            sender_user_id: Self::user(0),
        };
        let bounced = Invitation {
            created_at: Timestamp::from_millis(NOW - 3_600_000),
            ..invitation(0x8b, "noor", "CREATED")
        };
        organization.invitations =
            vec![invitation(0x81, "lee", "CREATED"), invitation(0x82, "kim", "ACCEPTED"), bounced];
        let mail = |byte: u8, event_type: &str, answer: &str| InvitationMail {
            invitation_id: InvitationId::from_bytes([byte; 16]),
            event_type: event_type.to_owned(),
            answer: Some(answer.to_owned()),
            at_millis: NOW - 3_000_000,
        };
        organization.invitation_mails = vec![
            mail(0x81, "Delivery", "250 2.0.0 OK: queued as 4XyZ"),
            mail(0x8b, "Bounce", "550 5.1.1 no such user"),
        ];
    }

    /// Adds sessions and last uses: a live session, one that ended, a read-only session, and a key that was not used for
    /// long.
    fn add_sessions(organization: &mut OrganizationDetail) {
        let Some(user) = organization.users.get_mut(1) else { return };
        let session = |byte: u8, credential_type: &str, name: &str, created: u64| ApiKey {
            credential: Credential {
                public_key: format!("02{}", format!("{byte:02x}").repeat(32)),
                credential_type: credential_type.to_owned(),
            },
            api_key_id: ApiKeyId::from_bytes([byte; 16]),
            api_key_name: name.to_owned(),
            created_at: Timestamp::from_millis(created),
            updated_at: Timestamp::from_millis(created),
            expiration_seconds: Some("900".to_owned()),
        };
        user.api_keys.extend([
            session(0x41, "CREDENTIAL_TYPE_LOGIN", "Login - 2026-11-21T09:20:00Z", NOW - 240_000),
            session(
                0x42,
                "CREDENTIAL_TYPE_OTP_AUTH_KEY_P256",
                "Otp Auth - 2026-11-20T09:24:00Z",
                NOW - 86_400_000,
            ),
        ]);
        let key = user.api_keys[0].api_key_id.to_string();
        organization.read_only_sessions = vec![ReadOnlySession {
            session_id: "43434343aabbccdd".to_owned(),
            user_id: Self::user(1),
            expires_at_millis: NOW + 1_800_000,
        }];
        let last_use = |credential_id: String, at_millis: u64| LastUse {
            credential_id,
            at_millis,
            counter_went_back: None,
        };
        organization.last_uses = vec![
            last_use(key, NOW - 120 * 86_400_000),
            last_use(ApiKeyId::from_bytes([0x41; 16]).to_string(), NOW - 180_000),
            last_use("43434343aabbccdd".to_owned(), NOW - 600_000),
        ];
    }

    /// Adds a passkey whose counter went back to the second user.
    pub(crate) fn add_copied_passkey(organization: &mut OrganizationDetail) {
        let day = organization.head.created_at.clone();
        let id = AuthenticatorId::from_bytes([0x44; 16]);
        organization.users[1].authenticators.push(Authenticator {
            transports: vec!["AUTHENTICATOR_TRANSPORT_USB".to_owned()],
            attestation_type: "none".to_owned(),
            aaguid: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
            credential_id: "Y291bnRz".to_owned(),
            model: String::new(),
            credential: Credential {
                public_key: "pQECAyYgASFYIA".to_owned(),
                credential_type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR".to_owned(),
            },
            authenticator_id: id,
            authenticator_name: "security key".to_owned(),
            created_at: day.clone(),
            updated_at: day,
        });
        organization.last_uses.push(LastUse {
            credential_id: id.to_string(),
            at_millis: NOW - 600_000,
            counter_went_back: Some(CounterWentBack { at_millis: NOW - 600_000, counter: 7, after: 9 }),
        });
    }

    fn secret(byte: u8, name: Option<&str>, properties: &[(&str, &str)]) -> Secret {
        let property = |(key, value): &(&str, &str)| StaticProperty {
            key: (*key).to_owned(),
            value: (*value).to_owned(),
        };
        Secret {
            secret_id: SecretId::from_bytes([byte; 16]),
            name: name.map(str::to_owned),
            static_properties: properties.iter().map(property).collect(),
            created_at_unix_ms: Decimal(NOW),
        }
    }

    /// Returns the enabled allowlist for all users, or the allowlist of a user's key.
    fn allowlist(user: Option<usize>, blocks: &[(&str, Option<&str>)]) -> IpAllowlist {
        let rule = |(block, label): &(&str, Option<&str>)| IpAllowlistRule {
            cidr: (*block).to_owned(),
            label: label.map(str::to_owned),
            created_at: NOW.to_string(),
        };
        IpAllowlist {
            organization_id: Self::id(),
            rules: blocks.iter().map(rule).collect(),
            public_key: user.map(|user| Self::stamper(user).public_key().to_owned()),
            enabled: user.is_none().then_some(true),
            on_evaluation_error: "DENY".to_owned(),
        }
    }

    fn user_record(index: usize, day: &Timestamp) -> User {
        let mut id = [0x30; 16];
        id[15] = u8::try_from(index).unwrap();
        User {
            user_id: Self::user(index),
            user_name: NAMES[index].to_owned(),
            user_email: None,
            user_phone_number: None,
            authenticators: Vec::new(),
            api_keys: vec![ApiKey {
                credential: Credential {
                    public_key: Self::stamper(index).public_key().to_owned(),
                    credential_type: "CREDENTIAL_TYPE_API_KEY_P256".to_owned(),
                },
                api_key_id: ApiKeyId::from_bytes(id),
                api_key_name: "laptop-p256".to_owned(),
                created_at: day.clone(),
                updated_at: day.clone(),
                expiration_seconds: None,
            }],
            user_tags: Vec::new(),
            oauth_providers: Vec::new(),
            created_at: day.clone(),
            updated_at: day.clone(),
            mfa_policies: Vec::new(),
        }
    }

    /// Returns the record of a proposal that one user made ten minutes ago and that waits for the root
    /// quorum.
    pub(crate) fn propose(
        &self,
        proposer: usize,
        activity_type: &str,
        intent: &str,
        parameters: &Value,
    ) -> ReviewRecord {
        let proposed_at = NOW - 600_000;
        let body = json!({
            "type": activity_type, "timestampMs": proposed_at.to_string(), "organizationId": Self::id(), "parameters": parameters,
        });
        self.propose_bytes(proposer, &body.to_string(), activity_type, json!({intent: parameters}))
    }

    /// Like [`Self::propose`], with these exact bytes.
    pub(crate) fn propose_bytes(
        &self,
        proposer: usize,
        message: &str,
        activity_type: &str,
        intent: Value,
    ) -> ReviewRecord {
        let fingerprint = Fingerprint::of(message.as_bytes());
        let proposed_at = NOW - 600_000;
        let mut seed = [0; 10];
        seed.copy_from_slice(&fingerprint.as_bytes()[..10]);
        let id = ActivityId::timed(proposed_at, seed);
        let signature = Self::stamper(proposer).stamp(message.as_bytes()).unwrap();
        let activity = Activity {
            id,
            organization_id: Self::id(),
            status: Status::ConsensusNeeded,
            activity_type: activity_type.to_owned(),
            intent,
            result: json!({}),
            votes: vec![Self::vote(id, proposer, Selection::Approved, message, &signature, proposed_at)],
            app_proofs: Vec::new(),
            fingerprint,
            can_approve: false,
            can_reject: false,
            created_at: Timestamp::from_millis(proposed_at),
            updated_at: Timestamp::from_millis(proposed_at),
            failure: None,
        };
        let mut record = ReviewRecord {
            row: ActivityRow { activity, waiting: None },
            organization: self.organization(),
            rule_inputs: Some(RuleInputs::default()),
            log: None,
        };
        self.recount(&mut record);
        record
    }

    /// Adds another user's approval.
    pub(crate) fn approve(&self, record: &mut ReviewRecord, voter: usize) {
        let activity = &mut record.row.activity;
        let ballot = Ballot::vote(true, Self::id(), activity.fingerprint, NOW - 300_000);
        let signed = Self::stamper(voter).stamp(ballot.message.as_bytes()).unwrap();
        activity.votes.push(Self::vote(
            activity.id,
            voter,
            Selection::Approved,
            &ballot.message,
            &signed,
            NOW - 300_000,
        ));
        self.recount(record);
    }

    /// Recomputes the tally as an honest daemon would.
    pub(crate) fn recount(&self, record: &mut ReviewRecord) {
        let counted: Vec<UserId> = record.row.activity.votes.iter().map(|vote| vote.user_id).collect();
        let open_to = (0..self.people).map(Self::user).filter(|user| !counted.contains(user)).collect();
        let reason = match record.row.activity.activity_type.as_str() {
            "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM" => WaitingReason::RootQuorumOnly,
            _ => WaitingReason::NoPolicyAllows,
        };
        record.row.waiting = Some(Waiting {
            rule: WaitingRule::RootQuorum,
            reason,
            policy_evaluations: Vec::new(),
            needed: self.threshold,
            counted,
            open_to,
            mfa: Vec::new(),
            expires_at_millis: Some(NOW - 600_000 + 86_400_000),
        });
    }

    /// Returns a recorded vote.
    pub(crate) fn vote(
        activity: ActivityId,
        voter: usize,
        selection: Selection,
        message: &str,
        stamp: &Stamp,
        cast: u64,
    ) -> Vote {
        Vote {
            id: VoteId::from_bytes([0x60 + u8::try_from(voter).unwrap(); 16]),
            user_id: Self::user(voter),
            user: None,
            activity_id: activity,
            selection,
            message: message.to_owned(),
            public_key: stamp.public_key.clone(),
            signature: stamp.signature.clone(),
            scheme: stamp.scheme.name().to_owned(),
            attestation: None,
            created_at: Timestamp::from_millis(cast),
        }
    }

    /// Returns the review that `viewer` sees, with keys known for ten days.
    pub(crate) fn review(&self, record: &ReviewRecord, viewer: usize) -> Review {
        let mut known_keys = KnownKeys::default();
        known_keys.pin_new(&self.organization(), NOW - 10 * 86_400_000);
        known_keys.pin_new(&record.organization, NOW - 1000);
        Self::review_with(record, &known_keys, viewer)
    }

    /// Returns the review that `viewer` sees with these known keys.
    pub(crate) fn review_with(record: &ReviewRecord, known_keys: &KnownKeys, viewer: usize) -> Review {
        let viewer = Viewer {
            organization: Some(Self::id()),
            user: Some(Self::user(viewer)),
            pinned_by: PinnedBy::Id,
            ..Viewer::default()
        };
        Review::of(&Evidence {
            record: &Record::from(record.clone()),
            siblings: &Siblings::default(),
            known_keys,
            book: &Book::EMPTY,
            viewer: &viewer,
            now: NOW,
            reference: None,
        })
    }
}

/// Returns a proposal that lowers the threshold of five root users from 3 to 1.
pub(crate) fn threshold_proposal() -> (Fixture, ReviewRecord) {
    let fixture = Fixture::new(5, 3);
    let members: Vec<UserId> = (0..5).map(Fixture::user).collect();
    let record = fixture.propose(
        1,
        "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
        "updateRootQuorumIntent",
        &json!({"threshold": 1, "userIds": members}),
    );
    (fixture, record)
}

/// Returns a proposal for a tag without users: low risk.
pub(crate) fn tag_proposal() -> (Fixture, ReviewRecord) {
    let fixture = Fixture::new(3, 2);
    let record = fixture.propose(
        1,
        "ACTIVITY_TYPE_CREATE_USER_TAG",
        "createUserTagIntent",
        &json!({"userTagName": "auditors", "userIds": []}),
    );
    (fixture, record)
}

/// Returns a proposal for a wallet that a policy allows once two users approve.
pub(crate) fn wallet_proposal() -> (Fixture, ReviewRecord) {
    let fixture = Fixture::new(5, 3);
    let parameters = json!({"walletName": "spare", "accounts": []});
    let mut record = fixture.propose(1, "ACTIVITY_TYPE_CREATE_WALLET", "createWalletIntent", &parameters);
    let policy_id = PolicyId::from_bytes([0x86; 16]);
    let day = Timestamp::from_millis(NOW - 30 * 86_400_000);
    record.organization.policies = vec![Policy {
        policy_id,
        policy_name: "wallets by two".to_owned(),
        effect: "EFFECT_ALLOW".to_owned(),
        created_at: day.clone(),
        updated_at: day,
        notes: String::new(),
        consensus: "approvers.count() >= 2".to_owned(),
        condition: "activity.resource == 'WALLET'".to_owned(),
        time: None,
    }];
    let waiting = record.row.waiting.as_mut().unwrap();
    waiting.rule = WaitingRule::Policy;
    waiting.reason = WaitingReason::PolicyConsensus;
    waiting.policy_evaluations =
        vec![PolicyOutcome { policy_id, outcome: "OUTCOME_REQUIRES_CONSENSUS".to_owned() }];
    (fixture, record)
}

/// Returns a payment method proposal of which the daemon keeps only the last four card digits.
pub(crate) fn card_proposal() -> (Fixture, ReviewRecord) {
    let fixture = Fixture::new(3, 2);
    let activity_type = "ACTIVITY_TYPE_SET_PAYMENT_METHOD";
    let body = |number: &str, code: &str| {
        json!({"type": activity_type, "timestampMs": (NOW - 600_000).to_string(), "organizationId": Fixture::id(),
            "parameters": {"number": number, "cvv": code, "expiryMonth": "01", "expiryYear": "2030",
            "cardHolderEmail": "m@acme.example", "cardHolderName": "Mira"}})
    };
    let kept = body("************1234", "***");
    let intent = json!({"setPaymentMethodIntent": kept["parameters"]});
    let signed = body("4242424242421234", "123").to_string();
    let mut record = fixture.propose_bytes(1, &signed, activity_type, intent);
    record.row.activity.votes[0].message = kept.to_string();
    (fixture, record)
}
