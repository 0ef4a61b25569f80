//! A test daemon behind a real socket. It serves the console routes from one record and records votes like
//! the real daemon.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use quorate_common::activity::{Selection, Status};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::console::{
    ActivityPage, DaemonStatus, HistoryPage, InboxPage, Mode, OrganizationInbox, OrganizationPage, PROTOCOL,
    ReviewRecord,
};
use quorate_common::stamp::{HEADER, Stamp};
use quorate_common::wire::Timestamp;
use serde_json::{Value, json};

use crate::clock::now_millis;
use crate::files::Folders;
use crate::testing::Fixture;

/// How the test daemon behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behavior {
    /// Like the real daemon.
    Honest,
    /// Reports another console protocol version.
    OtherProtocol,
    /// Has the same protocol, but neither inbox nor history.
    WithoutLists,
    /// Runs in production mode.
    Production,
    Sealed,
    /// Drops the connection instead of answering the first vote.
    LosesAnswer,
    /// Drops the connection instead of answering the first vote, and limits the second request with it.
    LosesAnswerAndLimits,
    /// Records votes, and answers nothing else afterwards because of a limit.
    LimitsAfterVotes,
    /// Answers votes with success but records nothing.
    RecordsNothing,
    /// Fails when it executes the activity.
    FailsExecution,
}

