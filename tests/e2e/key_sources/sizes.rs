//! The whole approval in the console at each size, with a key from each source. Security keys have a test of their own.

use quorate_tests::operator::Operator;
use quorate_tests::soft_token::SoftTokens;
use quorate_tests::ssh_agent::SshAgent;

use super::ssh_agent::P256;
use super::token::challenged;
use super::{answer_challenge, assert_executed, daemon, listed, propose, register};
use crate::console::type_like_a_person;
use crate::screen::Screen;

const SIZES: [(u16, u16); 3] = [(120, 36), (80, 24), (40, 12)];

#[tokio::test]
async fn a_key_file_approves_at_each_size() {
    const PASSPHRASE: &str = "correct horse battery";
    for size in SIZES {
        let daemon = daemon().await;
        let bob = Operator::root(&daemon, 1);
        let create = ["--json", "key", "add", "laptop"];
        let key = bob.run_raw(&create, &format!("{PASSPHRASE}\n")).await.with(0).json();
        register(&daemon, &key).await;
        let pending = propose(&daemon, "by file").await;
        let mut screen = Screen::sized(bob.with_key(&daemon, 1, "file:laptop"), size);
        answer_challenge(&mut screen, &pending, "by file").await;
        screen.shows("Passphrase for key").await;
        type_like_a_person(&mut screen, &format!("{PASSPHRASE}\r")).await;
        screen.shows("Vote recorded").await;
        assert_executed(&daemon, &pending, &key["publicKey"]).await;
    }
}

#[tokio::test]
async fn a_key_of_an_agent_approves_at_each_size() {
    let Some(agent) = SshAgent::start().await else { return };
    agent.add("laptop", P256);
    for size in SIZES {
        let daemon = daemon().await;
        let bob = Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", agent.socket());
        let key = listed(&bob, "laptop").await;
        register(&daemon, &key).await;
        let pending = propose(&daemon, "by agent").await;
        let mut screen = Screen::sized(bob.with_key(&daemon, 1, "agent:"), size);
        answer_challenge(&mut screen, &pending, "by agent").await;
        screen.shows("Vote recorded").await;
        assert_executed(&daemon, &pending, &key["publicKey"]).await;
    }
}

#[tokio::test]
async fn a_key_of_a_token_approves_at_each_size() {
    let Some(tokens) = SoftTokens::new() else { return };
    tokens.create("treasury");
    tokens.add_key("treasury", "mira", "a1", "P-256");
    for size in SIZES {
        let (daemon, key, pending, mut screen) = challenged(&tokens, size).await;
        screen.shows("PIN for key").await;
        type_like_a_person(&mut screen, &format!("{}\r", SoftTokens::PIN)).await;
        screen.shows("Vote recorded").await;
        assert_executed(&daemon, &pending, &key["publicKey"]).await;
    }
}
