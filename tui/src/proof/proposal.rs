//! The signed proposal of an activity, parsed from its bytes.

use quorate_common::activity::Activity;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::UserId;
use serde_json::Value;

use crate::kinds::{self, Field};

/// The signed proposal, parsed by the console itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Proposal {
    /// The exact bytes.
    pub(crate) message: String,
    /// SHA-256 of the bytes, computed here.
    pub(crate) fingerprint: Fingerprint,
    /// `type` as signed.
    pub(crate) activity_type: String,
    /// `organizationId` as signed.
    pub(crate) organization: String,
    /// `timestampMs` as signed.
    pub(crate) stamped: Option<u64>,
    /// `parameters` as signed; an empty object if absent.
    pub(crate) parameters: Value,
    /// Members of the envelope other than the four known ones.
    pub(crate) extra: Vec<Field>,
    /// User who signed it, as the daemon states.
    pub(crate) proposer: UserId,
    /// Key that signed it.
    pub(crate) public_key: String,
}

impl Proposal {
    /// Returns the proposal: the vote whose message hashes to the fingerprint, however the daemon labels it.
    pub(super) fn of(activity: &Activity) -> Option<Self> {
        let vote = activity
            .votes
            .iter()
            .find(|vote| Fingerprint::of(vote.message.as_bytes()) == activity.fingerprint)?;
        let envelope = quorate_common::json::parse(vote.message.as_bytes()).ok();
        let member = |name: &str| envelope.as_ref().and_then(|envelope| envelope.get(name));
        let text = |name: &str| member(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let stamped =
            member("timestampMs").and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
        Some(Self {
            message: vote.message.clone(),
            fingerprint: Fingerprint::of(vote.message.as_bytes()),
            activity_type: text("type"),
            organization: text("organizationId"),
            stamped,
            parameters: member("parameters")
                .cloned()
                .unwrap_or_else(|| Value::Object(serde_json::Map::new())),
            extra: envelope.as_ref().map(extra).unwrap_or_default(),
            proposer: vote.user_id,
            public_key: vote.public_key.clone(),
        })
    }

    /// Returns the names of the members of the envelope whose effect is unknown.
    pub(super) fn unknown_members(&self) -> impl Iterator<Item = &str> {
        let names = self.extra.iter().map(|field| field.name.as_str());
        names.filter(|name| !name.ends_with("generateAppProofs"))
    }

    /// Returns whether the proposal creates a top-level organization, and therefore names no organization.
    pub(crate) fn creates_organization(&self) -> bool {
        self.organization.is_empty()
            && self.activity_type.strip_suffix("_V2").unwrap_or(&self.activity_type)
                == "ACTIVITY_TYPE_CREATE_ORGANIZATION"
    }
}

fn extra(envelope: &Value) -> Vec<Field> {
    let mut rest = envelope.clone();
    if let Some(members) = rest.as_object_mut() {
        for known in ["type", "timestampMs", "organizationId", "parameters"] {
            members.remove(known);
        }
    }
    let mut fields = kinds::leaves(&rest);
    for field in &mut fields {
        field.name = format!("(envelope) {}", field.name);
    }
    fields
}
