//! Creates a tag for users, and gives it to some.

use quorate_common::ids::{TagId, UserId};

use crate::kinds::prelude::*;
use crate::model::{Tag, TagKind};
use crate::refusal::Clash;

pub(in crate::kinds) struct CreateUserTag;

/// Creates a tag for users, and gives it to some.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_tag_name: Label,
    #[serde(default)]
    user_ids: AtMost<UserId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_tag_id: TagId,
    user_ids: AtMost<UserId, BATCH>,
}

impl Form for Intent {
    type Kind = CreateUserTag;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USER_TAG";
    const NUMBER: u16 = 14;
    const RESULT: &'static str = "createUserTagResult";
}

impl Kind for CreateUserTag {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::User));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        distinct(intent.user_ids.iter(), "userIds")?;
        intent.user_ids.iter().try_for_each(|id| view.user(*id).map(drop))?;
        let organization = view.organization;
        let mut present = organization.tags().filter(|tag| tag.kind == TagKind::User);
        if present.any(|tag| tag.name == intent.user_tag_name) {
            return Err(Clash::Name("user tag").into());
        }
        let limits = view.world.limits();
        let limit = if organization.head.parent.is_some() { limits.child_tags } else { limits.tags };
        room(organization.tags().count(), 1, limit, "tags")?;
        Ok((Facts::default(), ()))
    }

    fn execute(intent: Intent, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        let now = cx.now();
        let id = TagId::random(cx.random());
        cx.change(Change::AddTag(Tag {
            id,
            name: intent.user_tag_name,
            kind: TagKind::User,
            created: now,
            updated: now,
        }));
        for user in &intent.user_ids {
            let mut user = cx.user(*user)?.clone();
            user.tags.push(id);
            user.updated = now;
            cx.change(Change::PutUser(user));
        }
        Ok(Outcome { user_tag_id: id, user_ids: intent.user_ids })
    }
}
