//! Checks members, methods, positions and slices.

use super::{Checked, Checker};
use crate::expression_error::{ErrorReason, ExpressionError, Result, echo};
use crate::literal_index::LiteralIndex;
use crate::plan::{Contains, Field, Member, Node, Offset, Path, Slice, Step};
use crate::syntax::{Expression, Name};
use crate::types::Type;

/// The list method that is also accepted without parentheses, as documented policies write it.
const COUNT: &str = "count";

/// Creates the step that reads a member. A member of a root or a path extends the path.
fn member_step(of: Node, name: String, offset: usize) -> Step {
    let member = Member { name, offset: Offset::new(offset) };
    match of.step {
        Step::Root(root) => {
            let members = Box::new([member]);
            Step::Path(Box::new(Path { root, offset: of.offset, members }))
        }
        Step::Path(mut path) => {
            let mut members = std::mem::take(&mut path.members).into_vec();
            members.reserve_exact(1);
            members.push(member);
            path.members = members.into_boxed_slice();
            Step::Path(path)
        }
        _ => Step::Field(Box::new(Field { of, name: member.name })),
    }
}

/// Creates the step that tests whether a list contains an item.
pub(super) fn contained(list: Node, item: Node) -> Step {
    let index = list.constant().and_then(LiteralIndex::of);
    Step::Contains(Box::new(Contains { list, item, index }))
}

impl Checker<'_> {
    pub(super) fn field(&mut self, of: &Expression, name: &Name) -> Result<Checked> {
        let Checked { node, type_ } = self.expression(of)?;
        let of = Box::new(node);
        let counts = name.text == COUNT;
        match (&type_, type_.member(&name.text)) {
            (Type::List(_), _) if counts => Ok(Checked::new(name.offset, Step::Count(of), Type::Integer)),
            (Type::Dynamic, _) if counts => {
                Ok(Checked::new(name.offset, Step::CountOrField(of), Type::Dynamic))
            }
            (_, Some((name_in_facts, member))) => {
                Ok(Checked::new(name.offset, member_step(*of, name_in_facts, name.offset), member))
            }
            (_, None) => Err(self.error(name.offset, ErrorReason::FieldMissing(echo(&name.text)))),
        }
    }

    pub(super) fn method(
        &mut self,
        of: &Expression,
        name: &Name,
        arguments: &[Expression],
    ) -> Result<Checked> {
        let list = self.expression(of)?;
        let element = list.type_.element();
        match (name.text.as_str(), element, arguments) {
            (COUNT, Some(_), []) => {
                Ok(Checked::new(name.offset, Step::Count(Box::new(list.node)), Type::Integer))
            }
            ("contains", Some(element), [item]) => self.contains(name.offset, list, &element, item),
            (COUNT, Some(_), _) => Err(self.argument_error(name, 0)),
            ("contains", Some(_), _) => Err(self.argument_error(name, 1)),
            _ => Err(self.error(name.offset, ErrorReason::FunctionMissing(echo(&name.text)))),
        }
    }

    fn contains(
        &mut self,
        offset: usize,
        list: Checked,
        element: &Type,
        item: &Expression,
    ) -> Result<Checked> {
        let item = self.expression(item)?;
        if self.meet(element, &item.type_, offset)?.is_none_or(|type_| !type_.is_comparable()) {
            let reason = ErrorReason::Comparison {
                comparison: "contains",
                left: list.type_.to_string(),
                right: item.type_.to_string(),
            };
            return Err(self.error(offset, reason));
        }
        Ok(Checked::new(offset, contained(list.node, item.node), Type::Bool))
    }

    pub(super) fn index(&mut self, offset: usize, of: &Expression, key: &Expression) -> Result<Checked> {
        let of = self.expression(of)?;
        let key = self.expression(key)?;
        let (expected, is_legal, type_) = match &of.type_ {
            Type::List(element) => ("int", key.type_.is_integer(), (**element).clone()),
            Type::Text => ("int", key.type_.is_integer(), Type::Text),
            Type::Map(entry) => ("string", key.type_.is_text(), (**entry).clone()),
            Type::Dynamic => ("int or string", key.type_.is_integer() || key.type_.is_text(), Type::Dynamic),
            other => return Err(self.type_error(offset, "list, string or map", other)),
        };
        if !is_legal {
            return Err(self.type_error(key.node.offset.get(), expected, &key.type_));
        }
        let step = Step::Index { of: Box::new(of.node), key: Box::new(key.node) };
        Ok(Checked::new(offset, step, type_))
    }

    pub(super) fn slice(
        &mut self,
        offset: usize,
        of: &Expression,
        from: &Expression,
        to: &Expression,
    ) -> Result<Checked> {
        let of = self.expression(of)?;
        if !matches!(of.type_, Type::List(_) | Type::Text | Type::Dynamic) {
            return Err(self.type_error(offset, "list or string", &of.type_));
        }
        let from = self.bound(from)?;
        let to = self.bound(to)?;
        let step = Step::Slice(Box::new(Slice { of: of.node, from: from.node, to: to.node }));
        Ok(Checked::new(offset, step, of.type_))
    }

    fn bound(&mut self, bound: &Expression) -> Result<Checked> {
        let bound = self.expression(bound)?;
        if bound.type_.is_integer() {
            Ok(bound)
        } else {
            Err(self.type_error(bound.node.offset.get(), "int", &bound.type_))
        }
    }

    fn argument_error(&self, name: &Name, expected: usize) -> ExpressionError {
        let function = echo(&name.text);
        self.error(name.offset, ErrorReason::ArgumentCount { function, expected })
    }
}
