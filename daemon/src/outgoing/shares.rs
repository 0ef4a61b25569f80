//! The shares of tenants in concurrent requests to other services.

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

/// Returns whether an account may begin one more request, beside those of the other accounts.
pub(crate) fn has_room<'a>(begun: &(impl Iterator<Item = &'a Account> + Clone), account: &Account) -> bool {
    let count = |is_counted: &dyn Fn(&Account) -> bool| begun.clone().filter(|one| is_counted(one)).count();
    let is_of_tenant = |one: &Account| one.tenant == account.tenant;
    if count(&|_| true) >= REQUESTS {
        return false;
    }
    if account.is_parent() {
        return count(&|one| is_of_tenant(one) && one.is_parent()) < REQUESTS_OF_PARENT;
    }
    count(&|one| is_of_tenant(one) && !one.is_parent()) < REQUESTS_OF_TENANT - REQUESTS_OF_PARENT
        && count(&|one| one.organization == account.organization) < REQUESTS_OF_SUB_ORGANIZATION
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

    #[test]
    fn sixteen_sub_organizations_leave_room_for_their_parent_and_for_other_tenants() {
        let mut begun: Vec<Account> = Vec::new();
        for number in 0..64 {
            let one = account(1, 101 + number % 16);
            if has_room(&begun.iter(), &one) {
                begun.push(one);
            }
        }
        assert_eq!(begun.len(), 16);
        for _ in 0..16 {
            assert!(has_room(&begun.iter(), &account(1, 1)));
            begun.push(account(1, 1));
        }
        assert!(!has_room(&begun.iter(), &account(1, 1)));
        assert!(has_room(&begun.iter(), &account(2, 2)) && has_room(&begun.iter(), &account(2, 201)));
    }

    #[test]
    fn one_sub_organization_leaves_room_for_the_others() {
        let mut begun = vec![account(1, 101); 4];
        assert!(!has_room(&begun.iter(), &account(1, 101)));
        assert!(has_room(&begun.iter(), &account(1, 102)));
        begun.pop();
        assert!(has_room(&begun.iter(), &account(1, 101)));
    }

    #[test]
    fn all_tenants_together_have_a_limit() {
        let begun: Vec<_> = (0..8).flat_map(|tenant| vec![account(tenant, tenant); 16]).collect();
        assert!(!has_room(&begun.iter(), &account(9, 9)));
    }
}
