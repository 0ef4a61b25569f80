//! Elements, characters and entries by their position or key.

use super::{Evaluated, Evaluation, at, mismatch, out_of_range};
use crate::error::{EvaluationError, EvaluationReason};
use crate::operand::{Elements, Operand, Text};
use crate::plan::{Node, Slice};

/// Characters per step when a text that is not ASCII is counted.
const CHARACTERS_PER_STEP: usize = 8;

impl<'a> Evaluation<'a, '_> {
    pub(super) fn index(&mut self, node: &'a Node, of: &'a Node, key: &'a Node) -> Evaluated<'a> {
        let key_node = key;
        let of = self.operand(of)?;
        let key = self.operand(key)?;
        match (of, key) {
            (Operand::List(list), Operand::Integer(number)) => {
                let index = number.position().ok_or_else(|| out_of_range(node))?;
                list.at(index).map_err(at(node))
            }
            (Operand::Text(text), Operand::Integer(number)) => {
                let from = number.position().ok_or_else(|| out_of_range(node))?;
                let to = from.checked_add(1).ok_or_else(|| out_of_range(node))?;
                self.text_part(node, &text, from, to)
            }
            (Operand::Members(members), Operand::Text(name)) => {
                let member = self.member(node, &members, name.as_str());
                member.map_err(|EvaluationError { offset, reason }| EvaluationError {
                    offset,
                    reason: as_key(reason),
                })
            }
            (Operand::List(_) | Operand::Text(_), key) => Err(mismatch(key_node, "int", &key)),
            (Operand::Members(_), key) => Err(mismatch(key_node, "string", &key)),
            (other, _) => Err(mismatch(node, "list, string or map", &other)),
        }
    }

    pub(super) fn slice(&mut self, node: &'a Node, slice: &'a Slice) -> Evaluated<'a> {
        let Slice { of, from, to } = slice;
        let of = self.operand(of)?;
        let from = self.bound(from)?;
        let to = self.bound(to)?;
        match of {
            Operand::List(list) => {
                if let Elements::Computed(_) = list {
                    self.spend(node, to.saturating_sub(from).min(list.len()))?;
                }
                let part = list.part(from, to).ok_or_else(|| out_of_range(node))?;
                Ok(Operand::List(part))
            }
            Operand::Text(text) => self.text_part(node, &text, from, to),
            other => Err(mismatch(node, "list or string", &other)),
        }
    }

    fn bound(&mut self, node: &'a Node) -> Result<usize, EvaluationError> {
        match self.operand(node)? {
            Operand::Integer(number) => number.position().ok_or_else(|| out_of_range(node)),
            other => Err(mismatch(node, "int", &other)),
        }
    }

    /// Returns the characters `from..to` of a text.
    fn text_part(&mut self, node: &Node, text: &Text<'a>, from: usize, to: usize) -> Evaluated<'a> {
        let characters = text.as_str();
        self.spend_text(node, characters.len())?;
        let part = if characters.is_ascii() {
            text.part(from, to)
        } else {
            let counted = from.max(to).min(characters.len());
            self.spend(node, counted.checked_div(CHARACTERS_PER_STEP).unwrap_or_default())?;
            let bounds = byte_of(characters, from).zip(byte_of(characters, to));
            bounds.and_then(|(start, end)| text.part(start, end))
        };
        part.map(Operand::Text).ok_or_else(|| out_of_range(node))
    }
}

/// Returns the byte offset of a character by its index, or the length of the text for the index after the
/// last one.
fn byte_of(text: &str, character: usize) -> Option<usize> {
    let starts = text.char_indices().map(|(byte, _)| byte);
    starts.chain(std::iter::once(text.len())).nth(character)
}

fn as_key(reason: EvaluationReason) -> EvaluationReason {
    match reason {
        EvaluationReason::MissingField(name) => EvaluationReason::MissingKey(name),
        other => other,
    }
}
