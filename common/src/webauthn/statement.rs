//! Attestation statements, by their shape alone (Web Authentication §8). What they claim about the maker of an
//! authenticator is not looked at: nothing depends on it.

use super::cbor::{BadCbor, Map, Value};

/// Whether `statement` has the members of `format`, and no others.
pub(super) fn check(format: &str, mut statement: Map<'_>) -> Result<(), BadCbor> {
    match format {
        // §8.7
        "none" => {}
        "packed" => packed(&mut statement)?,
        "tpm" => tpm(&mut statement)?,
        "android-key" => android_key(&mut statement)?,
        "android-safetynet" => android_safetynet(&mut statement)?,
        "fido-u2f" => fido_u2f(&mut statement)?,
        "apple" => certificates(&mut statement).map(drop)?,
        _ => return Err(BadCbor),
    }
    if statement.is_empty() { Ok(()) } else { Err(BadCbor) }
}

/// §8.2: with certificates, or signed by the credential itself.
fn packed(statement: &mut Map<'_>) -> Result<(), BadCbor> {
    statement.integer("alg")?;
    statement.bytes("sig")?;
    match statement.take("x5c") {
        None => Ok(()),
        Some(Value::List(chain)) => chain_of(&chain).map(drop),
        Some(_) => Err(BadCbor),
    }
}

/// §8.3
fn tpm(statement: &mut Map<'_>) -> Result<(), BadCbor> {
    if statement.text("ver")? != "2.0" {
        return Err(BadCbor);
    }
    statement.integer("alg")?;
    certificates(statement)?;
    statement.bytes("sig")?;
    statement.bytes("certInfo")?;
    statement.bytes("pubArea")?;
    Ok(())
}

/// §8.4
fn android_key(statement: &mut Map<'_>) -> Result<(), BadCbor> {
    statement.integer("alg")?;
    statement.bytes("sig")?;
    certificates(statement)?;
    Ok(())
}

/// §8.5
fn android_safetynet(statement: &mut Map<'_>) -> Result<(), BadCbor> {
    statement.text("ver")?;
    statement.bytes("response")?;
    Ok(())
}

/// §8.6: exactly one certificate.
fn fido_u2f(statement: &mut Map<'_>) -> Result<(), BadCbor> {
    statement.bytes("sig")?;
    if certificates(statement)? == 1 { Ok(()) } else { Err(BadCbor) }
}

/// Takes out the chain of certificates and counts it.
fn certificates(statement: &mut Map<'_>) -> Result<usize, BadCbor> {
    chain_of(&statement.list("x5c")?)
}

/// At least one certificate, and nothing else.
fn chain_of(chain: &[Value<'_>]) -> Result<usize, BadCbor> {
    let whole = !chain.is_empty() && chain.iter().all(|item| matches!(item, Value::Bytes(_)));
    if whole { Ok(chain.len()) } else { Err(BadCbor) }
}
