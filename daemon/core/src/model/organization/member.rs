//! Users and policies with cached values that are computed from their records.

use std::sync::OnceLock;

use quorate_common::bounded::Text;
use quorate_common::stamp::{ApiKeyCurve, StampKey};
use quorate_policy::decide::{Effect, PolicyProgram};
use serde_json::value::RawValue;

use crate::error::Corrupt;
use crate::model::record::Record;
use crate::model::{ApiKey, MfaPolicy, Policy, User};

/// A user with cached values that are computed from the record.
#[derive(Debug)]
pub struct Member {
    /// Record of the user.
    pub user: User,
    stamp_keys: Vec<OnceLock<Option<StampKeyBox>>>,
    wire: OnceLock<Option<Box<RawValue>>>,
    mfa_programs: Vec<PolicyProgram>,
    /// Memory in bytes, once all cached values are computed.
    pub(super) bytes: usize,
}

/// Memory of a parsed API key and its index entry, in bytes.
const KEY_BYTES: usize = 512;

struct StampKeyBox(StampKey);

impl std::fmt::Debug for StampKeyBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StampKey")
    }
}

impl Member {
    pub(super) fn new(user: User) -> Self {
        let stamp_keys: Vec<_> = user.api_keys.iter().map(|_| OnceLock::new()).collect();
        let mfa_programs: Vec<_> = user.mfa_policies.iter().map(condition).collect();
        let programs = mfa_programs.iter().map(PolicyProgram::bytes).fold(0, usize::saturating_add);
        // The rendered form for votes takes about as much memory as the user.
        let user_bytes = user.memory().saturating_mul(2).saturating_add(programs);
        let bytes = stamp_keys.len().saturating_mul(KEY_BYTES).saturating_add(user_bytes);
        Self { user, stamp_keys, wire: OnceLock::new(), mfa_programs, bytes }
    }

    /// Returns the MFA policies, in their order, and their parsed conditions.
    pub fn mfa_policies(&self) -> impl Iterator<Item = (&MfaPolicy, &PolicyProgram)> {
        self.user.mfa_policies.iter().zip(&self.mfa_programs)
    }

    /// Returns the API key with this public key, and its parsed form.
    pub fn stamp_key(&self, curve: ApiKeyCurve, public_key: &str) -> Option<(&ApiKey, &StampKey)> {
        let index =
            self.user.api_keys.iter().position(|key| key.curve == curve && key.public_key == public_key)?;
        let key = self.user.api_keys.get(index)?;
        let parsed = self.stamp_keys.get(index)?;
        let parsed = parsed.get_or_init(|| StampKey::parse(key.curve, &key.public_key).ok().map(StampKeyBox));
        parsed.as_ref().map(|parsed| (key, &parsed.0))
    }

    /// Returns the user as votes show them, rendered once.
    pub fn rendered(&self) -> Option<&RawValue> {
        self.wire.get_or_init(|| serde_json::value::to_raw_value(&self.user.voter()).ok()).as_deref()
    }
}

/// Parses the condition of an MFA policy. One that does not parse, which its creation rules out, is always true.
fn condition(policy: &MfaPolicy) -> PolicyProgram {
    let parsed = PolicyProgram::parse(Effect::Allow, Some(policy.condition.as_str()), None, None);
    parsed.unwrap_or(PolicyProgram { effect: Effect::Allow, condition: None, consensus: None, time: None })
}

/// A policy with its parsed expressions.
#[derive(Debug)]
pub struct ParsedPolicy {
    /// Record of the policy.
    pub policy: Policy,
    /// Parsed expressions.
    pub program: PolicyProgram,
    /// Memory of both in bytes.
    pub(super) bytes: usize,
}

impl ParsedPolicy {
    pub(super) fn new(policy: Policy) -> Result<Self, Corrupt> {
        let text = Text::as_str;
        let program = PolicyProgram::parse(
            policy.effect.into(),
            policy.condition.as_ref().map(text),
            policy.consensus.as_ref().map(text),
            policy.time.as_ref().map(text),
        );
        let program = program.map_err(|_| Corrupt::Record(Policy::NOUN))?;
        let bytes = policy.memory().saturating_add(program.bytes());
        Ok(Self { policy, program, bytes })
    }
}
