//! Runs every row of the pages in `assets/vectors/policy`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use quorate_policy::decide::{
    self, Approver, Credential, Effect, Electorate, PolicyOutcome, PolicyProgram, Proposer, VerdictContext,
};
use quorate_policy::selectors::{self, Operator, Selector};
use quorate_policy::{EvaluationError, ExpressionKind, Integer, Program, Timestamp, Value};
use serde_json::Value as Json;

use super::advice;

/// Minimum number of rows on the pages, so that the test fails if the pages are not read completely.
const LEAST_ROWS: usize = 700;
/// An absent expression, or nothing to compare with.
const DASH: &str = "—";

#[test]
#[expect(clippy::disallowed_methods, reason = "reads the pages from disk")]
fn every_row_of_the_specification_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/vectors/policy");
    let mut pages = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_some_and(|extension| extension == "md") && name != "README.md" {
            pages.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    let mut walk = Walk {
        facts: objects(&pages.remove("contexts.md").unwrap())
            .into_iter()
            .map(|(name, json)| (name, value(&json)))
            .collect(),
        electorates: objects(&pages.remove("electorates.md").unwrap()),
        policies: BTreeMap::new(),
        failures: Vec::new(),
        rows: 0,
    };
    for (name, page) in &pages {
        walk.page(name, page);
    }
    assert!(walk.failures.is_empty(), "{}", walk.failures.join("\n"));
    assert!(walk.rows >= LEAST_ROWS, "only {} rows were read", walk.rows);
}

/// The cells of a row by column name.
pub(super) type Row = BTreeMap<String, String>;

pub(super) struct Walk {
    facts: BTreeMap<String, Value>,
    electorates: BTreeMap<String, Json>,
    policies: BTreeMap<String, PolicyProgram>,
    failures: Vec<String>,
    rows: usize,
}

impl Walk {
    fn page(&mut self, name: &str, page: &str) {
        let mut header: Option<Vec<String>> = None;
        for (number, line) in page.lines().enumerate() {
            if !line.starts_with('|') {
                header = None;
                continue;
            }
            let cells = cells(line);
            if cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|character| character == '-')) {
                continue;
            }
            match &header {
                None => header = Some(cells),
                Some(header) => {
                    let row: Row = header.iter().cloned().zip(cells).collect();
                    self.rows += 1;
                    if let Err(failure) = self.row(&row) {
                        self.failures.push(format!("{name}:{}: {failure}", number + 1));
                    }
                }
            }
        }
    }

    fn row(&mut self, row: &Row) -> Result<(), String> {
        let has = |column: &str| row.contains_key(column);
        if has("words") {
            advice::words(row)
        } else if has("reason") {
            advice::reason(self, row)
        } else if has("findings") {
            advice::findings(self, row)
        } else if has("finding") {
            advice::fewer(self, row)
        } else if has("expression") {
            self.expression(row)
        } else if has("strict outcome") {
            let policy = policy(row);
            let found = self
                .with_request(row, |facts, electorate| decide::strict_outcome(&policy, facts, electorate));
            same("strict outcome", &row["strict outcome"], &short(found))
        } else if has("outcome") {
            let policy = policy(row);
            let found =
                self.with_request(row, |facts, electorate| decide::outcome(&policy, facts, electorate));
            same("outcome", &row["outcome"], &short(found))
        } else if has("outcomes") {
            let found = decide::verdict(context(&row["context"]), outcomes(&row["outcomes"]));
            same("verdict", &row["verdict"], &short(found))
        } else if has("policies") {
            let policies: Vec<_> =
                names(&row["policies"], ";").map(|name| self.policies[name].clone()).collect();
            let found = self.with_request(row, |facts, electorate| {
                let outcomes = policies.iter().map(|policy| decide::outcome(policy, facts, electorate));
                decide::verdict(context(&row["context"]), outcomes)
            });
            same("verdict", &row["verdict"], &short(found))
        } else if has("payload verdicts") {
            let found = decide::strictest(outcomes(&row["payload verdicts"]));
            same("strictest", &row["strictest"], &short(found))
        } else if has("effect") {
            self.policies.insert(row["name"].clone(), policy(row));
            Ok(())
        } else if has("selectors") {
            translation(row)
        } else {
            Err("unknown kind of table".to_owned())
        }
    }

    fn expression(&self, row: &Row) -> Result<(), String> {
        let kind = kind_of(row)?;
        let source = source(&row["expression"]).expect("an expression");
        let creation = row.get("creation").map_or("ok", String::as_str);
        let program = match (Program::parse(kind, &source), creation) {
            (Ok(program), "ok") => program,
            (Err(_), "reject") => return same("result", &row["result"], DASH),
            (Err(error), _) => {
                same("creation", creation, &error.to_string())?;
                return same("result", &row["result"], DASH);
            }
            (Ok(_), error) => return Err(format!("accepted, expected: {error}")),
        };
        assert_eq!(program.source(), source);
        let (result, outcome) = self.with_request(row, |facts, electorate| run(&program, facts, electorate));
        same("result", &row["result"], &shown(&result, &row["result"]))?;
        row.get("outcome").map_or(Ok(()), |expected| same("outcome", expected, &short(outcome)))
    }

    /// Returns the users of the sample organization.
    pub(super) fn team(&self) -> Vec<Approver> {
        approvers(&self.electorates["Team"]["candidates"])
    }

    pub(super) fn with_request<T>(&self, row: &Row, run: impl FnOnce(&Value, &Electorate<'_>) -> T) -> T {
        let facts = row.get("facts").map_or("Nothing", String::as_str);
        let votes = row.get("votes").map_or("Alone", String::as_str);
        let facts = self.facts.get(facts).unwrap_or_else(|| panic!("no facts named {facts}"));
        let clock = row.get("now").map(|now| {
            let now = Timestamp::parse(now).expect("a timestamp");
            Value::record([("time", Value::record([("now", Value::from(now))]))])
        });
        let facts = clock.as_ref().unwrap_or(facts);
        let votes = self.electorates.get(votes).unwrap_or_else(|| panic!("no votes named {votes}"));
        run(facts, &electorate(votes))
    }
}

