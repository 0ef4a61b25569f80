//! `quorate review REF`.

use crate::failure::{Exit, Result};
use crate::output::Answer;
use crate::proof::{json, plain_text};
use crate::session::Session;

pub(super) async fn run(session: &Session, reference: &str) -> Result<Answer> {
    let review = session.review(reference).await?;
    let answer = Answer::one(json(&review), plain_text(&review));
    Ok(if review.blocked() { answer.exits(Exit::Verification) } else { answer })
}
