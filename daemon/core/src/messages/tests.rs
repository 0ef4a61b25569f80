//! Mails and SMS with their secrets, links, names and senders.

#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;

const BUNDLE: &str = "szrFBNGDkhXyVvRoqjjDT67xd9kRhDXPmXcYXzmh5mqZ";

fn to() -> Email {
    Email::parse("guest@example.org".to_owned()).unwrap()
}

fn label(text: &str) -> Label {
    Label::parse(text.to_owned()).unwrap()
}

fn branded() -> Branding {
    Branding {
        app_name: Some("Acme & Söhne <b>".to_owned()),
        logo_url: Some("https://acme.example/logo.png?a=1&b=\"2".to_owned()),
        link: Some("https://acme.example/in?x=1&token=%s#a".to_owned()),
        ..Branding::default()
    }
}

fn html(mail: &Mail) -> &str {
    mail.html.as_deref().unwrap()
}

#[test]
fn mails_contain_their_secret_in_text_and_html() {
    let plain = Branding::default();
    for (mail, secret, subject, lifetime) in [
        (code(&to(), "ABCDEFGHJ", 5, &plain, "Bank", 7), "ABCDEFGHJ", "Your code for Bank", "5 minutes"),
        (credential(&to(), BUNDLE, 15, &plain, "Bank", 7), BUNDLE, "Sign in to Bank", "15 minutes"),
        (recovery(&to(), BUNDLE, 60, &plain, "Bank", 7), BUNDLE, "Recover your account with Bank", "1 hour"),
    ] {
        let mail = mail.unwrap();
        assert_eq!((mail.subject.as_str(), mail.attempts, mail.due), (subject, 0, 7));
        assert_eq!((&mail.sender_name, &mail.from, &mail.reply_to), (&None, &None, &None));
        for body in [mail.text.as_str(), html(&mail)] {
            assert_eq!(body.matches(secret).count(), 1, "{body}");
            assert!(body.contains(&format!("expires in {lifetime}.")) && body.contains("Bank"), "{body}");
            assert!(
                !body.contains("href") && !body.contains("<img") && !body.contains(['{', '\0']),
                "{body}"
            );
            assert!(body.ends_with('\n') && !body.contains("\n\n\n"), "{body}");
        }
    }
}

#[test]
fn links_contain_the_secret_once() {
    let branding = branded();
    for (mail, secret, times) in [
        (code(&to(), "123456", 5, &branding, "Bank", 7), "123456", 2),
        (credential(&to(), BUNDLE, 15, &branding, "Bank", 7), BUNDLE, 1),
        (recovery(&to(), BUNDLE, 15, &branding, "Bank", 7), BUNDLE, 1),
    ] {
        let mail = mail.unwrap();
        let link = format!("https://acme.example/in?x=1&token={secret}#a");
        assert!(mail.text.contains(&format!("    {link}\n")), "{}", mail.text);
        assert_eq!(mail.text.matches(secret).count(), times, "{}", mail.text);
        assert_eq!(html(&mail).matches(secret).count(), times, "{}", html(&mail));
    }
}

#[test]
fn values_are_escaped_in_html_only() {
    let mail = code(&to(), "123456", 5, &branded(), "Bank", 7).unwrap();
    assert_eq!(mail.subject, "Your code for Acme & Söhne <b>");
    assert!(mail.text.contains("Your code for Acme & Söhne <b> is:"), "{}", mail.text);
    for part in [
        "<p>Your code for Acme &amp; Söhne &lt;b&gt; is:</p>",
        "alt=\"Acme &amp; Söhne &lt;b&gt;\"",
        "in?x=1&amp;token=123456#a\"",
    ] {
        assert!(html(&mail).contains(part), "{part} is not in {}", html(&mail));
    }
    assert!(!html(&mail).contains("<b>") && !html(&mail).contains("\"2"), "{}", html(&mail));
}

#[test]
fn senders_are_named() {
    let from = Email::parse("login@acme.example".to_owned()).unwrap();
    for (from, sender_name, expected) in [
        (None, None, None),
        (None, Some(label("Acme")), Some("Acme")),
        (Some(from.clone()), None, Some("Notifications")),
        (Some(from), Some(label("Acme")), Some("Acme")),
    ] {
        let branding = Branding { sender_name, from, ..Branding::default() };
        let mail = code(&to(), "123456", 5, &branding, "Bank", 7).unwrap();
        assert_eq!((mail.sender_name.as_deref(), &mail.from), (expected, &branding.from));
    }
}

#[test]
fn values_that_would_break_a_message_are_rejected() {
    let plain = Branding::default();
    for code_text in ["", "12 34", "<b>", "\0"] {
        assert!(code(&to(), code_text, 5, &plain, "Bank", 7).is_err(), "{code_text:?}");
    }
    let mail = code(&to(), "1", 5, &plain, "a\r\nBcc: b", 7).unwrap();
    assert_eq!(mail.subject, "Your code for a<U+000D><U+000A>Bcc: b");
    let branding = Branding { link: Some("https://acme.example/\n%s".to_owned()), ..plain };
    assert!(code(&to(), "1", 5, &branding, "Bank", 7).is_err());
}

#[test]
fn sms_contain_the_code() {
    let phone = Phone::parse("+4915112345678".to_owned()).unwrap();
    let sms = |template| code_sms(&phone, "123456", template, "Bank", 7);
    for (template, expected) in [
        (None, "Your code for Bank is 123456. Do not share it with anybody."),
        (Some("{{.OtpCode}} für Äcme"), "123456 für Äcme"),
        (Some("{{.OtpCode}}\n@acme.example #{{.OtpCode}}"), "123456\n@acme.example #123456"),
    ] {
        let sms = sms(template);
        assert_eq!((sms.to.as_str(), sms.text.as_str()), ("+4915112345678", expected));
        assert_eq!((sms.attempts, sms.due), (0, 7));
    }
}

#[test]
fn lifetimes_are_in_words() {
    for (minutes, expected) in [
        (0, "less than a minute"),
        (1, "1 minute"),
        (15, "15 minutes"),
        (60, "1 hour"),
        (90, "90 minutes"),
        (120, "2 hours"),
        (1440, "1 day"),
        (2880, "2 days"),
    ] {
        assert_eq!(lifetime(minutes), expected);
    }
}

#[test]
fn names_of_tenants_do_not_reorder_messages() {
    let branding = Branding {
        app_name: Some("Bank\u{202e}x".to_owned()),
        sender_name: Some(label("=?utf-8?q?CEO?=")),
        ..Branding::default()
    };
    let mail = code(&to(), "123456", 5, &branding, "Bank", 7).unwrap();
    assert_eq!(mail.subject, "Your code for Bank<U+202E>x");
    assert_eq!(mail.sender_name.as_deref(), Some("= ?utf-8?q?CEO?="));
    assert!(mail.text.contains("Bank<U+202E>x") && html(&mail).contains("Bank&lt;U+202E&gt;x"));
    assert!(!mail.text.contains('\u{202e}') && !html(&mail).contains('\u{202e}'));
}