pub(crate) struct Fake {
    folder: tempfile::TempDir,
    /// Record that the daemon serves.
    pub(crate) record: Arc<Mutex<ReviewRecord>>,
    /// Bodies of all votes received.
    pub(crate) votes: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    /// Starts a daemon that serves this record.
    pub(crate) fn start(record: ReviewRecord, behavior: Behavior) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = tokio::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        let record = Arc::new(Mutex::new(record));
        let votes = Arc::new(Mutex::new(Vec::new()));
        let (shared, received) = (Arc::clone(&record), Arc::clone(&votes));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (record, votes) = (Arc::clone(&shared), Arc::clone(&received));
                tokio::spawn(async move {
                    let service = service_fn(move |request| {
                        answer(request, Arc::clone(&record), Arc::clone(&votes), behavior)
                    });
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self { folder, record, votes }
    }

    /// Returns the folders of a user, empty at first.
    pub(crate) fn folders(&self) -> Folders {
        Folders { config: self.folder.path().join("config"), state: self.folder.path().join("state") }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Writes a credentials file with the keys of all users and returns its path.
    pub(crate) fn credentials(&self) -> PathBuf {
        let path = self.folder.path().join("credentials.json");
        let users: Vec<Value> = (0..5u8)
            .map(|index| {
                let at = usize::from(index);
                let name = ["mira", "jo", "ana", "kenji", "sam"][at];
                json!({"userId": Fixture::user(at), "userName": name,
                    "publicKey": Fixture::stamper(at).public_key(), "privateKey": const_hex::encode([index + 1; 32])})
            })
            .collect();
        let file = json!({"baseUrl": "http://127.0.0.1:1", "socket": self.socket(), "organizationId": Fixture::id(), "rootUsers": users});
        crate::files::write_private(Path::new(&path), file.to_string().as_bytes()).unwrap();
        path
    }
}

async fn answer(
    request: Request<Incoming>,
    record: Arc<Mutex<ReviewRecord>>,
    votes: Arc<Mutex<Vec<String>>>,
    behavior: Behavior,
) -> Result<Response<Full<Bytes>>, std::io::Error> {
    let path = request.uri().path().to_owned();
    let stamp = request.headers().get(HEADER).map(|value| value.to_str().unwrap().to_owned());
    let body = request.into_body().collect().await.map_err(std::io::Error::other)?.to_bytes();
    if let Some(reason) = refused(behavior, &path) {
        return Ok(error(&reason));
    }
    if path.starts_with("/public/v1/submit/") {
        return submitted(&body, &stamp.unwrap(), (&record, &votes), behavior);
    }
    if behavior == Behavior::LimitsAfterVotes && !votes.lock().unwrap().is_empty() {
        return Ok(error(&ApiError::new(Code::ResourceExhausted, "too many requests")));
    }
    let record = record.lock().unwrap().clone();
    let id = Fixture::id();
    Ok(match path.strip_prefix("/console/v1/").unwrap_or_default() {
        "status" => ok(&json!(DaemonStatus {
            protocol: if behavior == Behavior::OtherProtocol { PROTOCOL + 1 } else { PROTOCOL },
            version: "0.1.0".to_owned(),
            mode: if behavior == Behavior::Production { Mode::Production } else { Mode::Dev },
            started_at: Timestamp::from_millis(now_millis()),
            now_millis: now_millis(),
            process_id: 1,
            base_url: None,
            quorum_public_key: String::new(),
            keys_locked: true,
            strict_deny_errors: false,
            sealing_key: None,
            awaits_release: false,
            last_backup: None,
            journal: None,
            log: None,
            engine: None,
            store: None,
        })),
        "organizations" => {
            ok(&json!(OrganizationPage { organizations: vec![record.organization.head], next: None }))
        }
        path if path == format!("organizations/{id}") => ok(&json!(record.organization)),
        // It is of an earlier version, without an activity log.
        path if path == format!("organizations/{id}/checkpoint") => {
            error(&ApiError::new(Code::NotFound, "Not Found"))
        }
        path if path == format!("organizations/{id}/inbox") => {
            let waits = record.row.activity.status.waits();
            let one = OrganizationInbox { organization: record.organization, activities: vec![record.row] };
            ok(&json!(InboxPage {
                organizations: if waits { vec![one] } else { Vec::new() },
                next: None,
                waiting: Some(u64::from(waits)),
                is_complete: true,
            }))
        }
        path if path == format!("organizations/{id}/history") => {
            ok(&json!(HistoryPage { activities: vec![record.row], next: None, reached: None }))
        }
        path if path == format!("organizations/{id}/activities") => {
            let waiting = Some(u64::from(record.row.activity.status.waits()));
            ok(&json!(ActivityPage { activities: vec![record.row], next: None, waiting }))
        }
        path => {
            let wanted = path.rsplit('/').next().unwrap_or_default();
            let known = [record.row.activity.id.to_string(), record.row.activity.fingerprint.to_string()];
            if known.contains(&wanted.to_owned()) {
                ok(&json!(record))
            } else {
                error(&ApiError::new(Code::NotFound, "no such activity"))
            }
        }
    })
}

/// Answers a vote.
fn submitted(
    body: &[u8],
    stamp: &str,
    (record, votes): (&Mutex<ReviewRecord>, &Mutex<Vec<String>>),
    behavior: Behavior,
) -> Result<Response<Full<Bytes>>, std::io::Error> {
    let message = String::from_utf8(body.to_vec()).unwrap();
    let stamp = Stamp::read(stamp).unwrap();
    let known = votes.lock().unwrap().contains(&message);
    votes.lock().unwrap().push(message.clone());
    if !known && behavior != Behavior::RecordsNothing {
        apply_vote(&mut record.lock().unwrap(), &message, &stamp, behavior);
    }
    if matches!(behavior, Behavior::LosesAnswer | Behavior::LosesAnswerAndLimits) && !known {
        return Err(std::io::Error::other("lost"));
    }
    if behavior == Behavior::LosesAnswerAndLimits && votes.lock().unwrap().len() == 2 {
        return Ok(error(&ApiError::new(Code::ResourceExhausted, "too many requests")));
    }
    let activity = json!(record.lock().unwrap().row.activity);
    Ok(ok(&json!({"activity": activity})))
}

/// Returns the error with which a daemon answers a request for a path.
fn refused(behavior: Behavior, path: &str) -> Option<ApiError> {
    match behavior {
        Behavior::Sealed => Some(ApiError::new(Code::Unavailable, "the daemon is sealed")),
        Behavior::WithoutLists if path.ends_with("/inbox") || path.ends_with("/history") => {
            Some(ApiError::new(Code::NotFound, "Not Found"))
        }
        _ => None,
    }
}

/// Records the vote, and executes or rejects the activity if the vote decides it.
fn apply_vote(record: &mut ReviewRecord, message: &str, stamp: &Stamp, behavior: Behavior) {
    let organization = record.organization.clone();
    let has_key = |user: &&quorate_common::wire::User| {
        user.api_keys.iter().any(|key| key.credential.public_key == stamp.public_key)
    };
    let user = organization.users.iter().find(has_key).unwrap().user_id;
    let voter = (0..organization.users.len()).find(|index| Fixture::user(*index) == user).unwrap();
    let is_rejection = message.contains("REJECT");
    let selection = if is_rejection { Selection::Rejected } else { Selection::Approved };
    let vote = Fixture::vote(record.row.activity.id, voter, selection, message, stamp, now_millis());
    let activity = &mut record.row.activity;
    activity.votes.push(vote);
    let needed = usize::try_from(organization.head.root_quorum.threshold).unwrap();
    if is_rejection {
        activity.status = Status::Rejected;
    } else if activity.votes.len() >= needed {
        activity.status =
            if behavior == Behavior::FailsExecution { Status::Failed } else { Status::Completed };
    }
    match (&mut record.row.waiting, activity.status) {
        (Some(waiting), Status::ConsensusNeeded) => {
            waiting.counted.push(user);
            waiting.open_to.retain(|open| *open != user);
        }
        (waiting, _) => *waiting = None,
    }
}

fn ok(value: &Value) -> Response<Full<Bytes>> {
    Response::new(Full::new(Bytes::from(value.to_string())))
}

fn error(error: &ApiError) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(error.body())));
    *response.status_mut() = StatusCode::from_u16(error.code.http_status()).unwrap();
    response
}