/// Returns the kind of expression that a row is about.
pub(super) fn kind_of(row: &Row) -> Result<ExpressionKind, String> {
    match row.get("kind").map_or("condition", String::as_str) {
        "condition" => Ok(ExpressionKind::Condition),
        "consensus" => Ok(ExpressionKind::Consensus),
        "time" => Ok(ExpressionKind::Time),
        other => Err(format!("kind {other}")),
    }
}

/// Evaluates a program as part of an allow policy.
fn run(
    program: &Program,
    facts: &Value,
    electorate: &Electorate<'_>,
) -> (Result<bool, EvaluationError>, PolicyOutcome) {
    let mut policy = PolicyProgram { effect: Effect::Allow, condition: None, consensus: None, time: None };
    match program.kind() {
        ExpressionKind::Condition => policy.condition = Some(program.clone()),
        ExpressionKind::Consensus => policy.consensus = Some(program.clone()),
        ExpressionKind::Time => policy.time = Some(program.clone()),
    }
    let evaluation = decide::evaluation(&policy, facts, electorate);
    let result = match program.kind() {
        ExpressionKind::Condition => evaluation.condition,
        ExpressionKind::Consensus => evaluation.consensus,
        ExpressionKind::Time => evaluation.time,
    };
    (result, evaluation.outcome)
}

pub(super) fn policy(row: &Row) -> PolicyProgram {
    let effect = match row["effect"].as_str() {
        "ALLOW" => Effect::Allow,
        "DENY" => Effect::Deny,
        other => panic!("effect {other}"),
    };
    let text = |column: &str| row.get(column).and_then(|cell| source(cell));
    let (condition, consensus, time) = (text("condition"), text("consensus"), text("time"));
    PolicyProgram::parse(effect, condition.as_deref(), consensus.as_deref(), time.as_deref()).unwrap()
}

fn context(cell: &str) -> VerdictContext {
    let mut context = VerdictContext::default();
    for word in names(cell, ",") {
        match word {
            "root" => context.proposer_is_root = true,
            "met" => context.root_quorum_is_met = true,
            "root only" => context.root_quorum_only = true,
            "own" => context.is_self_service = true,
            other => panic!("context {other}"),
        }
    }
    context
}

fn outcomes(cell: &str) -> Vec<PolicyOutcome> {
    let known = [
        PolicyOutcome::Allow,
        PolicyOutcome::DenyExplicit,
        PolicyOutcome::DenyImplicit,
        PolicyOutcome::RequiresConsensus,
        PolicyOutcome::Error,
        PolicyOutcome::TimeInactive,
    ];
    let parse = |name: &str| known.into_iter().find(|outcome| short(*outcome) == name);
    names(cell, ",").map(|name| parse(name).unwrap_or_else(|| panic!("outcome {name}"))).collect()
}

fn translation(row: &Row) -> Result<(), String> {
    let selectors: Vec<Selector> = names(&row["selectors"], ";").map(selector).collect();
    match (selectors::translate(&selectors), row.get("error")) {
        (Ok(translation), None) => {
            same("condition", &row["condition"], &cell(translation.condition.as_deref()))?;
            same("consensus", &row["consensus"], &cell(translation.consensus.as_deref()))?;
            let (condition, consensus) = (translation.condition.as_deref(), translation.consensus.as_deref());
            let policy = PolicyProgram::parse(Effect::Allow, condition, consensus, None);
            policy.map(drop).map_err(|error| error.to_string())
        }
        (Err(error), Some(expected)) => same("error", expected, &error.to_string()),
        (found, expected) => Err(format!("expected {expected:?}, found {found:?}")),
    }
}

