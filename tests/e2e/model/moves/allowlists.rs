//! IP allowlists of the parent and of its API keys. Every API key that could vote has an allowlist that
//! admits this client's address.

use serde_json::{Value, json};

use super::{Move, put};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::{Allowlist, Block, Organization};

/// Limit of blocks of each address family.
const BLOCKS: usize = 10;
/// Blocks with this client's address: as written, and the resulting network.
const OWN_BLOCKS: [(&str, &str); 4] = [
    ("127.0.0.1/32", "127.0.0.1/32"),
    ("127.0.0.0/24", "127.0.0.0/24"),
    ("127.0.0.1/24", "127.0.0.0/24"),
    ("127.0.9.9/20", "127.0.0.0/20"),
];
/// Other blocks, some of which are equal.
const OTHER_BLOCKS: [(&str, &str); 7] = [
    ("192.0.2.0/24", "192.0.2.0/24"),
    ("192.0.2.77/24", "192.0.2.0/24"),
    ("198.51.100.7/30", "198.51.100.4/30"),
    ("10.1.31.0/20", "10.1.16.0/20"),
    ("2001:db8::1/64", "2001:db8::/64"),
    ("2001:DB8:0:0::/64", "2001:db8::/64"),
    ("2001:db8:5:ffff::/48", "2001:db8:5::/48"),
];
/// Invalid blocks, and blocks that are too wide.
const WRONG: [&str; 7] = [
    "127.0.0.1/33",
    "127.0.0/24",
    "localhost",
    "127.0.0.0/19",
    "0.0.0.0/0",
    "2001:db8::/47",
    "2001:db8::/129",
];

/// A block as a request writes it.
struct Rule {
    written: String,
    /// Resulting network, or `None` if the block is invalid.
    network: Option<String>,
    label: Option<String>,
}

impl Rule {
    fn of(chooser: &mut Chooser<'_>, (written, network): (&str, &str)) -> Self {
        let label = chooser.maybe(|chooser| chooser.name("block"));
        Self { written: written.to_owned(), network: Some(network.to_owned()), label }
    }

    fn json(&self) -> Value {
        let mut rule = json!({ "cidr": self.written });
        put(&mut rule, "label", self.label.as_deref());
        rule
    }
}

/// Chooses the list: of the organization, or of a key, as written.
fn public_key(chooser: &mut Chooser<'_>) -> Option<String> {
    if chooser.choices.one_in(2) {
        return None;
    }
    let keys: Vec<String> = if chooser.rarely() {
        chooser.keys.all().iter().map(|key| key.public_key().to_owned()).collect()
    } else {
        let keys = chooser.organization().users.iter().flat_map(|user| &user.api_keys);
        keys.map(|key| key.public_key.clone()).collect()
    };
    let key = chooser.choices.pick(&keys)?.clone();
    Some(if chooser.choices.one_in(6) { key.to_uppercase() } else { key })
}

/// Returns the canonical form of a public key.
fn canonical(public_key: Option<&String>) -> Option<String> {
    public_key.map(|key| key.to_lowercase())
}

struct Set {
    public_key: Option<String>,
    is_enabled: Option<bool>,
    rules: Vec<Rule>,
    on_error: Option<&'static str>,
}

pub(super) fn set(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let public_key = public_key(chooser);
    let is_enabled = chooser.one(&[None, Some(true), Some(true), Some(false)]);
    let mut rules = rules(chooser);
    // A key without its own blocks uses the list of the organization. A disabled list has no effect.
    let may_exclude = if public_key.is_some() { rules.is_empty() } else { is_enabled == Some(false) };
    if !may_exclude {
        let block = chooser.one(&OWN_BLOCKS);
        let index = chooser.choices.below(rules.len() + 1);
        let rule = Rule::of(chooser, block);
        rules.insert(index, rule);
    }
    if chooser.rarely() {
        let written = chooser.one(&WRONG).to_owned();
        rules.push(Rule { written, network: None, label: None });
    }
    Box::new(Set {
        public_key,
        is_enabled,
        rules,
        on_error: chooser.one(&[None, Some("ALLOW"), Some("DENY")]),
    })
}

