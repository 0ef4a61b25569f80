//! Requests of commands to the daemon on this machine, over its local socket.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use quorate_common::api_error::ApiError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};

/// Maximum size of an answer, in bytes.
const ANSWER_BYTES: usize = 1024 * 1024;

/// Why a request has no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// The connection failed.
    #[error("the daemon did not answer: {0}")]
    Lost(String),
    /// The daemon rejected the request.
    #[error("{}", .0.message)]
    Rejected(ApiError),
    /// The answer cannot be read.
    #[error("the answer of the daemon cannot be read: {0}; use the same version of both")]
    Unreadable(String),
}

/// Sends a request over a connection of its own. A request with a body is a `POST`.
///
/// # Errors
/// Returns [`LocalError`] if there is no answer, or one that rejects the request.
pub async fn request<T: DeserializeOwned>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    path: &str,
    body: Option<&(impl Serialize + Sync)>,
) -> Result<T, LocalError> {
    let lost = |error: hyper::Error| LocalError::Lost(error.to_string());
    let unreadable = |error: &dyn std::fmt::Display| LocalError::Unreadable(error.to_string());
    let method = if body.is_some() { Method::POST } else { Method::GET };
    let body = body.map(serde_json::to_vec).transpose().map_err(|error| unreadable(&error))?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, "quorate")
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body.unwrap_or_default())))
        .map_err(|error| unreadable(&error))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
    let connection = tokio::spawn(connection);
    let answer = sender.send_request(request).await.map_err(lost)?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES).collect().await;
    let body = body.map_err(|error| LocalError::Lost(error.to_string()))?.to_bytes();
    connection.abort();
    if status == StatusCode::OK {
        return serde_json::from_slice(&body).map_err(|error| unreadable(&error));
    }
    let error = serde_json::from_slice(&body).map_err(|error| unreadable(&error))?;
    Err(LocalError::Rejected(error))
}
