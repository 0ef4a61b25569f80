//! Creates a session profile.

use quorate_common::bounded::ExpirationSeconds;

use crate::kinds::prelude::*;
use crate::make::policy::{self, Expression};

/// Longest notes, in bytes.
const NOTES: usize = 4096;

/// Creates a session profile: what sessions that use it may do, and how long they may last.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    session_profile_name: Label,
    scope: Expression,
    expiration_seconds: Option<ExpirationSeconds>,
    notes: Option<Text<NOTES>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    session_profile_id: SessionProfileId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SESSION_PROFILE";
    const NUMBER: u16 = 143;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::SessionProfile));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        if view.organization.head.parent.is_some() {
            return Err(Wrong::ClosedToChildren("create session profiles").into());
        }
        policy::check_scope(&self.scope)?;
        view.name_is_free(|present: &SessionProfile| present.name == self.session_profile_name)?;
        view.check_room::<SessionProfile>(1)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let id = SessionProfileId::random(context.random());
        context.change(Change::put(SessionProfile {
            id,
            name: self.session_profile_name,
            scope: self.scope.as_str().to_owned(),
            expiration_seconds: self.expiration_seconds.map(|ExpirationSeconds(seconds)| seconds),
            notes: self.notes.map(|notes| notes.as_str().to_owned()),
            created: context.now(),
        }));
        Ok(Outcome { session_profile_id: id })
    }
}
