//! `quorate policy ls|get|check|explain|simulate|diff|lint`. The commands that propose changes are in
//! `propose`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use quorate_common::wire::Policy;
use quorate_policy::decide::{Effect, PolicyProgram};
use quorate_policy::lint::{Finding, Level};
use serde_json::{Value, json};

use super::input::given;
use super::loaded::LoadedOrganization;
use super::policy_arguments::PolicyCommand;
use super::propose;
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::kinds::count;
use crate::link::{look_up, recent};
use crate::output::Answer;
use crate::policies::{self, Body, PolicyText, ResolvedNames, Rules};
use crate::proof::{replay_lines, simulation_text};
use crate::session::Session;
use crate::text::{clean, quoted};

/// Maximum size of an input, in bytes.
const INPUT_LIMIT: u64 = 256 * 1024 * 1024;

pub(super) async fn run(
    session: impl FnOnce() -> Result<Session>,
    command: &PolicyCommand,
) -> Result<Answer> {
    match command {
        PolicyCommand::Check { condition, consensus, time, file } => {
            let read = match file {
                Some(file) => {
                    let invalid = |error: String| {
                        Failure::lines(Exit::Usage, &format!("the input is not a policy: {error}"))
                    };
                    let PolicyText { condition, consensus, time, .. } =
                        PolicyText::read(&input(file)?).map_err(invalid)?;
                    [condition, consensus, time].map(|text| text.filter(|text| !text.trim().is_empty()))
                }
                None => [condition.clone(), consensus.clone(), time.clone()],
            };
            if read.iter().all(Option::is_none) {
                let text = "nothing to check: name a FILE, --condition, --consensus or --time";
                return Err(Failure::new(Exit::Usage, text));
            }
            Ok(check(&read))
        }
        PolicyCommand::Ls => Ok(list(&LoadedOrganization::read(&session()?).await?)),
        PolicyCommand::Get { policy } => get(&LoadedOrganization::read(&session()?).await?, policy),
        PolicyCommand::Lint { policy } => {
            lint(&LoadedOrganization::read(&session()?).await?, policy.as_deref())
        }
        PolicyCommand::Simulate { proposer, file } => {
            let text = input(file)?;
            simulate(&session()?, proposer.as_deref(), &text).await
        }
        PolicyCommand::Draft { policy: None } => propose::draft(None, None),
        PolicyCommand::Draft { policy } => {
            propose::draft(Some(&LoadedOrganization::read(&session()?).await?), policy.as_deref())
        }
        PolicyCommand::New { file, how } => {
            let (request, session) = (propose::new(&input(file)?)?, session()?);
            propose::propose(&session, &LoadedOrganization::read(&session).await?, &request, how).await
        }
        PolicyCommand::Change { policy, file, how } => {
            let (text, session) = (input(file)?, session()?);
            let loaded = LoadedOrganization::read(&session).await?;
            propose::propose(&session, &loaded, &propose::change(&loaded, policy, &text)?, how).await
        }
        PolicyCommand::Remove { policy, how } => {
            let session = session()?;
            let loaded = LoadedOrganization::read(&session).await?;
            propose::propose(&session, &loaded, &propose::remove(&loaded, policy)?, how).await
        }
        PolicyCommand::Diff { reference } => diff(&session()?, reference).await,
        PolicyCommand::Explain { reference, policy } => {
            explain(&session()?, reference, policy.as_deref()).await
        }
    }
}

fn input(file: &Path) -> Result<String> {
    let bytes = given(file, INPUT_LIMIT)?;
    String::from_utf8(bytes).map_err(|_| Failure::new(Exit::Usage, "the input is not valid UTF-8"))
}

fn check([condition, consensus, time]: &[Option<String>; 3]) -> Answer {
    // The effect does not matter for parsing.
    let read =
        PolicyProgram::parse(Effect::Deny, condition.as_deref(), consensus.as_deref(), time.as_deref());
    match read {
        Ok(program) => {
            let doubtful = policies::doubtful(&program);
            let mut text = String::from("The policy is valid.\n");
            for finding in &doubtful {
                let _ = writeln!(text, "[!] {}: {}", finding.expression.name(), clean(&finding.text));
            }
            let warnings: Vec<&str> = doubtful.iter().map(|finding| finding.text.as_str()).collect();
            let answer = Answer::one(json!({"ok": true, "warnings": warnings}), text);
            if doubtful.is_empty() { answer } else { answer.exits(Exit::Failed) }
        }
        Err(error) => {
            let position = error.error.position;
            let data = json!({"ok": false, "expression": error.kind.name(), "message": error.to_string(),
                "line": position.line, "column": position.column, "offset": position.offset});
            let (line, column, error) = (position.line, position.column, clean(&error.to_string()));
            let text = format!("line {line}, column {column}: {error}\n");
            Answer::one(data, text).exits(Exit::Failed)
        }
    }
}

