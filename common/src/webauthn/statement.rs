//! Attestation statements, checked for their structure only (Web Authentication §8). Their claims about the
//! manufacturer of an authenticator are not verified, because nothing depends on them.

use super::cbor::{InvalidCbor, Map, Value};

/// Checks that `statement` has exactly the members of `format`.
pub(super) fn check(format: &str, mut statement: Map<'_>) -> Result<(), InvalidCbor> {
    match format {
        // §8.7
        "none" => {}
        "packed" => packed(&mut statement)?,
        "tpm" => tpm(&mut statement)?,
        "android-key" => android_key(&mut statement)?,
        "android-safetynet" => android_safetynet(&mut statement)?,
        "fido-u2f" => fido_u2f(&mut statement)?,
        "apple" => certificates(&mut statement).map(drop)?,
        _ => return Err(InvalidCbor),
    }
    if statement.is_empty() { Ok(()) } else { Err(InvalidCbor) }
}

/// §8.2, with certificates or signed by the credential itself.
fn packed(statement: &mut Map<'_>) -> Result<(), InvalidCbor> {
    statement.integer("alg")?;
    statement.bytes("sig")?;
    match statement.take("x5c") {
        None => Ok(()),
        Some(Value::List(chain)) => chain_length(&chain).map(drop),
        Some(_) => Err(InvalidCbor),
    }
}

/// §8.3
fn tpm(statement: &mut Map<'_>) -> Result<(), InvalidCbor> {
    if statement.text("ver")? != "2.0" {
        return Err(InvalidCbor);
    }
    statement.integer("alg")?;
    certificates(statement)?;
    statement.bytes("sig")?;
    statement.bytes("certInfo")?;
    statement.bytes("pubArea")?;
    Ok(())
}

/// §8.4
fn android_key(statement: &mut Map<'_>) -> Result<(), InvalidCbor> {
    statement.integer("alg")?;
    statement.bytes("sig")?;
    certificates(statement)?;
    Ok(())
}

/// §8.5
fn android_safetynet(statement: &mut Map<'_>) -> Result<(), InvalidCbor> {
    statement.text("ver")?;
    statement.bytes("response")?;
    Ok(())
}

/// §8.6, with exactly one certificate.
fn fido_u2f(statement: &mut Map<'_>) -> Result<(), InvalidCbor> {
    statement.bytes("sig")?;
    if certificates(statement)? == 1 { Ok(()) } else { Err(InvalidCbor) }
}

/// Takes the certificate chain from the statement and returns its length.
fn certificates(statement: &mut Map<'_>) -> Result<usize, InvalidCbor> {
    chain_length(&statement.list("x5c")?)
}

/// Returns the length of a certificate chain, which must hold byte strings only and at least one.
fn chain_length(chain: &[Value<'_>]) -> Result<usize, InvalidCbor> {
    let is_chain = !chain.is_empty() && chain.iter().all(|item| matches!(item, Value::Bytes(_)));
    if is_chain { Ok(chain.len()) } else { Err(InvalidCbor) }
}
