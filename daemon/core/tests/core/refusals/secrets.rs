//! Refusals of kinds about secrets.

use quorate_common::fault::Code;
use serde_json::{Value, json};

use super::{From, Row};
use crate::house::House;
use crate::samples;

/// The rows.
pub(super) fn refusals(house: &House) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, NotFound};
    let mut rows: Vec<Row> = Vec::new();
    let mut row = |kind, changes, code, message: &str| {
        rows.push((kind, From::Root, changes, code, None, message.to_owned()));
    };
    let range = "invalid request body: `parameters.numSecrets`: expected 1 to 50";
    row("INIT_IMPORT_SECRETS", json!({"numSecrets": 0}), InvalidArgument, range);
    row("INIT_IMPORT_SECRETS", json!({"numSecrets": 51}), InvalidArgument, range);
    let sample = |kind| samples::parameters(kind, house, &house.spare)["secrets"][0].clone();
    let with = |secret: &Value, member: &str, value: Value| {
        let mut secret = secret.clone();
        secret[member] = value;
        json!({"secrets": [secret]})
    };
    let pair = |key: &str| json!({"key": key, "value": "v"});
    let import = sample("IMPORT_SECRETS");
    let closed = "invalid encrypted bundle: it opens with none of the import keys of this user";
    let other_key = json!(crate::house::public_key(30));
    for (changes, code, message) in [
        (json!({"secrets": []}), InvalidArgument, "invalid request body: `secrets` must not be empty"),
        (
            json!({"secrets": [import, import]}),
            InvalidArgument,
            "invalid request body: `secrets` holds an element twice",
        ),
        (with(&import, "name", json!("secret")), AlreadyExists, "secret name must be unique"),
        (with(&import, "targetPublicKey", json!("04")), InvalidArgument, "invalid target public key"),
        (with(&import, "targetPublicKey", other_key), InvalidArgument, closed),
        (
            with(&import, "secretPayload", json!("{}")),
            InvalidArgument,
            "invalid encrypted bundle: it is no JSON",
        ),
        (
            with(&import, "staticProperties", json!([pair("a"), pair("a")])),
            InvalidArgument,
            "invalid request body: `staticProperties` holds an element twice",
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
    let nobody = "00000000-0000-4000-8000-000000000000";
    for (changes, code, message) in [
        (json!({"secrets": []}), InvalidArgument, "invalid request body: `secrets` must not be empty"),
        (with(&export, "secretId", json!(nobody)), NotFound, "no secret found with ID"),
        (with(&export, "targetPublicKey", json!("04")), InvalidArgument, "invalid target public key"),
        (
            with(&export, "requestContext", json!([pair("a"), pair("a")])),
            InvalidArgument,
            "invalid request body: `requestContext` holds an element twice",
        ),
    ] {
        row("EXPORT_SECRETS", changes, code, message);
    }
    for (ids, code, message) in [
        (json!([]), InvalidArgument, "invalid request body: `secretIds` must not be empty"),
        (
            json!([house.secret, house.secret]),
            InvalidArgument,
            "invalid request body: `secretIds` holds an element twice",
        ),
        (json!([house.secret, nobody]), NotFound, "no secret found with ID"),
    ] {
        row("DELETE_SECRETS", json!({"secretIds": ids}), code, message);
    }
    rows
}
