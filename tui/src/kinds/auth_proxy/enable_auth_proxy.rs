//! Creates the user in whose name the authentication proxy stamps requests.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("ENABLE_AUTH_PROXY", "Enable authentication proxy", |_, context| Ok(describe(context)));

fn describe(context: &ReviewContext<'_>) -> Description {
    let mut description = Description::new(
        "new user of the authentication proxy",
        "Create the user \"authentication proxy (key held by the daemon)\", whose API key only the daemon holds. The authentication proxy stamps requests of \
         clients without a credential in the name of this user. The proxy serves requests only if the daemon's \
         configuration names this organization.",
    );
    description.flag_high(
        "acts-for-anyone",
        "Anyone who can reach the proxy can then do what the policies allow this user. Without a policy, that is \
         nothing but lookups of sub-organizations.",
    );
    let enabled = context.organization.auth_proxy_user_id;
    if let Some(user) = enabled {
        let text = format!("The proxy is already enabled for {}.", context.user_named(&user.to_string()));
        description.flag_low("already-enabled", text);
    }
    description
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_the_new_user() {
        crate::kinds::tests::check("enable_auth_proxy", &[("ENABLE_AUTH_PROXY", json!({}))]);
    }
}
