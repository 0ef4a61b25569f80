//! Tests each limit from both sides, and bounds the work of hostile expressions.

use quorate_policy::decide::{
    self, Approver, Credential, Effect, Electorate, PolicyOutcome, PolicyProgram, Proposer,
};
use quorate_policy::request::Request;
use quorate_policy::simulate::{Gate, NamedPolicy, OrganizationRules, SimulatedRequest};
use quorate_policy::{
    EXPRESSION_LIMIT_BYTES, ErrorReason, EvaluationReason, ExpressionKind, LIST_LIMIT, NESTING_LIMIT,
    Program, STEP_LIMIT, Value, contributes,
};

fn parse(source: &str) -> Result<Program, ErrorReason> {
    Program::parse(ExpressionKind::Condition, source).map_err(|error| error.reason)
}

fn evaluate(source: &str, facts: &Value) -> Result<bool, EvaluationReason> {
    parse(source).unwrap().evaluate(facts).map_err(|error| error.reason)
}

fn nothing() -> Value {
    Value::record::<&str, Value>([])
}

#[test]
fn expression_length_is_limited_to_64_kib() {
    let longest = format!("true{}", " ".repeat(EXPRESSION_LIMIT_BYTES - 4));
    assert_eq!(longest.len(), 65_536);
    assert!(parse(&longest).is_ok());
    let longer = format!("{longest} ");
    assert_eq!(parse(&longer).unwrap_err(), ErrorReason::Length(EXPRESSION_LIMIT_BYTES));
}

#[test]
fn nesting_is_limited_to_64_levels() {
    let forms: [fn(usize) -> String; 8] = [
        |levels| format!("{}true{}", "(".repeat(levels), ")".repeat(levels)),
        |levels| format!("{}true", "!".repeat(levels)),
        |levels| format!("{}1{} == []", "[".repeat(levels), "]".repeat(levels)),
        |levels| format!("{}1{} == 1", "{a: ".repeat(levels), "}".repeat(levels) + &".a".repeat(levels)),
        |levels| format!("'a'{} == 'a'", "[0]".repeat(levels)),
        |levels| format!("'a'{} == 'a'", "[0..1]".repeat(levels)),
        |levels| format!("[1]{}.count == 1", ".filter(x, true)".repeat(levels - 2)),
        |levels| {
            let lambdas: Vec<String> = (0..levels - 1).map(|level| format!("[1].any(x{level}, ")).collect();
            let opening = lambdas.concat();
            format!("{opening}true{}", ")".repeat(levels - 1))
        },
    ];
    for (index, form) in forms.iter().enumerate() {
        // A struct literal and the access to it both count, so this form reaches the limit twice as fast.
        let levels = if index == 3 { NESTING_LIMIT / 2 } else { NESTING_LIMIT };
        let deepest = evaluate(&form(levels), &nothing());
        assert!(deepest.is_ok(), "form {index}: {deepest:?}");
        for deeper in [levels + 1, 3_000] {
            let reason = parse(&form(deeper)).unwrap_err();
            assert_eq!(reason, ErrorReason::Nesting(NESTING_LIMIT), "form {index}");
        }
    }
}

#[test]
fn deepest_legal_tree_fits_on_the_stack() {
    let mut source = "true".to_owned();
    for _ in 0..NESTING_LIMIT {
        source = format!("false || true && true == ({source})");
    }
    assert_eq!(evaluate(&source, &nothing()), Ok(true));
}

#[test]
fn long_chain_is_not_a_deep_tree() {
    let source = vec!["1==1"; 10_000].join("||");
    assert_eq!(evaluate(&source, &nothing()), Ok(true));
    let source = vec!["1==1"; 10_000].join("&&");
    assert_eq!(evaluate(&source, &nothing()), Ok(true));
}

