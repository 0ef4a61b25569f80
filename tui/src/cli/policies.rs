//! `quorate policy ls|get|check|explain|simulate|diff|lint`; what asks for changes is beside it.

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
use crate::policies::{self, Body, Looked, Replay, Rules, outcome_word, verdict_word};
use crate::session::Session;
use crate::text::{clean, date_time, quoted};

/// Largest input that is read.
const INPUT_LIMIT: u64 = 256 * 1024 * 1024;

pub(super) async fn run(
    session: impl FnOnce() -> Result<Session, Failure>,
    command: &PolicyCommand,
) -> Result<Answer, Failure> {
    match command {
        PolicyCommand::Check { condition, consensus, time, file } => {
            let read = match file {
                Some(file) => stated(&input(file)?)?,
                None => [condition.clone(), consensus.clone(), time.clone()],
            };
            Ok(check(&read))
        }
        PolicyCommand::Ls => Ok(list(&House::read(&session()?).await?)),
        PolicyCommand::Get { policy } => get(&House::read(&session()?).await?, policy),
        PolicyCommand::Lint { policy } => lint(&House::read(&session()?).await?, policy.as_deref()),
        PolicyCommand::Simulate { requester, file } => {
            let text = input(file)?;
            simulate(&session()?, requester.as_deref(), &text).await
        }
        PolicyCommand::Draft { policy: None } => propose::draft(None, None),
        PolicyCommand::Draft { policy } => {
            propose::draft(Some(&House::read(&session()?).await?), policy.as_deref())
        }
        PolicyCommand::New { file, how } => {
            let (wish, session) = (propose::new(&input(file)?)?, session()?);
            propose::propose(&session, &House::read(&session).await?, &wish, how).await
        }
        PolicyCommand::Change { policy, file, how } => {
            let (text, session) = (input(file)?, session()?);
            let house = House::read(&session).await?;
            propose::propose(&session, &house, &propose::change(&house, policy, &text)?, how).await
        }
        PolicyCommand::Remove { policy, how } => {
            let session = session()?;
            let house = House::read(&session).await?;
            propose::propose(&session, &house, &propose::remove(&house, policy)?, how).await
        }
        PolicyCommand::Diff { reference } => diff(&session()?, reference).await,
        PolicyCommand::Explain { reference, policy } => {
            explain(&session()?, reference, policy.as_deref()).await
        }
    }
}

/// An organization as the daemon tells it.
pub(super) struct House {
    id: OrganizationId,
    /// The organization.
    pub(super) organization: OrganizationDetail,
    /// Whether a denying policy that fails denies.
    pub(super) strict: bool,
}

impl House {
    async fn read(session: &Session) -> Result<Self, Failure> {
        let strict = session.greet().await?.strict_deny_errors;
        let organization = session.organization().await?;
        Ok(Self { id: organization.head.organization_id, organization, strict })
    }

    fn rules(&self) -> Rules<'_> {
        Rules::of(&self.organization, self.strict, now_millis())
    }

    /// A policy by id or name.
    pub(super) fn policy(&self, wanted: &str) -> Result<&Policy, Failure> {
        let is = |policy: &&Policy| policy.policy_id.to_string() == wanted || policy.policy_name == wanted;
        let missing = || Failure::new(Exit::NotFound, format!("there is no policy {}", clean(wanted)));
        self.organization.policies.iter().find(is).ok_or_else(missing)
    }

    /// A user by id or name.
    fn user(&self, wanted: &str) -> Result<String, Failure> {
        let users = &self.organization.users;
        let found = users.iter().find(|user| user.user_id.to_string() == wanted || user.user_name == wanted);
        let missing = || Failure::new(Exit::NotFound, format!("there is no user {}", clean(wanted)));
        found.map(|user| user.user_id.to_string()).ok_or_else(missing)
    }
}

fn input(file: &Path) -> Result<String, Failure> {
    let bytes = given(file, INPUT_LIMIT)?;
    String::from_utf8(bytes).map_err(|_| Failure::new(Exit::Usage, "the input is not UTF-8"))
}

/// The expressions of a policy as clients write it, or as queries show it.
fn stated(text: &str) -> Result<[Option<String>; 3], Failure> {
    let flaw = |why: String| Failure::new(Exit::Usage, format!("the input is no policy: {why}"));
    let policy: Value = serde_json::from_str(text).map_err(|error| flaw(error.to_string()))?;
    let member = |name: &str| match policy.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(flaw(format!("`{name}` is not a text"))),
    };
    Ok([member("condition")?, member("consensus")?, member("time")?])
}

