//! Cost of a decision without HTTP, stamp and store: the daemon's own function, on one thread, in a loop.

use std::time::Instant;

use quorate_common::bounded::{Email, Label, Text};
use quorate_common::ids::{PolicyId, UserId};
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_core::consensus::Approval;
use quorate_core::creation;
use quorate_core::kinds;
use quorate_core::limits::Limits;
use quorate_core::model::Organization;
use quorate_core::model::change::{self, Change};
use quorate_core::model::layout::IndexKey;
use quorate_core::model::policy::{Effect, Policy};
use quorate_core::params::{NewApiKey, NewUser};
use quorate_core::policy::{DecisionInput, DenyErrors, Facts, decide};
use quorate_core::world::Runtime;
use quorate_policy::request::{Subject, Wallet, WalletAccount};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Time of all records, in milliseconds since 1970.
const NOW: u64 = 1_767_225_600_000;
/// Number of decisions that are timed together, and of measurements. The fastest one counts, because it is
/// the least disturbed.
const DECISIONS: u32 = 500;
const TIMES: usize = 30;
/// Arbitrary digest key.
const INDEX: [u8; 32] = [7; 32];
/// A secret key that signs nothing here.
const SECRET: [u8; 32] = [9; 32];

/// Costs of decisions.
#[derive(Debug, Serialize, Deserialize)]
pub struct Decisions {
    /// Cost with ten policies of five terms each, in microseconds.
    pub ten_us: f64,
    /// Cost with a hundred of them, in microseconds.
    pub hundred_us: f64,
    /// Highest cost of several hostile policy sets, in milliseconds.
    pub worst_ms: f64,
}

/// Measures all costs.
pub fn measure() -> Decisions {
    let one = |count| cost(&organization(&ordinary(count)), DECISIONS);
    let worst = hostile().iter().map(|set| cost(&organization(set), 1)).fold(0.0, f64::max);
    Decisions { ten_us: one(10), hundred_us: one(100), worst_ms: worst / 1000.0 }
}

