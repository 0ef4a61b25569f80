//! MFA policies as the model evaluates them: which of them apply to an activity, and what the votes of a user prove.

use serde_json::{Value, json};

use super::activities::Vote;
use super::decision::Condition;
use super::views::sorted;
use super::world::{Organization, User};

/// A method of a step.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Method {
    ApiKey,
    Passkey,
    /// The API key with this id.
    ThisApiKey(String),
    /// The passkey with this id.
    ThisPasskey(String),
}

/// A requirement of a user: steps with methods to choose from.
#[derive(Clone)]
pub(super) struct MfaPolicy {
    pub(super) id: String,
    pub(super) name: String,
    /// Without a condition it always applies.
    pub(super) condition: Condition,
    pub(super) steps: Vec<Vec<Method>>,
    pub(super) order: u32,
    pub(super) notes: Option<&'static str>,
}

/// An activity that MFA policies are evaluated for.
pub(super) struct Request<'a> {
    /// Type without prefix and version.
    pub(super) kind: &'a str,
    pub(super) proposer: &'a str,
    /// Ids of MFA policies of the proposer that apply whatever their conditions are.
    pub(super) guards: &'a [String],
}

/// An MFA policy that applies, and the methods of its proven steps.
pub(super) struct State<'a> {
    pub(super) policy: &'a MfaPolicy,
    /// Credential and method of each proven step.
    proven: Vec<(Credential<'a>, &'a Method)>,
}

/// A credential that stamps.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Credential<'a> {
    is_passkey: bool,
    public_key: &'a str,
    /// Learned when first listed.
    id: Option<&'a str>,
}

impl Method {
    /// Returns the form on the wire.
    pub(super) fn json(&self) -> Value {
        let of_type = |name: &str| json!({ "type": format!("AUTHENTICATION_TYPE_{name}") });
        let with_id =
            |name: &str, id: &str| json!({ "type": format!("AUTHENTICATION_TYPE_{name}"), "id": id });
        match self {
            Self::ApiKey => of_type("API_KEY"),
            Self::Passkey => of_type("PASSKEY"),
            Self::ThisApiKey(id) => with_id("API_KEY", id),
            Self::ThisPasskey(id) => with_id("PASSKEY", id),
        }
    }

    fn is_proven_by(&self, credential: Credential<'_>) -> bool {
        let (is_passkey, wanted) = match self {
            Self::ApiKey => (false, None),
            Self::Passkey => (true, None),
            Self::ThisApiKey(id) => (false, Some(id.as_str())),
            Self::ThisPasskey(id) => (true, Some(id.as_str())),
        };
        credential.is_passkey == is_passkey && (wanted.is_none() || credential.id == wanted)
    }
}

/// Returns the credentials of a user that stamp.
fn credentials(user: &User) -> Vec<Credential<'_>> {
    let keys = user.api_keys.iter().map(|key| (false, &key.public_key, &key.id));
    let passkeys = user.authenticators.iter().map(|one| (true, &one.public_key, &one.id));
    let all = keys.chain(passkeys);
    all.map(|(is_passkey, public_key, id)| Credential { is_passkey, public_key, id: id.as_deref() }).collect()
}

/// Returns whether a user can prove steps, each by another credential.
pub(super) fn can_prove(user: &User, steps: &[Vec<Method>]) -> bool {
    fits(&credentials(user), steps)
}

fn fits(free: &[Credential<'_>], steps: &[Vec<Method>]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    free.iter().enumerate().any(|(at, credential)| {
        let others: Vec<_> = free[..at].iter().chain(&free[at + 1..]).copied().collect();
        step.iter().any(|method| method.is_proven_by(*credential)) && fits(&others, rest)
    })
}

impl MfaPolicy {
    /// Returns the condition in requests and answers.
    pub(super) fn condition_text(condition: &Condition) -> String {
        if *condition == Condition::Absent { "true".to_owned() } else { condition.text() }
    }

    /// Returns the form on the wire, without times.
    pub(super) fn json(&self) -> Value {
        let mut view = json!({
            "mfaPolicyId": self.id,
            "mfaPolicyName": self.name,
            "condition": Self::condition_text(&self.condition),
            "requiredAuthenticationMethods": steps_view(&self.steps),
            "order": self.order,
        });
        if let Some(notes) = self.notes {
            view["notes"] = json!(notes);
        }
        view
    }
}

/// Returns the steps in the order in which lists are compared.
fn steps_view(steps: &[Vec<Method>]) -> Value {
    sorted(steps.iter().map(|step| json!({ "any": sorted(step.iter().map(Method::json)) })))
}

impl<'a> State<'a> {
    pub(super) fn is_met(&self) -> bool {
        self.proven.len() >= self.policy.steps.len()
    }

    fn next(&self, credential: Credential<'a>) -> Option<&'a Method> {
        let is_used = self.proven.iter().any(|(used, _)| *used == credential);
        let step = self.policy.steps.get(self.proven.len()).filter(|_| !is_used)?;
        step.iter().find(|method| method.is_proven_by(credential))
    }

    /// Returns the form of `get_mfa_status`.
    pub(super) fn json(&self, user: &str) -> Value {
        json!({
            "mfaPolicyId": self.policy.id,
            "userId": user,
            "satisfied": self.is_met(),
            "satisfiedMethods": sorted(self.proven.iter().map(|(_, method)| method.json())),
            "requiredMethods": steps_view(&self.policy.steps),
        })
    }
}

/// Returns the MFA policies of a user that apply, with what the votes of the user prove.
pub(super) fn states<'a>(
    organization: &'a Organization,
    request: &Request<'_>,
    votes: &[Vote],
    user: &str,
) -> Vec<State<'a>> {
    let Some(found) = organization.user(user) else { return Vec::new() };
    let mut policies: Vec<&MfaPolicy> = found.mfa_policies.iter().collect();
    policies.sort_by_key(|policy| policy.order);
    let first = policies.iter().position(|policy| policy.condition.holds(request.kind));
    let is_guard = |policy: &MfaPolicy| user == request.proposer && request.guards.contains(&policy.id);
    let applies = |(at, policy): &(usize, &MfaPolicy)| Some(*at) == first || is_guard(policy);
    let applicable: Vec<_> = policies.into_iter().enumerate().filter(applies).collect();
    let known = credentials(found);
    let with_proofs = |(_, policy)| {
        let mut state = State { policy, proven: Vec::new() };
        for vote in votes.iter().filter(|vote| vote.is_approval && vote.user == user) {
            let credential = known.iter().find(|one| one.public_key == vote.public_key);
            if let Some(credential) = credential
                && let Some(method) = state.next(*credential)
            {
                state.proven.push((*credential, method));
            }
        }
        state
    };
    applicable.into_iter().map(with_proofs).collect()
}

/// Returns whether a user must prove a further method.
pub(super) fn must_authenticate(
    organization: &Organization,
    request: &Request<'_>,
    votes: &[Vote],
    user: &str,
) -> bool {
    states(organization, request, votes, user).iter().any(|state| !state.is_met())
}

/// Returns whether an approval with a key proves the next step of a policy of its user.
pub(super) fn proves_step(
    organization: &Organization,
    request: &Request<'_>,
    votes: &[Vote],
    (user, public_key): (&str, &str),
) -> bool {
    let found = organization.user(user).map(credentials).unwrap_or_default();
    let states = states(organization, request, votes, user);
    let mut credential = found.iter().filter(|one| one.public_key == public_key);
    credential.any(|credential| states.iter().any(|state| state.next(*credential).is_some()))
}
