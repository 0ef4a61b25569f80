//! Imports a private key.

use quorate_policy::Property;

use crate::kinds::prelude::*;
use crate::kinds::shared::key_import::{encrypted, flag_external_copy};
use crate::kinds::shared::read_by_policies::flag_name;

pub(super) const KIND: Kind = Kind {
    abridged: &[("encryptedBundle", encrypted)],
    ..Kind::new("IMPORT_PRIVATE_KEY", "Import private key", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let name = parameters.text("privateKeyName")?;
    parameters.text("encryptedBundle")?;
    let curve = clean(parameters.text("curve")?.trim_start_matches("CURVE_"));
    let formats = parameters.texts("addressFormats")?;
    let formats = formats.iter().map(|format| clean(format.trim_start_matches("ADDRESS_FORMAT_")));
    let mut description = Description::new(
        quoted(name),
        format!(
            "Import the private key {} on {curve}, which {} encrypted to this service. Address formats: \
             {}.",
            quoted(name),
            context.user_named(parameters.text("userId")?),
            listed(formats)
        ),
    );
    flag_external_copy(&mut description);
    if context.organization.private_keys.iter().any(|known| known.private_key_name == name) {
        description.flag_same_name("a private key", name);
    }
    flag_name(Property::PrivateKeyName, &mut description, context);
    description.change_added("private keys", context.organization.private_keys.len(), 1);
    Ok(description)
}
