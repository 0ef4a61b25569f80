//! Attested stamps: authentication by a token that proves a sign-in, for requests that open a session, and for steps of
//! MFA policies.

use std::sync::Arc;

use quorate_common::ids::OrganizationId;
use quorate_common::stamp::{AttestationType, AttestedStamp};

use super::{Authenticated, CANDIDATES, check_source};
use crate::authentication::Attestation;
use crate::error::{Authn, Corrupt, Intent, Missing, RequestError};
use crate::established::{self, Standing};
use crate::id_token::IdToken;
use crate::make::{code_request, oidc, verification};
use crate::model::last_use::Credential;
use crate::model::layout::{self, Lookup};
use crate::model::one_time_code::{Contact, TokenUsage};
use crate::model::{AttestedProof, Millis, Organization, ProvenIdentity, User};
use crate::view::{Caller, CredentialScope, OwnRecords};
use crate::world::{Page, World};

/// Parses the value of an `X-Stamp-Attested` header.
pub(super) fn read(header: &str) -> Result<AttestedStamp, RequestError> {
    AttestedStamp::read(header).map_err(|error| Authn::Unreadable(error.to_string()).into())
}

/// What a stamp attests about the caller.
enum Attested<'a> {
    /// The caller has this contact.
    Contact(Box<verification::Proof>),
    /// The caller has this identity.
    Identity(Box<IdToken<'a>>),
}

/// A request whose stamp is verified, and whose user is not known yet.
pub(super) struct Request<'a> {
    pub(super) world: &'a dyn World,
    pub(super) source: Option<std::net::IpAddr>,
    pub(super) scope: CredentialScope,
    pub(super) now: Millis,
}

