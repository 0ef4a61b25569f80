//! The members of the root quorum.

use quorate_common::ids::UserId;

use crate::kinds::ReviewContext;
use crate::kinds::section::{Item, Section, SectionData};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Quorum", count: |detail| detail.head.root_quorum.user_ids.len(), items: quorum };

fn quorum(data: &SectionData<'_>) -> Vec<Item> {
    let detail = data.detail;
    let quorum = &detail.head.root_quorum;
    let (threshold, members, version) = (quorum.threshold, quorum.user_ids.len(), detail.head.version);
    let rule = format!("{threshold} of {members} must approve, organization version {version}");
    let warning =
        if usize::try_from(quorum.threshold).is_ok_and(|threshold| threshold >= quorum.user_ids.len()) {
            "[!] all must approve: one lost credential locks the organization"
        } else {
            ""
        };
    let context = ReviewContext::of(detail);
    let member = |id: &UserId| {
        Item::new(
            "Root quorum",
            format!("root      {}", context.user_named(&id.to_string())),
            vec![rule.clone(), warning.to_owned()],
        )
    };
    quorum.user_ids.iter().map(member).collect()
}
