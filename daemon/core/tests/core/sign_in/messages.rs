//! Members of requests that become part of a message.

use quorate_common::api_error::Code;
use serde_json::json;

use super::*;
use crate::samples;

/// Members that become part of a mail, or select its receiver.
const FIELDS: [&str; 9] = [
    "/contact",
    "/email",
    "/appName",
    "/emailCustomization/appName",
    "/emailCustomization/logoUrl",
    "/emailCustomization/magicLinkTemplate",
    "/sendFromEmailAddress",
    "/sendFromEmailSenderName",
    "/replyToEmailAddress",
];

#[test]
fn control_characters_in_members_of_mail_are_refused() {
    let fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    for name in [
        "INIT_OTP",
        "INIT_OTP_V2",
        "INIT_OTP_V3",
        "INIT_OTP_AUTH",
        "INIT_OTP_AUTH_V2",
        "INIT_OTP_AUTH_V3",
        "EMAIL_AUTH",
        "EMAIL_AUTH_V2",
        "EMAIL_AUTH_V3",
        "INIT_USER_EMAIL_RECOVERY",
        "INIT_USER_EMAIL_RECOVERY_V2",
    ] {
        let sample = samples::parameters(&format!("ACTIVITY_TYPE_{name}"), &fixture, &root);
        run(&mut fixture.clone(), name, &sample, NOW).expect("the sample is valid");
        let fields: Vec<&str> = FIELDS.into_iter().filter(|field| sample.pointer(field).is_some()).collect();
        assert!(fields.len() >= 7, "{name}: {fields:?}");
        for field in fields {
            for control in ["\r\n", "\n", "\r", "\0"] {
                let mut parameters = sample.clone();
                let value = parameters.pointer_mut(field).expect("a member");
                let text = value.as_str().expect("a text");
                let (start, end) = text.split_at(text.len() - 2);
                *value = json!(format!("{start}{control}{end}"));
                let answer = run(&mut fixture.clone(), name, &parameters, NOW);
                let error = answer.expect_err(field);
                assert_eq!(error.code, Code::InvalidArgument, "{name}: {field} with {control:?}");
            }
        }
    }
}
