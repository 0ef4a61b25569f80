//! The agent of OpenSSH signs.

use quorate_tests::operator::Operator;
use quorate_tests::ssh_agent::SshAgent;

use super::{answer_challenge, approve, assert_executed, assert_unvoted, daemon, listed, propose, register};
use crate::screen::Screen;

pub(super) const P256: &[&str] = &["-t", "ecdsa", "-b", "256"];
const ED25519: &[&str] = &["-t", "ed25519"];
const RSA: &[&str] = &["-t", "rsa", "-b", "2048"];

#[tokio::test]
async fn keys_of_an_agent_approve_by_command() {
    let Some(agent) = SshAgent::start().await else { return };
    let daemon = daemon().await;
    let bob = || Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", agent.socket());
    for (name, kind) in [("laptop", P256), ("tablet", ED25519)] {
        agent.add(name, kind);
        let key = listed(&bob(), name).await;
        register(&daemon, &key).await;
        let fingerprint = key["name"].as_str().expect("a selector").to_owned();
        let public_key = format!("agent:{}", key["publicKey"].as_str().expect("a key"));
        // Several votes, since one in 128 P-256 signatures has a number with a leading zero byte.
        for (number, selector) in [format!("agent:{name}"), fingerprint, public_key].iter().enumerate() {
            let pending = propose(&daemon, &format!("{name} {number}")).await;
            let bob = bob().with_key(&daemon, 1, selector);
            let ended = approve(&bob, &pending, "").await.with(0);
            assert!(!ended.stderr.contains("forwarded"), "{ended:?}");
            assert_executed(&daemon, &pending, &key["publicKey"]).await;
        }
    }
}

#[tokio::test]
async fn a_key_of_an_agent_approves_in_the_console() {
    let Some(agent) = SshAgent::start().await else { return };
    agent.add("laptop", P256);
    let daemon = daemon().await;
    let bob = Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", agent.socket());
    let key = listed(&bob, "laptop").await;
    register(&daemon, &key).await;
    let pending = propose(&daemon, "by agent").await;
    let mut screen = Screen::open(bob.with_key(&daemon, 1, "agent:"));
    screen.shows("agent:").await;
    answer_challenge(&mut screen, &pending, "by agent").await;
    screen.shows("Vote recorded").await;
    assert_executed(&daemon, &pending, &key["publicKey"]).await;
}

#[tokio::test]
async fn unusable_keys_are_refused_with_the_reason() {
    let Some(agent) = SshAgent::start().await else { return };
    let daemon = daemon().await;
    let pending = propose(&daemon, "refused").await;
    let bob = || Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", agent.socket());
    let check = async |selector: &str, code: i32, text: &str| {
        let bob = bob().with_key(&daemon, 1, selector);
        let ended = approve(&bob, &pending, "").await.with(code);
        assert!(ended.stderr.contains(text), "{selector}: {ended:?}");
    };
    check("agent:", 3, "the SSH agent has no usable key").await;
    agent.add("old", RSA);
    check("agent:old", 2, "ssh-rsa keys cannot stamp requests; use an ECDSA P-256 or Ed25519 key").await;
    let row = listed(&bob(), "old").await;
    assert!(row["error"].as_str().is_some_and(|error| error.contains("ssh-rsa")), "{row:#}");
    check("agent:none", 3, "the SSH agent has no key none").await;
    agent.add("laptop", ED25519);
    check("agent:", 4, "is not an API key of user").await;
    agent.add("tablet", P256);
    check("agent:", 2, "2 keys of the SSH agent match").await;
    check("token:x", 2, "unknown key source token").await;

    // Without an agent, and with a socket where nobody listens.
    let nobody = Operator::root(&daemon, 1).with_key(&daemon, 1, "agent:");
    let ended = approve(&nobody, &pending, "").await.with(2);
    assert!(ended.stderr.contains("SSH_AUTH_SOCK is not set"), "{ended:?}");
    let gone = nobody.with_variable("SSH_AUTH_SOCK", "/nonexistent/agent".into());
    let ended = approve(&gone, &pending, "").await.with(1);
    assert!(ended.stderr.contains("SSH agent /nonexistent/agent: "), "{ended:?}");
    assert_unvoted(&daemon, &pending).await;
}

#[tokio::test]
async fn a_locked_agent_refuses_and_a_removed_key_is_named() {
    let Some(agent) = SshAgent::start().await else { return };
    agent.add("laptop", P256);
    let daemon = daemon().await;
    let bob = Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", agent.socket());
    register(&daemon, &listed(&bob, "laptop").await).await;
    let pending = propose(&daemon, "removed key").await;
    let mut screen = Screen::open(bob.with_key(&daemon, 1, "agent:laptop"));
    screen.shows("removed key").await;
    agent.run("ssh-add", &["-q", "-D"]);
    answer_challenge(&mut screen, &pending, "removed key").await;
    screen.shows("the SSH agent no longer has key laptop").await;
    assert_unvoted(&daemon, &pending).await;
}

#[tokio::test]
async fn a_forwarded_agent_is_warned_about() {
    let Some(agent) = SshAgent::start_as("sshd-session").await else { return };
    agent.add("laptop", ED25519);
    let daemon = daemon().await;
    let bob = || Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", agent.socket());
    register(&daemon, &listed(&bob(), "laptop").await).await;
    let pending = propose(&daemon, "from afar").await;
    let mut screen = Screen::open(bob().with_key(&daemon, 1, "agent:laptop"));
    screen.shows("the SSH agent is forwarded").await;
    drop(screen);
    let ended = approve(&bob().with_key(&daemon, 1, "agent:laptop"), &pending, "").await.with(0);
    assert!(ended.stderr.contains("warning: the SSH agent is forwarded: root on this host"), "{ended:?}");
}
