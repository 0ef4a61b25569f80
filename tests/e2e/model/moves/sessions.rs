//! Read-only sessions: their token is shown once, and queries with it are answered until its user is deleted.

use serde_json::{Value, json};

use super::Move;
use crate::model::chooser::Chooser;
use crate::model::objections::Objections;
use crate::model::world::{Organization, Session};

/// Maximum number of sessions of a user. A further one replaces the oldest.
const SESSIONS: usize = 10;

struct Create;

pub(super) fn create_read_only(_: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(Create)
}

impl Move for Create {
    fn name(&self) -> &'static str {
        "CREATE_READ_ONLY_SESSION"
    }

    fn result_name(&self) -> &'static str {
        "createReadOnlySessionResult"
    }

    fn parameters(&self) -> Value {
        json!({})
    }

    fn recorded_result(&self, result: &Value) -> Value {
        let mut recorded = result.clone();
        recorded["session"] = json!("");
        recorded
    }

    fn objections(&self, _: &Organization) -> Objections {
        Objections::default()
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let user = result["userId"].as_str().expect("an id").to_owned();
        assert_eq!(result["username"], organization.user(&user).expect("an existing user").name.as_str());
        assert_eq!(result["organizationName"], organization.name.as_str());
        // Only the answer to the proposer contains the token.
        let token = result["session"].as_str().filter(|token| !token.is_empty()).map(str::to_owned);
        let sessions = &mut organization.sessions;
        let excess =
            (sessions.iter().filter(|session| session.user == user).count() + 1).saturating_sub(SESSIONS);
        for _ in 0..excess {
            let oldest = sessions.iter().position(|session| session.user == user).expect("one of many");
            sessions.remove(oldest);
        }
        sessions.push(Session { user, token });
    }

    /// Equal bytes of another user open another session.
    fn is_repeatable(&self) -> bool {
        false
    }

    fn is_decided_by_key(&self) -> bool {
        true
    }
}
