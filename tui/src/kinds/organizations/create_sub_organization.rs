//! Creates a sub-organization with its root users and, if requested, keys.

use std::fmt::Write as _;

use crate::kinds::prelude::*;
use crate::kinds::shared::new_key::{private_key, wallet};
use crate::kinds::shared::new_user::credentials;
use crate::kinds::shared::verification_token::{TOKEN, TOKEN_HIDDEN, is_given};

pub(super) const KIND: Kind = Kind {
    abridged: &[TOKEN],
    hidden: Some((
        &["ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8"],
        TOKEN_HIDDEN,
    )),
    ..Kind::new("CREATE_SUB_ORGANIZATION", "Create sub-organization", describe)
};

fn describe(parameters: &Reader<'_>, _: &ReviewContext<'_>) -> Result<Description> {
    let Some(name) = parameters.maybe_text("subOrganizationName")? else {
        return first_version(parameters);
    };
    let threshold = parameters.number("rootQuorumThreshold")?;
    let users = parameters.list("rootUsers")?;
    let mut named = Vec::new();
    for user in &users {
        named.push(format!("{} with {}", quoted(user.text("userName")?), credentials(user)?));
    }
    let number = count(users.len(), "root user");
    let mut sentence = format!(
        "Create the sub-organization {} with {number} and a root quorum threshold of {threshold}: {}.",
        quoted(name),
        listed(named)
    );
    if let Some(requested) = parameters.object("wallet")? {
        let _ = write!(sentence, " It starts with {}", wallet(&requested)?);
    }
    let keys = parameters.list("privateKeys")?;
    if !keys.is_empty() {
        let keys = keys.iter().map(private_key).collect::<Result<Vec<_>, _>>()?;
        let _ = write!(sentence, " It starts with the private keys {}.", listed(keys));
    }
    let is_proved = is_given(parameters);
    if is_proved {
        sentence.push_str(" A verification token must prove the contact of one root user.");
    }
    let mut description =
        Description::new(format!("{}, root {threshold} of {}", quoted(name), users.len()), sentence);
    if is_proved {
        let text = "The contact of one root user counts as verified. The console does not know which: only the daemon \
                    reads the token.";
        description.flag_medium("contact-verified", text);
    }
    if threshold == 1 && users.len() > 1 {
        description.flag_medium(
            "one-can-act",
            format!("Any ONE of its {number} can do anything in it alone: the threshold is 1."),
        );
    }
    sign_in(parameters, &mut description)?;
    Ok(description)
}

fn first_version(parameters: &Reader<'_>) -> Result<Description> {
    let name = quoted(parameters.text("name")?);
    let passkey = match parameters.object("rootAuthenticator")? {
        Some(passkey) => quoted(passkey.text("authenticatorName")?),
        None => "none".to_owned(),
    };
    let mut description = Description::new(
        name.clone(),
        format!("Create the sub-organization {name} with one root user who holds the passkey {passkey}."),
    );
    sign_in(parameters, &mut description)?;
    Ok(description)
}

/// Flags the ways to sign in that are enabled. All are enabled in a new sub-organization unless they are
/// disabled.
fn sign_in(parameters: &Reader<'_>, description: &mut Description) -> Result<()> {
    let ways = [
        ("disableEmailRecovery", "e-mail recovery"),
        ("disableEmailAuth", "e-mail sign-in"),
        ("disableSmsAuth", "SMS codes"),
        ("disableOtpEmailAuth", "e-mail codes"),
    ];
    let mut on = Vec::new();
    for (member, words) in ways {
        if !parameters.boolean(member)? {
            on.push(words.to_owned());
        }
    }
    if !on.is_empty() {
        description.flag_low(
            "sign-in-open",
            format!("Ways to sign in or recover access that are enabled from the start: {}.", listed(on)),
        );
    }
    Ok(())
}
