//! The limit server: a minimal HTTP server that does, for each signature, the same cryptography as the daemon
//! and a durable commit, and nothing else. No implementation of this API can be much faster. The twin commits
//! the same records as the daemon to the same store; the plain limit commits one record to plain sled.
//!
//! It has no users, policies or rules. It reads its organizations and keys from a file of targets, and
//! accepts every body that parses. It must never hold a valuable key.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a tool for developers fails by panicking"
)]

#[path = "limitserver/commit.rs"]
mod commit;
#[path = "limitserver/plain.rs"]
mod plain;
#[path = "limitserver/request.rs"]
mod request;
#[path = "limitserver/twin.rs"]
mod twin;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use clap::Parser;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use quorate_bench::targets::Targets;
use quorate_common::stamp::HEADER;
use quorated::barrier::KEY_CLASSES;
use quorated::store::engine::{Engine, Settings};
use quorated::store::postgres::{DatabaseSettings, DatabaseUrl};
use tokio::net::TcpListener;

use plain::Plain;
use request::{Invalid, Organizations};
use twin::Twin;

/// Measures the limit of a server that checks stamps, signs, and makes activities durable
#[derive(Parser)]
struct Arguments {
    /// File of targets; its base URL is ignored
    #[arg(long)]
    targets: PathBuf,
    /// Folder of the store
    #[arg(long)]
    folder: PathBuf,
    /// Output file for the targets with the address of this server, written when it serves
    #[arg(long)]
    ready: PathBuf,
    /// Commit one record to plain sled instead of the daemon's records
    #[arg(long)]
    plain: bool,
    /// Engine of the daemon's records
    #[arg(long, value_enum, default_value_t)]
    engine: Engine,
    /// Database of the daemon's records, with `--engine postgres`
    #[arg(long)]
    database: Option<DatabaseUrl>,
}

enum Limit {
    Twin(Twin),
    Plain(Plain),
}

impl Limit {
    const fn organizations(&self) -> &Organizations {
        match self {
            Self::Twin(twin) => twin.organizations(),
            Self::Plain(plain) => plain.organizations(),
        }
    }

    async fn sign(&self, stamp: &str, body: &[u8]) -> Result<Vec<u8>, Invalid> {
        match self {
            Self::Twin(twin) => twin.sign(stamp, body).await,
            Self::Plain(plain) => plain.sign(stamp, body).await,
        }
    }
}

fn main() {
    let arguments = Arguments::parse();
    let mut targets = Targets::read(&arguments.targets);
    let (known, folder) = (&targets.targets, &arguments.folder);
    let limit = Arc::new(if arguments.plain {
        Limit::Plain(Plain::open(known, folder))
    } else {
        let database = arguments.database.map(|url| DatabaseSettings {
            url,
            ca_file: None,
            password_file: None,
            classes: KEY_CLASSES,
            is_same_store: |known, header| known == header,
        });
        let settings = Settings { engine: arguments.engine, database, ..Settings::default() };
        Limit::Twin(Twin::open(known, folder, &settings))
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        targets.base_url = format!("http://{}", listener.local_addr().expect("a listener has an address"));
        targets.write(&arguments.ready);
        serve(listener, limit).await;
    });
}

async fn serve(listener: TcpListener, limit: Arc<Limit>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        stream.set_nodelay(true).expect("the option exists");
        let limit = Arc::clone(&limit);
        let service = service_fn(move |request| answer(Arc::clone(&limit), request));
        tokio::spawn(async move {
            // A client that disconnects ends only its own connection.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn answer(limit: Arc<Limit>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let stamp = head.headers.get(HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let result = if head.uri.path().ends_with("/whoami") {
        limit.organizations().whoami(stamp, &body)
    } else {
        limit.sign(stamp, &body).await
    };
    let (status, body) = match result {
        Ok(body) => (StatusCode::OK, body),
        Err(error) => (StatusCode::BAD_REQUEST, error.as_bytes().to_vec()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
