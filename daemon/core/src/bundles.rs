//! What is taken out of the service, and what is brought in: encrypted to one key, and vouched for by the quorum key.

use quorate_common::bundle::{BundleFlaw, Sealed, Statement, TargetKey, TargetPublicKey};
use quorate_common::ids::UserId;
use zeroize::Zeroizing;

use crate::cx::Cx;
use crate::limits::SECRET_BYTES;
use crate::model::import_target::is_over;
use crate::model::layout::Key;
use crate::model::{Change, ImportTarget, Purpose};
use crate::refusal::{Corrupt, Denied, Intent, Refusal};
use crate::view::View;

/// Longest bundle with a secret, in bytes of text: its ciphertext in hexadecimal digits, and a kibibyte for the rest.
pub const MAX_SECRET_BUNDLE: usize = 2 * SECRET_BYTES + 1024;

/// Longest bundle with a mnemonic or a private key, in bytes of text.
pub const MAX_BUNDLE: usize = 8 * 1024;

/// How many more keys are looked at than a user may have, so that those over their time are found.
const SPARE: usize = 16;

/// The key that something is to be encrypted to.
pub fn target(text: &str) -> Result<TargetPublicKey, Refusal> {
    let flaw = |flaw: BundleFlaw| Intent::Detail(format!("invalid target public key: {flaw}"));
    Ok(TargetPublicKey::parse(text).map_err(flaw)?)
}

/// The keys of the service itself that a caller is told of. What is encrypted to one of them opens for nobody outside, though
/// it would count as taken out.
pub struct OwnKeys {
    quorum: String,
    imports: Vec<TargetPublicKey>,
}

impl OwnKeys {
    /// The quorum key, and the keys that the caller may import to.
    pub fn of(view: &View<'_>) -> Result<Self, Corrupt> {
        let mut imports = Vec::new();
        for purpose in [Purpose::Wallet, Purpose::PrivateKey, Purpose::Secret] {
            for target in targets(purpose, view)? {
                imports.push(target?.key.public().clone());
            }
        }
        Ok(Self { quorum: view.quorum_key().public_key(), imports })
    }

    /// The key that something is to be encrypted to on its way out, which is none of these.
    pub fn export_target(&self, text: &str) -> Result<TargetPublicKey, Refusal> {
        let target = target(text)?;
        if target.hex() == self.quorum {
            return Err(
                Intent::Text("invalid target public key: it is the quorum key of this service").into()
            );
        }
        if self.imports.contains(&target) {
            return Err(Intent::Text("invalid target public key: it is an import key of this user").into());
        }
        Ok(target)
    }
}

/// Encrypts for whoever asked; the answer is what clients read.
pub fn export(target: &TargetPublicKey, plaintext: &[u8], cx: &mut Cx<'_, '_>) -> Result<String, Refusal> {
    let sealed = Sealed::new(target, plaintext, cx.entropy())
        .map_err(|_| Corrupt::Invariant("a point of the curve is refused"))?;
    let statement = Statement::export(&sealed, cx.organization.id()).map_err(|_| unspelled())?;
    vouched(&statement, &cx.view())
}

/// Whoever imports does so for themselves, whatever policies say.
pub fn is_own(user: UserId, view: &View<'_>) -> Result<(), Refusal> {
    if user == view.proposer { Ok(()) } else { Err(Denied::NotYours.into()) }
}

/// Makes a key to import to; the answer is what clients read. The oldest make room.
pub fn new_target(purpose: Purpose, cx: &mut Cx<'_, '_>) -> Result<String, Refusal> {
    let (organization, user, now) = (cx.organization.id(), cx.proposer, cx.now());
    let key = TargetKey::generate(cx.entropy());
    let named = (purpose != Purpose::Secret).then_some(user);
    let statement = Statement::target(key.public(), organization, named).map_err(|_| unspelled())?;
    let made = ImportTarget::new(key, organization, user, purpose, now, cx.random());
    cx.change(Change::AddImportTarget(made));
    vouched(&statement, &cx.view())
}

