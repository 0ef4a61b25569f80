//! The program without a terminal: exit codes, and nothing but data on standard output.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::{Command, Output, Stdio};

fn run(words: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_quorate"))
        .args(words)
        .env_clear()
        .env("HOME", home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn reports_an_error_and_what_to_do() {
    for words in [&[][..], &["--linear"]] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        assert!(!output.stderr.contains(&0x1b));
        assert!(String::from_utf8(output.stderr).unwrap().contains("quorate approvals ls --json"));
    }
}

#[test]
fn a_passphrase_that_cannot_be_prompted_for_is_reported() {
    let output = run(&["key", "add", "mira"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text, "quorate: no terminal to prompt for the passphrase; use --passphrase-fd N\n");
}

#[test]
fn data_can_always_be_parsed() {
    let check = |words: &[&str], code: i32| {
        let output = run(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
    };
    check(&["--json"], 2);
    check(&["--json", "nonsense"], 2);
    check(&["approve", "x", "--json"], 2);
    check(&["status", "--json"], 8);
    check(&["--key", "none", "status", "--json"], 3);
    check(&["--credentials", "none.json", "status", "--json"], 3);
    check(&["key", "ls", "--json"], 0);
    check(&["journal", "verify", "--json"], 0);
}

#[test]
fn help_and_completions_are_plain_text() {
    for words in [&["--help"][..], &["--version"], &["completion", "zsh"], &["approve", "--help"]] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert!(!output.stdout.is_empty() && !output.stdout.contains(&0x1b), "{words:?}");
    }
}
