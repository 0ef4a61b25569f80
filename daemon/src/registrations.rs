//! Limits how many organizations a client registers over the API, so that one client cannot use up the limit of
//! organizations. It runs before anything is verified or read.

use std::net::IpAddr;

use quorate_common::api_error::{ApiError, Code};

use crate::rate::RateLimiter;
use crate::source::Client;

/// Period of the limit, in milliseconds.
const HOUR: u64 = 3_600_000;

/// The registrations of each client address.
pub struct Registrations(Option<RateLimiter<IpAddr>>);

impl Registrations {
    /// Allows each client address this many requests per hour; `None` allows any number.
    pub fn new(per_hour: Option<u32>) -> Self {
        Self(per_hour.map(|count| RateLimiter::new(count, HOUR)))
    }

    /// Counts a request. Clients of the local socket have no address, and are not limited.
    ///
    /// # Errors
    /// If the client sent too many.
    pub fn count(&self, client: Client, now_millis: u64) -> Result<(), ApiError> {
        match (&self.0, client) {
            (Some(limiter), Client::Network(network)) if !limiter.take(network, now_millis) => {
                let message =
                    "too many requests to register an organization from this address; try again in an hour";
                Err(ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::listener::Listener;

    fn http(address: &str) -> Client {
        let address = address.parse().unwrap();
        Client::of(Listener::Http { address }, Some(address))
    }

    #[test]
    fn a_client_address_registers_few_organizations_per_hour() {
        let registrations = Registrations::new(Some(2));
        let (one, same) = (http("2001:db8::1"), http("2001:db8::ffff:1"));
        for (client, now_millis, expected) in [
            (one, 0, true),
            (same, 0, true),
            (one, 0, false),
            (http("2001:db8:0:1::1"), 0, true),
            (http("192.0.2.1"), 0, true),
            (one, 1_799_999, false),
            (one, 1_800_000, true),
            (one, 1_800_000, false),
        ] {
            assert_eq!(
                registrations.count(client, now_millis).is_ok(),
                expected,
                "{client:?} at {now_millis}"
            );
        }
        let error = registrations.count(one, 1_800_000).err().unwrap();
        assert_eq!((error.code, error.code.http_status()), (Code::ResourceExhausted, 429));
    }

    #[test]
    fn local_clients_are_not_limited() {
        let limited = Registrations::new(Some(1));
        let unlimited = Registrations::new(None);
        for _ in 0..100 {
            assert!(limited.count(Client::User(7), 0).is_ok());
            assert!(unlimited.count(http("192.0.2.1"), 0).is_ok());
        }
    }
}
