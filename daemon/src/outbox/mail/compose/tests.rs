//! Headers and bodies of composed messages.

#![allow(clippy::unwrap_used, reason = "tests")]
use quorate_common::ids::ActivityId;

use super::*;

fn email(text: &str) -> Email {
    Email::parse(text.to_owned()).unwrap()
}

fn mail() -> Mail {
    Mail::new(email("guest@example.org"), "Subject".to_owned(), "Text\n".to_owned(), String::new(), 0)
}

/// Returns the message of a mail, which a known activity sends.
fn composed(mail: &Mail) -> Option<Message> {
    message(&quorate_core::model::layout::mail(ActivityId::timed(0, [0; 10]), 3), mail, &sender())
}

fn sender() -> Mailbox {
    "Quorate <quorate@example.org>".parse().unwrap()
}

/// Returns the header lines of a message, unfolded (RFC 5322 §2.2.3), and its body.
fn parts(message: &Message) -> (Vec<String>, String) {
    let text = String::from_utf8(message.formatted()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let head = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    (head.split("\r\n").map(str::to_owned).collect(), body.to_owned())
}

fn check(mail: &Mail, expected: &[&str]) {
    let message = composed(mail).unwrap();
    let (headers, _) = parts(&message);
    for line in expected {
        assert!(headers.iter().any(|header| header == line), "{line} is not in {headers:#?}");
    }
}

#[test]
fn headers_name_sender_and_address_for_replies() {
    let mut mail = mail();
    check(&mail, &["From: Quorate <quorate@example.org>", "To: guest@example.org", "Subject: Subject"]);
    assert!(!parts(&composed(&mail).unwrap()).0.iter().any(|line| line.starts_with("Reply-To")));
    mail.sender_name = Some("Acme, Inc.".to_owned());
    // An encoded word (RFC 2047), which Python's email.header decodes to the name.
    check(&mail, &["From: =?utf-8?b?QWNtZSwgSW5jLg==?= <quorate@example.org>"]);
    mail.sender_name = Some("Acme".to_owned());
    (mail.from, mail.reply_to) = (Some(email("login@acme.example")), Some(email("help@acme.example")));
    check(&mail, &["From: Acme <login@acme.example>", "Reply-To: help@acme.example"]);
    mail.sender_name = None;
    check(&mail, &["From: Quorate <login@acme.example>"]);
    // The same for each attempt, in the domain of the sender.
    check(&mail, &["Message-ID: <00000000-0000-7000-8000-000000000000.3@acme.example>"]);
}

#[test]
fn domains_are_sent_in_ascii() {
    for (to, expected) in [
        ("guest@b\u{fc}cher.example", "To: guest@xn--bcher-kva.example"),
        ("guest@\u{ff45}xample.org", "To: guest@example.org"),
        ("Guest@Example.org", "To: Guest@Example.org"),
    ] {
        let mut mail = mail();
        mail.to = email(to);
        check(&mail, &[expected]);
    }
}

#[test]
fn text_and_html_are_alternatives() {
    let mut mail = mail();
    let (headers, body) = parts(&composed(&mail).unwrap());
    assert!(headers.iter().any(|line| line == "Content-Type: text/plain; charset=utf-8"), "{headers:#?}");
    assert_eq!(body, "Text\r\n");
    mail.html = Some("<p>Text</p>\n".to_owned());
    let (headers, body) = parts(&composed(&mail).unwrap());
    assert!(
        headers.iter().any(|line| line.starts_with("Content-Type: multipart/alternative;")),
        "{headers:#?}"
    );
    let (text, html) = (body.find("text/plain").unwrap(), body.find("text/html").unwrap());
    // Clients show the last alternative that they support (RFC 2046 §5.1.4).
    assert!(text < html && body.contains("<p>Text</p>"), "{body}");
}

#[test]
fn header_values_inject_nothing() {
    for break_text in ["\r\n", "\n", "\r", "\0", "\u{85}"] {
        let injected = format!("a{break_text}Bcc: other@example.org");
        let mut by_subject = mail();
        by_subject.subject = injected.clone();
        assert!(composed(&by_subject).is_none(), "{injected:?}");
        let mut by_name = mail();
        by_name.sender_name = Some(injected.clone());
        assert!(composed(&by_name).is_none(), "{injected:?}");
        assert!(Email::parse(format!("{injected}@example.org")).is_err());
    }
    // Whatever else a name contains, the message has one sender and one recipient.
    for name in [
        "x\" <other@example.org>, \"y",
        "x <other@example.org>",
        "=?utf-8?q?=0D=0ABcc:_other@example.org?=",
        "a\\",
        "a\u{2028}Bcc: other@example.org",
        &"ü".repeat(255),
        &"a ".repeat(127),
    ] {
        let mut named = mail();
        (named.sender_name, named.subject) = (Some(name.to_owned()), name.to_owned());
        let message = composed(&named).unwrap();
        let (headers, _) = parts(&message);
        assert!(!headers.iter().any(|line| line.starts_with("Bcc")), "{name}: {headers:#?}");
        let from = headers.iter().find(|line| line.starts_with("From: ")).unwrap();
        assert!(from.ends_with(" <quorate@example.org>"), "{name}: {from}");
        let envelope = message.envelope();
        assert_eq!(envelope.to(), ["guest@example.org".parse::<Address>().unwrap()], "{name}");
        assert_eq!(envelope.from(), Some(&sender().email), "{name}");
    }
}

/// Texts of tenants that would be something else in a mail program, and how they are shown.
const HOSTILE: [(&str, &str); 6] = [
    ("=?utf-8?q?=0d=0aBcc:e@evil.example?=", "= ?utf-8?q?=0d=0aBcc:e@evil.example?="),
    ("=?utf-8?b?4oCuQmFuaxtbMko=?=", "= ?utf-8?b?4oCuQmFuaxtbMko= ?="),
    ("\u{fc} =?utf-8?q?a?= =?utf-8?q?b?=", "\u{fc} = ?utf-8?q?a?= = ?utf-8?q?b?="),
    ("==??utf-8?q?a?=", "== ??utf-8?q?a?="),
    ("Bank\u{202e}knaB\u{2066}\u{2028}", "Bank<U+202E>knaB<U+2066><U+2028>"),
    (
        "M\u{fc}ller \u{2764}\u{fe0f} \u{5e9}\u{5dc}\u{5d5}\u{5dd}",
        "M\u{fc}ller \u{2764}\u{fe0f} \u{5e9}\u{5dc}\u{5d5}\u{5dd}",
    ),
];

#[test]
fn another_parser_reads_subjects_and_names_as_they_are_shown() {
    for (text, expected) in HOSTILE {
        let mut mail = mail();
        mail.subject = format!("Your code for {text}");
        mail.sender_name = Some(text.to_owned());
        let message = composed(&mail).unwrap().formatted();
        let parsed = mail_parser::MessageParser::default().parse(&message).unwrap();
        assert_eq!(parsed.subject().unwrap(), format!("Your code for {expected}"));
        let from = parsed.from().and_then(|from| from.first()).unwrap();
        assert_eq!(from.name().unwrap(), expected);
        assert_eq!(from.address().unwrap(), "quorate@example.org");
        assert!(parsed.bcc().is_none());
    }
}
