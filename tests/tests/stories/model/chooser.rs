//! Chooses what a move is about: mostly what fits, now and then what does not, such as an id of something else,
//! a name that is taken or a list that is empty. It does not say which it was; that is for the model to find.

use quorate_common::stamp::ApiKeyCurve;
use quorate_tests::choices::Choices;
use quorate_tests::keys::Key;

use super::world::{Organization, World};

/// How often something does not fit: once in so many times.
const SELDOM: usize = 24;

/// The keys of all users there ever were, in the order of their making: the same in each run of a seed.
#[derive(Default)]
pub(super) struct Keys(Vec<Key>);

impl Keys {
    /// The key of a public key.
    pub(super) fn of(&self, public_key: &str) -> Key {
        let mut keys = self.0.iter();
        keys.find(|key| key.public_key() == public_key).expect("a key that was made here").clone()
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Key] {
        &self.0
    }

    /// Keeps a key.
    pub(super) fn keep(&mut self, key: Key) {
        if self.0.iter().all(|other| other.public_key() != key.public_key()) {
            self.0.push(key);
        }
    }
}

/// Chooses for an organization.
pub(super) struct Chooser<'a> {
    pub(super) world: &'a World,
    /// Which organization.
    pub(super) place: usize,
    pub(super) choices: &'a mut Choices,
    pub(super) keys: &'a mut Keys,
    /// Tells names and keys of a run apart.
    pub(super) serial: &'a mut usize,
}

impl<'a> Chooser<'a> {
    /// The organization.
    pub(super) fn here(&self) -> &'a Organization {
        &self.world.organizations[self.place]
    }

    /// A number that this run has not seen.
    pub(super) fn number(&mut self) -> usize {
        *self.serial += 1;
        *self.serial
    }

    /// Whether to do what does not fit.
    pub(super) fn seldom(&mut self) -> bool {
        self.choices.one_in(SELDOM)
    }

    /// One of these.
    pub(super) fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.choices.below(all.len())]
    }

    /// Something, half of the time.
    pub(super) fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.choices.one_in(2) { Some(value(self)) } else { None }
    }

    /// An id: mostly one of these.
    pub(super) fn id(&mut self, fitting: &[String]) -> String {
        if self.seldom() {
            return self.stray_id();
        }
        match self.choices.pick(fitting) {
            Some(id) => id.clone(),
            None => self.stray_id(),
        }
    }

    /// An id: mostly one of these, the first two more often than others, so that somebody gets many.
    pub(super) fn favoured_id(&mut self, fitting: &[String]) -> String {
        let favoured = if self.choices.one_in(2) { fitting.len().min(2) } else { fitting.len() };
        self.id(&fitting[..favoured])
    }

    /// Ids, mostly one to three of these, now and then none, or one twice.
    pub(super) fn ids(&mut self, fitting: &[String]) -> Vec<String> {
        let count = self.one(&[0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
        self.several(fitting, count)
    }

    /// Ids where none is as good as some.
    pub(super) fn optional_ids(&mut self, fitting: &[String]) -> Vec<String> {
        if fitting.is_empty() && !self.seldom() {
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

    /// Any organization, perhaps this one, perhaps one that was deleted.
    pub(super) fn elsewhere(&mut self) -> &'a Organization {
        let living = &self.world.organizations;
        let departed = self.choices.pick(&self.world.departed);
        departed.filter(|_| self.choices.one_in(3)).unwrap_or(&living[self.choices.below(living.len())])
    }

    /// An id of something else, of something elsewhere, of something that is gone, of nothing, or no id at all.
    fn stray_id(&mut self) -> String {
        let elsewhere = self.elsewhere();
        let strays = match self.choices.below(8) {
            0 | 1 => self.here().gone.clone(),
            2 | 3 => self.here().ids(),
            4 | 5 => elsewhere.ids(),
            6 => Vec::new(),
            _ => vec!["no id".to_owned()],
        };
        let unknown = || format!("00000000-0000-4000-8000-{:012}", self.serial);
        self.choices.pick(&strays).cloned().unwrap_or_else(unknown)
    }

    /// A name: mostly a new one, now and then one of a few, which may be taken, free or free again.
    pub(super) fn name(&mut self, noun: &str) -> String {
        if self.seldom() {
            // The last one is as long as may be, in characters.
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

    /// Whether to delete what was not exported: mostly yes, since nothing ever is.
    pub(super) fn without_export(&mut self) -> Option<bool> {
        self.one(&[Some(true), Some(true), Some(true), Some(true), Some(true), Some(true), Some(false), None])
    }

    /// A mail address: mostly a good one, and seldom another user's.
    pub(super) fn email(&mut self) -> String {
        let number = self.choices.below(40);
        if self.seldom() { "no address".to_owned() } else { format!("User-{number}@model.example") }
    }

    /// A phone number: mostly a good one, and seldom another user's.
    pub(super) fn phone_number(&mut self) -> String {
        let number = self.choices.below(40);
        if self.seldom() { "0151".to_owned() } else { format!("+49151000000{number:02}") }
    }

    /// A public key with the name of its curve: mostly a new one, now and then one that is in use somewhere.
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

/// Name of a curve on the wire.
fn curve_name(curve: ApiKeyCurve) -> &'static str {
    match curve {
        ApiKeyCurve::P256 => "API_KEY_CURVE_P256",
        ApiKeyCurve::Secp256k1 => "API_KEY_CURVE_SECP256K1",
        ApiKeyCurve::Ed25519 => "API_KEY_CURVE_ED25519",
    }
}
