//! Enumerations whose values have names.

/// Defines an enumeration with the name of each value. Implements the lookups in both directions, and `Display`.
#[macro_export]
macro_rules! named_enum {
    ($(#[$attribute:meta])* $visibility:vis enum $type:ident {
        $($(#[$documentation:meta])* $value:ident = $name:literal,)+
    }) => {
        $(#[$attribute])*
        $visibility enum $type {
            $($(#[$documentation])* $value,)+
        }

        impl $type {
            /// All values in the order of their declaration.
            $visibility const ALL: &'static [Self] = &[$(Self::$value),+];

            /// Returns the name.
            $visibility const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }

            /// Returns the value with exactly this name.
            $visibility fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}
