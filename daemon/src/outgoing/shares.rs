//! The shares of tenants in concurrent requests to other services.

use crate::readers::Account;

/// Maximum number of concurrent requests for all tenants.
const REQUESTS: usize = 128;
/// Maximum number of concurrent requests for one tenant: a top-level organization with its sub-organizations.
const REQUESTS_OF_TENANT: usize = 32;
/// Maximum number of concurrent requests for one organization of a tenant.
pub(crate) const REQUESTS_OF_ORGANIZATION: usize = 4;

/// Returns whether an account may begin one more request, beside those of the other accounts.
pub(crate) fn has_room<'a>(begun: &(impl Iterator<Item = &'a Account> + Clone), account: &Account) -> bool {
    let count = |is_counted: &dyn Fn(&Account) -> bool| begun.clone().filter(|one| is_counted(one)).count();
    count(&|_| true) < REQUESTS
        && count(&|one| one.tenant == account.tenant) < REQUESTS_OF_TENANT
        && count(&|one| one.organization == account.organization) < REQUESTS_OF_ORGANIZATION
}
