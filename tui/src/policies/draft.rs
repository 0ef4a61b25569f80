//! Drafts of policies: a few lines of TOML that a user edits, or JSON, converted to an activity.

use quorate_common::wire::Policy;
use quorate_policy::decide::{Effect, PolicyError, PolicyProgram};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::text::PolicyText;
use crate::ballot::ActivityRequest;

/// Comment at the top of a draft.
const HEAD: &str = "\
# A policy. Save it and leave the editor to see its effect; nothing is sent before you sign it.
# effect is ALLOW or DENY. An empty condition means any activity, an empty consensus anybody,
# an empty time always. quorate policy new --dry-run FILE shows errors and the review of a draft.
";

/// A policy that is not proposed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Draft {
    pub(crate) name: String,
    /// `ALLOW` or `DENY`.
    pub(crate) effect: String,
    /// The activities that it applies to; all if empty.
    pub(crate) condition: String,
    /// The approvals that it requires; those of anybody if empty.
    pub(crate) consensus: String,
    /// The time at which it is active; always if empty.
    pub(crate) time: String,
    pub(crate) notes: String,
}

/// Why a draft cannot be proposed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DraftError {
    /// The text is neither a draft in TOML nor a policy in JSON.
    #[error("{0}")]
    Syntax(String),
    /// A member that must be stated is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// The name is empty.
    #[error("name must not be empty")]
    Name,
    /// The effect is unknown.
    #[error("effect must be ALLOW or DENY")]
    Effect,
    /// An expression is invalid.
    #[error("{error} (line {}, column {} of the expression)", error.error.position.line, error.error.position.column)]
    Expression {
        /// The error of the policy language.
        error: PolicyError,
    },
    /// The change would remove an expression from the policy.
    #[error(
        "{0} cannot be removed by a change: use one that is always true, or delete the policy and propose a \
         new one"
    )]
    Removed(&'static str),
    /// The draft equals the policy.
    #[error("the draft does not change the policy")]
    Unchanged,
}

impl Draft {
    /// Creates a template: a policy that does not allow anything yet.
    pub(crate) fn blank() -> Self {
        Self {
            name: String::new(),
            effect: "ALLOW".to_owned(),
            condition: "activity.action == 'SIGN' && wallet.id == ''".to_owned(),
            consensus: "approvers.count() >= 2".to_owned(),
            time: String::new(),
            notes: String::new(),
        }
    }

    /// Creates a draft from an existing policy.
    pub(crate) fn of(policy: &Policy) -> Self {
        Self {
            name: policy.policy_name.clone(),
            effect: policy.effect.trim_start_matches("EFFECT_").to_owned(),
            condition: policy.condition.clone(),
            consensus: policy.consensus.clone(),
            time: policy.time.clone().unwrap_or_default(),
            notes: policy.notes.clone(),
        }
    }

    /// Returns the draft as text to edit.
    pub(crate) fn text(&self) -> String {
        // A structure of strings can always be serialized.
        format!("{HEAD}\n{}", toml::to_string_pretty(self).unwrap_or_default())
    }

    /// Parses the edited text.
    ///
    /// # Errors
    ///
    /// Fails if the text is neither a draft in TOML nor a policy in JSON, the name is empty, or the effect or an expression is
    /// invalid.
    pub(crate) fn read(text: &str) -> Result<Self, DraftError> {
        let PolicyText { name, effect, condition, consensus, time, notes } =
            PolicyText::read(text).map_err(DraftError::Syntax)?;
        let effect = effect.ok_or(DraftError::Missing("effect"))?.trim().to_uppercase();
        let part = |text: Option<String>| text.unwrap_or_default().trim().to_owned();
        let draft = Self {
            name: name.ok_or(DraftError::Missing("name"))?.trim().to_owned(),
            effect: effect.trim_start_matches("EFFECT_").to_owned(),
            condition: part(condition),
            consensus: part(consensus),
            time: part(time),
            notes: notes.unwrap_or_default(),
        };
        let effect = match draft.effect.as_str() {
            "ALLOW" => Effect::Allow,
            "DENY" => Effect::Deny,
            _ => return Err(DraftError::Effect),
        };
        if draft.name.is_empty() {
            return Err(DraftError::Name);
        }
        let stated = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (condition, consensus, time) =
            (stated(&draft.condition), stated(&draft.consensus), stated(&draft.time));
        PolicyProgram::parse(effect, condition.as_deref(), consensus.as_deref(), time.as_deref())
            .map_err(|error| DraftError::Expression { error })?;
        Ok(draft)
    }

