//! The claim of an authorization code, which is durable before the code is exchanged.

use quorate_common::ids::OrganizationId;

use super::Commit;
use crate::model::layout::sign_in;
use crate::model::write::Write;
use crate::oauth2::Exchange;

/// Returns the commit that claims the code of an exchange, on the condition that no other request did, and that the
/// organizations, on which the permit for the exchange relies, still have these versions.
pub fn claim(exchange: &Exchange, permitted_on: &[(OrganizationId, u64)]) -> Commit {
    let key = exchange.claim.clone();
    let mut expect = permitted_on.to_vec();
    expect.sort_unstable();
    expect.dedup();
    Commit {
        expect,
        writes: vec![
            Write::mark(sign_in::due(exchange.claim_ends, &key), &[]),
            Write::mark_new(key.clone(), &[]),
        ],
        must_not_exist: vec![key],
        ..Commit::default()
    }
}
