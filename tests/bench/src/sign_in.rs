//! The cost of signing in: of stamps by passkeys and of logins, in processor time; of requests for one-time codes, for
//! signatures at the same time; and whether the time of a refused code reveals why it was refused.

use std::thread::sleep;
use std::time::{Duration, Instant};

use quorate_common::stamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::{self, Connection};
use crate::load::{Outcome, Run};
use crate::passkey::Passkey;
use crate::provision::{Session, key_pair};
use crate::requests::{self, Mode, PreparedRequest, Stamper, now_millis, random, sign_body};
use crate::targets::{Target, Targets};

/// Connections that compare costs.
const CONNECTIONS: usize = 8;
/// Requests per second that are prepared for each connection when costs are compared.
const RATE: f64 = 400.0;
/// Requests for codes per second.
const CODES: f64 = 1_000.0;
/// Signatures per second beside them.
const SIGNATURES: f64 = 250.0;
/// Rounds of signatures beside requests for codes, for each wanted run.
const ROUNDS: usize = 3;
/// How requests fail whose codes cannot be queued.
const REFUSED: &str = "HTTP 429";
/// Header of a stamp by a passkey.
const WEBAUTHN: &str = "x-stamp-webauthn";
/// Time after which a code of one second has expired, and the mails of earlier codes are delivered.
const EXPIRY: Duration = Duration::from_secs(2);
/// Codes that are requested until the mails of earlier ones are delivered.
const QUEUED: usize = 300;
/// Attempts at a code until it is locked.
const ATTEMPTS: usize = 3;

/// Ratios that the goals limit.
#[derive(Debug, Serialize, Deserialize)]
pub struct SignIn {
    /// Processor time of a signature that a passkey stamps, relative to an API key.
    pub passkey: f64,
    /// Processor time of a login, relative to the creation of an API key.
    pub login: f64,
    /// Median and 99th percentile of the latency of signatures in milliseconds: alone, beside requests for codes of another
    /// process, and beside those of the same process.
    pub signatures_ms: [[f64; 2]; 3],
    /// 99th percentile of the latency of signatures beside requests for codes, relative to signatures beside requests
    /// for codes of another process.
    pub codes: f64,
    /// The same, relative to signatures alone.
    pub codes_alone: f64,
    /// Requests for codes per second during these signatures, also of those that are refused because too many codes wait.
    pub codes_per_second: f64,
    /// Median times of refused codes in milliseconds: unknown, wrong, locked, expired.
    pub refused_ms: [f64; 4],
}

impl SignIn {
    /// Returns the longest median time of a refused code, relative to the shortest.
    pub fn spread(&self) -> f64 {
        let [longest, shortest] =
            [f64::max, f64::min].map(|better| self.refused_ms.into_iter().reduce(better));
        longest.zip(shortest).map_or(f64::NAN, |(longest, shortest)| longest / shortest)
    }
}

/// Parameters of the measurement.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Wanted {
    /// Runs of each mode
    #[arg(long)]
    pub runs: usize,
    /// Seconds of a run
    #[arg(long)]
    pub seconds: f64,
    /// Refused codes of each kind
    #[arg(long)]
    pub attempts: usize,
}

/// Measures a daemon. `others` are targets of another process, which sends mail too.
pub fn measure(targets: &Targets, others: &Targets, process: u32, wanted: Wanted) -> SignIn {
    let users = client::block_on(Users::prepare(targets, process));
    let passkey = users.ratio(wanted, Users::passkey_signature, Users::signature);
    let login = users.ratio(wanted, Users::login, Users::api_key);
    let refused_ms = client::block_on(users.refused_ms(wanted.attempts));
    let elsewhere = client::block_on(Users::prepare(others, std::process::id()));
    let beside = Beside::measure(&users, &elsewhere, wanted);
    let [alone, elsewhere, same] = beside.signatures_ms.map(|[_, p99]| p99);
    SignIn {
        passkey,
        login,
        signatures_ms: beside.signatures_ms,
        codes: same / elsewhere,
        codes_alone: same / alone,
        codes_per_second: beside.codes_per_second,
        refused_ms,
    }
}

/// A user of a target, who also has a passkey.
struct User {
    id: String,
    stamper: Stamper,
}

impl User {
    fn passkey(&self) -> Passkey<'_> {
        Passkey::of(&self.stamper.target().api_public_key)
    }

    /// Returns the body of a request for an activity in the organization of the user.
    fn body(&self, activity_type: &str, parameters: &Value) -> String {
        body(self.stamper.target(), activity_type, parameters)
    }
}

/// Returns the body of a request for an activity.
fn body(target: &Target, activity_type: &str, parameters: &Value) -> String {
    json!({"type": format!("ACTIVITY_TYPE_{activity_type}"), "timestampMs": now_millis().to_string(),
        "organizationId": target.organization_id, "parameters": parameters})
    .to_string()
}

