//! Sub-organizations that were deleted: nothing of them is told any more, to nobody.

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::http::Reply;
use serde_json::json;

use super::Play;
use crate::model::activities::Status;
use crate::model::moves::Move;
use crate::model::world::User;

/// Whether this is the answer to what ended its organization. Asked again, it is not there.
pub(super) fn is_the_end(reply: &Reply) -> bool {
    let activity = &reply.json()["activity"];
    activity["type"] == "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION"
        && activity["status"] == Status::Completed.name()
}

impl Play {
    /// Takes an organization out of the world, with what waits in it.
    pub(super) fn bury(&mut self, place: usize) {
        let gone = self.world.organizations.remove(place);
        self.waiting.retain(|waiting| waiting.place != place);
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.place > place) {
            waiting.place -= 1;
        }
        self.world.departed.push(gone);
    }

    /// The answer that says that something was done was lost, and then there was nothing left to ask. True if that
    /// is so; it must have been possible.
    pub(super) fn is_over(&self, place: usize, deed: &dyn Move, reply: &Reply) -> bool {
        if !deed.is_the_end() || reply.status != 404 {
            return false;
        }
        reply.refusal(404, 5, "ORGANIZATION_NOT_FOUND");
        assert!(!deed.objections(&self.world.organizations[place]).prevail(false), "it had to be refused");
        true
    }

    /// What was deleted is there neither for the parent nor for its own users, and no body runs again.
    pub(super) async fn compare_departed(&mut self) {
        let Some(gone) = self.choices.pick(&self.world.departed) else { return };
        let keys: Vec<String> = gone.users.iter().flat_map(User::public_keys).collect();
        let reader = self.reader();
        let own = self.choices.pick(&keys).map_or(&reader.public_key, |key| key);
        for public_key in [&reader.public_key, own] {
            let caller = Caller::new(self.daemon.http(), &gone.id, self.keys.of(public_key));
            for query in ["whoami", "get_organization", "list_activities", "list_wallets"] {
                caller.query(query, json!({})).await.refusal(404, 5, "ORGANIZATION_NOT_FOUND");
            }
            if let Some(activity) = self.choices.pick(&gone.activities) {
                let reply = caller.send(&submit_path(&activity.activity_type()), &activity.body).await;
                reply.refusal(404, 5, "ORGANIZATION_NOT_FOUND");
            }
        }
    }
}