fn check([condition, consensus, time]: &[Option<String>; 3]) -> Answer {
    // The effect plays no part in it.
    let read =
        PolicyProgram::parse(Effect::Deny, condition.as_deref(), consensus.as_deref(), time.as_deref());
    match read {
        Ok(_) => Answer::one(json!({"ok": true}), "The policy can be read.\n".to_owned()),
        Err(flaw) => {
            let place = flaw.flaw.position;
            let data = json!({"ok": false, "expression": flaw.kind.name(), "message": flaw.to_string(),
                "line": place.line, "column": place.column, "offset": place.offset});
            let text =
                format!("line {}, column {}: {}\n", place.line, place.column, clean(&flaw.to_string()));
            Answer::one(data, text).exits(Exit::Failed)
        }
    }
}

fn words(policy: &Policy, rules: &Rules<'_>) -> String {
    match policies::program(policy) {
        Ok(program) => clean(&policies::sentence(&program, rules)),
        Err(flaw) => format!("[x] this console cannot read it: {}", clean(&flaw.to_string())),
    }
}

fn list(house: &House) -> Answer {
    let rules = house.rules();
    let mut text = String::new();
    let mut data = Vec::new();
    for policy in &house.organization.policies {
        let words = words(policy, &rules);
        let effect = clean(policy.effect.trim_start_matches("EFFECT_"));
        let _ =
            writeln!(text, "{}  {effect:<5}  {}\n    {words}", policy.policy_id, quoted(&policy.policy_name));
        data.push(json!({"policy": policy, "words": words}));
    }
    Answer::list(data, if text.is_empty() { "No policies.\n".to_owned() } else { text })
}

fn get(house: &House, wanted: &str) -> Result<Answer, Failure> {
    let (policy, rules) = (house.policy(wanted)?, house.rules());
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
    text.push_str(&told(&findings));
    Ok(Answer::one(json!({"policy": policy, "words": words, "findings": findings}), text))
}

