//! Serves a sealed daemon until its holders have opened the store.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::StartError;
use super::listening::Listening;
use super::location::{Data, lock_folder};
use crate::custody::{Custody, Headers, Sealed};
use crate::http::Server;
use crate::telemetry::{Metrics, Readiness, SharedReadiness};
use crate::vault::{Header, SlotState, StoreKey, VaultError};

/// Serves the state of the seal until enough holders have given their shares, or until `stop`. Returns the store key,
/// or `None` if the daemon is to stop. The listeners stay bound.
///
/// # Errors
/// Returns an error if the header cannot be read, or no slot is opened by shares.
pub async fn unseal(
    data: &Data,
    listening: &Listening,
    stop: &CancellationToken,
) -> Result<Option<StoreKey>, StartError> {
    // Another process that opened the store meanwhile would make the shares useless.
    let _lock = lock_folder(&data.folder)?;
    let headers = Headers::of_sealed(data.folder.clone(), data.database.clone());
    let header = tokio::task::block_in_place(|| headers.read())?;
    header.served_engine(&data.folder, data.engine)?;
    unseal_header(headers, &header, data, listening, stop).await
}

/// Waits until enough holders have given their shares for the header of a backup, or until `stop`. Returns the store key,
/// or `None` if it stopped.
///
/// # Errors
/// Returns an error if no slot is opened by shares.
pub async fn unseal_backup(
    header: Header,
    data: &Data,
    listening: &Listening,
    stop: &CancellationToken,
) -> Result<Option<StoreKey>, StartError> {
    unseal_header(Headers::of_backup(header.clone()), &header, data, listening, stop).await
}

async fn unseal_header(
    headers: Headers,
    header: &Header,
    data: &Data,
    listening: &Listening,
    stop: &CancellationToken,
) -> Result<Option<StoreKey>, StartError> {
    let Some(shares) = header.slots(SlotState::Active).find_map(|slot| slot.shares()) else {
        return Err(VaultError::NoShares(data.folder.display().to_string()).into());
    };
    let (threshold, holders) = (shares.threshold, shares.holders.len());
    let custody = Custody::sealed(headers);
    let done = custody.done().clone();
    let readiness = SharedReadiness::default();
    readiness.set(Readiness::Sealed);
    let service = Arc::new(Sealed::new(Arc::clone(&custody)));
    let server =
        Server::new(service, Metrics::new(), readiness, listening.proxies.clone(), &listening.requests);
    tracing::info!(threshold, holders, "sealed: waiting for shares");
    let ended = stop.child_token();
    let serving = async {
        let http = async {
            if let Some(http) = &listening.http {
                http.run_until(server.clone(), ended.clone()).await;
            }
        };
        let socket = listening.socket.run_until(server.clone(), ended.clone());
        tokio::join!(http, socket);
    };
    tokio::pin!(serving);
    tokio::select! {
        () = serving.as_mut() => {}
        () = done.cancelled() => {
            // The last holder still gets an answer.
            ended.cancel();
            serving.await;
        }
    }
    Ok(custody.take_opened())
}
