//! A policy as somebody writes it down before it is asked for: a few lines of TOML, made into an activity.

use quorate_common::wire::Policy;
use quorate_policy::decide::{Effect, PolicyFlaw, PolicyProgram};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::ballot::Wish;

/// What stands above a draft.
const HEAD: &str = "\
# A policy. Save and leave the editor to see what it would do; nothing is sent before you sign it.
# effect is ALLOW or DENY. An empty condition means any activity, an empty consensus whoever asks,
# an empty time always. quorate policy check tells flaws; quorate policy simulate tries requests.
";

/// A policy before it is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draft {
    /// Its name.
    pub(crate) name: String,
    /// `ALLOW` or `DENY`.
    pub(crate) effect: String,
    /// Which activities it is about.
    #[serde(default)]
    pub(crate) condition: String,
    /// Whose approvals it needs.
    #[serde(default)]
    pub(crate) consensus: String,
    /// When it is active.
    #[serde(default)]
    pub(crate) time: String,
    /// Notes.
    #[serde(default)]
    pub(crate) notes: String,
}

/// Why a draft makes no policy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DraftFlaw {
    /// It is no such TOML.
    #[error("{0}")]
    Form(String),
    /// It has no name.
    #[error("name is empty")]
    Name,
    /// The effect is another word.
    #[error("effect is neither ALLOW nor DENY")]
    Effect,
    /// An expression cannot be read.
    #[error("{flaw} (its line {}, column {})", flaw.flaw.position.line, flaw.flaw.position.column)]
    Expression {
        /// The flaw.
        flaw: PolicyFlaw,
    },
    /// A change would leave a policy without an expression that it has.
    #[error(
        "a change cannot take the {0} away: write one that always holds, or propose another policy in its place"
    )]
    Taken(&'static str),
    /// Nothing differs.
    #[error("nothing differs from the policy as it is")]
    Same,
}

impl Draft {
    /// To begin with: a policy that allows nothing yet.
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

    /// A policy as it is.
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

    /// As text to edit.
    pub(crate) fn text(&self) -> String {
        // A structure of texts can always be written.
        format!("{HEAD}\n{}", toml::to_string_pretty(self).unwrap_or_default())
    }

    /// From edited text.
    pub(crate) fn read(text: &str) -> Result<Self, DraftFlaw> {
        let draft: Self = toml::from_str(text).map_err(|error| DraftFlaw::Form(error.to_string()))?;
        let draft = Self {
            name: draft.name.trim().to_owned(),
            effect: draft.effect.trim().to_uppercase(),
            condition: draft.condition.trim().to_owned(),
            consensus: draft.consensus.trim().to_owned(),
            time: draft.time.trim().to_owned(),
            notes: draft.notes,
        };
        let effect = match draft.effect.as_str() {
            "ALLOW" => Effect::Allow,
            "DENY" => Effect::Deny,
            _ => return Err(DraftFlaw::Effect),
        };
        if draft.name.is_empty() {
            return Err(DraftFlaw::Name);
        }
        let stated = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (condition, consensus, time) =
            (stated(&draft.condition), stated(&draft.consensus), stated(&draft.time));
        PolicyProgram::parse(effect, condition.as_deref(), consensus.as_deref(), time.as_deref())
            .map_err(|flaw| DraftFlaw::Expression { flaw })?;
        Ok(draft)
    }

    /// What asks for it as a new policy.
    pub(crate) fn creation(&self) -> Wish {
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
        Wish {
            activity_type: "ACTIVITY_TYPE_CREATE_POLICY_V3",
            path: "/public/v1/submit/create_policy",
            parameters: Value::Object(parameters),
        }
    }

