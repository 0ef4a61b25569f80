//! Keys in the credentials file of a DEV daemon. They are not encrypted.

use quorate_common::stamp::{ApiKeyCurve, Stamp, Stamper};
use zeroize::Zeroizing;

use super::error::{Cause, KeyError};
use super::source::{Description, KeySource};

/// A key of a credentials file.
pub(crate) struct CredentialsKey {
    /// Secret P-256 scalar.
    secret: Zeroizing<[u8; 32]>,
    description: Description,
}

impl CredentialsKey {
    /// Creates a source from a secret P-256 scalar, and the public key in the file.
    pub(crate) fn new(secret: Zeroizing<[u8; 32]>, public_key: String) -> Self {
        let description = Description {
            name: "credentials file".to_owned(),
            public_key,
            curve: ApiKeyCurve::P256,
            secret: None,
            warning: None,
        };
        Self { secret, description }
    }
}

impl KeySource for CredentialsKey {
    fn describe(&self) -> &Description {
        &self.description
    }

    fn is_locked(&self) -> bool {
        false
    }

    fn stamp(&self, body: &[u8], _: &str) -> Result<Stamp, KeyError> {
        let invalid = |_| KeyError::new(Cause::Failed, &"the credentials file contains no valid P-256 key");
        Stamper::new(ApiKeyCurve::P256, &self.secret).and_then(|stamper| stamper.stamp(body)).map_err(invalid)
    }

    // The file is readable at any time, so there is nothing to lock.
    fn lock(&self) {}
}
