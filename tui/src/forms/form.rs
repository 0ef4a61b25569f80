//! The form of one activity type, with the rows that it is shown in.

use jsonschema::Validator;
use quorate_common::catalog::KindEntry;
use serde_json::Value;

use super::node::{Content, Node};
use super::words::{limits, problem};
use crate::ballot::ActivityRequest;

/// Positions of a node in the form, from the outermost member to the innermost.
pub(crate) type Place = Vec<usize>;

/// A row of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) place: Place,
    /// Name of the member, or number of the item, such as `2.`.
    pub(crate) label: String,
    /// Path of the value as a JSON pointer.
    pub(crate) pointer: String,
}

/// A member of the parameters of a type, for people.
pub(crate) struct Member {
    /// Path such as `users[0].userName`.
    pub(crate) path: String,
    /// Whether it must be there, if the object or the item around it is.
    pub(crate) is_required: bool,
    /// What it takes.
    pub(crate) takes: String,
    pub(crate) description: String,
}

pub(crate) struct Form {
    pub(crate) entry: &'static KindEntry,
    root: Node,
    /// Absent if the schema itself is invalid; then nothing is accepted.
    validator: Option<Validator>,
}

impl Form {
    /// Creates the empty form of a type.
    pub(crate) fn new(entry: &'static KindEntry) -> Self {
        let schema = present(&entry.parameters);
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).ok();
        Self { entry, root: Node::new("", &schema, true), validator }
    }

    /// Returns the rows from top to bottom.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        collect(&self.root, &mut Vec::new(), "", &mut rows);
        rows
    }

    pub(crate) fn node(&self, place: &[usize]) -> Option<&Node> {
        place.iter().try_fold(&self.root, |node, index| node.children().get(*index))
    }

    pub(crate) fn node_mut(&mut self, place: &[usize]) -> Option<&mut Node> {
        place.iter().try_fold(&mut self.root, |node, index| node.children_mut().get_mut(*index))
    }

    /// Adds an item to a list, or an optional object. Returns whether it did.
    pub(crate) fn add(&mut self, place: &[usize]) -> bool {
        let Some(node) = self.node_mut(place) else { return false };
        match &mut node.content {
            Content::Group { is_present, .. } if !*is_present => {
                *is_present = true;
                true
            }
            Content::List(_) => node.add_item(),
            _ => false,
        }
    }

    /// Removes the innermost item or optional object that contains a place. Returns the place of its list, or of the
    /// object that is left out now.
    pub(crate) fn remove(&mut self, place: &[usize]) -> Option<Place> {
        for length in (1..=place.len()).rev() {
            let Some((before, [index])) =
                place.get(..length).and_then(|part| part.split_at_checked(length.saturating_sub(1)))
            else {
                continue;
            };
            let Some(parent) = self.node_mut(before) else { continue };
            if let Content::List(items) = &mut parent.content {
                items.remove(*index);
                return Some(before.to_vec());
            }
            let Some(node) = parent.children_mut().get_mut(*index) else { continue };
            if let (Content::Group { is_present: true, .. }, false) = (&node.content, node.is_required) {
                *node = Node::new(&node.name, &node.schema, false);
                return place.get(..length).map(<[usize]>::to_vec);
            }
        }
        None
    }

    /// Sets the text at a path such as `users[0].userName`. Objects and the next item of a list are added. A text
    /// for a list of texts is appended.
    ///
    /// # Errors
    ///
    /// Returns why the path is not one of the form.
    pub(crate) fn set(&mut self, path: &str, text: &str) -> Result<(), String> {
        let mut node = &mut self.root;
        for step in
            path.split('.').flat_map(|part| part.split_inclusive('[')).flat_map(|part| part.split('['))
        {
            if step.is_empty() {
                continue;
            }
            node = child(node, step).ok_or_else(|| format!("{path}: no such member"))?;
        }
        if matches!(node.content, Content::List(_)) {
            let at = node.children().len();
            node = child(node, &format!("{at}]")).ok_or_else(|| format!("{path}: the list is full"))?;
        }
        match &mut node.content {
            Content::Text(field) => field.set(text),
            _ => return Err(format!("{path}: name a member of this object")),
        }
        Ok(())
    }

    /// Returns the parameters as they would be signed.
    pub(crate) fn value(&self) -> Value {
        self.root.value().unwrap_or(Value::Null)
    }

    /// Returns only the members that were set, also if required ones are missing.
    pub(crate) fn stated(&self) -> Value {
        self.root.stated().unwrap_or_else(|| Value::Object(serde_json::Map::new()))
    }

    /// Returns all members of the type, those of optional objects and of items too.
    pub(crate) fn members(&self) -> Vec<Member> {
        let mut members = Vec::new();
        describe(&Node::new("", &self.root.schema, true), "", &mut members);
        members
    }

    /// Returns whether anything was typed.
    pub(crate) fn is_touched(&self) -> bool {
        self.root.is_touched()
    }

    /// Returns what is wrong with the form, each with the JSON pointer of the member.
    pub(crate) fn problems(&self) -> Vec<(String, String)> {
        self.problems_of(&self.value())
    }

    /// Returns what is wrong with parameters of this type.
    pub(crate) fn problems_of(&self, value: &Value) -> Vec<(String, String)> {
        let Some(validator) = &self.validator else {
            return vec![(String::new(), "the schema of this type cannot be used".to_owned())];
        };
        validator.iter_errors(value).map(|error| problem(&error, self.schema(&error))).collect()
    }

    /// Returns the schema of the value that an error is about.
    fn schema(&self, error: &jsonschema::ValidationError<'_>) -> &Value {
        let pointer = error.instance_path().to_string();
        let steps = pointer.split('/').skip(1);
        let schema = steps.filter(|step| !step.is_empty()).try_fold(&self.root.schema, |schema, step| {
            schema.get("properties").and_then(|members| members.get(step)).or_else(|| schema.get("items"))
        });
        schema.unwrap_or(&Value::Null)
    }

    /// Returns the request with these parameters.
    pub(crate) fn request(&self, parameters: Value) -> ActivityRequest {
        ActivityRequest { activity_type: &self.entry.activity_type, path: &self.entry.path, parameters }
    }
}

