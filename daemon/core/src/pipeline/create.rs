//! Creation of a top-level organization by a registrant. The body names no organization, and the caller is
//! not a user yet. The holder of the passkey that the body registers becomes the root user of the new
//! organization. The request is the first activity of that organization.

use std::sync::Arc;

use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::json::{self, Document, Member};
use quorate_common::stamp::Stamp;

use super::{Attempt, Envelope, Submission, entry_of, in_time, stamped};
use crate::authn::{self, Credentials};
use crate::error::{Corrupt, Intent, Limit, Missing, RequestError, Unimplemented};
use crate::kind::Registrant;
use crate::kinds::Operation;
use crate::limits::CREATE_ORGANIZATION_BYTES;
use crate::make::user;
use crate::model::change::{self, Applied, Change, NewOrganization};
use crate::model::layout;
use crate::model::organization::Head;
use crate::model::{Organization, RootQuorum, User};
use crate::records::{self, ProcessedBody, SentBody};
use crate::view::Caller;
use crate::world::{Page, Runtime, World};

/// Processes a request to create a top-level organization.
pub(super) fn create<'a>(
    world: &'a dyn World,
    runtime: &mut Runtime<'a>,
    operation: &'static Operation,
    credentials: &Credentials,
    body: &'a [u8],
) -> Result<Attempt, RequestError> {
    if !world.installation().allows_registration() {
        let text = "creating organizations is disabled on this service; its operator can create one";
        return Err(Unimplemented::Feature(text.to_owned()).into());
    }
    authn::admit(credentials)?;
    if body.len() > CREATE_ORGANIZATION_BYTES {
        return Err(Intent::Text("the body of a request that creates an organization is too large").into());
    }
    check_no_organization_id(body)?;
    let document = Document::read(body)?;
    let envelope: Envelope<'_> = document.typed()?;
    let entry = entry_of(operation, &envelope.activity_type)?;
    let prepared = entry.parse(envelope.parameters)?;
    let error = Corrupt::Invariant("a request that creates an organization has no registrant");
    let registrant = prepared.registrant().ok_or(error.clone())?.clone();
    let passkey = registrant.user.authenticators.first().ok_or(error)?.credential()?;
    let stamp = authn::registrant(credentials, &passkey, body)?;
    let (fingerprint, stamped, now) = (Fingerprint::of(body), stamped(envelope.timestamp_ms)?, runtime.now);
    let sent = SentBody::new(stamped, fingerprint);
    let submission = |target: Organization, caller: Caller| {
        let target = Arc::new(target);
        let home = Arc::clone(&target);
        Submission { world, body, kept: None, sent, caller, home, target, now }
    };
    if let Some(organization) = records::organization_of_body(world.records(), stamped, &fingerprint)? {
        let target = world.organization(organization)?.ok_or(Missing::Organization)?;
        let caller = caller(&target, &passkey.credential_id, stamp)?;
        let processed = records::processed_body(world, &target, &sent)?;
        let Some(ProcessedBody::Activity(known)) = processed else { return Err(Missing::Activity.into()) };
        return submission(Organization::clone(&target), caller).show(&known);
    }
    in_time(stamped, now, world.installation().restored())?;
    // Each created organization increments this version, so that two requests never rely on the same count.
    let version = world.version(layout::NO_PARENT)?;
    check_organization_limit(world)?;
    let created = organization(registrant, world, runtime)?;
    let after = &created.after;
    let caller = caller(after, &passkey.credential_id, stamp)?;
    let mut attempt = submission(after.clone(), caller).propose(entry, prepared, runtime)?;
    // A refused request is not recorded: there is no organization that it could belong to.
    attempt.commit = attempt.commit.filter(|_| attempt.answer.is_ok());
    if let Some(commit) = &mut attempt.commit {
        commit.expect = vec![(layout::NO_PARENT, version)];
        commit.set.push((layout::NO_PARENT, version.saturating_add(1)));
        let after = commit.add(created);
        commit.after.push(after);
    }
    Ok(attempt)
}

/// Checks that the limit allows one more top-level organization.
fn check_organization_limit(world: &dyn World) -> Result<(), RequestError> {
    let limit = world.limits().organizations;
    let count = world.records().keys(Page::first(&layout::children(layout::NO_PARENT), limit))?.len();
    if count < limit { Ok(()) } else { Err(Limit::Organizations(limit).into()) }
}

/// Checks that `organizationId` is absent or empty.
fn check_no_organization_id(body: &[u8]) -> Result<(), RequestError> {
    match json::member(body, "organizationId")? {
        Member::Absent => Ok(()),
        Member::Text(text) if text.is_empty() => Ok(()),
        Member::Text(_) | Member::Other => {
            let text = "invalid request body: `organizationId`: must be absent or empty when an organization is created";
            Err(Intent::Text(text).into())
        }
    }
}

/// Returns the user of a new organization who has this passkey.
fn caller(target: &Organization, credential_id: &str, stamp: Stamp) -> Result<Caller, RequestError> {
    let (user, authenticator, _) = target.passkey(credential_id).ok_or(Missing::Activity)?;
    Ok(Caller::new(target, user.id, *authenticator.id.as_bytes(), stamp))
}

/// Builds the new organization with its root user.
fn organization(
    registrant: Registrant,
    world: &dyn World,
    runtime: &mut Runtime<'_>,
) -> Result<Applied, RequestError> {
    let root = user::first_user(registrant.user, runtime)?;
    let root = User { id: registrant.user_id.unwrap_or(root.id), ..root };
    if root.id == UserId::from_bytes([0; 16]) {
        return Err(Intent::Text("invalid request body: `rootUserId`: expected an id other than zero").into());
    }
    let quorum = RootQuorum { threshold: 1, members: vec![root.id] };
    let id = OrganizationId::random(runtime.random());
    let head = Head { registered: true, ..Head::new(id, None, registrant.organization, quorum, runtime.now) };
    let new_organization = NewOrganization { head, changes: vec![Change::PutUser(root)] };
    Ok(change::create(new_organization, runtime.now, world.index())?)
}
