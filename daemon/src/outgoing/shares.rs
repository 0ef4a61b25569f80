//! The shares of tenants in concurrent requests to other services. Services that are not known to answer promptly together
//! get at most half of each share, and those known to be slow at most a quarter.

use crate::load::{Load, Share, Trust};
use crate::readers::Account;

/// Maximum number of concurrent requests for all tenants.
const REQUESTS: usize = 128;
/// Maximum number of concurrent requests for one tenant: a top-level organization with its sub-organizations.
const REQUESTS_OF_TENANT: usize = 32;
/// Maximum number of concurrent requests for a top-level organization, and for all of its sub-organizations together. Both
/// have half of the tenant's share, so that neither can occupy the other's.
pub(crate) const REQUESTS_OF_PARENT: usize = REQUESTS_OF_TENANT / 2;
/// Maximum number of concurrent requests for one sub-organization.
pub(crate) const REQUESTS_OF_SUB_ORGANIZATION: usize = 4;

/// Returns whether an account may begin one more request to a service of this trust, beside those of the other accounts.
pub(crate) fn has_room<'a>(
    begun: &(impl Iterator<Item = (&'a Account, Trust)> + Clone),
    account: &Account,
    trust: Trust,
) -> bool {
    let fits = |most: usize, is_counted: &dyn Fn(&Account) -> bool| {
        let mut load = Load::default();
        begun.clone().filter(|(one, _)| is_counted(one)).for_each(|(_, trust)| load.add(trust, 0));
        load.has_room(Share { deliveries: most, bytes: u64::MAX }, trust, 0)
    };
    let is_of_tenant = |one: &Account| one.tenant == account.tenant;
    if !fits(REQUESTS, &|_| true) {
        return false;
    }
    if account.is_parent() {
        return fits(REQUESTS_OF_PARENT, &|one| is_of_tenant(one) && one.is_parent());
    }
    fits(REQUESTS_OF_TENANT - REQUESTS_OF_PARENT, &|one| is_of_tenant(one) && !one.is_parent())
        && fits(REQUESTS_OF_SUB_ORGANIZATION, &|one| one.organization == account.organization)
}

#[cfg(test)]
mod tests {
    use quorate_common::ids::OrganizationId;

    use super::*;

    fn account(tenant: u8, organization: u8) -> Account {
        let [tenant, organization] =
            [tenant, organization].map(|byte| OrganizationId::from_bytes([byte; 16]));
        Account { tenant, organization }
    }

    fn fits(begun: &[Account], account: &Account) -> bool {
        has_room(&begun.iter().map(|one| (one, Trust::Prompt)), account, Trust::Prompt)
    }

    #[test]
    fn slow_services_leave_room_for_others() {
        let parent = account(1, 1);
        let mut begun = vec![(&parent, Trust::Doubtful); REQUESTS_OF_PARENT / 4];
        assert!(!has_room(&begun.iter().copied(), &parent, Trust::Doubtful));
        begun.extend([(&parent, Trust::Unknown); REQUESTS_OF_PARENT / 4]);
        assert!(!has_room(&begun.iter().copied(), &parent, Trust::Unknown));
        begun.extend([(&parent, Trust::Prompt); REQUESTS_OF_PARENT / 2 - 1]);
        assert!(has_room(&begun.iter().copied(), &parent, Trust::Prompt));
        begun.push((&parent, Trust::Prompt));
        assert!(!has_room(&begun.iter().copied(), &parent, Trust::Prompt));
    }

    #[test]
    fn sixteen_sub_organizations_leave_room_for_their_parent_and_for_other_tenants() {
        let mut begun: Vec<Account> = Vec::new();
        for number in 0..64 {
            let one = account(1, 101 + number % 16);
            if fits(&begun, &one) {
                begun.push(one);
            }
        }
        assert_eq!(begun.len(), 16);
        for _ in 0..16 {
            assert!(fits(&begun, &account(1, 1)));
            begun.push(account(1, 1));
        }
        assert!(!fits(&begun, &account(1, 1)));
        assert!(fits(&begun, &account(2, 2)) && fits(&begun, &account(2, 201)));
    }

    #[test]
    fn one_sub_organization_leaves_room_for_the_others() {
        let mut begun = vec![account(1, 101); 4];
        assert!(!fits(&begun, &account(1, 101)));
        assert!(fits(&begun, &account(1, 102)));
        begun.pop();
        assert!(fits(&begun, &account(1, 101)));
    }

    #[test]
    fn all_tenants_together_have_a_limit() {
        let begun: Vec<_> = (0..8).flat_map(|tenant| vec![account(tenant, tenant); 16]).collect();
        assert!(!fits(&begun, &account(9, 9)));
    }
}