#[test]
fn literal_is_limited_to_1000_elements() {
    let list = |length: usize| format!("[{}].count() > 0", vec!["1"; length].join(","));
    assert_eq!(evaluate(&list(LIST_LIMIT), &nothing()), Ok(true));
    assert_eq!(parse(&list(LIST_LIMIT + 1)).unwrap_err(), ErrorReason::ListLength(LIST_LIMIT));
    let members = |count: usize| {
        let members: Vec<String> = (0..count).map(|index| format!("m{index}: 1")).collect();
        format!("{{{}}}.m0 == 1", members.join(","))
    };
    assert_eq!(evaluate(&members(LIST_LIMIT), &nothing()), Ok(true));
    assert_eq!(parse(&members(LIST_LIMIT + 1)).unwrap_err(), ErrorReason::ListLength(LIST_LIMIT));
}

#[test]
fn evaluation_fails_at_the_step_limit() {
    let thousand = format!("[{}]", vec!["1"; LIST_LIMIT].join(","));
    let flat = format!("{thousand}.all(x, x == 1)");
    assert_eq!(evaluate(&flat, &nothing()), Ok(true));
    let cubed = format!("{thousand}.all(x, {thousand}.all(y, {thousand}.all(z, true)))");
    assert_eq!(evaluate(&cubed, &nothing()), Err(EvaluationReason::Steps));
    let searched = format!("{thousand}.all(x, x in [{}, x])", vec!["1"; LIST_LIMIT - 1].join(","));
    assert_eq!(evaluate(&searched, &nothing()), Err(EvaluationReason::Steps));
    // A list of literals is sorted once and then searched quickly.
    let indexed = format!("{thousand}.all(x, x in {thousand})");
    assert_eq!(evaluate(&indexed, &nothing()), Ok(true));
    let compared = format!("{thousand}.all(x, {thousand} == {thousand})");
    assert_eq!(evaluate(&compared, &nothing()), Err(EvaluationReason::Steps));
    let wide = format!("{thousand}.all(x, {})", vec!["true"; 200].join("&&"));
    assert_eq!(evaluate(&wide, &nothing()), Err(EvaluationReason::Steps));
    let filtered = format!("{thousand}.all(x, {thousand}.filter(y, true).count() == 1)");
    assert_eq!(evaluate(&filtered, &nothing()), Err(EvaluationReason::Steps));
}

#[test]
fn long_texts_cost_steps() {
    let data = Value::text("ab".repeat(200_000));
    let facts = Value::record([("eth", Value::record([("tx", Value::record([("data", data)]))]))]);
    let hundred = format!("[{}]", vec!["1"; 100].join(","));
    assert_eq!(evaluate("eth.tx.data == eth.tx.data", &facts), Ok(true));
    assert_eq!(evaluate("eth.tx.data[399999] == 'b'", &facts), Ok(true));
    for expensive in [
        "eth.tx.data == eth.tx.data",
        "eth.tx.data[399999] == 'b'",
        "eth.tx.data[0..400000] == ''",
        "CaseInsensitiveString(eth.tx.data) == ''",
        "eth.tx.data in [eth.tx.data]",
    ] {
        let many = format!("{hundred}.all(x, {expensive} || true)");
        assert_eq!(evaluate(&many, &facts), Err(EvaluationReason::Steps), "{expensive}");
    }
}

#[test]
fn comparison_of_deeply_nested_values_fails() {
    let nested = |levels: usize| {
        let list = (0..levels).fold(Value::list([]), |inner, _| Value::list([inner]));
        let message = Value::map([("deep", list)]);
        Value::record([("eth", Value::record([("eip_712", Value::record([("message", message)]))]))])
    };
    let source = "eth.eip_712.message['deep'] == eth.eip_712.message['deep']";
    assert_eq!(evaluate(source, &nested(NESTING_LIMIT - 1)), Ok(true));
    assert_eq!(evaluate(source, &nested(NESTING_LIMIT)), Err(EvaluationReason::Nesting));
}

fn user(number: usize) -> Approver {
    let user_id = format!("u{number}");
    let credential = Credential {
        id: format!("c{number}"),
        user_id: user_id.clone(),
        credential_type: "CREDENTIAL_TYPE_API_KEY_P256".to_owned(),
        credential_id: None,
        public_key: String::new(),
    };
    Approver {
        user_id,
        tags: Vec::new(),
        email: String::new(),
        alias: String::new(),
        credentials: vec![credential],
    }
}

