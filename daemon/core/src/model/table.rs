//! The macro behind the table of the records of a snapshot, see `daemon/core/src/model/mod.rs`.

/// Declares the collections of an organization, and the functions of code that treats all records in the same
/// way. A row states the collection, the type of its records, their noun in messages, the type of their ids, their
/// class in keys, the default limit, and the conversion to the form that the console shows.
macro_rules! records {
    ($(
        $(#[$doc:meta])*
        $collection:ident: $record:ty, $noun:literal, $id:ty, $class:expr, $limit:literal, $wire:expr;
    )+) => {
        /// The records of a snapshot, apart from users and policies.
        #[derive(Debug, Clone, Default, Serialize)]
        pub struct Collections {
            $($(#[$doc])* pub $collection: Collection<$record>,)+
        }

        /// How many records of each class an organization may have.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct RecordLimits {
            $($(#[$doc])* pub $collection: usize,)+
        }

        impl RecordLimits {
            /// Reads the limits with a function of the name and the default of each.
            pub fn read(mut limit: impl FnMut(&'static str, usize) -> usize) -> Self {
                Self { $($collection: limit(stringify!($collection), $limit),)+ }
            }
        }

        /// All classes of records in [`Collections`].
        pub const RECORDS: &[RecordClass] = &[$(RecordClass::of::<$record>()),+];

        impl Collections {
            /// Adds all records to what the console shows of an organization.
            pub fn show(&self, organization: OrganizationId, detail: &mut OrganizationDetail) {
                $(
                    let wire: fn(&$record, OrganizationId) -> _ = $wire;
                    detail.$collection = self.$collection.iter().map(|one| wire(one, organization)).collect();
                )+
            }
        }

        $(
            impl Record for $record {
                const NOUN: &'static str = $noun;
            }

            impl SnapshotRecord for $record {
                type Id = $id;
                const CLASS: Class = $class;
                const NOUNS: &'static str = concat!($noun, "s");
                const COLLECTION: &'static str = stringify!($collection);

                fn id(&self) -> $id {
                    self.id
                }

                fn id_from(bytes: [u8; 16]) -> $id {
                    <$id>::from_bytes(bytes)
                }

                fn id_bytes(id: $id) -> [u8; 16] {
                    *id.as_bytes()
                }

                fn limit(limits: &RecordLimits) -> usize {
                    limits.$collection
                }

                fn collection(records: &Collections) -> &Collection<Self> {
                    &records.$collection
                }

                fn collection_mut(records: &mut Collections) -> &mut Collection<Self> {
                    &mut records.$collection
                }
            }
        )+
    };
}