/// The users of a daemon.
struct Users {
    base_url: String,
    host: String,
    /// Process id of the daemon.
    process: [u32; 1],
    all: Vec<User>,
    /// Stamps for the application, a user of the parent organization, which requests and verifies codes there.
    application: Stamper,
}

impl Users {
    /// Registers a passkey for each user, and enables codes by mail in the organization of the application.
    async fn prepare(targets: &Targets, process: u32) -> Self {
        let mut users = Vec::new();
        let feature = json!({"name": "FEATURE_NAME_OTP_EMAIL_AUTH"});
        Session::open(&targets.base_url, &targets.root)
            .await
            .result("set_organization_feature", "", feature)
            .await;
        for target in &targets.targets {
            let mut session = Session::open(&targets.base_url, target).await;
            let who = session.query("whoami").await;
            let id = who["userId"].as_str().expect("an id").to_owned();
            let user = User { id, stamper: Stamper::new(target) };
            let registration = user.passkey().registration();
            let parameters = json!({"userId": user.id, "authenticators": [registration]});
            session.result("create_authenticators", "_V2", parameters).await;
            users.push(user);
        }
        let host = client::host(&targets.base_url);
        let application = Stamper::new(&targets.root);
        Self { base_url: targets.base_url.clone(), host, process: [process], all: users, application }
    }

    /// Returns the median over the runs of the processor time of one kind of requests, relative to another.
    fn ratio(&self, wanted: Wanted, this: Build, that: Build) -> f64 {
        let count = (RATE * CONNECTIONS as f64 * wanted.seconds) as usize;
        let cost = |build: Build| {
            let outcome = client::block_on(self.run(wanted, None).of(self.batch(count, build)));
            assert!(outcome.errors.is_empty(), "loading failed: {:?}", outcome.errors);
            outcome.server.as_secs_f64() / outcome.done as f64
        };
        // The first run warms up.
        let ratios = (0..=wanted.runs).map(|_| cost(this) / cost(that)).skip(1);
        median(ratios.collect())
    }

    fn run(&self, wanted: Wanted, pace: Option<f64>) -> Run<'_> {
        let duration = Duration::from_secs_f64(wanted.seconds);
        // Every one of these requests is an activity that must complete.
        Run {
            mode: Mode::Sign,
            hosts: std::slice::from_ref(&self.host),
            processes: &self.process,
            connections: CONNECTIONS,
            duration,
            pace,
        }
    }

    /// Builds this many requests, of all users in turn.
    fn batch(&self, count: usize, build: Build) -> Vec<PreparedRequest> {
        self.all.iter().cycle().take(count).map(|user| build(self, user)).collect()
    }

    /// Returns a request that an API key stamps.
    fn stamped(&self, stamper: &Stamper, operation: &str, body: String) -> PreparedRequest {
        let header = stamper.header(body.as_bytes());
        requests::post(&self.host, &format!("/public/v1/submit/{operation}"), body, stamp::HEADER, &header)
    }

    fn signature(&self, user: &User) -> PreparedRequest {
        self.stamped(&user.stamper, "sign_raw_payload", sign_body(user.stamper.target()))
    }

    fn passkey_signature(&self, user: &User) -> PreparedRequest {
        let body = sign_body(user.stamper.target());
        let header = user.passkey().header(body.as_bytes());
        requests::post(&self.host, "/public/v1/submit/sign_raw_payload", body, WEBAUTHN, &header)
    }

    fn login(&self, user: &User) -> PreparedRequest {
        let parameters = json!({"publicKey": key_pair().1, "expirationSeconds": "900"});
        self.stamped(&user.stamper, "stamp_login", user.body("STAMP_LOGIN", &parameters))
    }

    fn api_key(&self, user: &User) -> PreparedRequest {
        let key = json!({"apiKeyName": "bench", "publicKey": key_pair().1, "curveType": "API_KEY_CURVE_P256",
            "expirationSeconds": "900"});
        let parameters = json!({"userId": user.id, "apiKeys": [key]});
        self.stamped(&user.stamper, "create_api_keys", user.body("CREATE_API_KEYS_V2", &parameters))
    }

    fn code(&self, _: &User) -> PreparedRequest {
        let body = body(self.application.target(), "INIT_OTP", &code_parameters());
        self.stamped(&self.application, "init_otp", body)
    }

    /// Returns the median times of refused codes.
    async fn refused_ms(&self, count: usize) -> [f64; 4] {
        let mut session = Session::open(&self.base_url, self.application.target()).await;
        let mut wrong = Vec::new();
        for number in 1..=count.div_ceil(ATTEMPTS) {
            wrong.push(session.code(code_parameters()).await);
            if number % QUEUED == 0 {
                sleep(EXPIRY);
            }
        }
        let locked = session.code(code_parameters()).await;
        let mut short = code_parameters();
        short["expirationSeconds"] = json!("1");
        let expired = session.code(short).await;
        let mut connection = Connection::open(&self.host).await.expect("the daemon accepts connections");
        for number in 0..ATTEMPTS {
            self.refused(&mut connection, &locked, number).await;
        }
        sleep(EXPIRY);
        let mut times: [Vec<f64>; 4] = Default::default();
        for number in 0..count {
            let unknown = uuid();
            let ids = [&unknown, &wrong[number / ATTEMPTS], &locked, &expired];
            // Each kind follows each other kind equally often.
            for turn in 0..ids.len() {
                let kind = (number + turn * if number % 8 < 4 { 1 } else { 3 }) % ids.len();
                let time =
                    self.refused(&mut connection, ids[kind], number * ids.len() + turn + ATTEMPTS).await;
                times[kind].push(time);
            }
        }
        times.map(median)
    }

    /// Sends a wrong code, and returns the time until it is refused, in milliseconds.
    async fn refused(&self, connection: &mut Connection, id: &str, number: usize) -> f64 {
        let parameters = json!({"otpId": id, "otpCode": format!("U{number:08}")});
        let body = body(self.application.target(), "VERIFY_OTP", &parameters);
        let request = self.stamped(&self.application, "verify_otp", body);
        let begun = Instant::now();
        let (status, body) = connection.call(request).await.expect("the daemon answers");
        let time = begun.elapsed();
        assert_eq!(status, 400, "{}", String::from_utf8_lossy(&body));
        time.as_secs_f64() * 1000.0
    }
}

