//! Writes a backup.

use std::io::Write;
use std::time::{Duration, Instant};

use aead_stream::{EncryptorBE32, Key, Nonce, StreamBE32};
use aes_gcm_siv::Aes256GcmSiv;
use aes_gcm_siv::aead::Payload;
use ed25519_dalek::Signer;
use quorate_common::console::activity_log::LogCheckpoint;
use quorate_core::world::Page;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{BackupError, Entry, FORMAT, FRAME, Head, LAST, Recorder, SIGNED, Trailer, WRAPPING};
use crate::clock::now;
use crate::fail_points;
use crate::store::{Row, Snapshot, Store, StoreError};
use crate::vault::{BackupKeys, Header};

/// Number of records that are read at once. Commits wait for the end of a read.
pub(super) const PAGE: usize = 250;
/// Length of the rest after a page, as a multiple of the time that it took.
const REST: u32 = 3;
/// Longest rest.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// What a backup is made of.
pub struct Source<'s> {
    /// The store.
    pub store: &'s dyn Store,
    /// Its keys for backups.
    pub keys: &'s BackupKeys,
    /// Its header.
    pub header: &'s Header,
    /// Checkpoint of its activity log.
    pub log: LogCheckpoint,
    /// Records what is committed meanwhile; `None` if nobody uses the store, or it has snapshots.
    pub recorder: Option<&'s Recorder>,
    /// Whether requests need the processor and the disk, too.
    pub is_served: bool,
    /// Returns once all groups that were begun before are durable, and recorded.
    pub flush: &'s dyn Fn() -> Result<(), BackupError>,
}

/// Writes a backup. Returns what it contains.
///
/// # Errors
/// Returns an error if the store cannot be read, the backup cannot be written, or it cannot keep up with the changes.
pub fn write(source: &Source<'_>, to: &mut dyn Write) -> Result<Trailer, BackupError> {
    let mut writer = Writer::begin(source, to)?;
    (source.flush)()?;
    // The records of one moment, if others may change them through another daemon.
    let snapshot = source.store.snapshot()?;
    let mut after: Option<Vec<u8>> = None;
    loop {
        let begun = Instant::now();
        let page = Page { after: after.as_deref(), ..Page::first(b"", PAGE) };
        let rows = rows(source.store, snapshot.as_deref(), page)?;
        fail_points::reach("backup.page");
        let Some((last, _)) = rows.last() else { break };
        after = Some(last.clone());
        for (key, value) in rows {
            writer.add(&Entry { key, value: Some(value) })?;
            writer.sent.trailer.records = writer.sent.trailer.records.saturating_add(1);
        }
        // After the page, because it may contain older values than these changes.
        writer.add_changes(source.recorder)?;
        if source.is_served {
            std::thread::sleep(begun.elapsed().saturating_mul(REST).min(LONGEST_REST));
        }
    }
    (source.flush)()?;
    writer.add_changes(source.recorder)?;
    writer.finish(source)
}

fn rows(store: &dyn Store, snapshot: Option<&dyn Snapshot>, page: Page<'_>) -> Result<Vec<Row>, StoreError> {
    snapshot.map_or_else(|| store.rows(page), |snapshot| snapshot.rows(page))
}

struct Writer<'w> {
    encryptor: EncryptorBE32<Aes256GcmSiv>,
    /// Associated data of the frames: the digest of the head.
    head: [u8; 32],
    frame: Zeroizing<Vec<u8>>,
    sent: Sent<'w>,
}

/// What was written so far.
struct Sent<'w> {
    to: &'w mut dyn Write,
    chain: [u8; 32],
    trailer: Trailer,
}

impl Sent<'_> {
    fn frame(&mut self, sealed: &[u8], flag: u32, plain: usize) -> Result<(), BackupError> {
        let word = (u32::try_from(sealed.len()).unwrap_or(u32::MAX) | flag).to_be_bytes();
        self.chain = super::next_link(&self.chain, word, sealed);
        self.trailer.frames = self.trailer.frames.saturating_add(1);
        self.trailer.bytes = self.trailer.bytes.saturating_add(plain as u64);
        self.to.write_all(&word)?;
        Ok(self.to.write_all(sealed)?)
    }
}

