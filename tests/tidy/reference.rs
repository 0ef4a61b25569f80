//! Tables of the reference compared with the code: errors, exit codes, metrics, and commands that pages name.
//! `BLESS=1` rewrites the metrics.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use quorate_common::api_error::{ApiError, Code};
use quorate_tests::book::{self, Page};
use quorated::telemetry::{MessageStep, Metrics};
use syn::visit::{self, Visit};

use crate::tree::{self, none};

/// Returns the rows of the tables of a page whose first cell is a number, as cells.
fn rows(page: &str) -> Vec<Vec<String>> {
    let text = tree::read(page);
    let lines = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'));
    let cells = lines.map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    cells.filter(|cells| cells[0].parse::<i32>().is_ok()).collect()
}

#[test]
fn error_codes_are_those_of_the_api() {
    let codes = (0..=i32::from(u8::MAX)).filter_map(Code::from_number);
    let expected: Vec<_> =
        codes.map(|code| [code.number().to_string(), code.http_status().to_string()]).collect();
    let stated = rows("docs/src/reference/errors.md");
    assert_eq!(stated.iter().map(|cells| &cells[..2]).collect::<Vec<_>>(), expected);
}

#[test]
fn errors_for_limits_are_those_of_the_api() {
    let page = Page::read("docs/src/reference/errors.md");
    let shown = page.blocks.last().map(|block| serde_json::from_str(&block.text).expect("a sample is JSON"));
    let message = "organization has reached its limit of 100 wallets";
    let error = ApiError::new(Code::ResourceExhausted, message).limit("wallets");
    assert_eq!(shown.as_ref(), error.details.first());
}

/// The reasons in calls of `ApiError::reason`, and in the conversion of errors to the wire.
struct Reasons(BTreeSet<String>);

/// The file that converts errors to the wire, in which every name in capitals is a reason.
const CONVERSION: &str = "daemon/core/src/error/wire.rs";

/// The literals of a file that are names in capitals.
struct Capitals<'r>(&'r mut BTreeSet<String>);

impl<'ast> Visit<'ast> for Capitals<'_> {
    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        let text = literal.value();
        if text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
            && text.len() > 2
        {
            self.0.insert(text);
        }
    }
}

impl<'ast> Visit<'ast> for Reasons {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !tree::is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method == "reason"
            && let Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(reason), .. })) = call.args.first()
        {
            self.0.insert(reason.value());
        }
        visit::visit_expr_method_call(self, call);
    }
}

#[test]
fn reasons_are_those_of_the_api() {
    let mut reasons = Reasons(BTreeSet::new());
    for source in tree::sources().iter().filter(|source| !source.is_test) {
        reasons.visit_file(&source.syntax);
        if source.path == CONVERSION {
            Capitals(&mut reasons.0).visit_file(&source.syntax);
        }
    }
    let page = tree::read("docs/src/reference/errors.md");
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let stated = cells.filter(|cell| *cell != "turnkeyErrorCode").map(str::to_owned).collect();
    assert_eq!(reasons.0, stated);
}

#[test]
fn metrics_are_those_of_the_daemon() {
    let metrics = Metrics::new();
    // A metric with labels is listed once it has a value.
    metrics.answered("whoami", hyper::StatusCode::OK, Duration::ZERO);
    metrics.limit_reached("wallets");
    metrics.delivery("parked");
    metrics.messages("mail", MessageStep::Sent, 1);
    let listed = metrics.text();
    let mut text = "| metric | type | labels | meaning |\n|---|---|---|---|\n".to_owned();
    for line in listed.lines().filter_map(|line| line.strip_prefix("# HELP ")) {
        let (name, meaning) = line.split_once(' ').expect("a name and its meaning");
        let kind = listed.lines().find_map(|line| line.strip_prefix(&format!("# TYPE {name} ")));
        let suffix = if kind == Some("counter") { "_total" } else { "" };
        let sample = listed.lines().find_map(|line| line.strip_prefix(&format!("{name}{suffix}{{")));
        let labels = sample.into_iter().flat_map(|sample| sample.split(','));
        let labels: Vec<_> =
            labels.filter_map(|label| Some(format!("`{}`", label.split_once('=')?.0))).collect();
        let (kind, meaning) = (kind.expect("a type"), meaning.trim_end_matches('.'));
        writeln!(text, "| `{name}{suffix}` | {kind} | {} | {meaning} |", labels.join(", "))
            .expect("a text can be written to");
    }
    book::check_generated("docs/src/reference/metrics.md", &text);
}

/// Integers in the source of a function or enum.
struct Integers<'a> {
    item: &'a str,
    found: BTreeSet<String>,
    is_inside: bool,
}

impl<'ast> Visit<'ast> for Integers<'_> {
    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.is_inside = function.sig.ident == self.item;
        visit::visit_impl_item_fn(self, function);
        self.is_inside = false;
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.is_inside = function.sig.ident == self.item;
        visit::visit_item_fn(self, function);
        self.is_inside = false;
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.is_inside = item.ident == self.item;
        visit::visit_item_enum(self, item);
        self.is_inside = false;
    }

    fn visit_lit_int(&mut self, integer: &'ast syn::LitInt) {
        if self.is_inside {
            self.found.insert(integer.base10_digits().to_owned());
        }
    }
}

/// Returns the integers in the source of a function or enum.
fn integers(path: &str, item: &str) -> BTreeSet<String> {
    let syntax = syn::parse_file(&tree::read(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut integers = Integers { item, found: BTreeSet::new(), is_inside: false };
    integers.visit_file(&syntax);
    integers.found
}

#[test]
fn exit_codes_are_those_of_the_programs() {
    let rows = rows("docs/src/reference/commands.md");
    let stated = |column: usize| -> BTreeSet<String> {
        rows.iter().filter(|cells| !cells[column].is_empty()).map(|cells| cells[0].clone()).collect()
    };
    assert_eq!(stated(1), integers("tui/src/failure.rs", "Exit"));
    let help = tree::read("tui/src/cli/arguments.rs");
    for cells in &rows {
        let line = format!("  {:<4} {}", cells[0], cells[1]);
        assert!(help.contains(&line), "the help of quorate describes an exit code as its page does: {line}");
    }
    // Success is not an error, and clap ends a wrong usage.
    let mut daemon = BTreeSet::new();
    for function in ["exit_code", "code_of_vault", "code_of_journal"] {
        daemon.extend(integers("daemon/src/service.rs", function));
    }
    daemon.extend(["0", "2"].map(str::to_owned));
    assert_eq!(stated(2), daemon);
}

#[test]
fn pages_name_existing_commands() {
    let reference =
        ["quorate", "quorated"].map(|program| Page::read(&format!("docs/src/reference/{program}.md")));
    let known: BTreeSet<String> = reference.into_iter().flat_map(|page| page.headings).collect();
    let mut violations = Vec::new();
    let is_command = |span: &&String| span.starts_with("quorate ") || span.starts_with("quorated ");
    // Options and arguments follow the command.
    let is_name = |word: &&str| {
        !word.starts_with('-') && word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')
    };
    for page in book::pages() {
        for span in page.spans.iter().filter(is_command) {
            let command: Vec<_> = span.split(' ').take_while(is_name).collect();
            if !known.contains(&command.join(" ")) {
                violations.push(format!("{}: `{span}`", page.path));
            }
        }
    }
    none(&violations, "a page names a command that does not exist");
}