fn selector(text: &str) -> Selector {
    let mut words = text.split_whitespace().map(str::to_owned);
    let subject = words.next().unwrap();
    let name = format!("\"OPERATOR_{}\"", words.next().unwrap());
    let operator: Operator = serde_json::from_str(&name).unwrap();
    Selector { subject, operator, targets: words.collect() }
}

/// Returns the cells of a table line. An escaped bar `\|` is part of a cell.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').replace("\\|", "\u{0}");
    let inner = inner.trim_end().strip_suffix('|').unwrap_or(&inner).to_owned();
    inner.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// Returns the expression in a cell, or `None` for a dash.
pub(super) fn source(cell: &str) -> Option<String> {
    if cell == DASH {
        return None;
    }
    let text = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`')).expect("backticks");
    if text == "(empty)" {
        return Some(String::new());
    }
    Some(text.replace('⏎', "\n").replace('⇥', "\t").replace('␍', "\r"))
}

fn cell(expression: Option<&str>) -> String {
    expression.map_or(DASH.to_owned(), |expression| format!("`{expression}`"))
}

fn names<'a>(cell: &'a str, separator: &'a str) -> impl Iterator<Item = &'a str> {
    cell.split(separator).map(str::trim).filter(|name| *name != DASH)
}

fn short(outcome: PolicyOutcome) -> String {
    let wire = serde_json::to_value(outcome).unwrap();
    assert_eq!(wire, outcome.wire_name());
    outcome.wire_name().strip_prefix("OUTCOME_").unwrap().to_owned()
}

/// Formats a result like the cell with the expected one: with the reason of an error only if the cell has a
/// reason.
fn shown(result: &Result<bool, EvaluationError>, expected: &str) -> String {
    match result {
        Ok(truth) => truth.to_string(),
        Err(_) if expected == "error" => "error".to_owned(),
        Err(error) => format!("error ({})", error.reason),
    }
}

pub(super) fn same(what: &str, expected: &str, found: &str) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what}: expected {expected}, found {found}")) }
}

/// Returns the JSON object under each second-level heading.
fn objects(page: &str) -> BTreeMap<String, Json> {
    let sections = page.split("\n## ").skip(1);
    let objects = sections.map(|section| {
        let (name, rest) = section.split_once('\n').unwrap();
        let (_, json) = rest.split_once("```json\n").unwrap();
        let (json, _) = json.split_once("\n```").unwrap();
        let object = serde_json::from_str(json).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name.trim().to_owned(), object)
    });
    objects.collect()
}

fn value(json: &Json) -> Value {
    match json {
        Json::Bool(truth) => Value::from(*truth),
        Json::Number(number) => Value::int(Integer::from_decimal(&number.to_string()).unwrap()),
        Json::String(text) => Value::text(text.clone()),
        Json::Array(elements) => elements.iter().map(value).collect(),
        Json::Object(members) => match members.iter().next() {
            Some((name, inner)) if name.starts_with('$') => special(name, inner),
            _ => Value::record(members.iter().map(|(name, member)| (name.clone(), value(member)))),
        },
        Json::Null => panic!("null"),
    }
}

fn special(name: &str, inner: &Json) -> Value {
    let text = || inner.as_str().unwrap().to_owned();
    match name {
        "$folded" => Value::folded(text()),
        "$int" => Value::int(Integer::from_decimal(&text()).unwrap()),
        "$uint" => Value::uint(Integer::from_decimal(&text()).unwrap()),
        "$timestamp" => Value::from(Timestamp::parse(&text()).unwrap()),
        "$unreadable" => Value::Unreadable,
        "$map" => {
            let entries = inner.as_object().unwrap();
            Value::map(entries.iter().map(|(key, entry)| (key.clone(), value(entry))))
        }
        other => panic!("{other}"),
    }
}

fn electorate(json: &Json) -> Electorate<'_> {
    let proposer = Proposer {
        user_id: json["proposer"].as_str().unwrap().to_owned(),
        is_root: json["root"].as_bool().unwrap_or_default(),
    };
    Electorate::new(proposer, approvers(&json["approvers"]), || approvers(&json["candidates"]))
}

fn approvers(json: &Json) -> Vec<Approver> {
    json.as_array().unwrap().iter().map(approver).collect()
}

fn approver(json: &Json) -> Approver {
    let user_id = text(json, "id");
    let credentials = json["credentials"].as_array().unwrap().iter().map(|credential| Credential {
        id: text(credential, "id"),
        user_id: user_id.clone(),
        credential_type: text(credential, "type"),
        credential_id: credential["credential_id"].as_str().map(str::to_owned),
        public_key: text(credential, "public_key"),
    });
    let credentials = credentials.collect();
    let tags =
        json["tags"].as_array().map(|tags| tags.iter().map(|tag| tag.as_str().unwrap().to_owned()).collect());
    Approver {
        tags: tags.unwrap_or_default(),
        email: text(json, "email"),
        alias: text(json, "alias"),
        user_id,
        credentials,
    }
}

fn text(json: &Json, name: &str) -> String {
    json[name].as_str().unwrap_or_default().to_owned()
}
