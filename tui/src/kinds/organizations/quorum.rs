//! The members of the root quorum.

use quorate_common::ids::UserId;

use crate::kinds::Scene;
use crate::kinds::section::{Item, Section, Shown};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Quorum", count: |detail| detail.head.root_quorum.user_ids.len(), items: quorum };

fn quorum(shown: &Shown<'_>) -> Vec<Item> {
    let detail = shown.detail;
    let quorum = &detail.head.root_quorum;
    let rule = format!(
        "{} of {} must approve, organization version {}",
        quorum.threshold,
        quorum.user_ids.len(),
        detail.head.version
    );
    let care = if usize::try_from(quorum.threshold).is_ok_and(|threshold| threshold >= quorum.user_ids.len())
    {
        "[!] all must approve: one lost credential locks the organization"
    } else {
        ""
    };
    let scene = Scene::of(detail);
    let member = |id: &UserId| {
        Item::new(
            "Root quorum",
            format!("root      {}", scene.user_named(&id.to_string())),
            vec![rule.clone(), care.to_owned()],
        )
    };
    quorum.user_ids.iter().map(member).collect()
}
