//! Tests of reviews of drafts.

use std::sync::Arc;

use super::*;
use crate::ballot::ActivityRequest;

/// Reviews a draft of the first user.
fn draft(
    organization: &OrganizationDetail,
    pinned: Option<OrganizationId>,
    known_keys: &KnownKeys,
) -> Result<Review, String> {
    let request = ActivityRequest {
        activity_type: "ACTIVITY_TYPE_CREATE_USER_TAG",
        path: "/public/v1/submit/create_user_tag",
        parameters: json!({"userTagName": "a", "userIds": []}),
    };
    let stamper = Fixture::stamper(0);
    let context = DraftContext {
        organization: &Arc::new(organization.clone()),
        viewer: &Viewer {
            organization: pinned,
            user: Some(Fixture::user(0)),
            pinned_by: PinnedBy::Id,
            ..Viewer::default()
        },
        public_key: stamper.public_key(),
        known_keys,
        book: &crate::book::Book::EMPTY,
        signers: &crate::policies::ResolvedNames::new(),
        strict_deny_errors: false,
        now: NOW,
    };
    Review::of_request(&request, &context)
}

#[test]
fn drafts_require_the_pinned_organization() {
    let organization = Fixture::new(3, 2).organization();
    let proposed = |pinned| draft(&organization, pinned, &KnownKeys::default()).map(|_| ());
    assert_eq!(proposed(Some(Fixture::id())), Ok(()));
    assert!(proposed(Some(OrganizationId::from_bytes([1; 16]))).unwrap_err().contains("is pinned"));
    assert!(proposed(None).unwrap_err().contains("no organization is pinned"));
}

#[test]
fn a_draft_is_blocked_while_the_root_quorum_is_not_the_known_one() {
    let mut organization = Fixture::new(3, 2).organization();
    let mut known_keys = KnownKeys::default();
    known_keys.pin_new(&organization, NOW);
    let review =
        |organization: &OrganizationDetail| draft(organization, Some(Fixture::id()), &known_keys).unwrap();
    assert!(!review(&organization).blocked());
    organization.head.root_quorum.threshold = 1;
    let changed = review(&organization);
    assert_eq!(mark(&changed, "K10"), Mark::Failed);
    assert!(changed.blocked() && changed.high_flags().any(|flag| flag.name == "quorum-not-known"));
}
