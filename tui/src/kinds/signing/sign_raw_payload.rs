//! Signs one payload that the proposer chose.

use super::key::Key;
use super::payload::{self, Coding};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("SIGN_RAW_PAYLOAD", "Sign raw payload", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let key = Key::read(parameters, context)?;
    let coding = Coding::of(parameters)?;
    let payload = coding.parse(parameters.text("payload")?, None);
    let signer = &key.signer;
    let sentence = format!("Sign {} with {signer}. {}", payload.describe(), coding.hash_sentence());
    let mut description = Description::new(format!("{} with {signer}", payload.brief()), sentence);
    payload.add_details(&key, context, &mut description);
    payload::flags(&coding, &[payload], &mut description);
    Ok(description)
}
