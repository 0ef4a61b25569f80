//! Checks that the arguments of an Ethereum call are laid out canonically.
//!
//! Offsets can point anywhere, even to the same data, so that the data grows when it is decoded. Here each
//! offset must point to the end of the previous part, as compilers write it. No byte is then decoded twice.

use std::iter;

use alloy_dyn_abi::DynSolType;

/// Length of a word in bytes (Contract ABI Specification, "Formal Specification of the Encoding").
const WORD: usize = 32;
/// Maximum number of values that are created while a call is decoded, templates included.
const MAX_TOKENS: usize = 64 * 1024;

/// Returns the number of values that a type creates before any data is decoded.
pub(super) fn tokens(kind: &DynSolType) -> usize {
    let inner = match kind {
        DynSolType::Array(inner) => tokens(inner),
        DynSolType::FixedArray(inner, size) => tokens(inner).saturating_mul(*size),
        DynSolType::Tuple(parts) => parts.iter().map(tokens).fold(0, usize::saturating_add),
        _ => 0,
    };
    inner.saturating_add(1)
}

/// Returns whether `data` is the canonical layout of these types in sequence, to its last byte.
pub(super) fn is_canonical(kinds: &[DynSolType], data: &[u8]) -> bool {
    let mut budget = MAX_TOKENS;
    sequence(kinds.iter(), data, &mut budget) == Some(data.len())
}

/// Returns the number of bytes that these types in sequence take at the start of `data`, or `None` if the
/// layout is not canonical.
fn sequence<'t>(
    kinds: impl Iterator<Item = &'t DynSolType> + Clone,
    data: &[u8],
    budget: &mut usize,
) -> Option<usize> {
    let mut end = kinds.clone().map(head).try_fold(0_usize, usize::checked_add)?;
    if end > data.len() {
        return None;
    }
    let mut offset = 0_usize;
    for kind in kinds {
        if kind.is_dynamic() {
            if number(data, offset)? != end {
                return None;
            }
            end = end.checked_add(tail(kind, data.get(end..)?, budget)?)?;
        }
        offset = offset.checked_add(head(kind))?;
    }
    Some(end)
}

/// Returns the number of bytes of a type in the head part. A dynamic type has its offset there.
fn head(kind: &DynSolType) -> usize {
    if kind.is_dynamic() { WORD } else { kind.minimum_words().saturating_mul(WORD) }
}

/// Returns the number of bytes of a dynamic type in the tail part, at the start of `data`.
fn tail(kind: &DynSolType, data: &[u8], budget: &mut usize) -> Option<usize> {
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
            *budget = budget.checked_sub(tokens(inner).checked_mul(size)?)?;
            sequence(iter::repeat_n(&**inner, size), elements, budget)?.checked_add(WORD)
        }
        DynSolType::FixedArray(inner, size) => sequence(iter::repeat_n(&**inner, *size), data, budget),
        DynSolType::Tuple(parts) => sequence(parts.iter(), data, budget),
        _ => None,
    }
}

/// Returns the number in the word at an offset, or `None` if it exceeds 32 bits.
fn number(data: &[u8], offset: usize) -> Option<usize> {
    let word = data.get(offset..)?.first_chunk::<WORD>()?;
    let (high, low) = word.split_last_chunk::<4>()?;
    let is_small = high.iter().all(|byte| *byte == 0);
    is_small.then(|| usize::try_from(u32::from_be_bytes(*low)).ok())?
}
