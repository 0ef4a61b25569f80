//! Who acts in this console: user, key and its source, last use, organization, daemon and socket.

use quorate_common::ids::UserId;
use quorate_common::webauthn;
use quorate_common::wire::User;
use sha2::{Digest, Sha256};

use crate::keys::canonical;
use crate::proof::mode_word;
use crate::screens::overlay::Overlay;
use crate::screens::shared::Shared;
use crate::text::{ago, clean, date_time, grouped, quoted};

/// Returns the overlay with who acts. What the daemon states is marked.
pub(super) fn overlay(shared: &Shared) -> Overlay {
    let mut lines = user_lines(shared);
    lines.push(String::new());
    lines.extend(key_lines(shared));
    lines.push(String::new());
    lines.extend(daemon_lines(shared));
    Overlay::text("Who you are here", lines)
}

fn user(shared: &Shared, id: UserId) -> Option<&User> {
    let organization = shared.organization.as_deref()?;
    organization.users.iter().find(|user| user.user_id == id)
}

fn user_lines(shared: &Shared) -> Vec<String> {
    let organization = match (&shared.organization, shared.organization_id) {
        (Some(one), _) => {
            let head = &one.head;
            format!("{} {} [s]", quoted(&head.organization_name), head.organization_id)
        }
        (None, Some(id)) => format!("{id}, not loaded yet"),
        (None, None) => "none is selected".to_owned(),
    };
    let Some(id) = shared.viewer.user else {
        return vec![
            "user          none: this console is read only".to_owned(),
            format!("organization  {organization}"),
        ];
    };
    let name = user(shared, id).map_or_else(|| "unknown".to_owned(), |user| quoted(&user.user_name));
    let is_root =
        |one: &quorate_common::console::OrganizationDetail| one.head.root_quorum.user_ids.contains(&id);
    let root = match shared.organization.as_deref() {
        Some(one) if is_root(one) => {
            let quorum = &one.head.root_quorum;
            format!("member of the root quorum, {} of {} [s]", quorum.threshold, quorum.user_ids.len())
        }
        Some(_) => "not a member of the root quorum [s]".to_owned(),
        None => "not known yet".to_owned(),
    };
    vec![
        format!("user          {name} {id} [s]"),
        format!("authority     {root}"),
        format!("organization  {organization}"),
    ]
}

fn key_lines(shared: &Shared) -> Vec<String> {
    let identity = &shared.identity;
    let Some(public_key) = &identity.public_key else {
        return vec!["key           none: nothing can be signed".to_owned()];
    };
    let name = identity.key_name.as_deref().unwrap_or_default();
    let lock = match (identity.needs_passphrase, shared.is_unlocked) {
        (false, _) => "signs without a prompt",
        (true, false) => "locked",
        (true, true) => "UNLOCKED",
    };
    let bytes = const_hex::decode(canonical(public_key)).ok();
    let bytes = bytes.or_else(|| webauthn::from_base64url(public_key)).unwrap_or_default();
    let mut lines = vec![
        format!("key           {}, {}, {lock}", clean(name), source(name, identity.dev_only)),
        format!("public key    {}", clean(public_key)),
        format!("SHA-256       {}", grouped(&const_hex::encode(Sha256::digest(bytes)))),
        format!("last use      {}", last_use(shared, public_key)),
    ];
    lines.extend(identity.key_warning.as_ref().map(|warning| format!("[!] {}", clean(warning))));
    lines
}

/// Returns the source of a key, as its name shows.
fn source(name: &str, is_of_credentials: bool) -> &'static str {
    if is_of_credentials {
        "in the credentials file of a DEV daemon"
    } else if name.starts_with("agent:") {
        "in the SSH agent"
    } else if name.starts_with("pkcs11:") {
        "on a PKCS #11 token"
    } else if name.starts_with("fido2:") {
        "on a security key"
    } else {
        "in an encrypted file"
    }
}

/// Returns when the key was last used, as the daemon recorded it.
fn last_use(shared: &Shared, public_key: &str) -> String {
    let own = canonical(public_key);
    let held = shared.viewer.user.and_then(|id| user(shared, id));
    let credentials = held.iter().flat_map(|user| {
        let keys = user.api_keys.iter().map(|key| (&key.credential, key.api_key_id.to_string()));
        let passkeys = user.authenticators.iter();
        keys.chain(passkeys.map(|one| (&one.credential, one.authenticator_id.to_string())))
    });
    let mut ids = credentials.filter(|(one, _)| canonical(&one.public_key) == own).map(|(_, id)| id);
    let Some(id) = ids.next() else {
        return "not recorded: the daemon does not state this key for the user".to_owned();
    };
    let uses = shared.organization.iter().flat_map(|one| &one.last_uses);
    let last = uses.filter(|one| one.credential_id == id).map(|one| one.at_millis).max();
    let text = |at| format!("{} ({}), recorded once an hour [s]", date_time(at), ago(at, shared.now));
    last.map_or_else(|| "none recorded [s]".to_owned(), text)
}

fn daemon_lines(shared: &Shared) -> Vec<String> {
    let label = if shared.is_remote() { "URL" } else { "socket" };
    let mut lines = vec![format!("{label:<14}{}", shared.identity.socket)];
    let own = env!("CARGO_PKG_VERSION");
    lines.push(match &shared.daemon {
        None => format!("daemon        not connected; this console is version {own}"),
        Some(daemon) => {
            let (version, protocol) = (clean(&daemon.version), daemon.protocol);
            let (mode, process) = (mode_word(daemon.mode), daemon.process_id);
            // A daemon at a URL does not state its process.
            let process = if process == 0 { String::new() } else { format!(", process {process}") };
            format!(
                "daemon        {mode}, version {version}, protocol {protocol}{process} [s]; console {own}"
            )
        }
    });
    lines.extend(
        shared
            .daemon
            .as_ref()
            .and_then(|daemon| daemon.base_url.as_ref())
            .map(|url| format!("API           {} [s]", clean(url))),
    );
    lines.push(format!("connection    {}", shared.link_text()));
    lines
}