/// Builds a request of a user.
type Build = fn(&Users, &User) -> PreparedRequest;

/// Signatures and requests for codes at the same time.
struct Beside {
    signatures_ms: [[f64; 2]; 3],
    codes_per_second: f64,
}

impl Beside {
    /// Signs alone, beside requests for codes of another process, and beside those of the same process, alternately.
    fn measure(users: &Users, others: &Users, wanted: Wanted) -> Self {
        let signing = users.run(wanted, Some(SIGNATURES));
        let signatures = || users.batch((SIGNATURES * wanted.seconds) as usize, Users::signature);
        let codes = |users: &Users| users.batch((CODES * wanted.seconds) as usize, Users::code);
        let (mut alone, mut elsewhere, mut same) = (Vec::new(), Vec::new(), Vec::new());
        let mut rates = Vec::new();
        for round in 0..=wanted.runs * ROUNDS {
            let apart = client::block_on(signing.of(signatures()));
            let pair = |users: &Users| {
                let (batch, beside) = (signatures(), codes(users));
                let requesting = users.run(wanted, Some(CODES));
                client::block_on(async { tokio::join!(signing.of(batch), requesting.of(beside)) })
            };
            let ((other, _), (during, requested)) = (pair(others), pair(users));
            for outcome in [&apart, &other, &during] {
                assert!(outcome.errors.is_empty(), "loading failed: {:?}", outcome.errors);
            }
            // More codes than can be sent meanwhile are refused, as `waiting_messages` demands.
            let is_expected = |kind: &String| kind == REFUSED;
            assert!(requested.errors.keys().all(is_expected), "loading failed: {:?}", requested.errors);
            // The first round warms up.
            if round > 0 {
                alone.push(apart);
                elsewhere.push(other);
                same.push(during);
                rates.push(requested.total() as f64 / requested.wall.as_secs_f64());
            }
        }
        // A run has too few signatures for a 99th percentile of its own.
        let latencies = |outcomes: Vec<Outcome>| {
            let all = Outcome::of_all(outcomes);
            [0.5, 0.99].map(|part| all.latency_ms(part))
        };
        let signatures_ms = [alone, elsewhere, same].map(latencies);
        Self { signatures_ms, codes_per_second: median(rates) }
    }
}

/// Returns the parameters of a code to a new contact.
fn code_parameters() -> Value {
    let contact = format!("{}@example.org", const_hex::encode(&random()[..16]));
    json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact})
}

/// Returns a random id (RFC 9562, version 4).
fn uuid() -> String {
    let mut bytes = random();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = const_hex::encode(&bytes[..16]);
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    parts.join("-")
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_by_their_extremes() {
        let figures = |refused_ms| SignIn {
            passkey: 1.0,
            login: 1.0,
            signatures_ms: [[1.0; 2]; 3],
            codes: 1.0,
            codes_alone: 1.0,
            codes_per_second: 1.0,
            refused_ms,
        };
        assert!((figures([2.0, 3.0, 2.5, 2.0]).spread() - 1.5).abs() < f64::EPSILON);
        assert!(figures([f64::NAN; 4]).spread().is_nan());
    }

    #[test]
    fn ids_are_of_version_4() {
        let id = uuid();
        assert_eq!((id.len(), &id[14..15]), (36, "4"), "{id}");
    }
}
