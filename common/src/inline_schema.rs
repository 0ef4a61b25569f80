//! JSON schemas that are always written in place.

/// Implements `JsonSchema` for a type whose schema is always written in place, and may state the limits of the type.
#[macro_export]
macro_rules! inline_schema {
    ($name:ident $(<$(const $limit:ident: $number:ty),+>)?, $schema:tt) => {
        impl $(<$(const $limit: $number),+>)? schemars::JsonSchema for $name $(<$($limit),+>)? {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                std::any::type_name::<Self>().into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}
