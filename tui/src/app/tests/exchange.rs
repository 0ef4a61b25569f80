//! Tests of proof bundles in the review: the export, and the comparison with the file of another member.

use super::*;
use crate::proof::Bundle;

fn type_text(console: &mut TestConsole, text: &str) {
    for letter in text.chars() {
        assert_eq!(console.press(Key::Char(letter)), []);
    }
}

fn exported(console: &mut TestConsole) -> String {
    let effects = console.press(Key::Char('e'));
    let [Effect::Export { name, text }] = effects.as_slice() else { unreachable!("{effects:?}") };
    let bundle = Bundle::read(text.as_bytes()).unwrap();
    assert_eq!(*name, format!("quorate-proof-{}.json", bundle.activity_id()));
    text.clone()
}

/// Compares the open review with a file, and returns what is shown.
fn compared(console: &mut TestConsole, file: Result<Vec<u8>, String>) -> String {
    console.press(Key::Char('c'));
    console.press(Key::Ctrl('u'));
    type_text(console, "./ana.json");
    assert!(console.shown().contains("Enter compares with this file"), "{}", console.shown());
    assert_eq!(console.press(Key::Enter), [Effect::ReadFile("./ana.json".to_owned())]);
    update(&mut console.model, Msg::FileRead("./ana.json".to_owned(), file));
    let shown = console.shown();
    console.press(Key::Esc);
    shown
}

#[test]
fn exports_and_compares_proof_bundles() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    console.open(&record);
    let own = exported(&mut console);
    assert_eq!(
        Bundle::read(exported(&mut console).as_bytes()).unwrap().fingerprint(),
        record.row.activity.fingerprint
    );

    let same = compared(&mut console, Ok(own.into_bytes()));
    assert!(same.contains("[v] EQUAL: all ") && same.contains("./ana.json"), "{same}");

    let mut voted = record.clone();
    fixture.approve(&mut voted, 2);
    let mut other = TestConsole::new(&fixture, std::slice::from_ref(&voted), (120, 36));
    other.open(&voted);
    let theirs = exported(&mut other).into_bytes();
    let different = compared(&mut console, Ok(theirs.clone()));
    assert!(different.contains("[x] DIFFERENT: "), "{different}");
    assert!(different.contains("signed.votes[") && different.contains("absent"), "{different}");

    let damaged = String::from_utf8(theirs).unwrap().replacen("APPROVE", "REJECT", 1).into_bytes();
    for (file, reason) in [
        (Ok(damaged), "was changed after the export"),
        (Ok(b"\x1b[31m".to_vec()), "not JSON"),
        (Err("the file does not exist".to_owned()), "the file does not exist"),
    ] {
        let shown = compared(&mut console, file);
        assert!(shown.contains("[x] NOT COMPARED: ") && shown.contains(reason), "{shown}");
        assert!(!shown.contains("EQUAL"), "{shown}");
    }
}

#[test]
fn compares_with_a_file_on_a_small_terminal() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (40, 12));
    console.open(&record);
    let own = exported(&mut console);
    let mut content: serde_json::Value = serde_json::from_str(&own).unwrap();
    content["content"] = serde_json::json!({});
    let shown = compared(&mut console, Ok(content.to_string().into_bytes()));
    assert!(shown.contains("NOT COMPARED"), "{shown}");
    let shown = compared(&mut console, Ok(own.into_bytes()));
    assert!(shown.contains("EQUAL"), "{shown}");
}

#[test]
fn what_is_compared_stays_until_the_review_is_left() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    console.open(&record);
    console.press(Key::Char('c'));
    type_text(&mut console, "50f7 1704");
    console.press(Key::Esc);
    assert!(!console.shown().contains("to compare:"), "{}", console.shown());
    console.press(Key::Char('c'));
    assert!(console.shown().contains("to compare: 50f7 1704_"), "{}", console.shown());
    // A path stays as well, after its file was compared.
    console.press(Key::Esc);
    compared(&mut console, Err("the file does not exist".to_owned()));
    console.press(Key::Char('c'));
    assert!(console.shown().contains("to compare: ./ana.json_"), "{}", console.shown());
    console.press(Key::Esc);
    console.press(Key::Esc);
    assert!(console.model.review.is_none());
    console.open(&record);
    console.press(Key::Char('c'));
    assert!(console.shown().contains("to compare: _"), "{}", console.shown());
}
