//! Requests that are built and stamped before the clock starts, so that the generator spends its time on
//! sockets only. Every body is distinct.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use base64ct::{Base64, Encoding};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{Method, Request};
use http_body_util::Full;
use p256::elliptic_curve::sec1::ToSec1Point;
use quorate_common::stamp::{self, Scheme, Stamp};
use serde::{Deserialize, Serialize};

use crate::targets::Target;

/// A request to send.
pub type PreparedRequest = Request<Full<Bytes>>;

/// Type of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// One stamped signing request with a secp256k1 key.
    Sign,
    /// One stamped `whoami` query.
    Whoami,
    /// One stamped creation of a sub-organization with a root user.
    Child,
    /// One stamped page of sub-organizations.
    Children,
    /// One stamped page of wallet accounts.
    Accounts,
    /// One signature by `OpenBao` transit.
    Bao,
    /// One plain GET.
    Get,
}

/// Creates stamps quickly, because the generator needs hundreds of thousands.
pub struct Stamper {
    target: Target,
    key: EcdsaKeyPair,
    random: SystemRandom,
}

impl Stamper {
    /// Creates a stamper with the API key of a target.
    pub fn new(target: &Target) -> Self {
        let secret = const_hex::decode(&target.api_private_key).expect("the private key is hex");
        let key = p256::SecretKey::from_slice(&secret).expect("the private key is a scalar of P-256");
        let public = key.public_key();
        let compressed = public.to_sec1_point(true);
        assert_eq!(
            const_hex::encode(compressed.as_bytes()),
            target.api_public_key,
            "the two keys belong together"
        );
        let point = public.to_sec1_point(false);
        let key = EcdsaKeyPair::from_private_key_and_public_key(
            &ECDSA_P256_SHA256_ASN1_SIGNING,
            &secret,
            point.as_bytes(),
        );
        Self { target: target.clone(), key: key.expect("the key was checked"), random: SystemRandom::new() }
    }

    /// Returns the target with the key.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the header value for a body.
    pub fn header(&self, body: &[u8]) -> String {
        let signature = self.key.sign(&self.random, body).expect("signing does not fail");
        let stamp = Stamp {
            public_key: self.target.api_public_key.clone(),
            scheme: Scheme::P256,
            signature: const_hex::encode(signature),
        };
        stamp.header()
    }
}

/// Builds requests of one mode.
pub struct Source {
    mode: Mode,
    host: String,
    path: String,
    token: String,
    stampers: Vec<Stamper>,
    next: usize,
}

impl Source {
    /// Creates a source of requests to `host`. `key` and `token` are for [`Mode::Bao`], `path` for
    /// [`Mode::Get`].
    pub fn new(mode: Mode, host: &str, targets: &[Target], path: &str, key: &str, token: &str) -> Self {
        let stamped = !matches!(mode, Mode::Bao | Mode::Get);
        assert!(!stamped || !targets.is_empty(), "this mode needs a file of targets");
        let path = match mode {
            Mode::Sign => "/public/v1/submit/sign_raw_payload".to_owned(),
            Mode::Whoami => "/public/v1/query/whoami".to_owned(),
            Mode::Child => "/public/v1/submit/create_sub_organization".to_owned(),
            Mode::Children => "/public/v1/query/list_suborgs".to_owned(),
            Mode::Accounts => "/public/v1/query/list_wallet_accounts".to_owned(),
            Mode::Bao => format!("/v1/transit/sign/{key}"),
            Mode::Get => path.to_owned(),
        };
        let stampers = targets.iter().map(Stamper::new).collect();
        Self { mode, host: host.to_owned(), path, token: token.to_owned(), stampers, next: 0 }
    }

    /// Builds this many new requests.
    pub fn batch(&mut self, count: usize) -> Vec<PreparedRequest> {
        (0..count).map(|_| self.request()).collect()
    }

