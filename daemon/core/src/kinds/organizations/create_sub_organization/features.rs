//! The sign-in features of a new organization.

use crate::kinds::prelude::*;

/// Sign-in features that a new organization has by default.
const DEFAULT_FEATURES: [FeatureName; 4] =
    [FeatureName::EmailRecovery, FeatureName::EmailAuth, FeatureName::SmsAuth, FeatureName::OtpEmailAuth];

/// Sign-in features that the new organization does not get.
#[derive(Default)]
pub(super) struct DisabledFeatures(Vec<FeatureName>);

impl DisabledFeatures {
    /// Collects the features whose flag is present and true.
    pub(super) fn from_flags<const N: usize>(flags: [(FeatureName, Option<bool>); N]) -> Self {
        Self(flags.into_iter().filter(|(_, flag)| *flag == Some(true)).map(|(name, _)| name).collect())
    }

    /// Returns whether the organization gets a feature.
    pub(super) fn allows(&self, name: FeatureName) -> bool {
        !self.0.contains(&name)
    }

    /// Returns the features that the organization gets.
    pub(super) fn remaining(&self) -> impl Iterator<Item = FeatureName> {
        DEFAULT_FEATURES.into_iter().filter(|name| self.allows(*name))
    }
}