fn words(policy: &Policy, rules: &Rules<'_>) -> String {
    match policies::program(policy) {
        Ok(program) => clean(&policies::sentence(&program, rules)),
        Err(error) => format!("[x] this console cannot parse it: {}", clean(&error.to_string())),
    }
}

fn list(loaded: &LoadedOrganization) -> Answer {
    let rules = loaded.rules();
    let row = |policy: &Policy| {
        let words = words(policy, &rules);
        let (effect, name) =
            (clean(policy.effect.trim_start_matches("EFFECT_")), quoted(&policy.policy_name));
        let text = format!("{}  {effect:<5}  {name}\n    {words}\n", policy.policy_id);
        (json!({"policy": policy, "words": words}), text)
    };
    let answer = Answer::rows(loaded.organization.policies.iter().map(row), "No policies.");
    answer.summed_up(("policy", "policies"), "/policy/policyId")
}

fn get(loaded: &LoadedOrganization, wanted: &str) -> Result<Answer> {
    let (policy, rules) = (loaded.policy(wanted)?, loaded.rules());
    let words = words(policy, &rules);
    let id = policy.policy_id.to_string();
    let findings: Vec<Finding> = rules.findings().into_iter().filter(|one| one.policy_id == id).collect();
    let mut text = format!("{} {}\n", quoted(&policy.policy_name), policy.policy_id);
    let time = policy.time.clone().unwrap_or_default();
    for (label, value) in [
        ("effect", &policy.effect),
        ("condition", &policy.condition),
        ("consensus", &policy.consensus),
        ("time", &time),
        ("notes", &policy.notes),
    ] {
        if !value.is_empty() {
            let _ = writeln!(text, "{label:<10} {}", clean(value));
        }
    }
    let _ = writeln!(text, "{:<10} {words}", "in words");
    text.push_str(&findings_text(&findings));
    Ok(Answer::one(json!({"policy": policy, "words": words, "findings": findings}), text))
}

fn findings_text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let mark = if finding.level == Level::Warning { "[!]" } else { "[i]" };
        let _ = writeln!(
            text,
            "{mark} {}: {}: {} ({})",
            quoted(&finding.policy_name),
            finding.expression.name(),
            clean(&finding.text),
            finding.code
        );
    }
    text
}

fn lint(loaded: &LoadedOrganization, wanted: Option<&str>) -> Result<Answer> {
    let rules = loaded.rules();
    let only =
        wanted.map(|wanted| loaded.policy(wanted)).transpose()?.map(|policy| policy.policy_id.to_string());
    let findings = rules.findings().into_iter();
    let findings: Vec<Finding> =
        findings.filter(|finding| only.as_ref().is_none_or(|id| *id == finding.policy_id)).collect();
    let mut text = findings_text(&findings);
    for (policy, error) in &rules.unreadable {
        let _ = writeln!(
            text,
            "[x] {}: this console cannot parse it: {}",
            quoted(&policy.policy_name),
            clean(error)
        );
    }
    let warnings = findings.iter().filter(|finding| finding.level == Level::Warning).count();
    if text.is_empty() {
        "No findings.\n".clone_into(&mut text);
    } else {
        let notes = findings.len().saturating_sub(warnings);
        let _ = writeln!(text, "{} [!], {} [i]", count(warnings, "warning"), count(notes, "note"));
    }
    let warns = warnings > 0 || !rules.unreadable.is_empty();
    let answer = Answer::list(findings.iter().map(|finding| json!(finding)).collect(), text);
    Ok(if warns { answer.exits(Exit::Failed) } else { answer })
}

