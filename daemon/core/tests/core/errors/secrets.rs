//! Samples and expected errors of kinds that manage secrets.

use quorate_common::api_error::Code;
use serde_json::{Value, json};

use super::{Row, Sender};
use crate::fixture::{Fixture, Person, public_key};
use crate::samples;

/// Returns valid parameters of a type of this module. The user whose credentials change is the last argument.
pub(super) fn sample(name: &str, fixture: &Fixture, _: &Person) -> Option<Value> {
    Some(match name {
        "DELETE_SECRETS" => json!({"secretIds": [fixture.secret]}),
        "EXPORT_SECRETS" => {
            json!({"secrets": [{"secretId": fixture.secret, "targetPublicKey": public_key(30),
            "encryptionSuite": samples::SUITE, "requestContext": [{"key": "reason", "value": "release"}]}]})
        }
        "IMPORT_SECRETS" => {
            let mut secret = fixture.sealed_secret.clone();
            secret["name"] = json!("fresh");
            secret["staticProperties"] = json!([{"key": "env", "value": "test"}]);
            json!({"secrets": [secret]})
        }
        "INIT_IMPORT_SECRETS" => json!({"encryptionSuite": samples::SUITE, "numSecrets": 2}),
        _ => return None,
    })
}

/// Returns the table rows of this module.
pub(super) fn rows(fixture: &Fixture) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, NotFound};
    let mut rows: Vec<Row> = Vec::new();
    let mut row = |kind, changes, code, message: &str| {
        rows.push((kind, Sender::Root, changes, code, None, message.to_owned()));
    };
    let range = "invalid request body: `parameters.numSecrets`: expected 1 to 50";
    row("INIT_IMPORT_SECRETS", json!({"numSecrets": 0}), InvalidArgument, range);
    row("INIT_IMPORT_SECRETS", json!({"numSecrets": 51}), InvalidArgument, range);
    let sample = |kind| samples::parameters(kind, fixture, &fixture.spare)["secrets"][0].clone();
    let with = |secret: &Value, member: &str, value: Value| {
        let mut secret = secret.clone();
        secret[member] = value;
        json!({"secrets": [secret]})
    };
    let pair = |key: &str| json!({"key": key, "value": "v"});
    let import = sample("IMPORT_SECRETS");
    let not_decryptable = "invalid encrypted bundle: no import key of this user decrypts it";
    let other_key = json!(crate::fixture::public_key(30));
    for (changes, code, message) in [
        (json!({"secrets": []}), InvalidArgument, "invalid request body: `secrets` must not be empty"),
        (
            json!({"secrets": [import, import]}),
            InvalidArgument,
            "invalid request body: `secrets` contains a duplicate element",
        ),
        (with(&import, "name", json!("secret")), AlreadyExists, "secret name must be unique"),
        (with(&import, "targetPublicKey", json!("04")), InvalidArgument, "invalid target public key"),
        (with(&import, "targetPublicKey", other_key), InvalidArgument, not_decryptable),
        (
            with(&import, "secretPayload", json!("{}")),
            InvalidArgument,
            "invalid encrypted bundle: not a JSON object",
        ),
        (
            with(&import, "staticProperties", json!([pair("a"), pair("a")])),
            InvalidArgument,
            "invalid request body: `staticProperties` contains a duplicate element",
        ),
        (
            with(&import, "staticProperties", json!([pair("")])),
            InvalidArgument,
            "invalid request body: `key` must not be empty",
        ),
    ] {
        row("IMPORT_SECRETS", changes, code, message);
    }
    let export = sample("EXPORT_SECRETS");
    let unknown_id = "00000000-0000-4000-8000-000000000000";
    for (changes, code, message) in [
        (json!({"secrets": []}), InvalidArgument, "invalid request body: `secrets` must not be empty"),
        (with(&export, "secretId", json!(unknown_id)), NotFound, "no secret found with ID"),
        (with(&export, "targetPublicKey", json!("04")), InvalidArgument, "invalid target public key"),
        (
            with(&export, "requestContext", json!([pair("a"), pair("a")])),
            InvalidArgument,
            "invalid request body: `requestContext` contains a duplicate element",
        ),
    ] {
        row("EXPORT_SECRETS", changes, code, message);
    }
    for (ids, code, message) in [
        (json!([]), InvalidArgument, "invalid request body: `secretIds` must not be empty"),
        (
            json!([fixture.secret, fixture.secret]),
            InvalidArgument,
            "invalid request body: `secretIds` contains a duplicate element",
        ),
        (json!([fixture.secret, unknown_id]), NotFound, "no secret found with ID"),
    ] {
        row("DELETE_SECRETS", json!({"secretIds": ids}), code, message);
    }
    rows
}
