//! The listeners of a daemon, bound before they serve.

use std::net::SocketAddr;
use std::path::PathBuf;

use quorate_common::console::Mode;
use tokio_rustls::TlsAcceptor;

use super::{ServiceSettings, StartError};
use crate::custody::SealCheck;
use crate::http::HttpListener;
use crate::http::limits::{Limits as ListenerLimits, RequestLimits};
use crate::socket::SocketListener;
use crate::source::Proxies;

/// Settings of the HTTP listener.
pub struct HttpSettings {
    /// Address to listen on; port 0 selects a free port.
    pub listen: SocketAddr,
    /// URL that clients use; `None` if it is the address listened on.
    pub base_url: Option<String>,
    /// TLS acceptor with certificate and key; `None` to serve plain HTTP.
    pub tls: Option<TlsAcceptor>,
    /// Deadlines and counts of the listener.
    pub limits: ListenerLimits,
    /// Proxies that are trusted to report the client address.
    pub proxies: Proxies,
}

/// Settings of all listeners and of the service behind them.
pub struct Listeners {
    /// HTTP listener, if there is one.
    pub http: Option<HttpSettings>,
    /// Path of the local socket.
    pub socket: PathBuf,
    /// Group whose members may connect besides the owner.
    pub group: Option<u32>,
    /// Limits on concurrent requests and their memory.
    pub requests: RequestLimits,
    /// Mode in which the daemon was started.
    pub mode: Mode,
    /// Checks that the daemon can start again, sealed; `None` if it cannot be sealed.
    pub seal_check: Option<SealCheck>,
    /// Settings of the service.
    pub settings: ServiceSettings,
}

/// Bound listeners, and the settings of what they serve.
pub struct Listening {
    /// HTTP listener, if there is one.
    pub(super) http: Option<HttpListener>,
    /// URL that clients use, if there is an HTTP listener.
    pub(super) base_url: Option<String>,
    /// Local socket.
    pub(super) socket: SocketListener,
    /// Proxies that are trusted to report the client address.
    pub(super) proxies: Proxies,
    /// Limits on concurrent requests and their memory.
    pub(super) requests: RequestLimits,
    /// Mode in which the daemon was started.
    pub(super) mode: Mode,
    /// Checks that the daemon can start again, sealed; `None` if it cannot be sealed.
    pub(super) seal_check: Option<SealCheck>,
    /// Settings of the service.
    pub(super) settings: ServiceSettings,
}

impl Listening {
    /// Returns the settings of the service.
    pub const fn settings(&self) -> &ServiceSettings {
        &self.settings
    }

    /// Binds the listeners.
    ///
    /// # Errors
    /// Returns an error if one cannot be bound.
    pub async fn bind(listeners: Listeners) -> Result<Self, StartError> {
        let Listeners { http, socket, group, requests, mode, seal_check, settings } = listeners;
        let socket = SocketListener::bind(&socket, group, ListenerLimits::socket()).await?;
        let proxies = http.as_ref().map(|http| http.proxies.clone()).unwrap_or_default();
        let (http, base_url) = match http {
            None => (None, None),
            Some(http) => {
                let (listener, base_url) = bind(http).await?;
                (Some(listener), Some(base_url))
            }
        };
        Ok(Self { http, base_url, socket, proxies, requests, mode, seal_check, settings })
    }
}

async fn bind(settings: HttpSettings) -> Result<(HttpListener, String), StartError> {
    let HttpSettings { listen, base_url, tls, limits, .. } = settings;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let failed = |source| StartError::Listen { address: listen, source };
    let listener = HttpListener::bind(listen, tls, limits).await.map_err(failed)?;
    let address = listener.local_address().map_err(failed)?;
    Ok((listener, base_url.unwrap_or_else(|| format!("{scheme}://{address}"))))
}
