//! Opens a session of the proposer that can only query.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("CREATE_READ_ONLY_SESSION", "Open read-only session", describe);

#[expect(clippy::unnecessary_wraps, reason = "every kind has this signature")]
fn describe(_: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let proposer = context.proposer.map(|id| id.to_string()).unwrap_or_default();
    Ok(Description::new(
        context.user_short(&proposer),
        format!(
            "Open a session of {} for one hour. The holder of its token can query this organization and do \
             nothing else.",
            context.proposer_named()
        ),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_the_session() {
        crate::kinds::tests::check("create_read_only_session", &[("CREATE_READ_ONLY_SESSION", json!({}))]);
    }
}
