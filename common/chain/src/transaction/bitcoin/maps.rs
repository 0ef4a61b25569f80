//! The maps of a PSBT as they are written: keys and values in their order, read by nobody yet.
//!
//! The library writes the keys of a map in an order of its own, and other libraries in another. These maps keep what was
//! read, so that a signature is all that is added.

use bitcoin::consensus::encode::{deserialize_partial, serialize};

/// First bytes of every PSBT (BIP-174).
const MAGIC: &[u8; 5] = b"psbt\xff";
/// What ends a map: a key of no bytes.
const END: u8 = 0x00;

/// One map: of the whole, of an input or of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Map(Vec<(Vec<u8>, Vec<u8>)>);

impl Map {
    /// Sets a key; where it is new, it comes before the first that is greater.
    pub(super) fn set(&mut self, key: Vec<u8>, value: Vec<u8>) {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| *known == key) {
            *known = value;
            return;
        }
        let place = self.0.iter().position(|(known, _)| *known > key).unwrap_or(self.0.len());
        self.0.insert(place, (key, value));
    }

    /// Takes a key out.
    pub(super) fn remove(&mut self, key: &[u8]) {
        self.0.retain(|(known, _)| known != key);
    }

    /// The same in the opposite order.
    #[cfg(test)]
    pub(super) fn reverse(&mut self) {
        self.0.reverse();
    }

    /// Whether both say the same, in whatever order.
    fn says(&self, other: &Self) -> bool {
        let sorted = |map: &Self| {
            let mut pairs = map.0.clone();
            pairs.sort();
            pairs
        };
        sorted(self) == sorted(other)
    }
}

/// The maps of a PSBT, or nothing if the bytes end elsewhere than behind a map.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<Map>> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let (mut maps, mut map) = (Vec::new(), Map::default());
    while !rest.is_empty() {
        let key = part(&mut rest)?;
        if key.is_empty() {
            maps.push(core::mem::take(&mut map));
        } else {
            map.0.push((key, part(&mut rest)?));
        }
    }
    map.0.is_empty().then_some(maps)
}

/// The bytes of a PSBT with these maps.
pub(super) fn write(maps: &[Map]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for Map(pairs) in maps {
        for (key, value) in pairs {
            bytes.extend(serialize(key));
            bytes.extend(serialize(value));
        }
        bytes.push(END);
    }
    bytes
}

/// Whether both are as many maps that say the same.
pub(super) fn say_the_same(left: &[Map], right: &[Map]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.says(right))
}

/// Reads a length and as many bytes. Lengths have one form only.
fn part(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let (part, length) = deserialize_partial(rest).ok()?;
    *rest = rest.get(length..)?;
    Some(part)
}
