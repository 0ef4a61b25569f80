//! Agents that lie, fail or say nothing. No vote is sent.

use quorate_tests::operator::Operator;
use quorate_tests::ssh_agent::{FakeAgent, SshAgent, exchanged, framed};

use super::{approve, assert_unvoted, daemon, listed, propose, register};

const IDENTITIES: u8 = 11;
const SIGN: u8 = 13;
const SIGNED: u8 = 14;
const FAILURE: u8 = 5;

/// Returns a string in the encoding of RFC 4251 §5.
fn string(bytes: &[u8]) -> Vec<u8> {
    framed(bytes)
}

fn signed(algorithm: &str, signature: &[u8]) -> Vec<u8> {
    let inner = [string(algorithm.as_bytes()), string(signature)].concat();
    [vec![SIGNED], string(&inner)].concat()
}

#[tokio::test]
async fn signatures_that_do_not_verify_are_never_sent() {
    let Some(agent) = SshAgent::start().await else { return };
    let daemon = daemon().await;
    let bob = Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", agent.socket());
    agent.add("laptop", &["-t", "ed25519"]);
    register(&daemon, &listed(&bob, "laptop").await).await;
    let pending = propose(&daemon, "hostile").await;

    let check = async |what: &str, code: i32, text: &str, change: fn(&[u8], Vec<u8>) -> Vec<u8>| {
        let fake = FakeAgent::before(&agent.socket(), change);
        let bob = Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", fake.socket());
        let ended = approve(&bob.with_key(&daemon, 1, "agent:laptop"), &pending, "").await.with(code);
        assert!(ended.stderr.contains(text), "{what}: {ended:?}");
        assert_unvoted(&daemon, &pending).await;
    };
    let unverified = "the signature does not verify under the selected key; nothing was sent";
    let invalid = "the SSH agent sent an invalid answer";
    check("one bit differs", 7, unverified, |request, mut answer| {
        if request[0] == SIGN {
            *answer.last_mut().expect("a signature") ^= 1;
        }
        answer
    })
    .await;
    check(
        "zeros",
        7,
        unverified,
        |request, answer| {
            if request[0] == SIGN { signed("ssh-ed25519", &[0; 64]) } else { answer }
        },
    )
    .await;
    check("another algorithm", 7, unverified, |request, answer| {
        let numbers = [string(&[1]), string(&[1])].concat();
        if request[0] == SIGN { signed("ecdsa-sha2-nistp256", &numbers) } else { answer }
    })
    .await;
    check(
        "too short",
        1,
        invalid,
        |request, answer| {
            if request[0] == SIGN { signed("ssh-ed25519", &[0; 63]) } else { answer }
        },
    )
    .await;
    check("trailing bytes", 1, invalid, |request, mut answer| {
        answer.extend(if request[0] == SIGN { vec![0] } else { Vec::new() });
        answer
    })
    .await;
    check(
        "a list instead",
        1,
        invalid,
        |request, answer| {
            if request[0] == SIGN { vec![12, 0, 0, 0, 0] } else { answer }
        },
    )
    .await;
    check("a rejection", 4, "the SSH agent refused to sign", |request, answer| {
        if request[0] == SIGN { vec![FAILURE] } else { answer }
    })
    .await;
}

#[tokio::test]
async fn a_signature_of_another_key_or_request_is_never_sent() {
    let Some(agent) = SshAgent::start().await else { return };
    let daemon = daemon().await;
    let bob = Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", agent.socket());
    agent.add("laptop", &["-t", "ecdsa", "-b", "256"]);
    register(&daemon, &listed(&bob, "laptop").await).await;
    let pending = propose(&daemon, "replayed").await;

    // The agent signs other bytes than those it was given.
    let real = agent.socket();
    let fake = FakeAgent::start(move |request| {
        let mut changed = request.to_vec();
        if request[0] == SIGN {
            // The flags follow the bytes to sign, whose last one is changed.
            let last = changed.len() - 5;
            changed[last] ^= 1;
        }
        Some(framed(&exchanged(&real, &changed)?))
    });
    let bob = Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", fake.socket());
    let ended = approve(&bob.with_key(&daemon, 1, "agent:laptop"), &pending, "").await.with(7);
    assert!(ended.stderr.contains("the signature does not verify"), "{ended:?}");
    assert_unvoted(&daemon, &pending).await;
}

#[tokio::test]
async fn malformed_and_silent_agents_are_reported() {
    let daemon = daemon().await;
    let pending = propose(&daemon, "malformed").await;
    let check = async |what: &str, text: &str, answer: fn(&[u8]) -> Option<Vec<u8>>| {
        let fake = FakeAgent::start(answer);
        let bob = Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", fake.socket());
        let ended = approve(&bob.with_key(&daemon, 1, "agent:x"), &pending, "").await;
        assert!(ended.code != 0 && ended.stderr.contains(text), "{what}: {ended:?}");
    };
    let invalid = "the SSH agent sent an invalid answer";
    check("nothing", "the SSH agent did not answer within 5 s", |_| None).await;
    check("length zero", invalid, |_| Some(vec![0; 4])).await;
    check("length 4 GiB", invalid, |_| Some(vec![0xff; 4])).await;
    check("unknown message", invalid, |_| Some(framed(&[99]))).await;
    check("four billion keys", invalid, |_| Some(framed(&[12, 0xff, 0xff, 0xff, 0xff]))).await;
    check("a key longer than the message", invalid, |_| {
        Some(framed(&[12, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff, 0]))
    })
    .await;
    let of_key =
        |blob: &[u8], comment: &[u8]| framed(&[vec![12, 0, 0, 0, 1], string(blob), string(comment)].concat());
    let cleaned = move |_: &[u8]| Some(of_key(b"not a key", b"x\x1b[31m\xe2\x80\xae"));
    let fake = FakeAgent::start(cleaned);
    let bob = Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", fake.socket());
    let rows = bob.run_raw(&["key", "ls"], "").await.with(0);
    assert!(rows.output.contains("malformed"), "{rows:?}");
    assert!(!rows.output.contains(['\u{1b}', '\u{202e}']), "{rows:?}");
    assert_unvoted(&daemon, &pending).await;
}

/// OpenSSH cannot create keys of a security key without one, so their encoding is built here (PROTOCOL.u2f).
#[tokio::test]
async fn security_keys_and_certificates_in_an_agent_are_refused() {
    let daemon = daemon().await;
    let pending = propose(&daemon, "security key").await;
    let sk = [string(b"sk-ssh-ed25519@openssh.com"), string(&[7; 32]), string(b"ssh:")].concat();
    let certificate = [string(b"ssh-ed25519-cert-v01@openssh.com"), string(&[0; 32])].concat();
    let weak = [string(b"ssh-ed25519"), string(&[0; 32])].concat();
    for (blob, text) in [
        (sk, "sk-ssh-ed25519@openssh.com keys sign a structure of their own instead of the request"),
        (certificate, "cannot stamp requests"),
        (weak, "the key is not a point of its curve"),
    ] {
        let list = [vec![12, 0, 0, 0, 1], string(&blob), string(b"key")].concat();
        let fake = FakeAgent::start(move |request| (request == [IDENTITIES]).then(|| framed(&list)));
        let bob = Operator::root(&daemon, 1).with_variable("SSH_AUTH_SOCK", fake.socket());
        let ended = approve(&bob.with_key(&daemon, 1, "agent:key"), &pending, "").await.with(2);
        assert!(ended.stderr.contains(text), "{ended:?}");
    }
    assert_unvoted(&daemon, &pending).await;
}
