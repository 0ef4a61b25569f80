//! The interface to records, organizations and keys, which the daemon implements.

use std::sync::Arc;

use quorate_chain::curve::{Message, SecretKey, Signature};
use quorate_common::activity_log::LogHash;
use quorate_common::bounded::{Email, Phone};
use quorate_common::ids::{OrganizationId, SmartContractInterfaceId};
use quorate_policy::decide::DenyErrors;
use zeroize::Zeroizing;

use crate::budget::Budget;
use crate::denials::Denials;
use crate::error::{Corrupt, RequestError};
use crate::id_token::IssuerKeys;
use crate::interfaces::Interface;
use crate::limits::Limits;
use crate::model::layout::{IndexKey, Key};
use crate::model::queued_message::{Channel, MessageSource, QueueUsage};
use crate::model::{Millis, Organization};
use crate::oauth2::{Exchange, Oauth2User};
pub use crate::page::{Order, Page};
use crate::signer::Signer;

/// Read access to decrypted records.
pub trait Records {
    /// Reads the record at a key.
    ///
    /// # Errors
    /// If the store cannot be read, or the record cannot be decrypted.
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Corrupt>;

    /// Reads a page of records with their keys.
    ///
    /// # Errors
    /// If the store cannot be read, or a record cannot be decrypted.
    fn page(&self, page: Page<'_>) -> Result<Vec<(Key, Vec<u8>)>, Corrupt>;

    /// Reads a page of keys, without decrypting the records.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn keys(&self, page: Page<'_>) -> Result<Vec<Key>, Corrupt>;
}

/// A cache of resolved signers and decrypted secret keys, so that signing neither looks them up nor derives
/// them each time. It never returns a secret key.
pub trait Keyring {
    /// Returns the signer with this name, and resolves it if it is not cached. A name is valid for one
    /// version of one organization.
    ///
    /// # Errors
    /// If `resolve` fails.
    fn signer(
        &self,
        name: Key,
        resolve: &mut dyn FnMut() -> Result<Signer, RequestError>,
    ) -> Result<Arc<Signer>, RequestError>;

    /// Signs with the secret key that belongs to the record at `record_key`, and loads it if it is not
    /// cached.
    ///
    /// # Errors
    /// If `load` fails, or the signature fails verification.
    fn sign(
        &self,
        record_key: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, RequestError>,
        message: &Message,
    ) -> Result<Signature, RequestError>;
}

/// The key with which the service signs statements that clients trust.
pub trait QuorumKey {
    /// Returns the public key: an uncompressed P-256 point in lowercase hexadecimal.
    fn public_key(&self) -> String;

    /// Signs a statement with ECDSA and SHA-256. The signature is in DER, with the lower of the two values of
    /// `s`.
    ///
    /// # Errors
    /// If the signature cannot be made.
    fn sign(&self, statement: &[u8]) -> Result<Vec<u8>, Corrupt>;

    /// Decrypts an envelope that was encrypted to the encryption key of the service. Returns `None` if it was encrypted
    /// to another key, or modified.
    fn open(&self, envelope: &[u8]) -> Option<Zeroizing<Vec<u8>>>;
}

/// The issuer of the service's own ID tokens.
pub trait TokenIssuer {
    /// Returns the URL that tokens state as their issuer.
    fn url(&self) -> &str;

    /// Returns the id of the key that signs.
    fn key_id(&self) -> &str;

    /// Signs a statement with ECDSA on P-256 and SHA-256. The signature is in DER.
    ///
    /// # Errors
    /// If the signature cannot be made.
    fn sign(&self, statement: &[u8]) -> Result<Vec<u8>, Corrupt>;
}

/// A cache of smart contract interfaces, so that signing does not parse them each time.
pub trait InterfaceCache {
    /// Returns the interface with this id, and reads it if it is not cached. An interface never changes.
    ///
    /// # Errors
    /// If `read` fails.
    fn interface(
        &self,
        id: SmartContractInterfaceId,
        read: &mut dyn FnMut() -> Result<Interface, RequestError>,
    ) -> Result<Arc<Interface>, RequestError>;
}

/// How the service is installed: its own keys, its settings and what it can send. All attempts at all requests see the
/// same.
pub trait Installation {
    /// Returns the key that signs bundles.
    fn quorum_key(&self) -> &dyn QuorumKey;

    /// Returns the limits of the installation.
    fn limits(&self) -> &Limits;

    /// Checks whether a text is accepted as the URL of a webhook.
    ///
    /// # Errors
    /// The reason why it is not accepted.
    fn webhook_allowed(&self, url: &str) -> Result<(), &'static str>;

    /// Returns the URL of the page on which people accept invitations, without a fragment; `None` if there is no
    /// such page.
    fn invitation_page(&self) -> Option<&str>;

    /// Returns whether mail may be sent from an address that a request names.
    fn allows_sender(&self, address: &Email) -> bool;

    /// Returns whether SMS can be sent.
    fn sends_sms(&self) -> bool;

