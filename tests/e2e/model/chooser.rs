//! Chooses the arguments of a move: mostly valid ones, sometimes invalid ones, such as an id of something
//! else, a used name or an empty list. It does not report which, so that the model must find out.

use quorate_common::stamp::ApiKeyCurve;
use quorate_tests::choices::Choices;
use quorate_tests::keys::Key;

use super::world::{Organization, World};

/// One in this many choices is invalid.
const RARITY: usize = 24;

/// The keys of all users so far, in creation order, which a seed determines.
#[derive(Default)]
pub(super) struct Keys(Vec<Key>);

impl Keys {
    /// Returns the key with this public key.
    pub(super) fn of(&self, public_key: &str) -> Key {
        let mut keys = self.0.iter();
        keys.find(|key| key.public_key() == public_key).expect("a key of this run").clone()
    }

    /// Returns all keys.
    pub(super) fn all(&self) -> &[Key] {
        &self.0
    }

    /// Adds a key.
    pub(super) fn keep(&mut self, key: Key) {
        if self.0.iter().all(|other| other.public_key() != key.public_key()) {
            self.0.push(key);
        }
    }
}

/// Makes choices for an organization.
pub(super) struct Chooser<'a> {
    pub(super) world: &'a World,
    /// Position of the organization in the world.
    pub(super) position: usize,
    pub(super) choices: &'a mut Choices,
    pub(super) keys: &'a mut Keys,
    /// Counter that makes names and keys of a run distinct.
    pub(super) serial: &'a mut usize,
}

impl<'a> Chooser<'a> {
    /// Returns the organization.
    pub(super) fn organization(&self) -> &'a Organization {
        &self.world.organizations[self.position]
    }

    /// Returns a number that this run has not used.
    pub(super) fn number(&mut self) -> usize {
        *self.serial += 1;
        *self.serial
    }

    /// Returns whether to choose something invalid.
    pub(super) fn rarely(&mut self) -> bool {
        self.choices.one_in(RARITY)
    }

    /// Picks one of these.
    pub(super) fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.choices.below(all.len())]
    }

    /// Returns a value in half of the cases.
    pub(super) fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.choices.one_in(2) { Some(value(self)) } else { None }
    }

    /// Chooses an id, mostly one of these.
    pub(super) fn id(&mut self, fitting: &[String]) -> String {
        if self.rarely() {
            return self.unfit_id();
        }
        match self.choices.pick(fitting) {
            Some(id) => id.clone(),
            None => self.unfit_id(),
        }
    }

    /// Chooses an id, mostly one of these. The first two are more frequent, so that some resources get many
    /// entries.
    pub(super) fn favoured_id(&mut self, fitting: &[String]) -> String {
        let favoured = if self.choices.one_in(2) { fitting.len().min(2) } else { fitting.len() };
        self.id(&fitting[..favoured])
    }

    /// Chooses ids: mostly one to three of these, sometimes none, or one twice.
    pub(super) fn ids(&mut self, fitting: &[String]) -> Vec<String> {
        let count = self.one(&[0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
        self.several(fitting, count)
    }

    /// Chooses ids for a list that may be empty.
    pub(super) fn optional_ids(&mut self, fitting: &[String]) -> Vec<String> {
        if fitting.is_empty() && !self.rarely() {
            return Vec::new();
        }
        let count = self.one(&[0, 0, 1, 1, 2]);
        self.several(fitting, count)
    }

    fn several(&mut self, fitting: &[String], count: usize) -> Vec<String> {
        let mut ids = Vec::new();
        for _ in 0..count {
            let id = self.id(fitting);
            if !ids.contains(&id) || self.choices.one_in(4) {
                ids.push(id);
            }
        }
        ids
    }

    /// Chooses any organization, possibly this one or a deleted one.
    pub(super) fn any_organization(&mut self) -> &'a Organization {
        let existing = &self.world.organizations;
        let deleted = self.choices.pick(&self.world.deleted);
        deleted.filter(|_| self.choices.one_in(3)).unwrap_or(&existing[self.choices.below(existing.len())])
    }

    /// Returns an invalid id: of another noun, another organization, a deleted resource, nothing, or a
    /// malformed one.
    fn unfit_id(&mut self) -> String {
        let any_organization = self.any_organization();
        let candidates = match self.choices.below(8) {
            0 | 1 => self.organization().deleted_ids.clone(),
            2 | 3 => self.organization().ids(),
            4 | 5 => any_organization.ids(),
            6 => Vec::new(),
            _ => vec!["not an id".to_owned()],
        };
        let unknown = || format!("00000000-0000-4000-8000-{:012}", self.serial);
        self.choices.pick(&candidates).cloned().unwrap_or_else(unknown)
    }

    /// Chooses a name: mostly a new one, sometimes one of a few, which may be in use, unused or free again.
    pub(super) fn name(&mut self, noun: &str) -> String {
        if self.rarely() {
            // The last one has the maximum length, in characters.
            let labels = [String::new(), "two\nlines".to_owned(), "n".repeat(256), "é".repeat(255)];
            return labels[self.choices.below(4)].clone();
        }
        if self.choices.one_in(4) {
            return format!("{noun} #{}", self.choices.below(3));
        }
        let number = self.number();
        match self.choices.below(3) {
            0 => format!("{noun} {number}"),
            1 => format!("{noun}: {number} (é, 鍵)"),
            _ => format!("{noun}.{number}@model"),
        }
    }

    /// Chooses whether to delete without export: mostly yes, because nothing is ever exported.
    pub(super) fn without_export(&mut self) -> Option<bool> {
        self.one(&[Some(true), Some(true), Some(true), Some(true), Some(true), Some(true), Some(false), None])
    }

    /// Chooses a mail address, mostly a valid one, which another user may have.
    pub(super) fn email(&mut self) -> String {
        let number = self.choices.below(40);
        if self.rarely() { "not an address".to_owned() } else { format!("User-{number}@model.example") }
    }

    /// Chooses a phone number, mostly a valid one, which another user may have.
    pub(super) fn phone_number(&mut self) -> String {
        let number = self.choices.below(40);
        if self.rarely() { "0151".to_owned() } else { format!("+49151000000{number:02}") }
    }

    /// Chooses a public key with the name of its curve: mostly a new one, sometimes one in use.
    pub(super) fn public_key(&mut self, curves: &[ApiKeyCurve]) -> (String, &'static str) {
        let curve = self.one(curves);
        let key = match self.choices.pick(self.keys.all()) {
            Some(key) if self.choices.one_in(8) => key.clone(),
            _ => Key::on(curve, &format!("model {}", self.number())),
        };
        let known = curves.iter().find(|curve| curve_name(**curve) == key.curve_name());
        let Some(curve) = known else { return self.public_key(curves) };
        self.keys.keep(key.clone());
        (key.public_key().to_owned(), curve_name(*curve))
    }
}

/// Returns the wire name of a curve.
fn curve_name(curve: ApiKeyCurve) -> &'static str {
    match curve {
        ApiKeyCurve::P256 => "API_KEY_CURVE_P256",
        ApiKeyCurve::Secp256k1 => "API_KEY_CURVE_SECP256K1",
        ApiKeyCurve::Ed25519 => "API_KEY_CURVE_ED25519",
    }
}
