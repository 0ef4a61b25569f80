//! The service of a sealed daemon: on the local socket, it answers what concerns custody; everything else is
//! unavailable.

use std::sync::Arc;

use super::Custody;
use crate::listener::{Answer, Incoming, Service};

/// Prefix of the paths of the local socket.
const CONSOLE: &str = "/console/v1/";

/// The service of a sealed daemon.
pub struct Sealed(Arc<Custody>);

impl Sealed {
    /// Creates the service for a custody.
    pub const fn new(custody: Arc<Custody>) -> Self {
        Self(custody)
    }
}

impl Service for Sealed {
    fn counts(&self, head: &Incoming) -> bool {
        !head.listener.serves_console()
    }

    async fn call(&self, incoming: Incoming) -> Answer {
        if incoming.listener.serves_console()
            && let Some(rest) = incoming.path().strip_prefix(CONSOLE)
            && let Some(answer) = self.0.answer(rest, &incoming).await
        {
            return answer;
        }
        Answer::sealed()
    }
}
