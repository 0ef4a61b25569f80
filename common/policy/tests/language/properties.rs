//! Properties that hold for any text, any facts and any expression tree.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use quorate_policy::{ExpressionKind, Facts, Integer, Program, Value, contributes, decide};

const KINDS: [ExpressionKind; 3] =
    [ExpressionKind::Condition, ExpressionKind::Consensus, ExpressionKind::Time];

/// Fragments that make text look like an expression.
const FRAGMENTS: [&str; 58] = [
    " ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".",
    "..",
    ",",
    ":",
    "'",
    "''",
    "'a'",
    "!",
    "&&",
    "||",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "true",
    "false",
    "1",
    "-1",
    "0",
    "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    "x",
    "x,",
    "activity",
    "eth",
    "tx",
    "eip_712",
    "message",
    "data",
    "value",
    "chain_id",
    "eip_7702_authorization",
    "solana",
    "transfers",
    "approvers",
    "credentials",
    "id",
    "tags",
    "time",
    "now",
    "all(",
    "any(",
    "filter(",
    "contains(",
    "count()",
    "count",
    "Timestamp(",
    "CaseInsensitiveString(",
    "é",
];

/// Roots of conditions and time expressions.
const ROOTS: [&str; 12] = [
    "activity",
    "bitcoin",
    "eth",
    "private_key",
    "secret",
    "solana",
    "tempo",
    "time",
    "tron",
    "wallet",
    "wallet_account",
    "wallets",
];

/// Legal expressions that touch every part of the language.
const SAMPLES: [&str; 12] = [
    "activity.kind == 'SIGN_TRANSACTION' && !(activity.action in ['CREATE', 'UPDATE'])",
    "eth.tx.to == '0x3535353535353535353535353535353535353535' || eth.tx.value <= -5",
    "eth.tx.data[0..10] == '0xa9059cbb' && eth.tx.data[2] != 'a'",
    "eth.eip_712.message['permitted'].all(p, p['token'] == 'x' || p.amount[0] < 7)",
    "eth.eip_7702_authorization.chain_id in ['1', '10']",
    "solana.tx.transfers.filter(t, t.amount > 5).any(t, t.to == 'x')",
    "CaseInsensitiveString(wallet.label) == 'treasury' && wallets.count == 2",
    "{a: [1, 2], b: 'x'}.a[1] == 2 && [[1], []].contains([1])",
    "private_key.tags.contains('t1') == true",
    "tron.tx.contract[0].owner.keys.all(k, k.weight == 1)",
    "approvers.filter(user, user.tags.contains('ops')).count() >= 2 && credentials.any(c, c.type == 'x')",
    "time.now >= Timestamp('2026-03-01T00:00:00Z')",
];

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        vec(select(FRAGMENTS.as_slice()), 0..40).prop_map(|fragments| fragments.concat()),
        "\\PC{0,60}",
        any::<String>(),
        (select(SAMPLES.as_slice()), vec(any::<(usize, usize)>(), 1..4)).prop_map(|(sample, changes)| {
            changes
                .into_iter()
                .fold(sample.to_owned(), |text, (index, fragment)| damaged(&text, index, fragment))
        }),
    ]
}

/// Replaces one character of a text with a fragment, or removes the character.
fn damaged(text: &str, index: usize, fragment: usize) -> String {
    let mut characters: Vec<String> = text.chars().map(String::from).collect();
    if !characters.is_empty() {
        let index = index % characters.len();
        let fragment = FRAGMENTS.get(fragment % (FRAGMENTS.len() * 2));
        characters[index] = fragment.copied().unwrap_or_default().into();
    }
    characters.concat()
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i128>().prop_map(Value::int),
        any::<[u8; 32]>().prop_map(|bytes| Value::uint(Integer::from_be_bytes(&bytes).unwrap())),
        "[ax0é]{0,4}".prop_map(Value::text),
        "[ax0é]{0,4}".prop_map(Value::folded),
        Just(Value::Unreadable),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        let name = select(FRAGMENTS.as_slice());
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::list),
            vec((name.clone(), inner.clone()), 0..5).prop_map(Value::record),
            btree_map(name, inner, 0..4).prop_map(Value::map),
        ]
    })
}

fn any_facts() -> impl Strategy<Value = Value> {
    vec((select(ROOTS.as_slice()), any_value()), 0..6).prop_map(Value::record)
}