fn told(findings: &[Finding]) -> String {
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

fn lint(house: &House, wanted: Option<&str>) -> Result<Answer, Failure> {
    let rules = house.rules();
    let only =
        wanted.map(|wanted| house.policy(wanted)).transpose()?.map(|policy| policy.policy_id.to_string());
    let findings = rules.findings().into_iter();
    let findings: Vec<Finding> =
        findings.filter(|finding| only.as_ref().is_none_or(|id| *id == finding.policy_id)).collect();
    let mut text = told(&findings);
    for (policy, flaw) in &rules.unreadable {
        let _ = writeln!(
            text,
            "[x] {}: this console cannot read it: {}",
            quoted(&policy.policy_name),
            clean(flaw)
        );
    }
    if text.is_empty() {
        "Nothing is suspicious.\n".clone_into(&mut text);
    }
    let warns =
        findings.iter().any(|finding| finding.level == Level::Warning) || !rules.unreadable.is_empty();
    let answer = Answer::list(findings.iter().map(|finding| json!(finding)).collect(), text);
    Ok(if warns { answer.exits(Exit::Failed) } else { answer })
}

async fn simulate(session: &Session, requester: Option<&str>, text: &str) -> Result<Answer, Failure> {
    let house = House::read(session).await?;
    let (rules, now) = (house.rules(), now_millis());
    let default = requester.map(|wanted| house.user(wanted)).transpose()?;
    let (mut looked, mut missing) = (Looked::new(), BTreeSet::new());
    let mut data = Vec::new();
    let mut words = String::new();
    for (number, body) in serde_json::Deserializer::from_str(text).into_iter::<Body>().enumerate() {
        let flaw =
            |why: String| Failure::new(Exit::Usage, format!("request {}: {why}", number.saturating_add(1)));
        let body = body.map_err(|error| flaw(error.to_string()))?;
        let asks = match &body.requester {
            Some(wanted) => house.user(wanted)?,
            None => default.clone().ok_or_else(|| flaw("name who asks with --as USER".to_owned()))?,
        };
        look_up(&session.client, house.id, &body, &mut looked, &mut missing).await?;
        let made = body.made(&house.organization, &looked);
        let approval: Vec<_> = rules.approval(&asks, None).into_iter().collect();
        match made {
            Ok(made) => {
                let simulation = made.simulate(&rules.house, &asks, &approval, now);
                words.push_str(&foretold(&simulation, &rules));
                data.push(json!(simulation));
            }
            Err(why) => {
                let _ = writeln!(words, "not judged: {}", clean(&why));
                data.push(json!({"error": why}));
            }
        }
    }
    if data.is_empty() {
        return Err(Failure::new(Exit::Usage, "there is no request in the input"));
    }
    Ok(Answer::list(data, words))
}

async fn explain(session: &Session, reference: &str, wanted: Option<&str>) -> Result<Answer, Failure> {
    let review = session.review(reference).await?;
    let house = House::read(session).await?;
    let (rules, now) = (house.rules(), now_millis());
    let only =
        wanted.map(|wanted| house.policy(wanted)).transpose()?.map(|policy| policy.policy_id.to_string());
    let unproven = || Failure::new(Exit::Verification, "no vote carries the bytes that were signed");
    let proposal = review.proposal.as_ref().ok_or_else(unproven)?;
    let flaw = |error: serde_json::Error| Failure::new(Exit::Failed, error.to_string());
    let body: Body = serde_json::from_str(&proposal.message).map_err(flaw)?;
    let mut looked = Looked::new();
    look_up(&session.client, house.id, &body, &mut looked, &mut BTreeSet::new()).await?;
    let made =
        body.made(&house.organization, &looked).map_err(|why| Failure::new(Exit::Failed, clean(&why)))?;
    let approvals = review.votes.iter().filter(|vote| vote.counts());
    let approvals: Vec<_> =
        approvals.filter_map(|vote| rules.approval(&vote.user.to_string(), Some(&vote.public_key))).collect();
    let mut simulation = made.simulate(&rules.house, &proposal.asker.to_string(), &approvals, now);
    simulation.policies.retain(|said| only.as_ref().is_none_or(|id| *id == said.policy_id));
    let text = foretold(&simulation, &rules);
    Ok(Answer::one(json!(simulation), text))
}

async fn diff(session: &Session, reference: &str) -> Result<Answer, Failure> {
    let review = session.review(reference).await?;
    let house = House::read(session).await?;
    let proposal = review.proposal.as_ref();
    let changed = proposal
        .and_then(|signed| policies::changed(&house.organization, &signed.activity_type, &signed.parameters));
    let none = || Failure::new(Exit::Usage, "the activity changes no policy that this console can tell");
    let changed = changed.ok_or_else(none)?;
    let (rows, looked) = recent(&session.client, house.id).await?;
    let replay = policies::replay(&house.organization, changed, house.strict, &rows, &looked, now_millis());
    let mut text = format!("{}\n", review.sentence);
    for fact in &review.facts {
        let _ = writeln!(text, "{}: {}", fact.name, fact.value);
    }
    for line in replayed(&replay, &house.organization) {
        let _ = writeln!(text, "{line}");
    }
    let facts: Vec<Value> =
        review.facts.iter().map(|fact| json!({"name": fact.name, "value": fact.value})).collect();
    Ok(Answer::one(json!({"facts": facts, "replay": replay}), text))
}

/// What would come out otherwise, for people.
pub(crate) fn replayed(replay: &Replay, organization: &OrganizationDetail) -> Vec<String> {
    let Replay { judged, not_judged, differing } = replay;
    let untold =
        if *not_judged == 0 { String::new() } else { format!(" ({not_judged} could not be judged)") };
    let mut lines = vec![format!(
        "of the last {judged} activities{untold}, {} would come out otherwise",
        differing.len()
    )];
    for one in differing {
        let scene = Scene::of(organization);
        lines.push(format!(
            "{}  {} by {}: {} now, {} then ({})",
            date_time(one.asked_millis),
            clean(one.activity_type.trim_start_matches("ACTIVITY_TYPE_")),
            scene.user_name(&one.requester.to_string()),
            outcome_word(one.now),
            outcome_word(one.after),
            one.activity_id,
        ));
    }
    lines
}

/// What would happen, for people.
pub(crate) fn foretold(simulation: &Simulation, rules: &Rules<'_>) -> String {
    let mut text = format!("{}: {}\n", verdict_word(simulation.verdict), clean(&simulation.because));
    for said in &simulation.policies {
        let outcome = said.explanation.outcome.wire_name().trim_start_matches("OUTCOME_");
        let _ = writeln!(text, "  {outcome:<18} {}: {}", quoted(&said.policy_name), clean(&said.reason));
    }
    if !simulation.open_to.is_empty() {
        let names = simulation.open_to.iter();
        let names: Vec<String> = names
            .map(|id| clean(&quorate_policy::Names::name(rules, id).unwrap_or_else(|| id.clone())))
            .collect();
        let _ = writeln!(text, "  could approve      {}", names.join(", "));
    }
    text
}
