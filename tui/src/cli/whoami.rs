//! `quorate whoami`.

use quorate_common::wire::User;
use serde_json::json;

use crate::config;
use crate::failure::Result;
use crate::files::Folders;
use crate::output::Answer;
use crate::proof::mode_word;
use crate::session::{Session, Settings};
use crate::text::{clean, quoted};

pub(super) async fn run(session: &Session, folders: &Folders) -> Result<Answer> {
    let status = session.daemon_status().await?;
    let organization = session.organization().await?;
    let identity = &session.identity;
    let user_id = identity.viewer_in(&organization).user;
    let user = organization.users.iter().find(|user| Some(user.user_id) == user_id);
    let is_root = user_id.is_some_and(|id| organization.head.root_quorum.user_ids.contains(&id));
    let config = config::Config::load(folders).unwrap_or_default();
    let context = Settings::of(&session.context, &config).ok().and_then(|settings| settings.context);
    let context = context.filter(|_| session.context.credentials.is_none()).map(|context| context.value);
    let is_pinned = identity.viewer.organization.is_some();
    let data = json!({
        "context": context,
        "socket": session.client.address(),
        "transport": identity.transport,
        "mode": status.mode,
        "organizationId": organization.head.organization_id,
        "organizationName": organization.head.organization_name,
        "pinned": is_pinned,
        "userId": user_id,
        "userName": user.map(|user| &user.user_name),
        "root": is_root,
        "key": identity.key_name,
        "publicKey": identity.public_key,
    });
    let pinned = if is_pinned { "" } else { ", not pinned: select it by its id to vote" };
    let described = |user: &User| {
        let root = if is_root { ", member of the root quorum" } else { "" };
        format!("{} {}{root}", quoted(&user.user_name), user.user_id)
    };
    let key = |name: &String| {
        format!("{} {}", clean(name), clean(identity.public_key.as_deref().unwrap_or_default()))
    };
    let name = quoted(&organization.head.organization_name);
    let text = format!(
        "context       {}\ndaemon        {} at {}, {}\norganization  {name} {}{pinned}\nuser          {}\nkey           {}\n",
        context.as_deref().map_or_else(|| "none".to_owned(), clean),
        mode_word(status.mode),
        identity.socket,
        identity.transport,
        organization.head.organization_id,
        user.map_or_else(|| "none selected: read only".to_owned(), described),
        identity.key_name.as_ref().map_or_else(|| "none selected: read only".to_owned(), key),
    );
    Ok(Answer { names: user_id.map(|id| vec![id.to_string()]), ..Answer::one(data, text) })
}
