//! Test support: the shared state of an executor, on a store in a directory.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quorate_core::limits::Limits;
use quorate_core::policy::DenyErrors;

use super::effects::Effects;
use super::{CommitError, Executor, Shared, WorldSettings};
use crate::barrier::Barrier;
use crate::epoch::Epoch;
use crate::guard::Guard;
use crate::identity::Identity;
use crate::store::{Batch, Store};
use crate::vault::{KeySource, Vault};

/// Opens or creates key, vault and guard file in a directory, and the daemon's keys in a store.
pub(crate) fn shared(folder: &Path, store: Arc<dyn Store>) -> (Arc<Shared>, Identity) {
    let key = KeySource::File(folder.join("key"));
    let open = if Vault::exists(folder).unwrap() { Vault::open } else { Vault::create };
    let barrier = Barrier::new(store, open(folder, &key).unwrap());
    let identity = Identity::load_or_create(&barrier).unwrap();
    let settings = WorldSettings {
        webhooks: Box::new(|_| Ok(())),
        mail: None,
        sms: None,
        senders: Box::new(|_| false),
        child_branding: false,
        allow_registration: false,
        trusted: Vec::new(),
        deny_errors: DenyErrors::default(),
        is_dev: false,
        oidc: crate::issuers::OidcSettings::default(),
        oauth2: None,
    };
    let (guard, _) = Guard::open(&folder.join("guard"), &barrier, 0).unwrap();
    (
        Arc::new(Shared::new(
            barrier,
            guard,
            identity.clone(),
            Limits::default(),
            settings,
            Epoch::default(),
        )),
        identity,
    )
}

impl Executor {
    /// Commits a batch as it is.
    pub(crate) async fn commit_batch(&self, batch: Batch) -> Result<(), CommitError> {
        self.committer.commit(batch, Effects::default(), None).await
    }
}

impl Shared {
    /// Compares all records with their digest.
    pub(crate) fn compare_all(&self) {
        self.guard.compare_for(&self.barrier, Duration::from_secs(1000)).unwrap();
    }
}
