//! Creates private keys that belong to no wallet.

use quorate_policy::Property;

use crate::kinds::prelude::*;
use crate::kinds::shared::new_key::private_key;
use crate::kinds::shared::read_by_policies::{flag_name, flag_tags};

pub(super) const KIND: Kind = Kind::new("CREATE_PRIVATE_KEYS", "Create private keys", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let keys = parameters.list("privateKeys")?;
    let named = keys.iter().map(private_key).collect::<Result<Vec<_>, _>>()?;
    let called =
        keys.iter().map(|key| key.text("privateKeyName").map(quoted)).collect::<Result<Vec<_>, _>>()?;
    let mut description = Description::new(
        listed(called),
        format!("Create {}: {}.", count(keys.len(), "private key"), listed(named)),
    );
    for key in &keys {
        let tags = key.texts("privateKeyTags")?;
        if !tags.is_empty() {
            flag_tags(Property::PrivateKeyTags, &tags, &mut description, context);
            let tag_names = listed(tags.iter().map(|tag| context.tag_named(tag)));
            description
                .flag_medium("joins-tag", format!("Policies for {tag_names} apply to the new key at once."));
        }
    }
    flag_name(Property::PrivateKeyName, &mut description, context);
    description.change_added("private keys", context.organization.private_keys.len(), keys.len());
    Ok(description)
}
