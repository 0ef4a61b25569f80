//! An OpenID Connect issuer on loopback, whose tokens a test signs itself. It has one key, on P-256.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_chain::curve::{Curve, Message, SecretKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::caller::now_millis;

/// A running issuer. Its thread ends with the process of the test.
pub struct Issuer {
    url: String,
    key: SecretKey,
}

impl Issuer {
    /// Starts an issuer.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let key = SecretKey::from_bytes(Curve::P256, &[61; 32]).expect("a scalar");
        let point = key.public().uncompressed().expect("P-256 has an uncompressed form");
        let [x, y] = [&point[1..33], &point[33..]].map(Base64UrlUnpadded::encode_string);
        let keys = json!({"keys": [{"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": "key"}]});
        let configuration = json!({"issuer": url, "jwks_uri": format!("{url}/keys")});
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                serve(&stream, &configuration, &keys);
            }
        });
        Self { url, key }
    }

    /// Returns the URL of the issuer, as its tokens state it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns a token of a subject for the application `app`, requested for a public key.
    pub fn token(&self, subject: &str, public_key: &str) -> String {
        self.token_for("app", subject, public_key)
    }

    /// Returns a token of a subject for an application, requested for a public key.
    pub fn token_for(&self, application: &str, subject: &str, public_key: &str) -> String {
        let now = now_millis();
        let nonce = const_hex::encode(Sha256::digest(public_key));
        let claims = json!({"iss": self.url, "aud": application, "sub": subject, "iat": now / 1000,
            "exp": now / 1000 + 600, "nonce": nonce, "jti": now.to_string()});
        let header = json!({"alg": "ES256", "kid": "key", "typ": "JWT"});
        let input =
            [header, claims].map(|part| Base64UrlUnpadded::encode_string(part.to_string().as_bytes()));
        let input = input.join(".");
        let signature = self.key.sign(&Message::Digest(Sha256::digest(&input).into())).expect("a signature");
        format!("{input}.{}", Base64UrlUnpadded::encode_string(&[signature.r, signature.s].concat()))
    }
}

/// Answers one request. The client may close the connection at any time.
fn serve(stream: &TcpStream, configuration: &Value, keys: &Value) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    let _ = lines.find(String::is_empty);
    let document = if first.contains(" /.well-known/openid-configuration ") { configuration } else { keys };
    let body = document.to_string();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let mut stream = stream;
    let _ = stream.write_all((head + &body).as_bytes());
}
