//! Comparisons and flags that the kinds which change a user share.

use quorate_common::wire::User;
use quorate_policy::Property;

use crate::kinds::prelude::*;
use crate::kinds::shared::read_by_policies::flag_name;
use crate::kinds::shared::verification_token::is_given;

/// A way to reach a user, to which sign-in codes may be sent.
pub(super) struct Contact {
    label: &'static str,
    /// Member of the parameters.
    member: &'static str,
    /// How policies read it, if they can.
    property: Option<Property>,
    now: fn(&User) -> Option<&str>,
}

pub(super) const MAIL_ADDRESS: Contact = Contact {
    label: "mail address",
    member: "userEmail",
    property: Some(Property::UserEmail),
    now: |user| user.user_email.as_deref(),
};
pub(super) const TELEPHONE_NUMBER: Contact = Contact {
    label: "telephone number",
    member: "userPhoneNumber",
    property: None,
    now: |user| user.user_phone_number.as_deref(),
};

impl Contact {
    /// Describes an activity that changes or removes only this contact.
    pub(super) fn describe(
        &self,
        parameters: &Reader<'_>,
        context: &ReviewContext<'_>,
    ) -> Result<Description> {
        let id = parameters.text("userId")?;
        let value = parameters.maybe_text(self.member)?;
        let (label, named) = (self.label, context.user_named(id));
        let is_proved = is_given(parameters);
        let mut sentence = match value {
            Some(value) => format!("Set the {label} of the user {named} to {}.", quoted(value)),
            None => format!("Remove the {label} of the user {named}."),
        };
        if is_proved {
            sentence.push_str(" A verification token must prove it.");
        }
        let brief = value.map_or_else(|| "none".to_owned(), quoted);
        let mut description = Description::new(format!("{}: {brief}", context.user_short(id)), sentence);
        self.compare(context.user(id), value, &mut description, context);
        if is_proved {
            let text = format!(
                "The {label} counts as verified. The console cannot check this: only the daemon reads the token."
            );
            description.flag_medium("contact-verified", text);
        }
        flag_user(&mut description, id, context);
        Ok(description)
    }

    /// Returns the sentence about a contact that is set, if it is, and adds its comparison.
    pub(super) fn describe_part(
        &self,
        parameters: &Reader<'_>,
        user: Option<&User>,
        description: &mut Description,
        context: &ReviewContext<'_>,
    ) -> Result<Option<String>> {
        let value = parameters.maybe_text(self.member)?;
        if value.is_some() {
            self.compare(user, value, description, context);
        }
        Ok(value.map(|value| format!("The {} becomes {}.", self.label, quoted(value))))
    }

    fn compare(
        &self,
        user: Option<&User>,
        after: Option<&str>,
        description: &mut Description,
        context: &ReviewContext<'_>,
    ) {
        let now = user.and_then(self.now);
        let shown = |value: Option<&str>| value.map_or_else(|| "none".to_owned(), clean);
        description.change(self.label, shown(now), shown(after));
        if let Some(property) = self.property.filter(|_| user.is_none() || after != now) {
            flag_name(property, description, context);
        }
        if after.is_some() && after != now {
            description.flag_medium(
                "contact-changed",
                "Anyone who reads messages there can act as this user if sign-in by code is enabled.",
            );
        }
    }
}

/// Flags a user who is unknown or in the root quorum.
pub(super) fn flag_user(description: &mut Description, id: &str, context: &ReviewContext<'_>) {
    description.flag_if_missing("unknown-user", context.user(id).is_some(), &context.user_named(id));
    if context.user(id).is_some() && context.is_root(id) {
        let text = format!("Changes a member of the root quorum: {}.", context.user_named(id));
        description.flag_medium("root-user-changed", text);
    }
}