fn outcome_among(users: usize, consensus: &str) -> PolicyOutcome {
    let policy = PolicyProgram::parse(Effect::Allow, None, Some(consensus), None).unwrap();
    let proposer = Proposer { user_id: "u0".to_owned(), is_root: false };
    let electorate = Electorate::new(proposer, vec![user(0)], || (0..users).map(user).collect());
    decide::outcome(&policy, &nothing(), &electorate)
}

#[test]
fn search_for_voters_is_bounded() {
    for (users, consensus, expected) in [
        (40, "approvers.count() == 3", PolicyOutcome::RequiresConsensus),
        (40, "approvers.count() == 3 && approvers.any(u, u.id == 'u39')", PolicyOutcome::RequiresConsensus),
        (
            3_000,
            "approvers.count() == 2 && approvers.any(u, u.id == 'u2999')",
            PolicyOutcome::RequiresConsensus,
        ),
        (3_000, "approvers.count() == 3 && approvers.any(u, u.id == 'nobody')", PolicyOutcome::DenyImplicit),
    ] {
        assert_eq!(outcome_among(users, consensus), expected, "{users} {consensus}");
    }
}

#[test]
fn candidates_are_not_requested_for_a_met_consensus() {
    let policy = PolicyProgram::parse(Effect::Allow, None, Some("approvers.count() == 1"), None).unwrap();
    let proposer = Proposer { user_id: "u0".to_owned(), is_root: false };
    let electorate = Electorate::new(proposer, vec![user(0)], || panic!("candidates are requested"));
    assert_eq!(decide::outcome(&policy, &nothing(), &electorate), PolicyOutcome::Allow);
}

#[test]
fn search_for_contributions_respects_the_step_limit() {
    let thousand = format!("[{}]", vec!["'x'"; LIST_LIMIT].join(","));
    let nested = format!("{thousand}.all(a, {thousand}.all(b, approvers.any(u, u.id == a)))");
    let policy = format!("false || {thousand}.any(a, approvers.any(u, u.id == a))");
    assert!(u32::try_from(LIST_LIMIT * LIST_LIMIT).unwrap() > STEP_LIMIT);
    assert_eq!(outcome_among(3, &nested), PolicyOutcome::Error);
    assert_eq!(outcome_among(3, &policy), PolicyOutcome::DenyImplicit);
    let cubed = format!("{thousand}.all(a, {thousand}.all(b, {thousand}.all(c, a == b)))");
    let program = Program::parse(ExpressionKind::Consensus, &cubed).unwrap();
    let proposer = Proposer { user_id: "u0".to_owned(), is_root: false };
    let electorate = Electorate::new(proposer, vec![user(0)], Vec::new);
    assert!(!contributes(&program, &electorate, "u0"));
    assert!(!contributes(&program, &electorate, "nobody"));
}

