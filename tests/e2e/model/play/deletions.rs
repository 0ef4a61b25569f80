//! Deleted sub-organizations: nothing about them is reported any more.

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::http::Reply;
use serde_json::json;

use super::Play;
use crate::model::activities::Status;
use crate::model::moves::Move;
use crate::model::world::User;

/// Returns whether this is the answer to the deletion of its organization. A repeated request finds no
/// organization.
pub(super) fn ends_organization(reply: &Reply) -> bool {
    let activity = &reply.json()["activity"];
    activity["type"] == "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION"
        && activity["status"] == Status::Completed.name()
}

impl Play {
    /// Removes an organization from the world, with its waiting activities.
    pub(super) fn remove_organization(&mut self, position: usize) {
        let deleted = self.world.organizations.remove(position);
        self.waiting.retain(|waiting| waiting.position != position);
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.position > position) {
            waiting.position -= 1;
        }
        self.world.deleted.push(deleted);
    }

    /// Returns whether the organization was deleted and the answer was lost, so that a repeated request finds
    /// nothing. Asserts that the deletion was possible.
    pub(super) fn was_deleted_before_answer(
        &self,
        position: usize,
        action: &dyn Move,
        reply: &Reply,
    ) -> bool {
        if !action.ends_organization() || reply.status != 404 {
            return false;
        }
        reply.expect_error(404, 5, "ORGANIZATION_NOT_FOUND");
        assert!(
            !action.objections(&self.world.organizations[position]).must_fail(false),
            "the deletion had to be rejected"
        );
        true
    }

    /// Checks that a deleted organization is accessible neither to the parent nor to its own users, and that
    /// no body runs again.
    pub(super) async fn check_deleted_organizations(&mut self) {
        let Some(deleted) = self.choices.pick(&self.world.deleted) else { return };
        let keys: Vec<String> = deleted.users.iter().flat_map(User::public_keys).collect();
        let reader = self.reader();
        let own = self.choices.pick(&keys).map_or(&reader.public_key, |key| key);
        for public_key in [&reader.public_key, own] {
            let caller = Caller::new(self.daemon.http(), &deleted.id, self.keys.of(public_key));
            for query in ["whoami", "get_organization", "list_activities", "list_wallets"] {
                caller.query(query, json!({})).await.expect_error(404, 5, "ORGANIZATION_NOT_FOUND");
            }
            if let Some(activity) = self.choices.pick(&deleted.activities) {
                let reply = caller.send(&submit_path(&activity.activity_type()), &activity.body).await;
                reply.expect_error(404, 5, "ORGANIZATION_NOT_FOUND");
            }
        }
    }
}