/// Returns the microseconds of one decision about a signature.
fn cost(organization: &Organization, decisions: u32) -> f64 {
    let entry = kinds::find("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2").expect("a known type");
    let intent = r#"{"signRawPayloadIntentV2":{"encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_KECCAK256","payload":"00ff","signWith":"0x9858EfFD232B4033E47d90003D41EC34EcaEda94"}}"#;
    let intent = RawValue::from_string(intent.to_owned()).expect("JSON");
    let facts = Facts { subjects: vec![subject()], ..Facts::default() };
    let proposer = organization.users().next().expect("a user");
    let public_key = proposer.api_keys[0].public_key.clone();
    let approvals = [Approval { user: proposer.id, public_key, authentication: None, created: NOW }];
    // The proposer is not in the root quorum, so that policies are evaluated.
    let input = DecisionInput {
        organization,
        activity_type: entry.activity_type,
        gate: entry.gate,
        acts: entry.acts,
        intent: &intent,
        facts: &facts,
        proposer: UserId::from_bytes([1; 16]),
        is_attested: false,
        approvals: &approvals,
        deny_errors: DenyErrors::Skip,
        now: NOW,
    };
    let timed = (0..TIMES).map(|_| {
        let start = Instant::now();
        for _ in 0..decisions {
            std::hint::black_box(decide(&input));
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(decisions)
    });
    timed.fold(f64::INFINITY, f64::min)
}

fn subject() -> Subject {
    let wallet = "51d0aaaa-0000-4000-8000-000000000007".to_owned();
    Subject {
        wallet: Some(Wallet {
            id: wallet.clone(),
            label: "treasury".to_owned(),
            imported: false,
            exported: false,
        }),
        account: Some(WalletAccount {
            derivation: None,
            address: "0x9858EfFD232B4033E47d90003D41EC34EcaEda94".to_owned(),
            wallet_id: wallet,
        }),
        ..Subject::default()
    }
}

/// A condition and a consensus.
type Expressions = (String, String);

/// Returns typical policies: five terms, the last of which differs.
fn ordinary(count: usize) -> Vec<Expressions> {
    let one = |number: usize| {
        let condition = format!(
            "activity.kind == 'SIGN_RAW_PAYLOAD' && activity.params.encoding == 'PAYLOAD_ENCODING_HEXADECIMAL' \
             && !wallet.imported && wallet.label == 'treasury' && wallet.id == '51d0aaaa-0000-4000-8000-1{number:011}'"
        );
        (condition, "approvers.any(user, user.id == '51d0aaaa-0000-4000-8000-000000000001')".to_owned())
    };
    (0..count).map(one).collect()
}

/// Returns policy sets that maximize the cost of evaluation, each with another kind of work.
fn hostile() -> Vec<Vec<Expressions>> {
    let thousand = vec!["1"; 1000].join(",");
    let nested = |inner: &str| format!("[{thousand}].all(x, [{thousand}].all(y, {inner}))");
    let long = "é".repeat(20_000);
    let conditions = [
        nested("x == y"),
        nested("[x, y, x, y] != [y]"),
        nested("{a: x, b: y}.a < 2"),
        nested("[x].filter(z, true).count() == 1"),
        nested("CaseInsensitiveString(wallet.label)[0..4] != 'x'"),
        format!("[{}].all(x, '{long}'[19000..19001] != 'x')", vec!["1"; 500].join(",")),
        nested("wallet_account.address in [wallet.id, wallet.label, wallet_account.wallet_id]"),
    ];
    let long_user_list = format!("[{thousand}].all(x, approvers.filter(u, u.id != 'x').count() == 3)");
    let by_condition = conditions.into_iter().map(|condition| vec![(condition, "true".to_owned()); 100]);
    by_condition.chain([vec![("true".to_owned(), long_user_list); 100]]).collect()
}

fn organization(policies: &[Expressions]) -> Organization {
    let index = IndexKey::new(INDEX);
    let mut drawn = 0_u8;
    let mut entropy = |buffer: &mut [u8]| {
        drawn = drawn.wrapping_add(1);
        buffer.fill(drawn);
    };
    let mut runtime = Runtime { now: NOW, order: 0, entropy: &mut entropy };
    let created =
        creation::organization(label("house"), vec![root()], 1, &Limits::default(), &index, &mut runtime)
            .expect("a new organization");
    let created = created.commit.after.into_iter().next().expect("an organization");
    // Only the ids of policies differ.
    let put = |(number, (condition, consensus)): (usize, &Expressions)| {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&(number as u64).to_be_bytes());
        Change::PutPolicy(Policy {
            id: PolicyId::from_bytes(id),
            name: label(&format!("policy {number}")),
            effect: Effect::Allow,
            condition: Some(text(condition)),
            consensus: Some(text(consensus)),
            time: None,
            notes: Text::parse(String::new()).expect("no notes"),
            created: NOW,
            updated: NOW,
        })
    };
    let mut changes: Vec<Change> = policies.iter().enumerate().map(put).collect();
    // The only user must not be able to decide alone through the root quorum.
    let mut quorum = created.head.quorum.clone();
    quorum.threshold = 2;
    changes.push(Change::SetQuorum(quorum));
    change::apply(&created, changes, NOW, &index).expect("they apply").after
}

fn root() -> NewUser {
    let stamper = Stamper::new(ApiKeyCurve::P256, &SECRET).expect("a key");
    NewUser {
        name: label("root"),
        email: Some(Email::parse("root@house.example".to_owned()).expect("an address")),
        phone: None,
        api_keys: vec![NewApiKey {
            name: label("key"),
            curve: ApiKeyCurve::P256,
            public_key: stamper.public_key().to_owned(),
            expiration_seconds: None,
        }],
        authenticators: Vec::new(),
        oauth_providers: Vec::new(),
        tags: Vec::new(),
    }
}

fn label(text: &str) -> Label {
    Label::parse(text.to_owned()).expect("a label")
}

fn text<const LIMIT: usize>(text: &str) -> Text<LIMIT> {
    Text::parse(text.to_owned()).expect("not too long")
}