#[test]
fn decision_denies_at_the_step_limit() {
    let thousand = vec!["1"; LIST_LIMIT].join(",");
    let endless = format!("[{thousand}].all(x, [{thousand}].all(y, x == y))");
    let policy = |name: &str, effect: Effect, condition: &str| NamedPolicy {
        id: name.to_owned(),
        name: name.to_owned(),
        program: PolicyProgram::parse(effect, Some(condition), None, None).unwrap(),
    };
    let many: Vec<_> = (0..200).map(|number| policy(&number.to_string(), Effect::Allow, &endless)).collect();
    let parameters = serde_json::value::to_raw_value(&serde_json::json!({})).unwrap();
    let simulate = |policies: Vec<NamedPolicy>, gate: Gate| {
        let rules = OrganizationRules {
            roots: vec!["root".to_owned()],
            threshold: 1,
            policies,
            ..OrganizationRules::default()
        };
        let request = Request {
            activity_type: "ACTIVITY_TYPE_CREATE_API_KEYS_V2",
            acts: Some(("CREATE", "CREDENTIAL")),
            parameters: &parameters,
            now: None,
        };
        let simulated = SimulatedRequest {
            request,
            subjects: &[],
            gate,
            own_credentials_of: Some("u1"),
            proposer: "u1",
            approvals: &[],
        };
        let simulation = rules.simulate(&simulated);
        assert_eq!(rules.verdict(&simulated), simulation.verdict, "with and without reasons");
        simulation
    };
    let allow = || policy("allow", Effect::Allow, "true");
    assert_eq!(simulate(vec![allow()], Gate::Policy).verdict, PolicyOutcome::Allow);
    assert_eq!(simulate(Vec::new(), Gate::OwnCredential).verdict, PolicyOutcome::Allow, "self-service");
    let before = [vec![allow()], many.clone()].concat();
    let after = [many.clone(), vec![allow()]].concat();
    for (policies, gate) in
        [(before, Gate::Policy), (after, Gate::Policy), (many.clone(), Gate::OwnCredential)]
    {
        let simulation = simulate(policies, gate);
        assert_eq!(simulation.verdict, PolicyOutcome::DenyImplicit);
        assert_eq!(simulation.because, "the policies need more evaluation steps than one decision may take");
        let outcomes = simulation.policies.iter().map(|report| report.explanation.outcome);
        assert!(outcomes.into_iter().all(|outcome| outcome == PolicyOutcome::Error));
    }
    // The reason names few policies and counts many.
    let allowing =
        |number: u8| (0..number).map(|one| policy(&one.to_string(), Effect::Allow, "true")).collect();
    assert_eq!(simulate(allowing(3), Gate::Policy).because, "allowed by \"0\", \"1\", \"2\"");
    assert_eq!(simulate(allowing(25), Gate::Policy).because, "allowed by any of 25 policies");
    // A denial that was found before the steps ran out is kept.
    let denied = [vec![policy("deny", Effect::Deny, "true")], many].concat();
    assert_eq!(simulate(denied, Gate::Policy).verdict, PolicyOutcome::DenyExplicit);
}

/// Returns a text of the maximum length that repeats a part.
fn repeated(part: &str, between: &str) -> String {
    let count = EXPRESSION_LIMIT_BYTES / (part.len() + between.len());
    vec![part; count].join(between)
}

#[test]
fn program_size_is_bounded_by_its_source_length() {
    let list = |element: &str| format!("1 in [{}]", vec![element; LIST_LIMIT].join(","));
    let numbered = |part: &dyn Fn(usize) -> String| (1_000..5_000).map(part).collect::<Vec<_>>().join("&&");
    let addresses = vec!["'0x0123456789abcdef0123456789abcdef01234567'"; LIST_LIMIT].join(",");
    for (source, most) in [
        (format!("eth.tx.to in [{addresses}]"), 4),
        (repeated("activity.action == 'ACTION_SIGN'", " && "), 14),
        (repeated("wallet.id == '00000000-0000-0000-0000-000000000000'", "||"), 8),
        (repeated("true", "&&"), 8),
        (repeated("1<2", "&&"), 40),
        (repeated(&list("1"), "&&"), 24),
        (repeated(&format!("{}true", "!".repeat(60)), "&&"), 4),
        (repeated("eth.eip_712.message['a'][0][0][0][0][0][0][0][0]==1", "&&"), 24),
        (numbered(&|number| format!("{number}<{}", number + 4_000)), 36),
        (numbered(&|number| format!("'{number}'=='{}'", number + 4_000)), 32),
    ] {
        let program = parse(&source).unwrap();
        let (bytes, factor) = (program.bytes(), program.bytes() / source.len());
        assert!(factor <= most, "{bytes} bytes, {factor} times {}", &source[..40.min(source.len())]);
    }
}

#[test]
fn double_negation_keeps_the_result() {
    let message = Value::map([("yes", Value::from(true)), ("one", Value::int(1_u64))]);
    let facts = Value::record([("eth", Value::record([("eip_712", Value::record([("message", message)]))]))]);
    let (yes, one) = ("eth.eip_712.message['yes']", "eth.eip_712.message['one']");
    for (source, expected) in [
        ("!!true".to_owned(), Some(true)),
        ("!!!(1 == 1)".to_owned(), Some(false)),
        ("!!!!(1 == 2)".to_owned(), Some(false)),
        (format!("!!{yes}"), Some(true)),
        (format!("!!!{yes}"), Some(false)),
        (format!("!!{one}"), None),
        (format!("!!!!{one}"), None),
        (format!("(!!{one}) == {one}"), None),
    ] {
        assert_eq!(evaluate(&source, &facts).ok(), expected, "{source}");
    }
}
