//! A form as a tree: each node is a member of the parameters or an item of a list.

use serde_json::{Map, Value};

use super::field::Field;
use super::words::is_secret;

/// Most items of a list whose schema states no limit.
const ITEM_LIMIT: u64 = 100;

/// A member or an item.
pub(crate) struct Node {
    /// Name of the member; empty for an item.
    pub(crate) name: String,
    /// Schema of the value, if present.
    pub(crate) schema: Value,
    pub(crate) is_required: bool,
    pub(crate) content: Content,
}

/// What a node contains.
pub(crate) enum Content {
    Text(Field),
    /// An object. An optional one is absent until the user adds it.
    Group {
        is_present: bool,
        members: Vec<Node>,
    },
    List(Vec<Node>),
}

impl Node {
    /// Creates an empty node.
    pub(crate) fn new(name: &str, schema: &Value, is_required: bool) -> Self {
        let content = if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            Content::Group { is_present: is_required, members: members(schema, properties) }
        } else if schema.get("items").is_some() {
            Content::List(Vec::new())
        } else {
            Content::Text(Field::new(is_secret(name)))
        };
        Self { name: name.to_owned(), schema: schema.clone(), is_required, content }
    }

    /// Returns the schema of the items of a list.
    fn item_schema(&self) -> &Value {
        self.schema.get("items").unwrap_or(&Value::Null)
    }

    /// Appends an item to a list, unless it is full. Returns whether it did.
    pub(crate) fn add_item(&mut self) -> bool {
        let limit = self.schema.get("maxItems").and_then(Value::as_u64).unwrap_or(ITEM_LIMIT);
        let mut item = Self::new("", self.item_schema(), true);
        // Secrets and names in a list of texts are recognized by the name of the list.
        item.name.clone_from(&self.name);
        match &mut self.content {
            Content::List(items) if (items.len() as u64) < limit => items.push(item),
            _ => return false,
        }
        true
    }

    /// Returns the children that are part of the form now.
    pub(crate) fn children(&self) -> &[Self] {
        match &self.content {
            Content::Group { is_present: true, members } => members,
            Content::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn children_mut(&mut self) -> &mut [Self] {
        match &mut self.content {
            Content::Group { is_present: true, members } => members,
            Content::List(items) => items,
            _ => &mut [],
        }
    }

    /// Returns the value, or nothing if the member is left out. A required text may be empty.
    pub(crate) fn value(&self) -> Option<Value> {
        match &self.content {
            Content::Group { is_present: false, .. } => None,
            Content::Group { members, .. } => {
                let there = members.iter().filter_map(|member| Some((member.name.clone(), member.value()?)));
                Some(Value::Object(there.collect::<Map<_, _>>()))
            }
            Content::List(items) if items.is_empty() && !self.is_required => None,
            Content::List(items) => {
                Some(items.iter().map(|item| item.value().unwrap_or(Value::Null)).collect())
            }
            Content::Text(field) => self.scalar(field.text()),
        }
    }

    /// Returns the value without what was not set, or nothing if nothing in it was set.
    pub(crate) fn stated(&self) -> Option<Value> {
        match &self.content {
            Content::Group { members, .. } => {
                let there = members.iter().filter_map(|member| Some((member.name.clone(), member.stated()?)));
                let there: Map<_, _> = there.collect();
                (!there.is_empty()).then_some(Value::Object(there))
            }
            Content::List(items) if items.is_empty() => None,
            Content::List(items) => Some(items.iter().filter_map(Self::stated).collect()),
            Content::Text(field) if field.is_set() => {
                self.scalar(field.text()).or_else(|| Some(Value::from("")))
            }
            Content::Text(_) => None,
        }
    }

    fn scalar(&self, text: &str) -> Option<Value> {
        if text.is_empty() {
            let takes_empty = self.is_required && self.takes("string") && self.choices().is_empty();
            return takes_empty.then(|| Value::from(""));
        }
        let value = if self.takes("integer") {
            text.parse::<i64>().ok().map(Value::from)
        } else if self.takes("boolean") {
            text.parse::<bool>().ok().map(Value::from)
        } else {
            None
        };
        // Text that is no number is reported by the schema.
        Some(value.unwrap_or_else(|| Value::from(text)))
    }

    /// Returns whether the value may be of this type.
    pub(crate) fn takes(&self, wanted: &str) -> bool {
        match self.schema.get("type") {
            Some(Value::String(only)) => only == wanted,
            Some(Value::Array(all)) => all.iter().any(|one| one == wanted),
            _ => wanted == "string",
        }
    }

    /// Returns the values to choose from, each with its description.
    pub(crate) fn choices(&self) -> Vec<(&str, &str)> {
        if self.takes("boolean") {
            return vec![("true", ""), ("false", "")];
        }
        let list = |name: &str| self.schema.get(name).and_then(Value::as_array).into_iter().flatten();
        let stated = list("enum").filter_map(|value| Some((value.as_str()?, "")));
        let described = list("oneOf").filter_map(|choice| {
            let description = choice.get("description").and_then(Value::as_str).unwrap_or_default();
            let values = choice.get("enum").and_then(Value::as_array).and_then(|all| all.first());
            Some((choice.get("const").or(values)?.as_str()?, description))
        });
        stated.chain(described).collect()
    }

    /// Returns whether anything was typed or added here.
    pub(crate) fn is_touched(&self) -> bool {
        match &self.content {
            Content::Text(field) => !field.text().is_empty(),
            Content::Group { is_present, members } => {
                *is_present && (!self.is_required || members.iter().any(Self::is_touched))
            }
            Content::List(items) => !items.is_empty(),
        }
    }
}

/// Creates the members of an object: the required ones in the order of the schema, then the others.
fn members(schema: &Value, properties: &Map<String, Value>) -> Vec<Node> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let first = required.iter().filter_map(|name| Some(Node::new(name, properties.get(*name)?, true)));
    let rest = properties.iter().filter(|(name, _)| !required.contains(&name.as_str()));
    first.chain(rest.map(|(name, schema)| Node::new(name, schema, false))).collect()
}
