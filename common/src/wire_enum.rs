//! Enumerations whose values have names on the wire.

/// Defines an enumeration with the name of each value on the wire, for serde, for the JSON schema and as
/// `name`. The derives of serde and schemars are those of the enumeration.
#[macro_export]
macro_rules! wire_enum {
    ($(#[$attribute:meta])* $visibility:vis enum $type:ident {
        $($(#[$documentation:meta])* $value:ident = $name:literal,)+
    }) => {
        $(#[$attribute])*
        $visibility enum $type {
            $($(#[$documentation])* #[serde(rename = $name)] $value,)+
        }

        impl $type {
            /// Returns the name on the wire.
            $visibility const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }
    };
}
