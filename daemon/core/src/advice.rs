//! What the policies of an organization say of an activity, and what is suspicious about them, for whoever operates
//! it: by the same functions that the console uses by itself.

use quorate_common::catalog::Gate as KindGate;
use quorate_common::ids::OrganizationId;
use quorate_policy::Names;
use quorate_policy::decide::DenyErrors;
use quorate_policy::lint::{self, ActivityType, Finding};
use quorate_policy::request::Request;
use quorate_policy::simulate::{Asked, Gate, House, NamedPolicy, Simulation};

use crate::consensus::{approver, live_approvals};
use crate::kinds;
use crate::model::{Millis, Organization};
use crate::operator;
use crate::pipeline::Ruled;
use crate::policy;
use crate::refusal::{Corrupt, Intent, Missing, Refusal};
use crate::view::View;
use crate::world::World;

/// What is suspicious about the policies of an organization.
pub fn findings(world: &dyn World, id: OrganizationId, now: Millis) -> Result<Vec<Finding>, Refusal> {
    let organization = world.organization(id)?.ok_or(Missing::Organization)?;
    let asked = kinds::all().iter().filter_map(|entry| {
        let (action, resource) = entry.acts?;
        let (action, resource) = (action.name().to_owned(), resource.name().to_owned());
        Some(ActivityType { name: entry.activity_type.to_owned(), action, resource })
    });
    let types: Vec<ActivityType> = asked.collect();
    Ok(lint::lint(&house(&organization, world.deny_errors(), now), &types, &Known(&organization)))
}

/// What each policy says of an activity now, and which part of it decides.
pub fn explained(
    world: &dyn World,
    id: OrganizationId,
    reference: &str,
    now: Millis,
) -> Result<Simulation, Refusal> {
    let organization = world.organization(id)?.ok_or(Missing::Organization)?;
    let record = operator::found(world, &organization, reference, now)?;
    let view = View::new(world, &organization, record.proposer, None, now);
    let ruled = Ruled::again(&record, view)?;
    let (entry, facts) = (ruled.entry(), ruled.facts());
    let gate = match entry.gate {
        KindGate::Policy => Gate::Policy,
        KindGate::RootQuorum => Gate::RootQuorum,
        KindGate::OwnCredential => Gate::OwnCredential,
        KindGate::RootUser => Gate::RootUser,
        KindGate::Vote | KindGate::Invitation | KindGate::Founder => {
            return Err(Intent::Text("policies are not asked about this activity").into());
        }
    };
    let approvals: Vec<_> = live_approvals(&record, &organization, now)
        .iter()
        .filter_map(|one| Some(approver(organization.user(one.user)?, Some(&one.public_key), now)))
        .collect();
    let parameters = policy::parameters(ruled.intent());
    let own_credentials_of = facts.own_credentials_of.map(|user| user.to_string());
    let request = Request {
        activity_type: entry.activity_type,
        acts: entry.acts.map(|(action, resource)| (action.name(), resource.name())),
        parameters: parameters.ok_or(Corrupt::Invariant("an intent is one member"))?,
        now: policy::instant(now),
    };
    Ok(house(&organization, world.deny_errors(), now).simulate(&Asked {
        request,
        subjects: &facts.subjects,
        gate,
        own_credentials_of: own_credentials_of.as_deref(),
        requester: &record.proposer.to_string(),
        approvals: &approvals,
    }))
}

/// An organization, as far as it decides.
fn house(organization: &Organization, deny_errors: DenyErrors, now: Millis) -> House {
    let quorum = &organization.head.quorum;
    let policies = organization.policies().map(|parsed| NamedPolicy {
        id: parsed.policy.id.to_string(),
        name: parsed.policy.name.to_string(),
        program: parsed.program.clone(),
    });
    let users = organization.users().filter(|user| user.can_stamp(now));
    House {
        users: users.map(|user| approver(user, None, now)).collect(),
        roots: quorum.members.iter().map(ToString::to_string).collect(),
        threshold: usize::try_from(quorum.threshold).unwrap_or(usize::MAX),
        policies: policies.collect(),
        deny_errors,
    }
}

/// What ids stand for in an organization.
struct Known<'a>(&'a Organization);

impl Names for Known<'_> {
    fn name(&self, id: &str) -> Option<String> {
        let Self(organization) = self;
        let is = |known: &dyn ToString| known.to_string() == id;
        let user = organization.users().find(|one| is(&one.id)).map(|one| one.name.to_string());
        let tag = || organization.tags().find(|one| is(&one.id)).map(|one| one.name.to_string());
        let wallet = || organization.wallets().find(|one| is(&one.id)).map(|one| one.name.to_string());
        let key = || organization.private_keys().find(|one| is(&one.id)).map(|one| one.name.to_string());
        let endpoint =
            || organization.webhook_endpoints.iter().find(|one| is(&one.id)).map(|one| one.name.to_string());
        let profile =
            || organization.session_profiles.iter().find(|one| is(&one.id)).map(|one| one.name.to_string());
        let credential = || {
            organization.users().find_map(|user| {
                let key = user.api_keys.iter().find(|one| is(&one.id)).map(|one| one.name.to_string());
                key.or_else(|| {
                    user.authenticators.iter().find(|one| is(&one.id)).map(|one| one.name.to_string())
                })
            })
        };
        user.or_else(tag).or_else(wallet).or_else(key).or_else(endpoint).or_else(profile).or_else(credential)
    }
}