impl<'w> Writer<'w> {
    fn begin(source: &Source<'_>, to: &'w mut dyn Write) -> Result<Self, BackupError> {
        let mut key = Zeroizing::new([0; 32]);
        let (mut nonce, mut wrapping) = ([0; 7], [0; 12]);
        for bytes in [key.as_mut_slice(), &mut nonce, &mut wrapping] {
            getrandom::fill(bytes).map_err(|_| BackupError::Encryption("the random source failed"))?;
        }
        let place = [WRAPPING, source.header.store_id().as_bytes()].concat();
        let sealed = source.keys.wrapping.seal(wrapping, &place, key.as_slice());
        let head = Head {
            format: FORMAT.to_owned(),
            store_id: source.header.store_id().to_owned(),
            engine: source.header.engine(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            begun: now(),
            public_key: const_hex::encode(source.keys.signing.verifying_key().as_bytes()),
            header: source.header.clone(),
            log: source.log.clone(),
            nonce: const_hex::encode(nonce),
            key: const_hex::encode(sealed.map_err(|_| BackupError::Encryption("a key cannot be sealed"))?),
        };
        let mut line =
            serde_json::to_vec(&head).map_err(|_| BackupError::Encryption("the head is invalid"))?;
        line.push(b'\n');
        to.write_all(&line)?;
        let head: [u8; 32] = Sha256::digest(&line).into();
        let key: &Key<Aes256GcmSiv> = (&*key).into();
        let nonce: &Nonce<Aes256GcmSiv, StreamBE32<Aes256GcmSiv>> = (&nonce).into();
        let trailer = Trailer { frames: 0, bytes: 0, records: 0, changes: 0, ended: 0 };
        let encryptor = EncryptorBE32::new(key, nonce);
        let frame = Zeroizing::new(Vec::with_capacity(2 * FRAME));
        Ok(Self { encryptor, head, frame, sent: Sent { to, chain: head, trailer } })
    }

    fn add(&mut self, entry: &Entry) -> Result<(), BackupError> {
        entry.encode(&mut self.frame);
        if self.frame.len() < FRAME {
            return Ok(());
        }
        let frame: Vec<u8> = self.frame.drain(..FRAME).collect();
        let payload = Payload { msg: &frame, aad: &self.head };
        let sealed = self.encryptor.encrypt_next(payload);
        self.sent.frame(&sealed.map_err(|_| BackupError::Encryption("too many frames"))?, 0, FRAME)
    }

    fn add_changes(&mut self, recorder: Option<&Recorder>) -> Result<(), BackupError> {
        let entries = recorder.map(Recorder::take).transpose()?.unwrap_or_default();
        for entry in &entries {
            self.add(entry)?;
        }
        self.sent.trailer.changes = self.sent.trailer.changes.saturating_add(entries.len() as u64);
        Ok(())
    }

    fn finish(self, source: &Source<'_>) -> Result<Trailer, BackupError> {
        let Self { encryptor, head, frame, mut sent } = self;
        let sealed = encryptor.encrypt_last(Payload { msg: &frame, aad: &head });
        let sealed = sealed.map_err(|_| BackupError::Encryption("too many frames"))?;
        sent.frame(&sealed, LAST, frame.len())?;
        let Sent { to, chain, trailer } = sent;
        let trailer = Trailer { ended: now(), ..trailer };
        let line =
            serde_json::to_vec(&trailer).map_err(|_| BackupError::Encryption("the trailer is invalid"))?;
        let signature = source.keys.signing.sign(&[SIGNED, &chain, &line].concat());
        let lines =
            [line.as_slice(), b"\n", const_hex::encode(signature.to_bytes()).as_bytes(), b"\n"].concat();
        to.write_all(&lines)?;
        to.flush()?;
        Ok(trailer)
    }
}
