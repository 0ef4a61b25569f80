//! Founding: a body that is about no organization yet, from somebody whom nobody knows. Whoever holds the passkey
//! that it registers becomes the root user of a new organization, whose first activity it is.

use std::sync::Arc;

use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::json::{self, Document, Member};
use quorate_common::stamp::Stamp;

use super::{Envelope, Submission, Turn, entry_of, in_time, stamped};
use crate::authn::{self, Credentials};
use crate::kind::Founder;
use crate::limits::FOUNDING_BYTES;
use crate::make::user;
use crate::model::change::{self, Applied, Change, Founding};
use crate::model::layout;
use crate::model::organization::Head;
use crate::model::{Organization, RootQuorum, User};
use crate::records::{self, Taken};
use crate::refusal::{Corrupt, Intent, Limit, Missing, Refusal, Unoffered};
use crate::view::Caller;
use crate::world::{Moment, Page, World};

/// Takes a request to found an organization.
pub(super) fn found<'a>(
    world: &'a dyn World,
    moment: &mut Moment<'a>,
    operation: &str,
    credentials: &Credentials,
    body: &'a [u8],
) -> Result<Turn, Refusal> {
    if !world.takes_founders() {
        let text = "creating organizations is switched off here: whoever runs the service makes them";
        return Err(Unoffered::Feature(text.to_owned()).into());
    }
    authn::admit(credentials)?;
    if body.len() > FOUNDING_BYTES {
        return Err(Intent::Text("the body of a request that creates an organization is too large").into());
    }
    names_no_organization(body)?;
    let document = Document::read(body)?;
    let envelope: Envelope<'_> = document.typed()?;
    let entry = entry_of(operation, &envelope.activity_type)?;
    let ready = entry.parse(envelope.parameters)?;
    let flaw = Corrupt::Invariant("an organization is founded by somebody");
    let founder = ready.founder().ok_or(flaw.clone())?.clone();
    let passkey = founder.user.authenticators.first().ok_or(flaw)?.credential()?;
    let stamp = authn::founder(credentials, &passkey, body)?;
    let (fingerprint, stamped, now) = (Fingerprint::of(body), stamped(envelope.timestamp_ms)?, moment.now);
    let submission = |target: Organization, caller: Caller| Submission {
        world,
        body,
        kept: None,
        fingerprint,
        stamped,
        caller,
        target: Arc::new(target),
        now,
    };
    if let Some(organization) = records::organization_of_body(world.records(), stamped, &fingerprint)? {
        let (target, caller) = founded(world, organization, &passkey.credential_id, stamp)?;
        let taken = records::taken_body(world, &target, stamped, &fingerprint)?;
        let Some(Taken::Activity(known)) = taken else { return Err(Missing::Activity.into()) };
        return submission(target, caller).show(&known);
    }
    in_time(stamped, now)?;
    // Each organization that is created moves this version on, so that two never count on the same number.
    let version = world.version(layout::NO_PARENT)?;
    has_room(world)?;
    let Applied { after, writes, absent, .. } = organization(founder, world, moment)?;
    let (root, authenticator, _) = after.passkey(&passkey.credential_id).ok_or(Missing::Activity)?;
    let (organization, user, credential) = (after.id(), root.id, *authenticator.id.as_bytes());
    let caller = Caller { organization, user, credential, invitation: None, stamp };
    let mut turn = submission(after.clone(), caller).propose(entry, ready, moment)?;
    // What is refused is recorded nowhere: there is no organization that it could belong to.
    turn.commit = turn.commit.filter(|_| turn.answer.is_ok());
    if let Some(commit) = &mut turn.commit {
        commit.expect = vec![(layout::NO_PARENT, version)];
        commit.set.push((layout::NO_PARENT, version.saturating_add(1)));
        commit.absent.extend(absent);
        commit.writes.extend(writes);
        commit.news.push(super::commit::news(&after));
        commit.after.push(after);
    }
    Ok(turn)
}

/// One more organization without a parent may be founded.
fn has_room(world: &dyn World) -> Result<(), Refusal> {
    let limit = world.limits().organizations;
    let founded = world.records().keys(Page::first(&layout::children(layout::NO_PARENT), limit))?.len();
    if founded < limit { Ok(()) } else { Err(Limit::Organizations(limit).into()) }
}

/// The body bears no `organizationId`, or an empty one.
fn names_no_organization(body: &[u8]) -> Result<(), Refusal> {
    match json::member(body, "organizationId")? {
        Member::Absent => Ok(()),
        Member::Text(text) if text.is_empty() => Ok(()),
        Member::Text(_) | Member::Other => {
            let text =
                "invalid request body: `organizationId`: an organization that is to be created has none yet";
            Err(Intent::Text(text).into())
        }
    }
}

/// The organization that a body founded, and its founder, if they are still there.
fn founded(
    world: &dyn World,
    organization: OrganizationId,
    credential_id: &str,
    stamp: Stamp,
) -> Result<(Organization, Caller), Refusal> {
    let target = world.organization(organization)?.ok_or(Missing::Organization)?;
    let (user, authenticator, _) = target.passkey(credential_id).ok_or(Missing::Activity)?;
    let caller = Caller {
        organization: target.id(),
        user: user.id,
        credential: *authenticator.id.as_bytes(),
        invitation: None,
        stamp,
    };
    Ok((Organization::clone(&target), caller))
}

/// The new organization with its root user.
fn organization(founder: Founder, world: &dyn World, moment: &mut Moment<'_>) -> Result<Applied, Refusal> {
    let root = user::first_user(founder.user, moment)?;
    let root = User { id: founder.user_id.unwrap_or(root.id), ..root };
    if root.id == UserId::from_bytes([0; 16]) {
        return Err(Intent::Text("invalid request body: `rootUserId`: expected an id other than zero").into());
    }
    let quorum = RootQuorum { threshold: 1, members: vec![root.id] };
    let id = OrganizationId::random(moment.random());
    let head = Head::new(id, None, founder.organization, quorum, moment.now);
    let founding = Founding { head, changes: vec![Change::PutUser(root)] };
    Ok(change::found(founding, moment.now, world.index())?)
}
