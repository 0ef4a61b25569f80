//! Activities that are proposed by form and on the command line.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use serde_json::{Value, json};

use crate::console::type_like_a_person;
use crate::screen::Screen;

/// Reviews the draft of the form and proposes it.
async fn propose(screen: &mut Screen, sentence: &str) {
    screen.press("\x12");
    screen.shows(sentence).await;
    screen.press("a");
    screen.shows("Enter works once the answer is typed").await;
    type_like_a_person(screen, "y").await;
    screen.press("\t");
    type_like_a_person(screen, "\r").await;
    screen.shows("It was executed.").await;
    screen.press("\r");
}

#[tokio::test]
async fn a_tag_and_a_wallet_account_are_created_by_form() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let alice = Operator::root(&daemon, 0);
    let wallet = alice.run(&["propose", "create-wallet", "--set", "walletName=hot"]).await.with(0).json();
    assert_eq!(wallet["outcome"], "executed", "{wallet:#}");
    let mut screen = Screen::open(Operator::root(&daemon, 0));
    screen.shows("Nothing waits").await;
    screen.press("p");
    screen.shows("Propose: _").await;
    type_like_a_person(&mut screen, "create user tag\r").await;
    screen.shows("> userTagName*").await;
    type_like_a_person(&mut screen, "auditors\r\rmira\r").await;
    propose(&mut screen, "auditors").await;
    screen.shows("Nothing waits").await;
    screen.press("p");
    screen.shows("Propose: _").await;
    type_like_a_person(&mut screen, "create wallet accounts\r").await;
    screen.shows("> walletId*").await;
    type_like_a_person(&mut screen, "hot\r\rSECP\rBIP32\rm/44'/60'/0'/0/0\rFORMAT_ETHEREUM\r").await;
    propose(&mut screen, "m/44'/60'/0'/0/0").await;
    let organization = alice.run(&["org", "get"]).await.with(0).json();
    let tags: Vec<&Value> =
        organization["tags"].as_array().into_iter().flatten().map(|tag| &tag["tagName"]).collect();
    assert_eq!(tags, [&json!("auditors")], "{organization:#}");
    let dry = ["propose", "sign-raw-payload", "--dry-run", "--set", "encoding=PAYLOAD_ENCODING_TEXT_UTF8"];
    let signed = [&dry[..], &["--set", "hashFunction=HASH_FUNCTION_SHA256", "--set", "payload=x"]].concat();
    let named = [&signed[..], &["--set", "signWith=hot m/44'/60'/0'/0/0"]].concat();
    let review = alice.run(&named).await.with(0).json();
    assert!(review.to_string().contains("0x"), "the name becomes the address: {review:#}");
}

#[tokio::test]
async fn commands_check_parameters_and_name_the_member() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let alice = Operator::root(&daemon, 0);
    let missing = alice.run(&["propose", "create-user-tag", "--set", "userIds=nobody"]).await.with(2);
    for words in ["parameters.userTagName: required", "parameters.userIds[0]: must be an id (UUID)"] {
        assert!(missing.stderr.contains(words) || missing.output.contains(words), "{missing:?}");
    }
    let tag = ["propose", "create-user-tag", "--set", "userTagName=ops", "--set", "userIds=jo"];
    let proposed = alice.run(&tag).await.with(0).json();
    assert_eq!(proposed["outcome"], "executed", "{proposed:#}");
    let vote = alice.run(&["propose", "approve-activity"]).await.with(2);
    assert!(vote.stderr.contains("quorate approve") || vote.output.contains("quorate approve"), "{vote:?}");
    let secret = alice.run(&["propose", "otp-auth", "--set", "otpCode=123456"]).await.with(2);
    let shown = format!("{}{}", secret.output, secret.stderr);
    assert!(shown.contains("otpCode is secret") && !shown.contains("123456"), "{shown}");
}

/// A transaction of one ether and some wei, in the layout of the sample of EIP-155.
fn transaction(nonce: u8, wei: u8) -> String {
    let to = "3535353535353535353535353535353535353535";
    format!("unsignedTransaction=ec{nonce:02x}8504a817c80082520894{to}880de0b6b3a76400{wei:02x}80018080")
}

#[tokio::test]
async fn transfers_are_compared_with_earlier_ones() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let alice = Operator::root(&daemon, 0);
    let account = [
        "walletName=hot",
        "accounts[0].curve=CURVE_SECP256K1",
        "accounts[0].pathFormat=PATH_FORMAT_BIP32",
        "accounts[0].path=m/44'/60'/0'/0/0",
        "accounts[0].addressFormat=ADDRESS_FORMAT_ETHEREUM",
    ];
    let set = account.map(|member| ["--set", member]).concat();
    let wallet = alice.run(&[&["propose", "create-wallet"], &set[..]].concat()).await.with(0).json();
    assert_eq!(wallet["outcome"], "executed", "{wallet:#}");
    let to = "0x3535353535353535353535353535353535353535";
    let added = alice.run(&["book", "add", "ethereum", to, "exchange cold"]).await.with(0).json();
    assert_eq!(added["address"], to, "{added:#}");
    let named = ["propose", "sign-transaction", "--set", "signWith=hot m/44'/60'/0'/0/0"];
    let sign = [&named[..], &["--set", "type=TRANSACTION_TYPE_ETHEREUM", "--set"]].concat();
    let (first, second) = (transaction(1, 0), transaction(2, 1));
    let signed = alice.run(&[&sign[..], &[first.as_str()]].concat()).await.with(0).json();
    assert_eq!(signed["outcome"], "executed", "{signed:#}");
    let review = alice.run(&[&sign[..], &[second.as_str(), "--dry-run"]].concat()).await.with(0).json();
    let flags = review["flags"].as_array().expect("flags");
    assert!(flags.iter().any(|flag| flag["name"] == "largest-so-far"), "{review:#}");
    assert_eq!(review["transfer"]["headline"], "1.000000000000000001 ETH (1000000000000000001 wei)");
    let lines = review["transfer"]["lines"].to_string();
    for words in
        ["exchange cold [book]", "signed 1 time, last", "in your journal 1 time", "wallet \\\"hot\\\" [s]"]
    {
        assert!(lines.contains(words), "{words}: {review:#}");
    }
    let rule = review["outlook"].to_string();
    assert!(!rule.contains("unknown"), "the key that would sign is looked up: {review:#}");
}
