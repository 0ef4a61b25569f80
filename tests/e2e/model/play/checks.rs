//! Checks between moves: all queries for the comparison, repeated bodies, and forbidden requests.

use hyper::Method;
use quorate_tests::caller::{Caller, submit_path};
use serde_json::json;

use super::proposals::guards;
use super::{KeyOwner, Play, Waiting};
use crate::model::activities::{Activity, Replay, activity_type, kind};
use crate::model::comparison::{self, Answers};
use crate::model::lookups;
use crate::model::mfa;
use crate::model::moves;
use crate::model::times::Times;
use crate::model::views;

impl Play {
    /// Queries everything about an organization as a member of the parent, who may read all.
    pub(super) async fn answers(&mut self, position: usize) -> Answers {
        let reader = self.reader();
        comparison::query_everything(&self.caller(position, &reader)).await
    }

    /// Returns the user who sends the queries. It is always the same one while nothing changes.
    pub(super) fn reader(&self) -> KeyOwner {
        let (user, public_keys) = self.world.organizations[0].voters().swap_remove(0);
        KeyOwner { user, public_key: public_keys[0].clone() }
    }

    /// Compares all query results with the model.
    pub(super) async fn compare(&mut self) {
        let reader = self.reader();
        for position in 0..self.world.organizations.len() {
            self.current = format!("comparing organization {position}");
            let answers = self.answers(position).await;
            let relatives = self.world.relatives(position);
            let organization = &mut self.world.organizations[position];
            // In a child the key may be registered for another user.
            let voter = organization.holder(&reader.public_key).map(|user| user.id.clone());
            let voter = voter.as_deref().map(|user| (user, reader.public_key.as_str()));
            comparison::compare(organization, &relatives, &answers, &mut self.times, voter);
        }
        comparison::assert_unique_ids_and_keys(&self.world);
        let position = self.choices.below(self.world.organizations.len());
        self.current = format!("looking up in organization {position}");
        let caller = self.caller(position, &reader);
        let relatives = self.world.relatives(position);
        lookups::look_up(&caller, &self.world.organizations[position], &relatives, &mut self.choices).await;
        self.compare_mfa().await;
        self.check_session(position).await;
        self.current = String::from("looking for what was deleted");
        self.check_deleted_organizations().await;
        self.current = String::from("looking for sub-organizations and keys");
        let caller = self.caller(0, &reader);
        lookups::allowlists_of_keys(&caller, &self.world.organizations[0], &mut self.choices).await;
        lookups::trace(&mut self.world);
        lookups::find_children(&caller, &self.world, &mut self.choices).await;
        for _ in 0..3 {
            if let Some(key) = self.choices.pick(self.keys.all()) {
                lookups::check_key_owner(&caller, &self.world, key).await;
            }
        }
    }

    /// Compares what MFA policies require for each waiting activity, and what was proven.
    async fn compare_mfa(&mut self) {
        let reader = self.reader();
        for Waiting { position, index, action, proposer } in &self.waiting {
            let organization = &self.world.organizations[*position];
            let activity = &organization.activities[*index];
            let guards = guards(organization, action.as_ref(), &proposer.user);
            let request =
                mfa::Request { kind: kind(action.name()), proposer: &proposer.user, guards: &guards };
            let mut users: Vec<&str> = organization.users.iter().map(|user| user.id.as_str()).collect();
            users.retain(|user| *user == proposer.user || organization.has_approved(activity, user));
            let states = users.into_iter().flat_map(|user| {
                let states = mfa::states(organization, &request, &activity.votes, user);
                states.iter().map(|state| state.json(user)).collect::<Vec<_>>()
            });
            let expected = views::sorted(states);
            let caller = Caller::new(self.daemon.http(), &organization.id, self.keys.of(&reader.public_key));
            self.current = format!("comparing the MFA status of {:?}", activity.id);
            let reported = caller.fetch("get_mfa_status", json!({ "activityId": activity.id })).await;
            let reported = Times::default().strip(&reported["mfaStatuses"]);
            comparison::assert_same("get_mfa_status", &expected, &reported);
        }
    }

    /// Checks a read-only session: it queries for its user while the user exists, and submits nothing.
    async fn check_session(&mut self, position: usize) {
        let organization = &self.world.organizations[position];
        let Some(session) = self.choices.pick(&organization.sessions) else { return };
        let Some(token) = &session.token else { return };
        self.current = format!("a session of {} in organization {position}", session.user);
        let reader = self.reader();
        let caller = Caller::new(self.daemon.http(), &organization.id, self.keys.of(&reader.public_key));
        let headers = [("content-type", "application/json"), ("x-session", token.as_str())];
        let body = json!({ "organizationId": organization.id }).to_string().into_bytes();
        let whoami = caller.call(Method::POST, "/public/v1/query/whoami", &headers, &body).await;
        match organization.user(&session.user) {
            Some(user) => assert_eq!(whoami.json()["userId"], user.id.as_str(), "{whoami}"),
            None => assert_eq!(whoami.status, 401, "a session ends with its user{whoami}"),
        }
        let tag = json!({ "userTagName": "by a session", "userIds": [] });
        let body = caller.proposal("ACTIVITY_TYPE_CREATE_USER_TAG", &tag);
        let refused = caller.call(Method::POST, "/public/v1/submit/create_user_tag", &headers, &body).await;
        assert_eq!(refused.status, 401, "{refused}");
    }

    /// Repeats an accepted body, which must change nothing and return the same answer.
    pub(super) async fn repeat(&mut self) {
        let position = self.choose_organization();
        let proposer = self.proposer(position, None);
        let caller = self.caller(position, &proposer);
        let organization = &self.world.organizations[position];
        let ended = |activity: &&Activity| !activity.status.waits() && activity.replay != Replay::Unspecified;
        let ended: Vec<&Activity> = organization.activities.iter().filter(ended).collect();
        let Some(activity) = self.choices.pick(&ended) else { return };
        // Only the mailed key may repeat what it sent.
        let first = &activity.votes[0].public_key;
        let mailed = self.mailed.values().find(|key| key.public_key() == first);
        let caller = mailed.map_or_else(|| caller.clone(), |key| caller.with_key(key));
        self.current = format!("again: {}", String::from_utf8_lossy(&activity.body));
        let reply = caller.send(&submit_path(&activity.activity_type()), &activity.body).await;
        if let Replay::Error(status) = activity.replay {
            assert_eq!(reply.status, status, "rejected again{reply}");
        } else {
            let reported = reply.activity();
            assert_eq!(reported["status"], activity.status.name(), "{reported:#}");
            assert_eq!(reported["result"], activity.result, "{reported:#}");
        }
    }

    /// Checks that a user of the parent cannot act in a child, which that user may only read.
    pub(super) async fn act_in_child(&mut self) {
        let position = self.choices.below(self.world.organizations.len());
        let proposer = self.proposer(0, None);
        if position == 0 || self.world.organizations[position].holder(&proposer.public_key).is_some() {
            return;
        }
        let action = self.choose(position, moves::choose);
        let caller = self.caller(position, &proposer);
        self.current = format!("by a user of the parent: {}", action.name());
        let reply = caller.submit(&activity_type(action.name()), &action.parameters()).await;
        let message = reply.expect_error(400, 3, "ORGANIZATION_MISMATCH");
        assert!(message.starts_with("organization mismatch: request is targeting organization"), "{reply}");
    }
}