    fn request(&mut self) -> PreparedRequest {
        let number = self.next;
        self.next += 1;
        let stamper = || &self.stampers[number % self.stampers.len()];
        match self.mode {
            Mode::Sign | Mode::Whoami | Mode::Child | Mode::Children | Mode::Accounts => {
                let target = stamper().target();
                let body = match self.mode {
                    Mode::Sign => sign_body(target),
                    Mode::Child => child_body(target),
                    Mode::Whoami => format!(r#"{{"organizationId":"{}"}}"#, target.organization_id),
                    _ => page_body(target),
                };
                let header = stamper().header(body.as_bytes());
                self.post(body, stamp::HEADER, &header)
            }
            Mode::Bao => {
                let body = format!(r#"{{"input":"{}"}}"#, Base64::encode_string(&random()));
                self.post(body, "X-Vault-Token", &self.token)
            }
            Mode::Get => {
                let request = Request::builder().uri(&self.path).header(HOST, &self.host);
                request.body(Full::default()).expect("the parts of a request fit")
            }
        }
    }

    fn post(&self, body: String, header: &str, value: &str) -> PreparedRequest {
        post(&self.host, &self.path, body, header, value)
    }
}

/// Builds a POST request with one authentication header.
pub fn post(host: &str, path: &str, body: String, header: &str, value: &str) -> PreparedRequest {
    let request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(HOST, host)
        .header(CONTENT_TYPE, "application/json")
        .header(header, value);
    request.body(Full::new(Bytes::from(body))).expect("the parts of a request fit")
}

pub(crate) fn sign_body(target: &Target) -> String {
    let Target { organization_id, sign_with, .. } = target;
    let (now, payload) = (now_millis(), const_hex::encode(random()));
    format!(
        r#"{{"type":"ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2","timestampMs":"{now}","organizationId":"{organization_id}","parameters":{{"signWith":"{sign_with}","payload":"{payload}","encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_NO_OP"}}}}"#
    )
}

fn child_body(target: &Target) -> String {
    let Target { organization_id, api_public_key, .. } = target;
    let (now, name) = (now_millis(), const_hex::encode(&random()[..8]));
    format!(
        r#"{{"type":"ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7","timestampMs":"{now}","organizationId":"{organization_id}","parameters":{{"subOrganizationName":"child {name}","rootQuorumThreshold":1,"rootUsers":[{{"userName":"root","apiKeys":[{{"apiKeyName":"key","publicKey":"{api_public_key}","curveType":"API_KEY_CURVE_P256"}}],"authenticators":[],"oauthProviders":[]}}]}}}}"#
    )
}

/// Number of elements of a full page.
pub const PAGE: usize = 100;

fn page_body(target: &Target) -> String {
    let id = &target.organization_id;
    format!(r#"{{"organizationId":"{id}","paginationOptions":{{"limit":"{PAGE}"}}}}"#)
}

/// Returns the milliseconds since 1970.
pub fn now_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is after 1970");
    since.as_millis() as u64
}

/// Returns random bytes.
pub fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system provides random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use http_body_util::BodyExt;
    use quorate_common::stamp::{ApiKeyCurve, StampKey};

    use super::*;

    fn target() -> Target {
        let secret = [7; 32];
        let stamper = stamp::Stamper::new(ApiKeyCurve::P256, &secret).unwrap();
        Target {
            organization_id: "6b5a7f2e-6f0c-4b8e-9d54-0a6a4d1c2b3f".to_owned(),
            api_public_key: stamper.public_key().to_owned(),
            api_private_key: const_hex::encode(secret),
            sign_with: "0x00".to_owned(),
        }
    }

    #[tokio::test]
    async fn bodies_are_distinct_and_stamps_verify() {
        let target = target();
        let key = StampKey::parse(ApiKeyCurve::P256, &target.api_public_key).unwrap();
        let mut seen = HashSet::new();
        let mut source = Source::new(Mode::Sign, "127.0.0.1:1", &[target], "", "", "");
        for request in source.batch(50) {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let stamp = Stamp::read(parts.headers[stamp::HEADER].to_str().unwrap()).unwrap();
            assert!(key.verify(stamp.scheme, &body, &stamp.signature));
            let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(value["type"], "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2");
            assert!(seen.insert(body), "a body is repeated");
        }
    }

    #[test]
    #[should_panic(expected = "belong together")]
    fn rejects_mismatched_key_pairs() {
        let mut target = target();
        target.api_private_key = const_hex::encode([8; 32]);
        Stamper::new(&target);
    }
}