fn rules(chooser: &mut Chooser<'_>) -> Vec<Rule> {
    if chooser.rarely() {
        // As many as the limit permits, or one more.
        let networks = (0..chooser.one(&[9, 10, 11])).map(|number| format!("192.0.2.{number}/32"));
        return networks.map(|one| Rule { written: one.clone(), network: Some(one), label: None }).collect();
    }
    let count = chooser.choices.below(4);
    (0..count)
        .map(|_| {
            let block = chooser.one(&OTHER_BLOCKS);
            Rule::of(chooser, block)
        })
        .collect()
}

impl Set {
    /// Returns each network once, in its first notation.
    fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for rule in &self.rules {
            let Some(network) = &rule.network else { continue };
            if blocks.iter().all(|block| block.network != *network) {
                blocks.push(Block { network: network.clone(), label: rule.label.clone() });
            }
        }
        blocks
    }
}

fn object_to_child(objections: &mut Objections, organization: &Organization) {
    objections.named(organization.is_child, Code::InvalidArgument, "", "INVALID_ACTIVITY_CALLER");
}

impl Move for Set {
    fn name(&self) -> &'static str {
        "SET_IP_ALLOWLIST"
    }

    fn result_name(&self) -> &'static str {
        "setIpAllowlistResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({ "rules": self.rules.iter().map(Rule::json).collect::<Vec<_>>() });
        put(&mut parameters, "publicKey", self.public_key.as_deref());
        put(&mut parameters, "enabled", self.is_enabled);
        put(&mut parameters, "onEvaluationError", self.on_error);
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        object_to_child(&mut objections, organization);
        if let Some(key) = canonical(self.public_key.as_ref()) {
            objections.when(organization.holder(&key).is_none(), Code::NotFound, "");
        }
        for rule in &self.rules {
            objections.invalid(rule.network.is_none(), "invalid CIDR at index");
            if let Some(label) = &rule.label {
                objections.label(label);
            }
        }
        let blocks = self.blocks();
        let (new, old): (Vec<_>, Vec<_>) = blocks.iter().partition(|block| block.network.contains(':'));
        objections.capacity(0, old.len().max(new.len()), BLOCKS, "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({}));
        let key = canonical(self.public_key.as_ref());
        *organization.allowlist_mut(key.as_deref()) = Some(Allowlist {
            is_enabled: self.is_enabled.unwrap_or(true),
            blocks: self.blocks(),
            on_error: self.on_error.unwrap_or("DENY"),
        });
    }
}

struct Remove {
    public_key: Option<String>,
}

pub(super) fn remove(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let with_list = chooser.organization().users.iter().flat_map(|user| &user.api_keys);
    let with_list: Vec<&String> =
        with_list.filter(|key| key.allowlist.is_some()).map(|key| &key.public_key).collect();
    match chooser.choices.pick(&with_list) {
        Some(key) if chooser.choices.one_in(2) => Box::new(Remove { public_key: Some((*key).clone()) }),
        _ => Box::new(Remove { public_key: public_key(chooser) }),
    }
}

impl Move for Remove {
    fn name(&self) -> &'static str {
        "REMOVE_IP_ALLOWLIST"
    }

    fn result_name(&self) -> &'static str {
        "removeIpAllowlistResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({});
        put(&mut parameters, "publicKey", self.public_key.as_deref());
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        object_to_child(&mut objections, organization);
        let key = canonical(self.public_key.as_ref());
        objections.when(organization.allowlist_of(key.as_deref()).is_none(), Code::NotFound, "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({}));
        let key = canonical(self.public_key.as_ref());
        *organization.allowlist_mut(key.as_deref()) = None;
    }
}
