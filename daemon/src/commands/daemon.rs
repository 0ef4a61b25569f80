//! The running daemon of a configuration, for commands that need it to act.

use std::io::ErrorKind;

use quorate_common::api_error::{ApiError, Code};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::config::Config;
use crate::outgoing::local::{self, LocalError, Stream};
use crate::service::StartError;
use crate::socket;

/// Sends a request to the daemon. A request with a body is a `POST`.
///
/// # Errors
/// Returns an error if no daemon listens, or it rejects the request.
pub(super) async fn request<T: DeserializeOwned>(
    config: &Config,
    path: &str,
    body: Option<&(impl Serialize + Sync)>,
) -> Result<T, StartError> {
    let answer = local::request(connect(config).await?, &format!("/console/v1/{path}"), body).await;
    answer.map_err(failed)
}

/// Sends a request to the daemon, whose answer is read while it arrives.
///
/// # Errors
/// Returns an error if no daemon listens, or it rejects the request.
pub(super) async fn stream(config: &Config, path: &str) -> Result<Stream, StartError> {
    let answer = local::stream(connect(config).await?, &format!("/console/v1/{path}")).await;
    answer.map_err(failed)
}

async fn connect(
    config: &Config,
) -> Result<impl AsyncRead + AsyncWrite + Unpin + Send + 'static, StartError> {
    let socket = &config.socket.path;
    socket::connect(socket).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
            StartError::NoDaemon(socket.display().to_string())
        }
        _ => StartError::Other(format!("cannot connect to {}: {error}", socket.display())),
    })
}

fn failed(error: LocalError) -> StartError {
    match error {
        LocalError::Rejected(error) => rejected(error),
        error => StartError::Other(error.to_string()),
    }
}

fn rejected(error: ApiError) -> StartError {
    let ApiError { code, message, .. } = error;
    match code {
        Code::InvalidArgument => StartError::Usage(message),
        Code::Unavailable if message.contains("sealed") => {
            StartError::Sealed(format!("{message}; holders give their shares with 'quorate unseal'"))
        }
        _ => StartError::Other(message),
    }
}
