//! What is asked in between: everything, for the comparison; the same once more; what is not allowed.

use super::{Asker, Play};
use crate::model::activities::{Activity, Replay, Status, activity_type};
use crate::model::comparison::{self, Answers};
use crate::model::lookups;
use crate::model::moves;
use quorate_tests::caller::submit_path;

impl Play {
    /// Everything told of an organization to a member of the parent, who may read all.
    pub(super) async fn answers(&mut self, place: usize) -> Answers {
        let reader = self.reader();
        comparison::ask_everything(&self.caller(place, &reader)).await
    }

    /// Always the same one while nothing changes.
    pub(super) fn reader(&self) -> Asker {
        let (user, public_keys) = self.world.organizations[0].voters().swap_remove(0);
        Asker { user, public_key: public_keys[0].clone() }
    }

    /// Compares all that can be asked with the model.
    pub(super) async fn compare(&mut self) {
        let reader = self.reader();
        for place in 0..self.world.organizations.len() {
            self.current = format!("comparing organization {place}");
            let answers = self.answers(place).await;
            let kin = self.world.kin(place);
            let organization = &mut self.world.organizations[place];
            // In a child it is somebody else, if the key is registered there, too.
            let voter = organization.holder(&reader.public_key).map(|user| user.id.clone());
            let voter = voter.as_deref().map(|user| (user, reader.public_key.as_str()));
            comparison::compare(organization, &kin, &answers, &mut self.times, voter);
        }
        comparison::nothing_is_shared(&self.world);
        let place = self.choices.below(self.world.organizations.len());
        self.current = format!("looking up in organization {place}");
        let caller = self.caller(place, &reader);
        let kin = self.world.kin(place);
        lookups::look_up(&caller, &self.world.organizations[place], &kin, &mut self.choices).await;
        self.current = String::from("looking for what was deleted");
        self.compare_departed().await;
        self.current = String::from("looking for sub-organizations and keys");
        let caller = self.caller(0, &reader);
        lookups::allowlists_of_keys(&caller, &self.world.organizations[0], &mut self.choices).await;
        lookups::trace(&mut self.world);
        lookups::find_children(&caller, &self.world, &mut self.choices).await;
        for _ in 0..3 {
            if let Some(key) = self.choices.pick(self.keys.all()) {
                lookups::who_is(&caller, &self.world, key).await;
            }
        }
    }

    /// A body that was taken before changes nothing and is answered as before.
    pub(super) async fn repeat(&mut self) {
        let place = self.place();
        let asker = self.asker(place, None);
        let caller = self.caller(place, &asker);
        let organization = &self.world.organizations[place];
        let ended =
            |activity: &&Activity| activity.status != Status::Waits && activity.replay != Replay::Untold;
        let ended: Vec<&Activity> = organization.activities.iter().filter(ended).collect();
        let Some(activity) = self.choices.pick(&ended) else { return };
        // What a mailed key has sent only that key may send again.
        let first = &activity.votes[0].public_key;
        let mailed = self.mailed.values().find(|key| key.public_key() == first);
        let caller = mailed.map_or_else(|| caller.clone(), |key| caller.with_key(key));
        self.current = format!("again: {}", String::from_utf8_lossy(&activity.body));
        let reply = caller.send(&submit_path(&activity.activity_type()), &activity.body).await;
        if let Replay::Refused(status) = activity.replay {
            assert_eq!(reply.status, status, "refused again{reply}");
        } else {
            let told = reply.activity();
            assert_eq!(told["status"], activity.status.name(), "{told:#}");
            assert_eq!(told["result"], activity.result, "{told:#}");
        }
    }

    /// A user of the parent may look at a child, not act in it.
    pub(super) async fn trespass(&mut self) {
        let place = self.choices.below(self.world.organizations.len());
        let asker = self.asker(0, None);
        if place == 0 || self.world.organizations[place].holder(&asker.public_key).is_some() {
            return;
        }
        let deed = self.choose(place, moves::choose);
        let caller = self.caller(place, &asker);
        self.current = format!("by a user of the parent: {}", deed.name());
        let reply = caller.submit(&activity_type(deed.name()), &deed.parameters()).await;
        let message = reply.refusal(400, 3, "ORGANIZATION_MISMATCH");
        assert!(message.starts_with("organization mismatch: request is targeting organization"), "{reply}");
    }
}
