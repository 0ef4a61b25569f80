//! The records of a snapshot, and the collections of an organization that contain them.

use quorate_common::ids::{
    EndpointId, InvitationId, OrganizationId, PrivateKeyId, SecretId, SessionProfileId,
    SmartContractInterfaceId, TagId, WalletId,
};

use super::layout::{self, Class, Key};
use super::{
    Collection, Invitation, Organization, PrivateKey, Secret, SessionProfile, SmartContractInterface,
    SnapshotRecord, Tag, Wallet, WebhookEndpoint,
};

/// A record that an organization keeps in one of its collections.
pub trait CollectionItem: SnapshotRecord {
    /// Returns the collection of an organization that contains these records.
    fn collection(organization: &Organization) -> &Collection<Self>;
    /// Returns the same collection, mutably.
    fn collection_mut(organization: &mut Organization) -> &mut Collection<Self>;
}

/// Implements [`SnapshotRecord`] and [`CollectionItem`] for a record.
macro_rules! item {
    ($record:ty, $id:ty, $class:ident, $collection:ident) => {
        impl SnapshotRecord for $record {
            type Id = $id;
            const CLASS: Class = Class::$class;

            fn id(&self) -> $id {
                self.id
            }

            fn key(organization: OrganizationId, id: $id) -> Key {
                layout::entity(organization, Self::CLASS, id.as_bytes())
            }
        }

        impl CollectionItem for $record {
            fn collection(organization: &Organization) -> &Collection<Self> {
                &organization.$collection
            }

            fn collection_mut(organization: &mut Organization) -> &mut Collection<Self> {
                &mut organization.$collection
            }
        }
    };
}

item!(Invitation, InvitationId, Invitation, invitations);
item!(PrivateKey, PrivateKeyId, PrivateKey, private_keys);
item!(Secret, SecretId, Secret, secrets);
item!(SessionProfile, SessionProfileId, SessionProfile, session_profiles);
item!(SmartContractInterface, SmartContractInterfaceId, SmartContractInterface, smart_contract_interfaces);
item!(Tag, TagId, Tag, tags);
item!(Wallet, WalletId, Wallet, wallets);
item!(WebhookEndpoint, EndpointId, WebhookEndpoint, webhook_endpoints);
