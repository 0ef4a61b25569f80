//! How users of an organization sign in without a credential.

use crate::error::{Conflict, Intent, Missing, RequestError};
use crate::model::one_time_code::Contact;
use crate::model::{FeatureName, Organization, User};
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

/// Checks that a feature is enabled in an organization.
///
/// # Errors
/// [`Intent::FeatureOff`] if it is not.
pub fn check_feature(feature: FeatureName, organization: &Organization) -> Result<(), RequestError> {
    let is_on = organization.feature(feature).is_some();
    if is_on { Ok(()) } else { Err(Intent::FeatureOff(feature.name()).into()) }
}

/// Returns the user with this contact. If several users have it, only those count who proved it.
///
/// # Errors
/// [`Missing::Contact`] if no user has the contact, or an error if it does not identify one user.
pub fn holder<'o>(contact: &Contact, organization: &'o Organization) -> Result<&'o User, RequestError> {
    let holders: Vec<&User> = organization.users().filter(|user| contact.is_of(user)).collect();
    match holders.as_slice() {
        [] => Err(Missing::Contact(contact.noun()).into()),
        [user] => Ok(*user),
        several => {
            let mut verified = several.iter().filter(|user| contact.is_verified_by(user));
            match (verified.next(), verified.next()) {
                (Some(user), None) => Ok(*user),
                _ => Err(Conflict::Contact.into()),
            }
        }
    }
}