    /// Returns whether SMS may be sent to a phone number.
    fn allows_phone(&self, phone: &Phone) -> bool;

    /// Returns whether users of sub-organizations may customize the sender, the logo and the link of mail.
    fn allows_child_branding(&self) -> bool;

    /// Returns whether the operator lifted the limits of registered organizations for this tenant.
    fn trusts(&self, tenant: OrganizationId) -> bool;

    /// Returns the issuer of the service's own ID tokens, if it issues any.
    fn token_issuer(&self) -> Option<&dyn TokenIssuer>;

    /// Returns whether anybody may create a top-level organization for themselves.
    fn allows_registration(&self) -> bool;

    /// Returns when the store was restored from a backup, in milliseconds since 1970, and zero if it never was. Requests that
    /// may have been executed before are refused.
    fn restored(&self) -> Millis {
        0
    }

    /// Signs the checkpoint of the activity log with this size and root, whose newest entry was added at this time. Returns it
    /// with the key that verifies it.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn sign_checkpoint(&self, size: u64, root: LogHash, time: Millis) -> Result<(String, String), Corrupt>;

    /// Returns how errors of denying policies are handled.
    fn deny_errors(&self) -> DenyErrors;

    /// Returns whether the service is a throwaway one of `quorated dev`.
    fn is_dev(&self) -> bool;

    /// Returns whether the index of waiting activities lacks some that an earlier version stored.
    fn is_index_outdated(&self) -> bool;
}

/// Everything outside of the core that a request can use.
pub trait World {
    /// Returns how the service is installed.
    fn installation(&self) -> &dyn Installation;

    /// Returns the limits of the installation.
    fn limits(&self) -> &Limits {
        self.installation().limits()
    }

    /// Returns the current snapshot of an organization.
    ///
    /// # Errors
    /// If a record of the organization cannot be read, or was changed outside the service.
    fn organization(&self, id: OrganizationId) -> Result<Option<Arc<Organization>>, Corrupt>;

    /// Returns the version of an organization, as commits compare it; zero if it has none.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn version(&self, id: OrganizationId) -> Result<u64, Corrupt>;

    /// Returns the records that are not part of a snapshot.
    fn records(&self) -> &dyn Records;

    /// Returns the cache of signers and decrypted keys.
    fn keyring(&self) -> &dyn Keyring;

    /// Returns the cache of smart contract interfaces.
    fn interfaces(&self) -> &dyn InterfaceCache;

    /// Returns the key of the digests that index entries use.
    fn index(&self) -> &IndexKey;

    /// Returns the budget of the current answer.
    fn budget(&self) -> &Budget;

    /// Returns what is known about the number of denied attempts.
    fn denials(&self) -> &Denials;

    /// Returns whether mail can be sent.
    fn sends_mail(&self) -> bool {
        self.mail_sender().is_some()
    }

    /// Returns the address of the sender of mail that names none, if mail can be sent.
    fn mail_sender(&self) -> Option<&Email>;

    /// Returns how many messages of a tenant wait to be sent, how many of them are of one of its organizations, and how
    /// many of one of its groups of senders. It may not include those that were queued at the same time.
    fn waiting_messages(&self, channel: Channel, source: &MessageSource) -> [QueueUsage; 3];

    /// Returns the signing keys of an OpenID Connect issuer. They are fetched again if the key with this id is not
    /// among them, though not more often than once a minute.
    ///
    /// # Errors
    /// If the issuer is not allowed, or its keys cannot be read.
    fn issuer_keys(&self, issuer: &str, key_id: Option<&str>) -> Result<Arc<IssuerKeys>, RequestError>;

    /// Returns the user whom an exchange identified. An exchange whose code is not claimed is requested: the code is
    /// claimed and exchanged, and then the request is decided again.
    ///
    /// # Errors
    /// If the code is claimed by another request, or cannot be exchanged.
    fn exchange(&self, exchange: Exchange, is_claimed: bool) -> Result<Arc<Oauth2User>, RequestError>;
}

/// The clock and the randomness of one transaction attempt.
pub struct Runtime<'a> {
    /// Time of the attempt.
    pub now: Millis,
    /// Number that grows with each attempt of the same millisecond; 12 bits.
    pub order: u16,
    /// Fills a buffer with bytes from a cryptographic source.
    pub entropy: &'a mut dyn FnMut(&mut [u8]),
}

impl Runtime<'_> {
    /// Returns the last ten bytes of a version 7 UUID: the order in the first 12 significant bits, then
    /// random bits (RFC 9562, section 6.2, method 1).
    pub fn ordered(&mut self) -> [u8; 10] {
        let mut bytes: [u8; 10] = self.random();
        let [first, second, ..] = &mut bytes;
        [*first, *second] = self.order.to_be_bytes();
        bytes
    }

    /// Returns fresh random bytes.
    pub fn random<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.entropy)(&mut bytes);
        bytes
    }
}
