//! `quorate proof export|verify|compare`.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::input::given;
use super::known_keys;
use super::proof_arguments::ProofCommand;
use crate::book::Book;
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::files;
use crate::journal;
use crate::kinds::count;
use crate::known_keys::KnownKeys;
use crate::output::{Answer, file_text};
use crate::proof::{
    BUNDLE_LIMIT, Bundle, BundleError, Evidence, Past, Review, Viewer, bundle_differences,
    json as review_json, plain_text, unproven_lines,
};
use crate::session::Session;
use crate::text::clean;

pub(super) async fn run(session: &Session, command: &ProofCommand) -> Result<Answer> {
    match command {
        ProofCommand::Export { reference, output } => export(session, reference, output.as_deref()).await,
        ProofCommand::Verify { file, known_keys } => verify(session, file, known_keys.as_deref()),
        ProofCommand::Compare { first, second } => compare(session, first, second),
    }
}

async fn export(session: &Session, reference: &str, output: Option<&Path>) -> Result<Answer> {
    let review = session.review(reference).await?;
    let known_keys = KnownKeys::load(&session.folders.known_keys())?;
    let bundle = Bundle::of(&review, &known_keys, now_millis());
    let text = file_text(&bundle.json());
    // What cannot be read again is not written.
    Bundle::read(text.as_bytes()).map_err(|error| failure(&error))?;
    let answer = match output {
        None => Answer::file(bundle.json(), text),
        Some(path) => {
            files::create_private(path, text.as_bytes())?;
            let data = json!({
                "file": path.display().to_string(),
                "activityId": bundle.activity_id(),
                "fingerprint": bundle.fingerprint(),
                "contentSha256": bundle.digest(),
                "withheld": bundle.withheld(),
                "blocked": review.blocked(),
            });
            let mut text = format!("written to {}\n", clean(&path.display().to_string()));
            if review.blocked() {
                text.push_str("A check failed: quorate proof verify shows which.\n");
            }
            Answer::one(data, text)
        }
    };
    Ok(if review.blocked() { answer.exits(Exit::Verification) } else { answer })
}

/// A reviewed bundle.
pub(super) struct Reviewed {
    pub(super) bundle: Bundle,
    pub(super) review: Review,
    /// Whether known keys of the organization were given. Otherwise those of the bundle are used, as at a first contact.
    pub(super) knows_organization: bool,
}

impl Reviewed {
    /// Reviews a bundle with the known keys in a file, or with the user's own.
    pub(super) fn of(session: &Session, bundle: Bundle, known_keys: Option<&Path>) -> Result<Self> {
        let record = bundle.record();
        let organization = &record.organization;
        let mut known_keys = match known_keys {
            Some(file) => known_keys::read(file)?,
            None => KnownKeys::load(&session.folders.known_keys())?,
        };
        let knows_organization = known_keys.quorum(organization.head.organization_id).is_some();
        let now = now_millis();
        // Only for this review: nothing from a file becomes known.
        known_keys.pin_new(organization, now);
        let viewer = match session.identity.mismatch(organization) {
            None => session.identity.viewer_in(organization),
            Some(_) => Viewer { user: None, is_remote: false, ..session.identity.viewer.clone() },
        };
        let mut review = Review::of(&Evidence {
            record: &record,
            siblings: &bundle.siblings(),
            known_keys: &known_keys,
            book: &Book::load(&session.folders.book())?,
            viewer: &viewer,
            now,
            reference: None,
        });
        if review.has_past() {
            let own = journal::transfers(&session.folders.journal())?;
            review.compare_with(&Past::unread(&review, "a file contains only one activity".to_owned(), own));
        }
        Ok(Self { bundle, review, knows_organization })
    }

    /// Returns what the bundle cannot prove.
    pub(super) fn unproven(&self) -> Vec<String> {
        unproven_lines(&self.bundle, &self.review, self.knows_organization)
    }
}

pub(super) fn read(file: &Path) -> Result<Bundle> {
    Bundle::read(&given(file, BUNDLE_LIMIT)?).map_err(|error| failure(&error))
}

pub(super) fn failure(error: &BundleError) -> Failure {
    let exit = if error.is_mismatch() { Exit::Verification } else { Exit::Usage };
    Failure::new(exit, error.to_string())
}

fn verify(session: &Session, file: &Path, known_keys: Option<&Path>) -> Result<Answer> {
    let reviewed = Reviewed::of(session, read(file)?, known_keys)?;
    let Reviewed { bundle, review, knows_organization } = &reviewed;
    let unproven = reviewed.unproven();
    let mut text = plain_text(review);
    text.push_str("\nThis file cannot prove:\n");
    for line in &unproven {
        let _ = writeln!(text, "  [s] {line}");
    }
    let verdict = if review.blocked() { "[x] A check failed.\n" } else { "[v] No check failed.\n" };
    let _ = write!(text, "\n{verdict}");
    let data = json!({
        "blocked": review.blocked(),
        "exportedAtMillis": bundle.exported_at(),
        "contentSha256": bundle.digest(),
        "withheld": bundle.withheld(),
        "knowsOrganization": knows_organization,
        "unproven": unproven,
        "review": review_json(review),
    });
    let answer = Answer::one(data, text);
    Ok(if review.blocked() { answer.exits(Exit::Verification) } else { answer })
}

fn compare(session: &Session, first: &Path, second: &Path) -> Result<Answer> {
    let (one, other) = (read(first)?, read(second)?);
    let (differences, compared) = bundle_differences(&one, &other);
    let (one, other) = (Reviewed::of(session, one, None)?, Reviewed::of(session, other, None)?);
    let mut text = String::new();
    for (file, reviewed) in [(first, &one), (second, &other)] {
        let verdict = if reviewed.review.blocked() { "[x] a check failed" } else { "[v] no check failed" };
        let _ = writeln!(text, "{}: {verdict}", clean(&file.display().to_string()));
    }
    for found in &differences {
        let _ = writeln!(text, "{}\n  first   {}\n  second  {}", found.path, found.first, found.second);
    }
    let is_equal = differences.is_empty();
    let result = if is_equal {
        format!("[v] EQUAL: all {}", count(compared, "value"))
    } else {
        format!("[x] DIFFERENT: {} of {}", differences.len(), count(compared, "value"))
    };
    let _ = writeln!(text, "{result}");
    let rows = differences.iter();
    let rows: Vec<_> =
        rows.map(|one| json!({"path": one.path, "first": one.first, "second": one.second})).collect();
    let data = json!({
        "equal": is_equal,
        "compared": compared,
        "differences": rows,
        "blocked": [one.review.blocked(), other.review.blocked()],
    });
    let is_good = is_equal && !one.review.blocked() && !other.review.blocked();
    let answer = Answer::one(data, text);
    Ok(if is_good { answer } else { answer.exits(Exit::Verification) })
}
