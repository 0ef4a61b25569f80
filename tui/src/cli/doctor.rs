//! `quorate doctor`.

use crate::clock::now_millis;
use crate::doctor::{self, Daemon, Finding, Level};
use crate::failure::{Exit, Result};
use crate::files::Folders;
use crate::known_keys::KnownKeys;
use crate::link::{LinkError, is_same_host};
use crate::output::Answer;
use crate::session::{Context, Session};
use crate::text::counted;

pub(super) async fn run(context: &Context, folders: &Folders) -> Result<Answer> {
    let mut findings = doctor::of_console(context, folders);
    findings.extend(of_daemon(context, folders, &findings).await);
    doctor::sort(&mut findings);
    let exit = match findings.first().map(|worst| worst.level) {
        None | Some(Level::Note) => Exit::Done,
        Some(Level::Warning) => Exit::Failed,
        Some(Level::Problem) => Exit::Verification,
    };
    let texts: String = findings.iter().map(text).collect();
    let data = findings.iter().map(Finding::json).collect();
    Ok(Answer::list(data, format!("{texts}{}\n", summary(&findings))).exits(exit))
}

/// Returns the findings about the daemon and the organization. Connects with the socket that the user selected, also if
/// something else of the configuration is not valid.
async fn of_daemon(context: &Context, folders: &Folders, known: &[Finding]) -> Vec<Finding> {
    let has_no_socket = |finding: &Finding| ["socket-missing", "socket-other"].contains(&finding.code);
    if known.iter().any(has_no_socket) {
        return Vec::new();
    }
    let session = Session::new(context, folders).or_else(|failure| {
        let socket = doctor::socket_path(context, folders).ok_or(failure)?;
        // Such a context needs no file that may be broken.
        let context = Context { socket: Some(socket), ..Context::default() };
        Session::new(&context, &Folders { config: folders.config.join("none"), state: folders.state.clone() })
    });
    let Ok(session) = session else { return Vec::new() };
    let status = match session.client.status().await {
        Ok(status) => status,
        Err(error @ LinkError::Protocol { .. }) => return vec![doctor::refused(&error.to_string())],
        Err(error) => return of_figures(Err(&error), None),
    };
    if let Some(reason) = session.identity.daemon_error(&status) {
        return vec![doctor::refused(&reason)];
    }
    let health = session.client.health().await;
    let is_same_host = health.as_ref().ok().and_then(is_same_host);
    let mut findings = of_figures(health.as_ref(), is_same_host);
    findings.extend(of_organization(&session, folders).await);
    findings
}

fn of_figures(
    health: std::result::Result<&quorate_common::console::Health, &LinkError>,
    is_same_host: Option<bool>,
) -> Vec<Finding> {
    doctor::of_daemon(&Daemon { health, received: now_millis(), is_same_host })
}

async fn of_organization(session: &Session, folders: &Folders) -> Vec<Finding> {
    let Ok(id) = session.organization_id().await else { return Vec::new() };
    match session.client.organization(id).await {
        Ok(organization) => {
            let known_keys = KnownKeys::load(&folders.known_keys()).unwrap_or_default();
            doctor::of_organization(&session.identity, &organization, &known_keys)
        }
        Err(error) if error.is_missing() => vec![doctor::organization_missing(id)],
        Err(error @ LinkError::Witness(_)) => of_figures(Err(&error), None),
        Err(_) => Vec::new(),
    }
}

fn text(finding: &Finding) -> String {
    format!("{} {}: {}\n    {}\n", finding.level.mark(), finding.code, finding.what, finding.advice)
}

fn summary(findings: &[Finding]) -> String {
    let of =
        |level| u64::try_from(findings.iter().filter(|one| one.level == level).count()).unwrap_or(u64::MAX);
    let counts = [(Level::Problem, "problem"), (Level::Warning, "warning"), (Level::Note, "note")];
    counts.map(|(level, noun)| counted(of(level), noun)).join(", ")
}
