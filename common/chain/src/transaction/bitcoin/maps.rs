//! The maps of a PSBT as they are encoded: raw keys and values in their original order.
//!
//! Each library writes the keys of a map in its own order. These maps preserve the original order, so that
//! signing only adds signatures.

use bitcoin::consensus::encode::{deserialize_partial, serialize};

/// Magic bytes of every PSBT (BIP-174).
const MAGIC: &[u8; 5] = b"psbt\xff";
/// End of a map: an empty key.
const END: u8 = 0x00;

/// One map: the global map, that of an input, or that of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Map(Vec<(Vec<u8>, Vec<u8>)>);

impl Map {
    /// Sets the value of a key. A new key is inserted before the first greater key.
    pub(super) fn set(&mut self, key: Vec<u8>, value: Vec<u8>) {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| *known == key) {
            *known = value;
            return;
        }
        let index = self.0.iter().position(|(known, _)| *known > key).unwrap_or(self.0.len());
        self.0.insert(index, (key, value));
    }

    /// Removes a key.
    pub(super) fn remove(&mut self, key: &[u8]) {
        self.0.retain(|(known, _)| known != key);
    }

    /// Reverses the order of the keys.
    #[cfg(test)]
    pub(super) fn reverse(&mut self) {
        self.0.reverse();
    }

    /// Returns whether both maps have the same entries, in any order.
    fn has_same_entries(&self, other: &Self) -> bool {
        let sorted = |map: &Self| {
            let mut pairs = map.0.clone();
            pairs.sort();
            pairs
        };
        sorted(self) == sorted(other)
    }
}

/// Splits a PSBT into its maps. Returns `None` if the bytes do not end with the end of a map.
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

/// Encodes a PSBT with these maps.
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

/// Returns whether both lists have equal length and maps with the same entries.
pub(super) fn have_same_entries(left: &[Map], right: &[Map]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.has_same_entries(right))
}

/// Reads a length and that many bytes. Only the shortest encoding of a length is accepted.
fn part(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let (part, length) = deserialize_partial(rest).ok()?;
    *rest = rest.get(length..)?;
    Some(part)
}
