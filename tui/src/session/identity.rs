//! The user and key of the console, and whether they match an organization.

use quorate_common::console::{DaemonStatus, Mode, OrganizationDetail};
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::wire::User;

use super::names::one_named;
use crate::credentials::Actor;
use crate::failure::{Exit, Failure};
use crate::keys::{Secret, canonical};
use crate::proof::{PinnedBy, Viewer};
use crate::text::quoted;

/// The user and key of the console, without any secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Pinned organization and user, as far as they were given.
    pub(crate) viewer: Viewer,
    /// Name of the organization, if no id was given. Only the daemon states its id, so nothing is signed for it.
    pub(crate) organization_name: Option<String>,
    /// User name, if no user id was given.
    pub(crate) user_name: Option<String>,
    pub(crate) public_key: Option<String>,
    pub(crate) key_name: Option<String>,
    /// What is risky about the way to the key.
    pub(crate) key_warning: Option<String>,
    /// Whether a passphrase or a PIN unlocks the key.
    pub(crate) needs_passphrase: bool,
    /// What unlocks the key, for the prompt.
    pub(crate) secret: Secret,
    /// Whether only a DEV daemon may be used.
    pub(crate) dev_only: bool,
    /// Socket path or URL of the daemon, cleaned.
    pub(crate) socket: String,
    /// What vouches for what the daemon states: the local socket, or a TLS key and who vouches for that.
    pub(crate) transport: &'static str,
    /// Whether user and key are those of the configuration, which names another organization. They may then be absent
    /// from this one, and nobody is selected.
    pub(crate) is_of_other: bool,
}

impl Identity {
    /// Returns the viewer within this organization: the user who was given, otherwise the holder of the key.
    pub(crate) fn viewer_in(&self, organization: &OrganizationDetail) -> Viewer {
        if self.is_of_other && self.difference(organization).is_some() {
            return Viewer { user: None, ..self.viewer.clone() };
        }
        let user = if self.user_name.is_some() {
            self.named(organization)
        } else {
            self.viewer.user.or_else(|| self.holder(organization))
        };
        Viewer { user, ..self.viewer.clone() }
    }

    /// Returns the viewer within an organization of the inbox: in a sub-organization of the pinned organization, the
    /// holder of the key. Without a key, nobody can vote, and the user with the given name sees what waits.
    pub(crate) fn viewer_below(&self, organization: &OrganizationDetail) -> Viewer {
        let head = &organization.head;
        let parent = self.viewer.organization;
        if parent.is_none() || head.parent_organization_id != parent {
            return self.viewer_in(organization);
        }
        let user =
            if self.public_key.is_some() { self.holder(organization) } else { self.named(organization) };
        Viewer {
            organization: Some(head.organization_id),
            user,
            pinned_by: PinnedBy::Parent,
            ..self.viewer.clone()
        }
    }

    /// Returns the same user without the key, who can only read.
    pub(crate) fn without_key(&self) -> Self {
        Self { public_key: None, key_name: None, key_warning: None, ..self.clone() }
    }

    /// Returns the user and key in another organization than that of the options or the configuration. The user is then
    /// the holder of the key.
    pub(crate) fn pinned_to(&self, id: OrganizationId, pinned_by: PinnedBy) -> Self {
        let viewer = Viewer { organization: Some(id), pinned_by, ..self.viewer.clone() };
        match self.viewer.organization {
            None => Self { viewer, ..self.clone() },
            Some(own) if own == id => self.clone(),
            Some(_) => Self {
                viewer: Viewer { user: None, ..viewer },
                user_name: None,
                is_of_other: true,
                ..self.clone()
            },
        }
    }

    /// Returns the user with the given name.
    fn named(&self, organization: &OrganizationDetail) -> Option<UserId> {
        let wanted = self.user_name.as_ref()?;
        organization.users.iter().find(|user| user.user_name == *wanted).map(|user| user.user_id)
    }

    /// Returns the user who has the key.
    fn holder(&self, organization: &OrganizationDetail) -> Option<UserId> {
        let public = self.public_key.as_ref()?;
        let holds = |user: &&User| user.public_keys().any(|key| canonical(key) == canonical(public));
        organization.users.iter().find(holds).map(|user| user.user_id)
    }

    /// Returns whether the user of the console can revoke anything in an organization. Nobody but its own users can in a
    /// sub-organization, and nobody else is selected by default there.
    pub(crate) fn actor_in(&self, organization: &OrganizationDetail) -> Actor {
        let selected = self.viewer_in(organization).user;
        let is_member = organization.users.iter().any(|user| Some(user.user_id) == selected);
        let must_be = organization.head.parent_organization_id.is_some() || self.is_selected();
        if must_be && !is_member { Actor::Outsider } else { Actor::Member }
    }

    /// Returns whether a user or a key was given and must therefore match the organization.
    pub(crate) const fn is_selected(&self) -> bool {
        self.user_name.is_some() || self.viewer.user.is_some() || self.public_key.is_some()
    }

    /// Returns why user and key do not match an organization, if they must. Those of another organization need not:
    /// they only cannot vote.
    pub(crate) fn mismatch(&self, organization: &OrganizationDetail) -> Option<Failure> {
        if self.is_of_other { None } else { self.difference(organization) }
    }

    /// Returns why user and key do not match an organization, if so. The user must be a member, and the key
    /// must belong to the user.
    fn difference(&self, organization: &OrganizationDetail) -> Option<Failure> {
        let id = organization.head.organization_id;
        let is_wanted = |user: &&User| match &self.user_name {
            Some(name) => user.user_name == *name,
            None => Some(user.user_id) == self.viewer.user,
        };
        let mut wanted = organization.users.iter().filter(is_wanted);
        let user = wanted.next();
        let named = self.user_name.clone().or_else(|| self.viewer.user.map(|user| user.to_string()));
        match (&named, user) {
            (Some(name), None) => {
                return Some(Failure::new(
                    Exit::NotFound,
                    format!("user {} is not in organization {id}", quoted(name)),
                ));
            }
            (Some(name), Some(first)) => {
                let ids = std::iter::once(first).chain(wanted).map(|user| user.user_id.to_string());
                if let Err(ambiguous) = one_named("user", "users", name, ids.collect()) {
                    return Some(ambiguous);
                }
            }
            _ => {}
        }
        let public = self.public_key.as_ref()?;
        let has = |user: &User| user.public_keys().any(|key| canonical(key) == canonical(public));
        let kind = if self.secret.needs_touch() { "a passkey" } else { "an API key" };
        let key = quoted(self.key_name.as_deref().unwrap_or_default());
        let text = match user {
            Some(user) if has(user) => return None,
            Some(user) => format!("key {key} is not {kind} of user {}", quoted(&user.user_name)),
            None if organization.users.iter().any(has) => return None,
            None => format!("key {key} is not {kind} of any user of organization {id}"),
        };
        Some(Failure::new(Exit::Denied, text))
    }

    /// Returns why this daemon cannot be used, if so. A credentials file works with DEV daemons only.
    pub(crate) fn daemon_error(&self, status: &DaemonStatus) -> Option<String> {
        let refused = self.dev_only && status.mode != Mode::Dev;
        refused.then(|| "a credentials file is for DEV daemons only; this is a production daemon".to_owned())
    }
}