    /// What asks for a policy to become this. All of it is named, so that those who approve see in the signed bytes what
    /// it will be.
    pub(crate) fn change(&self, policy: &Policy) -> Result<Wish, DraftFlaw> {
        if *self == Self::of(policy) {
            return Err(DraftFlaw::Same);
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
                (false, true) => return Err(DraftFlaw::Taken(name)),
                (true, true) => {}
                (_, false) => drop(parameters.insert(member.to_owned(), json!(after))),
            }
        }
        if policy.time.is_some() || !self.time.is_empty() {
            parameters.insert("time".to_owned(), json!(self.time));
        }
        Ok(Wish {
            activity_type: "ACTIVITY_TYPE_UPDATE_POLICY_V2",
            path: "/public/v1/submit/update_policy",
            parameters: Value::Object(parameters),
        })
    }
}

/// What asks for a policy to go.
pub(crate) fn removal(policy: &Policy) -> Wish {
    Wish {
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
            created_at: Timestamp::of_millis(0),
            updated_at: Timestamp::of_millis(0),
            notes: "of\nOctober".to_owned(),
            consensus: "approvers.count() >= 2".to_owned(),
            condition: "wallet.label == 'it''s \"hot\" \\ '''".to_owned(),
            time: None,
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for draft in [Draft::of(&policy()), Draft::blank()] {
            let named = Draft { name: "payouts".to_owned(), ..draft };
            let text = named.text();
            assert!(text.starts_with("# A policy."), "{text}");
            assert_eq!(toml::from_str::<Draft>(&text).unwrap(), named, "{text}");
        }
    }

    #[test]
    fn flaws_say_where_they_are() {
        let told = |text: &str| Draft::read(text).unwrap_err().to_string();
        assert!(
            told("name = 'a'\neffect = ALLOW").contains("line 2"),
            "{}",
            told("name = 'a'\neffect = ALLOW")
        );
        assert!(told("name = 'a'").contains("effect"));
        assert!(told("name = 'a'\neffect = 'ALLOW'\ncolour = 'red'").contains("colour"));
        assert_eq!(told("name = ' '\neffect = 'ALLOW'"), "name is empty");
        assert_eq!(told("name = 'a'\neffect = 'MAYBE'"), "effect is neither ALLOW nor DENY");
        let flaw = told("name = 'a'\neffect = 'deny'\ncondition = \"activity.moon == 1\"");
        assert!(flaw.contains("invalid policy condition") && flaw.contains("(its line 1, column "), "{flaw}");
    }

    #[test]
    fn a_new_policy_names_what_it_has() {
        let draft = Draft::read("name = ' a '\neffect = 'allow'\ncondition = 'true'").unwrap();
        let wish = draft.creation();
        assert_eq!(wish.path, "/public/v1/submit/create_policy");
        let expected = json!({"policyName": "a", "effect": "EFFECT_ALLOW", "condition": "true", "notes": ""});
        assert_eq!((wish.activity_type, wish.parameters), ("ACTIVITY_TYPE_CREATE_POLICY_V3", expected));
    }

    #[test]
    fn a_change_names_all_that_the_policy_will_be() {
        let policy = Policy { condition: "true".to_owned(), ..policy() };
        let same = Draft::of(&policy);
        assert!(matches!(same.change(&policy), Err(DraftFlaw::Same)));
        let longer =
            Draft { time: "time.now < Timestamp('2027-01-01T00:00:00Z')".to_owned(), ..same.clone() };
        let expected = json!({"policyId": policy.policy_id, "policyName": "payouts", "policyEffect": "EFFECT_ALLOW",
            "policyCondition": "true", "policyConsensus": "approvers.count() >= 2", "policyNotes": "of\nOctober",
            "time": longer.time});
        assert_eq!(longer.change(&policy).unwrap().parameters, expected);
        let timed = Policy { time: Some(longer.time.clone()), ..policy.clone() };
        assert_eq!(same.change(&timed).unwrap().parameters["time"], "", "an empty time takes it away");
        let taken = Draft { consensus: String::new(), ..same };
        assert!(matches!(taken.change(&policy), Err(DraftFlaw::Taken("consensus"))));
        let bare = Policy { consensus: String::new(), ..policy };
        let wish = Draft { notes: String::new(), ..Draft::of(&bare) }.change(&bare).unwrap();
        assert_eq!(wish.parameters.get("policyConsensus"), None);
    }
}