    /// Returns the activity that creates the policy.
    pub(crate) fn creation(&self) -> ActivityRequest {
        let mut parameters = Map::new();
        parameters.insert("policyName".to_owned(), json!(self.name));
        parameters.insert("effect".to_owned(), json!(format!("EFFECT_{}", self.effect)));
        parameters.insert("notes".to_owned(), json!(self.notes));
        for (member, text) in
            [("condition", &self.condition), ("consensus", &self.consensus), ("time", &self.time)]
        {
            if !text.is_empty() {
                parameters.insert(member.to_owned(), json!(text));
            }
        }
        ActivityRequest {
            activity_type: "ACTIVITY_TYPE_CREATE_POLICY_V3",
            path: "/public/v1/submit/create_policy",
            parameters: Value::Object(parameters),
        }
    }

    /// Returns the activity that changes the policy to this draft. It sets all members, so that approvers see
    /// the whole resulting policy in the signed bytes.
    ///
    /// # Errors
    ///
    /// Fails if nothing changes, or if a condition or consensus would be removed.
    pub(crate) fn change(&self, policy: &Policy) -> Result<ActivityRequest, DraftError> {
        if *self == Self::of(policy) {
            return Err(DraftError::Unchanged);
        }
        let mut parameters = Map::new();
        parameters.insert("policyId".to_owned(), json!(policy.policy_id));
        parameters.insert("policyName".to_owned(), json!(self.name));
        parameters.insert("policyEffect".to_owned(), json!(format!("EFFECT_{}", self.effect)));
        parameters.insert("policyNotes".to_owned(), json!(self.notes));
        for (name, member, now, after) in [
            ("condition", "policyCondition", &policy.condition, &self.condition),
            ("consensus", "policyConsensus", &policy.consensus, &self.consensus),
        ] {
            match (now.is_empty(), after.is_empty()) {
                (false, true) => return Err(DraftError::Removed(name)),
                (true, true) => {}
                (_, false) => drop(parameters.insert(member.to_owned(), json!(after))),
            }
        }
        if policy.time.is_some() || !self.time.is_empty() {
            parameters.insert("time".to_owned(), json!(self.time));
        }
        Ok(ActivityRequest {
            activity_type: "ACTIVITY_TYPE_UPDATE_POLICY_V2",
            path: "/public/v1/submit/update_policy",
            parameters: Value::Object(parameters),
        })
    }
}

