//! The running daemon of a configuration, for commands that need it to act.

use std::io::ErrorKind;

use quorate_common::api_error::{ApiError, Code};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::Config;
use crate::outgoing::local::{self, LocalError};
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
    let socket = &config.socket.path;
    let stream = socket::connect(socket).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
            StartError::NoDaemon(socket.display().to_string())
        }
        _ => StartError::Other(format!("cannot connect to {}: {error}", socket.display())),
    })?;
    local::request(stream, &format!("/console/v1/{path}"), body).await.map_err(|error| match error {
        LocalError::Rejected(error) => rejected(error),
        error => StartError::Other(error.to_string()),
    })
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
