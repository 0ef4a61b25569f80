//! Addresses of what the console and the command line show: `quorate://ORGANIZATION/NOUN/ID`, with ids only. An address
//! states where something is, and nothing about it: what it shows comes from the daemon and is checked as always.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use quorate_common::ids::{ActivityId, OrganizationId, PolicyId, UserId, WalletId};

const SCHEME: &str = "quorate://";

/// The address of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) organization: OrganizationId,
    pub(crate) object: Object,
}

/// What an address means within its organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Object {
    /// The organization itself.
    Organization,
    Activity(ActivityId),
    User(UserId),
    Policy(PolicyId),
    Wallet(WalletId),
}

/// Why a text is not an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an address: expected quorate://ORGANIZATION or quorate://ORGANIZATION/activity|user|policy|wallet/ID, with ids"
)]
pub(crate) struct AddressError;

impl Address {
    /// Creates the address of an activity.
    pub(crate) const fn of_activity(organization: OrganizationId, id: ActivityId) -> Self {
        Self { organization, object: Object::Activity(id) }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let mut parts = text.strip_prefix(SCHEME).ok_or(AddressError)?.split('/');
        let organization = id(parts.next())?;
        let object = match parts.next() {
            None => Object::Organization,
            Some("activity") => Object::Activity(id(parts.next())?),
            Some("user") => Object::User(id(parts.next())?),
            Some("policy") => Object::Policy(id(parts.next())?),
            Some("wallet") => Object::Wallet(id(parts.next())?),
            Some(_) => return Err(AddressError),
        };
        if parts.next().is_some() { Err(AddressError) } else { Ok(Self { organization, object }) }
    }
}

fn id<T: FromStr>(text: Option<&str>) -> Result<T, AddressError> {
    text.and_then(|text| text.parse().ok()).ok_or(AddressError)
}

impl Display for Address {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{SCHEME}{}", self.organization)?;
        match self.object {
            Object::Organization => Ok(()),
            Object::Activity(id) => write!(formatter, "/activity/{id}"),
            Object::User(id) => write!(formatter, "/user/{id}"),
            Object::Policy(id) => write!(formatter, "/policy/{id}"),
            Object::Wallet(id) => write!(formatter, "/wallet/{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_was_written() {
        let organization = OrganizationId::from_bytes([1; 16]);
        let objects = [
            Object::Organization,
            Object::Activity(ActivityId::from_bytes([2; 16])),
            Object::User(UserId::from_bytes([3; 16])),
            Object::Policy(PolicyId::from_bytes([4; 16])),
            Object::Wallet(WalletId::from_bytes([5; 16])),
        ];
        for object in objects {
            let address = Address { organization, object };
            assert_eq!(address.to_string().parse(), Ok(address));
        }
    }

    #[test]
    fn nothing_but_ids_is_taken_from_an_address() {
        let organization = OrganizationId::from_bytes([1; 16]);
        let wrong = [
            "quorate://".to_owned(),
            "quorate://treasury".to_owned(),
            organization.to_string(),
            format!("quorate:{organization}"),
            format!("quorate://{organization}/"),
            format!("quorate://{organization}/activity"),
            format!("quorate://{organization}/activity/x"),
            format!("quorate://{organization}/invoice/{organization}"),
            format!("quorate://{organization}/user/{organization}/more"),
            format!("quorate://{organization}/user/{organization}?name=mira"),
        ];
        for text in wrong {
            assert_eq!(text.parse::<Address>(), Err(AddressError), "{text}");
        }
    }
}