async fn simulate(session: &Session, proposer: Option<&str>, text: &str) -> Result<Answer> {
    let loaded = LoadedOrganization::read(session).await?;
    let (rules, now) = (loaded.rules(), now_millis());
    let default = proposer.map(|wanted| loaded.user(wanted)).transpose()?;
    let (mut resolved, mut missing) = (ResolvedNames::new(), BTreeSet::new());
    let mut rows = Vec::new();
    for (number, body) in serde_json::Deserializer::from_str(text).into_iter::<Body>().enumerate() {
        let invalid =
            |why: String| Failure::new(Exit::Usage, format!("request {}: {why}", number.saturating_add(1)));
        let body = body.map_err(|error| invalid(error.to_string()))?;
        let proposer_id = match &body.proposer {
            Some(wanted) => loaded.user(wanted)?,
            None => {
                default.clone().ok_or_else(|| invalid("no proposer is named: use --as USER".to_owned()))?
            }
        };
        look_up(&session.client, loaded.id, &body, &mut resolved, &mut missing).await?;
        let parsed = body.parsed(&loaded.organization, &resolved);
        let approval: Vec<_> = rules.approval(&proposer_id, None).into_iter().collect();
        match parsed {
            Ok(parsed) => {
                let simulation = parsed.simulate(&rules.parsed, &proposer_id, &approval, now);
                rows.push((json!(simulation), simulation_text(&simulation, &rules)));
            }
            Err(why) => {
                let text = format!("cannot be evaluated: {}\n", clean(&why));
                rows.push((json!({"error": why}), text));
            }
        }
    }
    if rows.is_empty() {
        return Err(Failure::new(Exit::Usage, "the input contains no request"));
    }
    Ok(Answer::rows(rows, ""))
}

async fn explain(session: &Session, reference: &str, wanted: Option<&str>) -> Result<Answer> {
    let review = session.review_in_own(reference).await?;
    let loaded = LoadedOrganization::read(session).await?;
    let (rules, now) = (loaded.rules(), now_millis());
    let only =
        wanted.map(|wanted| loaded.policy(wanted)).transpose()?.map(|policy| policy.policy_id.to_string());
    let unproven =
        || Failure::new(Exit::Verification, "the record contains no signed bytes that match the fingerprint");
    let proposal = review.proposal.as_ref().ok_or_else(unproven)?;
    let invalid = |error: serde_json::Error| Failure::new(Exit::Failed, error.to_string());
    let body: Body = serde_json::from_str(&proposal.message).map_err(invalid)?;
    let mut resolved = ResolvedNames::new();
    look_up(&session.client, loaded.id, &body, &mut resolved, &mut BTreeSet::new()).await?;
    let parsed = body
        .parsed(&loaded.organization, &resolved)
        .map_err(|why| Failure::new(Exit::Failed, clean(&why)))?;
    let approvals = review.votes.iter().filter(|vote| vote.counts());
    let approvals: Vec<_> =
        approvals.filter_map(|vote| rules.approval(&vote.user.to_string(), Some(&vote.public_key))).collect();
    let mut simulation = parsed.simulate(&rules.parsed, &proposal.proposer.to_string(), &approvals, now);
    simulation.policies.retain(|policy| only.as_ref().is_none_or(|id| *id == policy.policy_id));
    let text = simulation_text(&simulation, &rules);
    Ok(Answer::one(json!(simulation), text))
}

async fn diff(session: &Session, reference: &str) -> Result<Answer> {
    let review = session.review_in_own(reference).await?;
    let loaded = LoadedOrganization::read(session).await?;
    let proposal = review.proposal.as_ref();
    let changed = proposal.and_then(|signed| {
        policies::changed(&loaded.organization, &signed.activity_type, &signed.parameters)
    });
    let none = || Failure::new(Exit::Usage, "the activity changes no policy that this console can decode");
    let changed = changed.ok_or_else(none)?;
    let (rows, resolved) = recent(&session.client, loaded.id).await?;
    let replay =
        policies::replay(&loaded.organization, changed, loaded.strict, &rows, &resolved, now_millis());
    let mut text = format!("{}\n", review.sentence);
    for fact in &review.facts {
        let _ = writeln!(text, "{}: {}", fact.name, fact.value);
    }
    for line in replay_lines(&replay, &loaded.organization) {
        let _ = writeln!(text, "{line}");
    }
    let facts: Vec<Value> =
        review.facts.iter().map(|fact| json!({"name": fact.name, "value": fact.value})).collect();
    Ok(Answer::one(json!({"facts": facts, "replay": replay}), text))
}
