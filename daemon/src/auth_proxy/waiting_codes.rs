//! How many codes the clients of one site have waiting to be sent.
//!
//! The codes of the proxy have a part of the message queue. A receiver that answers slowly, or delays what it gets, keeps
//! them there for minutes. Anyone who knows such receivers could fill the part, or displace the delayed codes of others.
//! So the codes of each site are counted until they have left the queue, whether its clients wait for the answer or not.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quorate_common::ids::ActivityId;

use crate::source::site;

/// Number of known sites above which those without waiting codes are forgotten.
const SITES: usize = 4096;

/// The codes that wait, by the site that requested them.
#[derive(Clone)]
pub(super) struct WaitingCodes {
    most: usize,
    sites: Arc<Mutex<HashMap<IpAddr, Site>>>,
}

/// The codes of an IPv4 address or an IPv6 /48.
#[derive(Default)]
struct Site {
    /// Requests that may yet queue a code.
    requested: usize,
    /// Activities whose code was queued, and may wait.
    queued: Vec<ActivityId>,
}

/// A place for one code. It ends with the request, unless a code was queued.
pub(super) struct Place {
    codes: WaitingCodes,
    site: IpAddr,
}

impl WaitingCodes {
    /// Allows each site this number of waiting codes.
    pub(super) fn new(most: u32) -> Self {
        Self { most: usize::try_from(most).unwrap_or(usize::MAX), sites: Arc::default() }
    }

    /// Returns a place for a code, if the site of the client has one. `waits` states whether the code of an activity
    /// still waits.
    pub(super) fn take(&self, client: IpAddr, waits: impl Fn(ActivityId) -> bool) -> Option<Place> {
        let address = site(client);
        let mut sites = self.sites();
        if sites.len() >= SITES && !sites.contains_key(&address) {
            sites.retain(|_, site| site.has_codes(&waits));
        }
        let site = sites.entry(address).or_default();
        if site.count() >= self.most {
            site.queued.retain(|activity| waits(*activity));
        }
        if site.count() >= self.most {
            return None;
        }
        site.requested = site.requested.saturating_add(1);
        Some(Place { codes: self.clone(), site: address })
    }

    fn sites(&self) -> MutexGuard<'_, HashMap<IpAddr, Site>> {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Site {
    const fn count(&self) -> usize {
        self.requested.saturating_add(self.queued.len())
    }

    /// Forgets codes that do not wait anymore, and returns whether any is left.
    fn has_codes(&mut self, waits: &impl Fn(ActivityId) -> bool) -> bool {
        self.queued.retain(|activity| waits(*activity));
        self.count() > 0
    }
}

impl Place {
    /// Keeps the place for the code of an activity, until it has left the queue.
    pub(super) fn keep(self, activity: ActivityId) {
        if let Some(site) = self.codes.sites().get_mut(&self.site) {
            site.queued.push(activity);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(site) = self.codes.sites().get_mut(&self.site) {
            site.requested = site.requested.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::net::Ipv4Addr;

    use super::*;

    fn activity(number: u8) -> ActivityId {
        ActivityId::from_bytes([number; 16])
    }

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from(number).into()
    }

    #[test]
    fn a_site_gets_another_place_once_a_code_has_left_the_queue() {
        let codes = WaitingCodes::new(2);
        codes.take(address(1), |_| true).unwrap().keep(activity(1));
        let pending = codes.take(address(1), |_| true).unwrap();
        assert!(codes.take(address(1), |_| true).is_none(), "one waits and one is requested");
        assert!(codes.take(address(2), |_| true).is_some(), "sites are counted apart");
        drop(pending);
        codes.take(address(1), |_| true).unwrap().keep(activity(2));
        assert!(codes.take(address(1), |_| true).is_none());
        assert!(codes.take(address(1), |one| one != activity(1)).is_some(), "the first one was sent");
    }

    #[test]
    fn an_ipv6_site_is_a_48() {
        let codes = WaitingCodes::new(1);
        let _place = codes.take("2001:db8:1:1::1".parse().unwrap(), |_| true).unwrap();
        assert!(codes.take("2001:db8:1:2::1".parse().unwrap(), |_| true).is_none());
        assert!(codes.take("2001:db8:2:1::1".parse().unwrap(), |_| true).is_some());
    }

    #[test]
    fn sites_without_waiting_codes_are_forgotten() {
        let codes = WaitingCodes::new(1);
        codes.take(address(0), |_| true).unwrap().keep(activity(0));
        for number in 1..100_000 {
            codes.take(address(number), |one| one == activity(0)).unwrap().keep(activity(1));
        }
        assert!(codes.sites().len() <= SITES);
        assert!(codes.take(address(0), |_| true).is_none());
    }
}