/// Makes room for `more` keys: those over their time go, and the oldest ones.
pub fn make_room(purpose: Purpose, more: usize, cx: &mut Cx<'_, '_>) -> Result<(), Refusal> {
    let places = places(purpose, &cx.view())?;
    let now = cx.now();
    let (over, live): (Vec<Key>, Vec<Key>) = places.into_iter().partition(|place| is_over(place, now));
    let stay = purpose.limit().saturating_sub(more);
    for place in over.into_iter().chain(live.into_iter().skip(stay)) {
        cx.change(Change::RemoveImportTarget(place));
    }
    Ok(())
}

/// The places of the keys that the caller may import to, newest first, those over their time among them.
fn places(purpose: Purpose, view: &View<'_>) -> Result<Vec<Key>, Corrupt> {
    view.records().import_targets(view.proposer, purpose, purpose.limit().saturating_add(SPARE))
}

/// What was opened, and where the key stands that opened it.
pub struct Opened {
    /// What was encrypted.
    pub plaintext: Zeroizing<Vec<u8>>,
    /// Where the key stands. It is used up.
    pub place: Key,
}

/// Opens what the caller encrypted to one of their keys for this purpose.
pub fn open(purpose: Purpose, text: &str, view: &View<'_>) -> Result<Opened, Refusal> {
    let sealed = sealed(text)?;
    for target in targets(purpose, view)? {
        let target = target?;
        if let Ok(plaintext) = target.key.open(&sealed) {
            return Ok(Opened { plaintext, place: target.place });
        }
    }
    Err(closed().into())
}

/// The keys that the caller may import to, of which each is named.
pub struct ImportKeys(Vec<ImportTarget>);

impl ImportKeys {
    /// All of them for this purpose.
    pub fn of(purpose: Purpose, view: &View<'_>) -> Result<Self, Corrupt> {
        Ok(Self(targets(purpose, view)?.collect::<Result<_, _>>()?))
    }

    /// Opens what was encrypted to one of them; no other is tried, and this one is used up.
    pub fn open(&mut self, to: &TargetPublicKey, text: &str) -> Result<Opened, Refusal> {
        let sealed = sealed(text)?;
        let Self(targets) = self;
        let at = targets.iter().position(|target| target.key.public() == to).ok_or(closed())?;
        let target = targets.swap_remove(at);
        let plaintext = target.key.open(&sealed).map_err(|_| closed())?;
        Ok(Opened { plaintext, place: target.place })
    }
}

fn sealed(text: &str) -> Result<Sealed, Refusal> {
    let flaw = |flaw: BundleFlaw| Intent::Detail(format!("invalid encrypted bundle: {flaw}"));
    Ok(Sealed::parse(text).map_err(flaw)?)
}

const fn closed() -> Intent {
    Intent::Text(
        "invalid encrypted bundle: it opens with none of the import keys of this user; each is for one import, within 24 hours",
    )
}

/// The keys that the caller may import to, newest first.
fn targets<'v>(
    purpose: Purpose,
    view: &'v View<'_>,
) -> Result<impl Iterator<Item = Result<ImportTarget, Corrupt>> + 'v, Corrupt> {
    let live = places(purpose, view)?.into_iter().filter(|place| !is_over(place, view.now));
    Ok(live.filter_map(move |place| view.records().import_target(view.proposer, purpose, place).transpose()))
}

fn vouched(statement: &Statement, view: &View<'_>) -> Result<String, Refusal> {
    let key = view.quorum_key();
    let signature = key.sign(statement.bytes())?;
    Ok(statement.signed(&signature, &key.public_key()).map_err(|_| unspelled())?)
}

const fn unspelled() -> Corrupt {
    Corrupt::Invariant("a statement does not serialize")
}
