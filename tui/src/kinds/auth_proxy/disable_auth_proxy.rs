//! Deletes the user in whose name the authentication proxy stamps requests.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("DISABLE_AUTH_PROXY", "Disable authentication proxy", |_, context| Ok(describe(context)));

fn describe(context: &ReviewContext<'_>) -> Description {
    let user = context.organization.auth_proxy_user_id;
    let named = user.map_or_else(
        || "of the authentication proxy (not enabled now)".to_owned(),
        |user| context.user_named(&user.to_string()),
    );
    let mut description = Description::new(
        "its user and key are deleted",
        format!(
            "Delete the user {named} and the API key with which the authentication proxy stamps requests."
        ),
    );
    description.flag_high(
        "closes-sign-up",
        "Clients without a credential can then neither sign up nor sign in through the proxy. To enable it again creates \
         another user, whom existing policies do not name.",
    );
    description
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn describes_the_deleted_user() {
        crate::kinds::tests::check("disable_auth_proxy", &[("DISABLE_AUTH_PROXY", json!({}))]);
    }
}
