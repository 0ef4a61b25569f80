//! Explanations and lint findings of the policies of an organization, for its operator. They come from the
//! same functions that the console uses.

use quorate_common::catalog::Gate as KindGate;
use quorate_common::console::OrganizationDetail;
use quorate_common::ids::OrganizationId;
use quorate_policy::Names;
use quorate_policy::decide::DenyErrors;
use quorate_policy::lint::{self, ActivityType, Finding};
use quorate_policy::request::Request;
use quorate_policy::simulate::{Gate, NamedPolicy, OrganizationRules, SimulatedRequest, Simulation};

use crate::consensus::approver;
use crate::error::{Corrupt, Intent, Missing, RequestError};
use crate::kinds;
use crate::model::{Millis, Organization};
use crate::operator;
use crate::pipeline::Pending;
use crate::policy;
use crate::world::World;

/// Returns the lint findings of the policies of an organization.
///
/// # Errors
/// If there is no such organization, or the store cannot be read.
pub fn findings(world: &dyn World, id: OrganizationId, now: Millis) -> Result<Vec<Finding>, RequestError> {
    let organization = world.organization(id)?.ok_or(Missing::Organization)?;
    let matched = kinds::all().iter().filter_map(|entry| {
        let (action, resource) = entry.acts?;
        let (action, resource) = (action.name().to_owned(), resource.name().to_owned());
        Some(ActivityType { name: entry.activity_type.to_owned(), action, resource })
    });
    let types: Vec<ActivityType> = matched.collect();
    Ok(lint::lint(
        &rules(&organization, world.installation().deny_errors(), now),
        &types,
        &ObjectNames(operator::detail(&organization)),
    ))
}

/// Returns the current outcome of each policy for an activity, and which part of the policy decides.
///
/// # Errors
/// If there is no such organization or activity, policies do not apply to its type, or the store cannot be
/// read.
pub fn explained(
    world: &dyn World,
    id: OrganizationId,
    reference: &str,
    now: Millis,
) -> Result<Simulation, RequestError> {
    let organization = world.organization(id)?.ok_or(Missing::Organization)?;
    let record = operator::find(world, &organization, reference, now)?;
    let checked = Pending::of(world, &record, &organization, now)?;
    let (entry, facts) = (checked.entry(), checked.facts());
    let gate = match entry.gate {
        KindGate::Policy => Gate::Policy,
        KindGate::RootQuorum => Gate::RootQuorum,
        KindGate::OwnCredential => Gate::OwnCredential,
        KindGate::RootUser => Gate::RootUser,
        KindGate::Vote | KindGate::Caller | KindGate::Invitation | KindGate::Registrant => {
            return Err(Intent::Text("policies do not apply to this type of activity").into());
        }
    };
    let approvals: Vec<_> = checked
        .voters(&record)
        .approvals
        .iter()
        .filter_map(|one| Some(approver(organization.user(one.user)?, Some(&one.public_key), now)))
        .collect();
    let parameters = policy::parameters(checked.intent());
    let own_credentials_of = facts.own_credentials_of.map(|user| user.to_string());
    let request = Request {
        activity_type: entry.activity_type,
        acts: entry.acts.map(|(action, resource)| (action.name(), resource.name())),
        parameters: parameters.ok_or(Corrupt::Invariant("an intent is one member"))?,
        now: policy::instant(now),
    };
    Ok(rules(&organization, world.installation().deny_errors(), now).simulate(&SimulatedRequest {
        request,
        subjects: &facts.subjects,
        gate,
        own_credentials_of: own_credentials_of.as_deref(),
        proposer: &record.proposer.to_string(),
        approvals: &approvals,
    }))
}

/// Returns the users, the root quorum and the policies of an organization, as simulations need them.
fn rules(organization: &Organization, deny_errors: DenyErrors, now: Millis) -> OrganizationRules {
    let quorum = &organization.head.quorum;
    let policies = organization.policies().map(|parsed| NamedPolicy {
        id: parsed.policy.id.to_string(),
        name: parsed.policy.name.to_string(),
        program: parsed.program.clone(),
    });
    let users = organization.users().filter(|user| user.can_stamp(now));
    OrganizationRules {
        users: users.map(|user| approver(user, None, now)).collect(),
        roots: quorum.members.iter().map(ToString::to_string).collect(),
        threshold: usize::try_from(quorum.threshold).unwrap_or(usize::MAX),
        policies: policies.collect(),
        deny_errors,
    }
}

/// The names of the objects of an organization, by their ids.
struct ObjectNames(OrganizationDetail);

impl Names for ObjectNames {
    fn name(&self, id: &str) -> Option<String> {
        self.0.name_of(id).map(str::to_owned)
    }
}