fn any_electorate() -> impl Strategy<Value = Vec<decide::Approver>> {
    let tags = vec(select(["ops", "sec", "x"].as_slice()).prop_map(str::to_owned), 0..3);
    let user =
        (select(["u1", "u2", "u3", "x"].as_slice()), tags, 0_usize..3).prop_map(|(id, tags, credentials)| {
            let credentials = (0..credentials).map(|number| decide::Credential {
                id: format!("{id}-{number}"),
                user_id: id.to_owned(),
                credential_type: "x".to_owned(),
                credential_id: None,
                public_key: String::new(),
            });
            decide::Approver {
                user_id: id.to_owned(),
                tags,
                email: String::new(),
                alias: id.to_owned(),
                credentials: credentials.collect(),
            }
        });
    vec(user, 0..4)
}

/// An expression tree that the test can evaluate by itself.
#[derive(Clone, Debug)]
enum Tree {
    Truth(bool),
    Order(i128, &'static str, i128),
    Among(i128, Vec<i128>),
    Exists(Vec<i128>, &'static str, i128),
    Forall(Vec<i128>, &'static str, i128),
    Counted(Vec<i128>, &'static str, i128, usize),
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
}

const ORDERS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

fn holds(left: i128, order: &str, right: i128) -> bool {
    match order {
        "==" => left == right,
        "!=" => left != right,
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        ">=" => left >= right,
        other => panic!("{other}"),
    }
}

impl Tree {
    fn value(&self) -> bool {
        match self {
            Self::Truth(truth) => *truth,
            Self::Order(left, order, right) => holds(*left, order, *right),
            Self::Among(item, list) => list.contains(item),
            Self::Exists(list, order, right) => list.iter().any(|left| holds(*left, order, *right)),
            Self::Forall(list, order, right) => list.iter().all(|left| holds(*left, order, *right)),
            Self::Counted(list, order, right, count) => {
                list.iter().filter(|left| holds(**left, order, *right)).count() == *count
            }
            Self::Not(inner) => !inner.value(),
            Self::And(left, right) => left.value() & right.value(),
            Self::Or(left, right) => left.value() | right.value(),
        }
    }

    /// Formats the tree with the fewest parentheses that the documented precedence allows.
    fn text(&self) -> String {
        match self {
            Self::Truth(truth) => truth.to_string(),
            Self::Order(left, order, right) => format!("{left} {order} {right}"),
            Self::Among(item, list) => format!("{item} in {list:?}"),
            Self::Exists(list, order, right) => format!("{list:?}.any(x, x {order} {right})"),
            Self::Forall(list, order, right) => format!("{list:?}.all(x, x {order} {right})"),
            Self::Counted(list, order, right, count) => {
                format!("{list:?}.filter(x, x {order} {right}).count() == {count}")
            }
            Self::Not(inner) if inner.is_postfix() => format!("!{}", inner.text()),
            Self::Not(inner) => format!("!({})", inner.text()),
            Self::And(left, right) => format!("{} && {}", left.factor(), right.factor()),
            Self::Or(left, right) => format!("{} || {}", left.text(), right.text()),
        }
    }

    fn is_postfix(&self) -> bool {
        matches!(self, Self::Truth(_) | Self::Exists(..) | Self::Forall(..) | Self::Not(_))
    }

    fn factor(&self) -> String {
        match self {
            Self::Or(..) => format!("({})", self.text()),
            _ => self.text(),
        }
    }
}

fn any_tree() -> impl Strategy<Value = Tree> {
    let number = || prop_oneof![-3_i128..4, Just(i128::MIN), Just(i128::MAX)];
    let list = || vec(-3_i128..4, 0..5);
    let order = || select(ORDERS.as_slice());
    let leaf = prop_oneof![
        any::<bool>().prop_map(Tree::Truth),
        (number(), order(), number()).prop_map(|(left, order, right)| Tree::Order(left, order, right)),
        (number(), list()).prop_map(|(item, list)| Tree::Among(item, list)),
        (list(), order(), number()).prop_map(|(list, order, right)| Tree::Exists(list, order, right)),
        (list(), order(), number()).prop_map(|(list, order, right)| Tree::Forall(list, order, right)),
        (list(), order(), number(), 0_usize..4)
            .prop_map(|(list, order, right, count)| Tree::Counted(list, order, right, count)),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            inner.prop_map(|tree| Tree::Not(Box::new(tree))),
            pair.clone().prop_map(|(left, right)| Tree::And(Box::new(left), Box::new(right))),
            pair.prop_map(|(left, right)| Tree::Or(Box::new(left), Box::new(right))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn any_text_and_facts_do_not_panic(text in any_text(), facts in any_facts(), users in any_electorate()) {
        for kind in KINDS {
            match Program::parse(kind, &text) {
                Err(error) => {
                    prop_assert!(error.position.offset <= text.len());
                    prop_assert!(error.to_string().len() < 1_000);
                }
                Ok(program) => {
                    let _ = program.evaluate(&facts);
                    decide_all(&program, &facts, &users);
                }
            }
        }
    }

    #[test]
    fn samples_evaluate_over_any_facts(sample in select(SAMPLES.as_slice()), facts in any_facts(), users in any_electorate()) {
        let programs: Vec<Program> = KINDS.into_iter().filter_map(|kind| Program::parse(kind, sample).ok()).collect();
        prop_assert!(!programs.is_empty());
        for program in programs {
            if let Err(error) = program.evaluate(&facts) {
                prop_assert!(error.offset < sample.len());
            }
            decide_all(&program, &facts, &users);
        }
    }

    #[test]
    fn evaluation_agrees_with_a_naive_evaluator(tree in any_tree()) {
        let text = tree.text();
        let program = Program::parse(ExpressionKind::Condition, &text);
        let program = program.map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
        prop_assert_eq!(program.evaluate(&Value::list([])), Ok(tree.value()), "{}", text);
    }

    #[test]
    fn whitespace_and_parentheses_do_not_change_results(tree in any_tree()) {
        let wide = format!(" (\n{}\t) ", tree.text().replace(' ', " \r\n "));
        let program = Program::parse(ExpressionKind::Condition, &wide).unwrap();
        prop_assert_eq!(program.evaluate(&Value::list([])), Ok(tree.value()));
    }

    #[test]
    fn positions_and_slices_count_characters(text in "[aé€😀]{0,6}", from in 0_usize..8, to in 0_usize..8) {
        let characters: Vec<char> = text.chars().collect();
        let slice = format!("'{text}'[{from}..{to}] == '{}'", characters.get(from..to).unwrap_or_default().iter().collect::<String>());
        let found = Program::parse(ExpressionKind::Condition, &slice).unwrap().evaluate(&Value::list([]));
        prop_assert_eq!(found.ok(), characters.get(from..to).map(|_| true));
        let index = format!("'{text}'[{from}] == '{}'", characters.get(from).copied().unwrap_or('x'));
        let found = Program::parse(ExpressionKind::Condition, &index).unwrap().evaluate(&Value::list([]));
        prop_assert_eq!(found.ok(), characters.get(from).map(|_| true));
    }

    #[test]
    fn integers_agree_with_native_integers(left in any::<i128>(), right in any::<i128>()) {
        let (wide_left, wide_right) = (Integer::from(left), Integer::from(right));
        prop_assert_eq!(wide_left.cmp(&wide_right), left.cmp(&right));
        prop_assert_eq!(wide_left.to_string(), left.to_string());
        prop_assert_eq!(Integer::from_decimal(&left.to_string()), Some(wide_left));
        prop_assert!(wide_left.is_int());
        prop_assert_eq!(wide_left.is_uint(), left >= 0);
        let mut extended = [if left < 0 { 0xff } else { 0 }; 32];
        extended[16..].copy_from_slice(&left.to_be_bytes());
        prop_assert_eq!(Integer::from_twos_complement(&extended), wide_left);
    }

    #[test]
    fn bytes_and_decimal_text_agree(left in any::<[u8; 32]>(), right in any::<[u8; 32]>()) {
        let (wide_left, wide_right) = (Integer::from_be_bytes(&left).unwrap(), Integer::from_be_bytes(&right).unwrap());
        prop_assert_eq!(wide_left.cmp(&wide_right), left.cmp(&right));
        prop_assert_eq!(Integer::from_decimal(&wide_left.to_string()), Some(wide_left));
    }
}

/// Runs all decision functions on a program and ignores the results; they must not panic.
fn decide_all(program: &Program, facts: &dyn Facts, users: &[decide::Approver]) {
    let proposer = decide::Proposer { user_id: "u1".to_owned(), is_root: false };
    let approvers = users.iter().take(1).cloned().collect();
    let electorate = decide::Electorate::new(proposer, approvers, || users.to_vec());
    let _ = contributes(program, &electorate, "u1");
    let consensus = Some(program.clone()).filter(|program| program.kind() == ExpressionKind::Consensus);
    let policy =
        decide::PolicyProgram { effect: decide::Effect::Allow, condition: None, consensus, time: None };
    let _ = decide::outcome(&policy, facts, &electorate);
    let _ = decide::strict_outcome(&policy, facts, &electorate);
}
