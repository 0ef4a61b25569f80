//! `quorate policy ls|get|check|explain|simulate|diff|lint`. The commands that propose changes are in
//! `propose`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::OrganizationId;
use quorate_common::wire::Policy;
use quorate_policy::decide::{Effect, PolicyProgram};
use quorate_policy::lint::{Finding, Level};
use quorate_policy::simulate::Simulation;
use serde_json::{Value, json};

use super::arguments::PolicyCommand;
use super::{Answer, given, propose};
use crate::clock::now_millis;
use crate::failure::{Exit, Failure};
use crate::kinds::Scene;
use crate::link::{look_up, recent};
use crate::policies::{self, Body, Replay, ResolvedNames, Rules, outcome_word, verdict_word};
use crate::session::Session;
use crate::text::{clean, date_time, quoted};

/// Maximum size of an input, in bytes.
const INPUT_LIMIT: u64 = 256 * 1024 * 1024;

pub(super) async fn run(
    session: impl FnOnce() -> Result<Session, Failure>,
    command: &PolicyCommand,
) -> Result<Answer, Failure> {
    match command {
        PolicyCommand::Check { condition, consensus, time, file } => {
            let read = match file {
                Some(file) => expressions(&input(file)?)?,
                None => [condition.clone(), consensus.clone(), time.clone()],
            };
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

/// An organization as the daemon states it.
pub(super) struct LoadedOrganization {
    id: OrganizationId,
    pub(super) organization: OrganizationDetail,
    /// Whether a deny policy that fails to evaluate denies the request.
    pub(super) strict: bool,
}

impl LoadedOrganization {
    async fn read(session: &Session) -> Result<Self, Failure> {
        let strict = session.daemon_status().await?.strict_deny_errors;
        let organization = session.organization().await?;
        Ok(Self { id: organization.head.organization_id, organization, strict })
    }

    fn rules(&self) -> Rules<'_> {
        Rules::of(&self.organization, self.strict, now_millis())
    }

    /// Finds a policy by id or name.
    pub(super) fn policy(&self, wanted: &str) -> Result<&Policy, Failure> {
        let is = |policy: &&Policy| policy.policy_id.to_string() == wanted || policy.policy_name == wanted;
        let missing = || Failure::new(Exit::NotFound, format!("policy {} not found", clean(wanted)));
        self.organization.policies.iter().find(is).ok_or_else(missing)
    }

    /// Finds a user by id or name.
    fn user(&self, wanted: &str) -> Result<String, Failure> {
        let users = &self.organization.users;
        let user = users.iter().find(|user| user.user_id.to_string() == wanted || user.user_name == wanted);
        let missing = || Failure::new(Exit::NotFound, format!("user {} not found", clean(wanted)));
        user.map(|user| user.user_id.to_string()).ok_or_else(missing)
    }
}

fn input(file: &Path) -> Result<String, Failure> {
    let bytes = given(file, INPUT_LIMIT)?;
    String::from_utf8(bytes).map_err(|_| Failure::new(Exit::Usage, "the input is not valid UTF-8"))
}

/// Returns the expressions of a policy, in the format of clients or of queries.
fn expressions(text: &str) -> Result<[Option<String>; 3], Failure> {
    let invalid = |why: String| Failure::new(Exit::Usage, format!("the input is not a policy: {why}"));
    let policy: Value = serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
    let member = |name: &str| match policy.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(invalid(format!("`{name}` must be a string"))),
    };
    Ok([member("condition")?, member("consensus")?, member("time")?])
}

fn check([condition, consensus, time]: &[Option<String>; 3]) -> Answer {
    // The effect does not matter for parsing.
    let read =
        PolicyProgram::parse(Effect::Deny, condition.as_deref(), consensus.as_deref(), time.as_deref());
    match read {
        Ok(_) => Answer::one(json!({"ok": true}), "The policy is valid.\n".to_owned()),
        Err(error) => {
            let position = error.error.position;
            let data = json!({"ok": false, "expression": error.kind.name(), "message": error.to_string(),
                "line": position.line, "column": position.column, "offset": position.offset});
            let text = format!(
                "line {}, column {}: {}\n",
                position.line,
                position.column,
                clean(&error.to_string())
            );
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
    let mut text = String::new();
    let mut data = Vec::new();
    for policy in &loaded.organization.policies {
        let words = words(policy, &rules);
        let effect = clean(policy.effect.trim_start_matches("EFFECT_"));
        let _ =
            writeln!(text, "{}  {effect:<5}  {}\n    {words}", policy.policy_id, quoted(&policy.policy_name));
        data.push(json!({"policy": policy, "words": words}));
    }
    Answer::list(data, if text.is_empty() { "No policies.\n".to_owned() } else { text })
}

fn get(loaded: &LoadedOrganization, wanted: &str) -> Result<Answer, Failure> {
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
        let mark = if finding.level == Level::Warning { "[!]" } else { "[ ]" };
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

fn lint(loaded: &LoadedOrganization, wanted: Option<&str>) -> Result<Answer, Failure> {
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
    if text.is_empty() {
        "No findings.\n".clone_into(&mut text);
    }
    let warns =
        findings.iter().any(|finding| finding.level == Level::Warning) || !rules.unreadable.is_empty();
    let answer = Answer::list(findings.iter().map(|finding| json!(finding)).collect(), text);
    Ok(if warns { answer.exits(Exit::Failed) } else { answer })
}

async fn simulate(session: &Session, proposer: Option<&str>, text: &str) -> Result<Answer, Failure> {
    let loaded = LoadedOrganization::read(session).await?;
    let (rules, now) = (loaded.rules(), now_millis());
    let default = proposer.map(|wanted| loaded.user(wanted)).transpose()?;
    let (mut resolved, mut missing) = (ResolvedNames::new(), BTreeSet::new());
    let mut data = Vec::new();
    let mut words = String::new();
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
                words.push_str(&simulation_text(&simulation, &rules));
                data.push(json!(simulation));
            }
            Err(why) => {
                let _ = writeln!(words, "cannot be evaluated: {}", clean(&why));
                data.push(json!({"error": why}));
            }
        }
    }
    if data.is_empty() {
        return Err(Failure::new(Exit::Usage, "the input contains no request"));
    }
    Ok(Answer::list(data, words))
}

async fn explain(session: &Session, reference: &str, wanted: Option<&str>) -> Result<Answer, Failure> {
    let review = session.review(reference).await?;
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

async fn diff(session: &Session, reference: &str) -> Result<Answer, Failure> {
    let review = session.review(reference).await?;
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

/// Formats the recent activities that would have a different outcome.
pub(crate) fn replay_lines(replay: &Replay, organization: &OrganizationDetail) -> Vec<String> {
    let Replay { judged, not_judged, differing } = replay;
    let skipped =
        if *not_judged == 0 { String::new() } else { format!(" ({not_judged} could not be evaluated)") };
    let mut lines = vec![format!(
        "of the last {judged} activities{skipped}, {} would have a different outcome",
        differing.len()
    )];
    for one in differing {
        let scene = Scene::of(organization);
        lines.push(format!(
            "{}  {} by {}: {} now, {} then ({})",
            date_time(one.proposed_millis),
            clean(one.activity_type.trim_start_matches("ACTIVITY_TYPE_")),
            scene.user_name(&one.proposer.to_string()),
            outcome_word(one.now),
            outcome_word(one.after),
            one.activity_id,
        ));
    }
    lines
}

/// Formats the simulated outcome of a request.
pub(crate) fn simulation_text(simulation: &Simulation, rules: &Rules<'_>) -> String {
    let mut text = format!("{}: {}\n", verdict_word(simulation.verdict), clean(&simulation.because));
    for policy in &simulation.policies {
        let outcome = policy.explanation.outcome.wire_name().trim_start_matches("OUTCOME_");
        let _ = writeln!(text, "  {outcome:<18} {}: {}", quoted(&policy.policy_name), clean(&policy.reason));
    }
    if !simulation.open_to.is_empty() {
        let names = simulation.open_to.iter();
        let names: Vec<String> = names
            .map(|id| clean(&quorate_policy::Names::name(rules, id).unwrap_or_else(|| id.clone())))
            .collect();
        let _ = writeln!(text, "  can approve        {}", names.join(", "));
    }
    text
}
