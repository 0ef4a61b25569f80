//! How users of an organization sign in without a credential.

use crate::params::NewUser;

/// Sign-in methods of an organization that need no credential.
#[derive(Debug, Clone, Copy, Default)]
pub struct SignIn {
    /// Sign-in by email.
    pub email: bool,
    /// Sign-in by SMS.
    pub sms: bool,
}

impl SignIn {
    /// Returns whether a new user can sign in by one of these methods.
    pub const fn admits(self, user: &NewUser) -> bool {
        (user.email.is_some() && self.email) || (user.phone.is_some() && self.sms)
    }
}
