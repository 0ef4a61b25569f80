//! Signs several payloads that the proposer chose, with one key.

use super::key::Key;
use super::payload::{self, Coding, ParsedPayload};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("SIGN_RAW_PAYLOADS", "Sign raw payloads", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let coding = Coding::of(parameters)?;
    let payloads = parameters.texts("payloads")?.into_iter().zip(1..);
    let payloads: Vec<ParsedPayload<'_>> =
        payloads.map(|(payload, number)| coding.parse(payload, Some(number))).collect();
    let key = Key::of(parameters.text("signWith")?, context);
    let signer = &key.signer;
    let described: Vec<String> = payloads.iter().map(ParsedPayload::describe).collect();
    let number = count(payloads.len(), "payload");
    let sentence =
        format!("Sign {number} with {signer}: {}. {}", described.join("; "), coding.hash_sentence());
    let mut description = Description::new(format!("{number} with {signer}"), sentence);
    for payload in &payloads {
        payload.add_details(&key, context, &mut description);
    }
    payload::flags(&coding, &payloads, &mut description);
    Ok(description)
}
