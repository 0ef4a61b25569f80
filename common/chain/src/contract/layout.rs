//! The one way to lay out the arguments of a call of Ethereum.
//!
//! Offsets can lead anywhere, also to where others led, and such data grows when it is read. Here each must lead to where
//! the part before it ends, as compilers write it, so that no byte is read twice.

use std::iter;

use alloy_dyn_abi::DynSolType;

/// Bytes of a word (Contract ABI Specification, "Formal Specification of the Encoding").
const WORD: usize = 32;
/// How many values may be made while a call is read, templates of them included.
const MAX_TOKENS: usize = 64 * 1024;

/// How many values a type makes before any data is read.
pub(super) fn tokens(kind: &DynSolType) -> usize {
    let inner = match kind {
        DynSolType::Array(inner) => tokens(inner),
        DynSolType::FixedArray(inner, size) => tokens(inner).saturating_mul(*size),
        DynSolType::Tuple(parts) => parts.iter().map(tokens).fold(0, usize::saturating_add),
        _ => 0,
    };
    inner.saturating_add(1)
}

/// Whether data is laid out as these types in a row, to its last byte.
pub(super) fn is_of(kinds: &[DynSolType], data: &[u8]) -> bool {
    let mut room = MAX_TOKENS;
    sequence(kinds.iter(), data, &mut room) == Some(data.len())
}

/// How many bytes these types in a row take at the front of `data`; none if they are not laid out there.
fn sequence<'t>(
    kinds: impl Iterator<Item = &'t DynSolType> + Clone,
    data: &[u8],
    room: &mut usize,
) -> Option<usize> {
    let mut end = kinds.clone().map(head).try_fold(0_usize, usize::checked_add)?;
    if end > data.len() {
        return None;
    }
    let mut place = 0_usize;
    for kind in kinds {
        if kind.is_dynamic() {
            if number(data, place)? != end {
                return None;
            }
            end = end.checked_add(tail(kind, data.get(end..)?, room)?)?;
        }
        place = place.checked_add(head(kind))?;
    }
    Some(end)
}

/// How many bytes a type takes among its neighbours; one without a fixed size has its offset there.
fn head(kind: &DynSolType) -> usize {
    if kind.is_dynamic() { WORD } else { kind.minimum_words().saturating_mul(WORD) }
}

/// How many bytes something without a fixed size takes where its offset leads.
fn tail(kind: &DynSolType, data: &[u8], room: &mut usize) -> Option<usize> {
    match kind {
        DynSolType::Bytes | DynSolType::String => {
            let padded = number(data, 0)?.checked_next_multiple_of(WORD)?;
            let length = padded.checked_add(WORD)?;
            (length <= data.len()).then_some(length)
        }
        DynSolType::Array(inner) => {
            let size = number(data, 0)?;
            let elements = data.get(WORD..)?;
            if head(inner).checked_mul(size)? > elements.len() {
                return None;
            }
            *room = room.checked_sub(tokens(inner).checked_mul(size)?)?;
            sequence(iter::repeat_n(&**inner, size), elements, room)?.checked_add(WORD)
        }
        DynSolType::FixedArray(inner, size) => sequence(iter::repeat_n(&**inner, *size), data, room),
        DynSolType::Tuple(parts) => sequence(parts.iter(), data, room),
        _ => None,
    }
}

/// The number in the word at a place; none if it is more than any length can be.
fn number(data: &[u8], place: usize) -> Option<usize> {
    let word = data.get(place..)?.first_chunk::<WORD>()?;
    let (high, low) = word.split_last_chunk::<4>()?;
    let is_small = high.iter().all(|byte| *byte == 0);
    is_small.then(|| usize::try_from(u32::from_be_bytes(*low)).ok())?
}