/// Returns the child for a step of a path, which is added if it is not there yet: the name of a member, or the
/// number of an item behind an opening bracket.
fn child<'n>(node: &'n mut Node, step: &str) -> Option<&'n mut Node> {
    if let Content::Group { is_present, .. } = &mut node.content {
        *is_present = true;
        return node.children_mut().iter_mut().find(|member| member.name == step);
    }
    let index: usize = step.strip_suffix(']')?.parse().ok()?;
    if index == node.children().len() && !node.add_item() {
        return None;
    }
    node.children_mut().get_mut(index)
}

/// Describes the members of an object, or of the items of a list.
fn describe(node: &Node, path: &str, into: &mut Vec<Member>) {
    match &node.content {
        Content::Group { members, .. } => {
            for member in members {
                let path =
                    if path.is_empty() { member.name.clone() } else { format!("{path}.{}", member.name) };
                let description =
                    member.schema.get("description").and_then(Value::as_str).unwrap_or_default();
                into.push(Member {
                    path: path.clone(),
                    is_required: member.is_required,
                    takes: takes(member),
                    description: description.split_whitespace().collect::<Vec<_>>().join(" "),
                });
                describe(member, &path, into);
            }
        }
        Content::List(_) => {
            let item = node.schema.get("items").unwrap_or(&Value::Null);
            describe(&Node::new(&node.name, item, true), &format!("{path}[0]"), into);
        }
        Content::Text(_) => {}
    }
}

/// Returns what a member takes: its values, or its limits.
fn takes(node: &Node) -> String {
    let choices: Vec<&str> = node.choices().into_iter().map(|(value, _)| value).collect();
    if !choices.is_empty() {
        return choices.join(", ");
    }
    let items = node.schema.get("items").filter(|items| items.get("properties").is_none());
    let of_items = items.map(|items| takes(&Node::new(&node.name, items, true)));
    of_items.map_or_else(|| limits(&node.schema), |of_items| format!("{}: {of_items}", limits(&node.schema)))
}

fn collect(node: &Node, place: &mut Place, pointer: &str, rows: &mut Vec<Row>) {
    let is_list = matches!(node.content, Content::List(_));
    for (index, child) in node.children().iter().enumerate() {
        place.push(index);
        let label = if is_list { format!("{}.", index.saturating_add(1)) } else { child.name.clone() };
        let step = if is_list { index.to_string() } else { child.name.clone() };
        let pointer = format!("{pointer}/{step}");
        rows.push(Row { place: place.clone(), label, pointer: pointer.clone() });
        collect(child, place, &pointer, rows);
        place.pop();
    }
}

/// Returns a schema in which optional values are those that are present: a form leaves members out instead of
/// stating `null`.
fn present(schema: &Value) -> Value {
    let choices = schema.get("anyOf").and_then(Value::as_array);
    let chosen = choices.and_then(|all| all.iter().find(|one| one.get("type") != Some(&Value::from("null"))));
    let mut schema = chosen.unwrap_or(schema).clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for inner in properties.values_mut() {
            *inner = present(inner);
        }
    }
    if let Some(items) = schema.get_mut("items") {
        *items = present(items);
    }
    schema
}
