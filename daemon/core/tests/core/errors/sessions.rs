//! Samples and expected errors of sessions.

use quorate_common::api_error::Code;
use serde_json::{Value, json};

use super::{Row, Sender};
use crate::fixture::{Fixture, Person, public_key, target_public_key};

/// Returns valid parameters of a type of this module. The user whose session it is is the last argument.
pub(super) fn sample(name: &str, fixture: &Fixture, subject: &Person) -> Option<Value> {
    Some(match name {
        "CREATE_READ_ONLY_SESSION" => json!({}),
        "CREATE_READ_WRITE_SESSION" => {
            json!({"targetPublicKey": target_public_key(31), "email": "root0@house.example",
            "apiKeyName": "session", "expirationSeconds": "600"})
        }
        "CREATE_READ_WRITE_SESSION_V2" => {
            json!({"targetPublicKey": target_public_key(31), "userId": subject.user,
            "apiKeyName": "session", "expirationSeconds": "600", "invalidateExisting": true})
        }
        "STAMP_LOGIN" => json!({"publicKey": public_key(30), "expirationSeconds": "600",
            "invalidateExisting": true, "sessionProfileId": fixture.session_profile}),
        _ => return None,
    })
}

/// Returns the table rows of this module.
pub(super) fn rows(fixture: &Fixture) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, NotFound, Unauthenticated};
    let unknown_id = "00000000-0000-4000-8000-000000000000";
    let invalid_key = "invalid public key: expected a public key on its curve in hexadecimal";
    let invalid_target = "invalid target public key: not a P-256 public key in hexadecimal digits";
    vec![
        (
            "CREATE_READ_ONLY_SESSION",
            Sender::Invited,
            json!({}),
            Unauthenticated,
            Some("PUBLIC_KEY_NOT_FOUND"),
            "could not find public key in organization: organizationId=".to_owned(),
        ),
        (
            "CREATE_READ_WRITE_SESSION",
            Sender::Root,
            json!({"email": "nobody@house.example"}),
            NotFound,
            None,
            "no user found with this email".to_owned(),
        ),
        (
            "CREATE_READ_WRITE_SESSION",
            Sender::Root,
            json!({"targetPublicKey": "04"}),
            InvalidArgument,
            None,
            invalid_target.to_owned(),
        ),
        (
            "CREATE_READ_WRITE_SESSION_V2",
            Sender::Root,
            json!({"userId": unknown_id}),
            NotFound,
            None,
            format!("unable to find user {unknown_id} in organization {}", fixture.id),
        ),
        (
            "STAMP_LOGIN",
            Sender::Root,
            json!({"publicKey": "02".repeat(10)}),
            InvalidArgument,
            None,
            invalid_key.to_owned(),
        ),
        (
            "STAMP_LOGIN",
            Sender::Root,
            json!({"publicKey": format!("02{}", "ff".repeat(32))}),
            InvalidArgument,
            None,
            invalid_key.to_owned(),
        ),
        (
            "STAMP_LOGIN",
            Sender::Root,
            json!({"publicKey": public_key(0)}),
            AlreadyExists,
            None,
            "public key is already registered in this organization".to_owned(),
        ),
        (
            "STAMP_LOGIN",
            Sender::Root,
            json!({"sessionProfileId": unknown_id}),
            NotFound,
            None,
            format!("no session profile found with ID {unknown_id}"),
        ),
    ]
}