/// Returns the activity that deletes the policy.
pub(crate) fn removal(policy: &Policy) -> ActivityRequest {
    ActivityRequest {
        activity_type: "ACTIVITY_TYPE_DELETE_POLICY",
        path: "/public/v1/submit/delete_policy",
        parameters: json!({"policyId": policy.policy_id}),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use quorate_common::ids::PolicyId;
    use quorate_common::wire::Timestamp;

    use super::*;

    fn policy() -> Policy {
        Policy {
            policy_id: PolicyId::from_bytes([1; 16]),
            policy_name: "payouts".to_owned(),
            effect: "EFFECT_ALLOW".to_owned(),
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
            notes: "of\nOctober".to_owned(),
            consensus: "approvers.count() >= 2".to_owned(),
            condition: "wallet.label == 'it''s \"hot\" \\ '''".to_owned(),
            time: None,
        }
    }

    #[test]
    fn drafts_survive_a_round_trip() {
        for draft in [Draft::of(&policy()), Draft::blank()] {
            let named = Draft { name: "payouts".to_owned(), ..draft };
            let text = named.text();
            assert!(text.starts_with("# A policy."), "{text}");
            let read = PolicyText::read(&text).unwrap();
            let parts = [read.name, read.effect, read.condition, read.consensus, read.time, read.notes];
            let Draft { name, effect, condition, consensus, time, notes } = named;
            assert_eq!(parts, [name, effect, condition, consensus, time, notes].map(Some), "{text}");
        }
    }

    #[test]
    fn errors_name_their_position() {
        let error_of = |text: &str| Draft::read(text).unwrap_err().to_string();
        assert!(
            error_of("name = 'a'\neffect = ALLOW").contains("line 2"),
            "{}",
            error_of("name = 'a'\neffect = ALLOW")
        );
        assert!(error_of("name = 'a'").contains("effect"));
        assert!(error_of("name = 'a'\neffect = 'ALLOW'\ncolour = 'red'").contains("colour"));
        assert_eq!(error_of("name = ' '\neffect = 'ALLOW'"), "name must not be empty");
        assert_eq!(error_of("effect = 'ALLOW'"), "name is missing");
        assert_eq!(
            error_of(r#"{"policyName": "a", "effect": "EFFECT_MAYBE"}"#),
            "effect must be ALLOW or DENY"
        );
        assert_eq!(error_of("name = 'a'\neffect = 'MAYBE'"), "effect must be ALLOW or DENY");
        let error = error_of("name = 'a'\neffect = 'deny'\ncondition = \"activity.moon == 1\"");
        assert!(error.contains("invalid policy condition") && error.contains("(line 1, column "), "{error}");
    }

    #[test]
    fn creation_sets_only_present_members() {
        let draft = Draft::read("name = ' a '\neffect = 'allow'\ncondition = 'true'").unwrap();
        let request = draft.creation();
        assert_eq!(request.path, "/public/v1/submit/create_policy");
        let expected = json!({"policyName": "a", "effect": "EFFECT_ALLOW", "condition": "true", "notes": ""});
        assert_eq!((request.activity_type, request.parameters), ("ACTIVITY_TYPE_CREATE_POLICY_V3", expected));
    }

    #[test]
    fn the_body_of_a_client_is_a_draft() {
        let body = json!({"policyName": "a", "effect": "EFFECT_DENY", "condition": "true", "consensus": "true",
            "notes": "why"});
        let request = Draft::read(&body.to_string()).unwrap().creation();
        assert_eq!((request.activity_type, request.parameters), ("ACTIVITY_TYPE_CREATE_POLICY_V3", body));
    }

    #[test]
    fn change_sets_all_members() {
        let policy = Policy { condition: "true".to_owned(), ..policy() };
        let same = Draft::of(&policy);
        assert!(matches!(same.change(&policy), Err(DraftError::Unchanged)));
        let longer =
            Draft { time: "time.now < Timestamp('2027-01-01T00:00:00Z')".to_owned(), ..same.clone() };
        let expected = json!({"policyId": policy.policy_id, "policyName": "payouts", "policyEffect": "EFFECT_ALLOW",
            "policyCondition": "true", "policyConsensus": "approvers.count() >= 2", "policyNotes": "of\nOctober",
            "time": longer.time});
        assert_eq!(longer.change(&policy).unwrap().parameters, expected);
        let timed = Policy { time: Some(longer.time.clone()), ..policy.clone() };
        assert_eq!(same.change(&timed).unwrap().parameters["time"], "", "an empty time removes it");
        let removed = Draft { consensus: String::new(), ..same };
        assert!(matches!(removed.change(&policy), Err(DraftError::Removed("consensus"))));
        let bare = Policy { consensus: String::new(), ..policy };
        let request = Draft { notes: String::new(), ..Draft::of(&bare) }.change(&bare).unwrap();
        assert_eq!(request.parameters.get("policyConsensus"), None);
    }
}