impl Request<'_> {
    /// Finds the user whose sign-in the stamp attests. The named organization is searched, then, if the scope allows
    /// it, its sub-organizations.
    pub(super) fn authenticate(
        &self,
        named: Arc<Organization>,
        stamp: &AttestedStamp,
        body: &[u8],
    ) -> Result<Authenticated, RequestError> {
        if !stamp.is_signed(body) {
            return Err(Authn::Signature.into());
        }
        let attested = self.attested(stamp, &named)?;
        let unknown = Authn::Unattested(named.id());
        let home = self.home(named, &attested)?.ok_or(unknown.clone())?;
        let user = attested.holder(&home).ok_or(unknown)?;
        let attestation = self.attestation(&attested, &home, user)?;
        check_source(&home, None, self.source)?;
        let credential = match &attestation.proof {
            AttestedProof::Identity(identity) => Some(Credential::Identity(identity.provider)),
            AttestedProof::Contact(_) => None,
        };
        let caller = Caller {
            used: credential,
            attestation: Some(attestation),
            ..Caller::new(&home, user.id, *user.id.as_bytes(), stamp.stamp())
        };
        Ok(Authenticated { caller, target: Arc::clone(&home), home })
    }

    /// Reads the token. A verification token is verified here, an ID token once its user is known, since that needs the
    /// keys of its issuer.
    fn attested<'t>(
        &self,
        stamp: &'t AttestedStamp,
        named: &Organization,
    ) -> Result<Attested<'t>, RequestError> {
        match stamp.attestation_type {
            AttestationType::VerificationToken => {
                let installation = self.world.installation();
                let proof = verification::check(&stamp.attestation, installation, named, self.now)?;
                proof.check_bound()?;
                proof.check_key(&stamp.public_key)?;
                Ok(Attested::Contact(Box::new(proof)))
            }
            AttestationType::IdToken => {
                let token = oidc::read_for_key(&stamp.attestation, &stamp.public_key)?;
                Ok(Attested::Identity(Box::new(token)))
            }
        }
    }

    /// Returns the organization of the user.
    fn home(
        &self,
        named: Arc<Organization>,
        attested: &Attested<'_>,
    ) -> Result<Option<Arc<Organization>>, RequestError> {
        // Everybody can have the authentication proxy issue a token for a contact. It must not open the organization of
        // those who administer the proxy.
        let opens_session = self.scope == CredentialScope::SubOrganizations;
        let is_closed =
            opens_session && named.head.auth_proxy.is_some() && matches!(attested, Attested::Contact(_));
        if !is_closed && attested.holder(&named).is_some() {
            return Ok(Some(named));
        }
        if named.head.parent.is_some() || self.scope != CredentialScope::SubOrganizations {
            return Ok(None);
        }
        let (lookup, values) = attested.lookup();
        for lookup in lookup.established().into_iter().chain([lookup]) {
            if let Some(child) = self.child_found_by(lookup, &values, named.id(), attested)? {
                return Ok(Some(child));
            }
        }
        Ok(None)
    }

    /// Returns the only sub-organization of the user in an index.
    fn child_found_by(
        &self,
        lookup: Lookup,
        values: &[String],
        parent: OrganizationId,
        attested: &Attested<'_>,
    ) -> Result<Option<Arc<Organization>>, RequestError> {
        let (ids, is_cut) = self.candidates(lookup, values, parent, attested)?;
        let mut children = Vec::with_capacity(ids.len());
        for id in ids {
            let child = self.world.organization(id)?.ok_or(Missing::Organization)?;
            if attested.holder(&child).is_some() {
                children.push((attested.standing(self.world, &child)?, child));
            }
        }
        // Identities that a token proved take precedence over those that were registered beside another.
        let best = children.iter().map(|(standing, _)| *standing).max().unwrap_or(Standing::Absent);
        children.retain(|(standing, _)| *standing == best && best > Standing::Absent);
        if children.len() > 1 || is_cut && children.is_empty() {
            return Err(Authn::SeveralChildren(attested.noun()).into());
        }
        Ok(children.pop().map(|(_, child)| child))
    }

    /// Returns the sub-organizations that may be that of the user, and whether there may be more entries of them.
    fn candidates(
        &self,
        lookup: Lookup,
        values: &[String],
        parent: OrganizationId,
        attested: &Attested<'_>,
    ) -> Result<(Vec<OrganizationId>, bool), RequestError> {
        let (mut ids, mut is_cut) = (Vec::new(), false);
        for value in values {
            let prefix = layout::lookup_entries(self.world.index(), parent, lookup, value);
            let keys = self.world.records().keys(Page::first(&prefix, CANDIDATES.saturating_add(1)))?;
            is_cut |= keys.len() > CANDIDATES;
            ids.extend(keys.iter().filter_map(|key| layout::lookup_child(key)));
        }
        ids.sort_unstable();
        ids.dedup();
        if ids.len() > CANDIDATES.saturating_add(1) {
            return Err(Authn::SeveralChildren(attested.noun()).into());
        }
        Ok((ids, is_cut))
    }

    /// Returns what the stamp proves about its user, after verifying what is not verified yet.
    fn attestation(
        &self,
        attested: &Attested<'_>,
        home: &Organization,
        user: &User,
    ) -> Result<Attestation, RequestError> {
        match attested {
            Attested::Contact(proof) => {
                code_request::check_feature(&proof.contact, home)?;
                let token = proof.token();
                let records = OwnRecords::of(self.world, home.id());
                let proves_step = !records.is_token_used(token.issuer, token.id, TokenUsage::Step)?;
                let proof = AttestedProof::Contact(proof.contact.clone());
                Ok(Attestation { proof, token: Some(token), proves_step })
            }
            Attested::Identity(token) => {
                let keys = self.world.issuer_keys(token.issuer(), token.key_id())?;
                let provider = user.oauth_providers.iter().find(|one| oidc::identifies(token, one));
                token.check(&keys, self.now).map_err(Intent::OidcToken)?;
                let identity = ProvenIdentity::of(provider.ok_or(Intent::OidcToken(oidc::NOBODY))?);
                let proof = AttestedProof::Identity(identity);
                Ok(Attestation { proof, token: None, proves_step: true })
            }
        }
    }
}

impl Attested<'_> {
    /// Returns the only user of an organization with the verified contact or the identity.
    fn holder<'o>(&self, organization: &'o Organization) -> Option<&'o User> {
        match self {
            Self::Contact(proof) => {
                let mut holders = organization.users().filter(|user| proof.contact.is_verified_by(user));
                holders.next().filter(|_| holders.next().is_none())
            }
            Self::Identity(token) => oidc::holder(token, organization),
        }
    }

    /// Returns what is known of the contact or the identity in an organization.
    fn standing(&self, world: &dyn World, organization: &Organization) -> Result<Standing, Corrupt> {
        match self {
            Self::Contact(_) => Ok(Standing::Established),
            Self::Identity(token) => {
                established::identity_standing(world, organization, &|one| oidc::identifies(token, one))
            }
        }
    }

    /// Returns the lookup that finds sub-organizations of the user, and its values.
    fn lookup(&self) -> (Lookup, Vec<String>) {
        match self {
            Self::Contact(proof) => match &proof.contact {
                Contact::Email(email) => (Lookup::VerifiedEmail, vec![email.as_str().to_lowercase()]),
                Contact::Phone(phone) => (Lookup::VerifiedPhoneNumber, vec![phone.to_string()]),
            },
            Self::Identity(token) => (Lookup::OauthIdentity, token.identities()),
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Self::Contact(proof) => proof.contact.noun(),
            Self::Identity(_) => "OAuth identity",
        }
    }
}
