//! Requests of commands to the daemon on this machine, over its local socket.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use quorate_common::api_error::ApiError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::task::AbortOnDropHandle;

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

/// An answer that is read while it arrives.
pub struct Stream {
    body: Incoming,
    /// Ends the connection with the stream.
    _connection: AbortOnDropHandle<Result<(), hyper::Error>>,
}

impl Stream {
    /// Returns the next bytes, or `None` at the end.
    ///
    /// # Errors
    /// Returns [`LocalError::Lost`] if the connection ends.
    pub async fn next(&mut self) -> Result<Option<Bytes>, LocalError> {
        loop {
            match self.body.frame().await.transpose() {
                Ok(None) => return Ok(None),
                Ok(Some(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
                Err(error) => return Err(LocalError::Lost(error.to_string())),
            }
        }
    }
}

/// Sends a `POST` without a body, whose answer is read while it arrives.
///
/// # Errors
/// Returns [`LocalError`] if there is no answer, or one that rejects the request.
pub async fn stream(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    path: &str,
) -> Result<Stream, LocalError> {
    let (answer, connection) = send(stream, Method::POST, path, Bytes::from_static(b"{}")).await?;
    if answer.status() == StatusCode::OK {
        return Ok(Stream { body: answer.into_body(), _connection: connection });
    }
    Err(rejected(answer).await)
}

async fn rejected(answer: Response<Incoming>) -> LocalError {
    match Limited::new(answer.into_body(), ANSWER_BYTES).collect().await {
        Err(error) => LocalError::Lost(error.to_string()),
        Ok(body) => match serde_json::from_slice(&body.to_bytes()) {
            Ok(error) => LocalError::Rejected(error),
            Err(error) => LocalError::Unreadable(error.to_string()),
        },
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    method: Method,
    path: &str,
    body: Bytes,
) -> Result<(Response<Incoming>, AbortOnDropHandle<Result<(), hyper::Error>>), LocalError> {
    let lost = |error: hyper::Error| LocalError::Lost(error.to_string());
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, "quorate")
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(body))
        .map_err(|error| LocalError::Unreadable(error.to_string()))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
    let connection = AbortOnDropHandle::new(tokio::spawn(connection));
    Ok((sender.send_request(request).await.map_err(lost)?, connection))
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
    let unreadable = |error: serde_json::Error| LocalError::Unreadable(error.to_string());
    let method = if body.is_some() { Method::POST } else { Method::GET };
    let body = body.map(serde_json::to_vec).transpose().map_err(unreadable)?;
    let (answer, _connection) = send(stream, method, path, Bytes::from(body.unwrap_or_default())).await?;
    if answer.status() != StatusCode::OK {
        return Err(rejected(answer).await);
    }
    let body = Limited::new(answer.into_body(), ANSWER_BYTES).collect().await;
    let body = body.map_err(|error| LocalError::Lost(error.to_string()))?.to_bytes();
    serde_json::from_slice(&body).map_err(unreadable)
}
