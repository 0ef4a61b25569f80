//! Tests of the form that proposes activities of any kind.

use quorate_common::console::AccountPage;
use quorate_common::ids::{WalletAccountId, WalletId};
use quorate_common::wire::WalletAccount;
use serde_json::{Value, json};

use super::*;
use crate::link::Order;

const PROPOSE_SIZES: [(u16, u16); 3] = [(120, 36), (80, 24), (40, 12)];

/// Opens the form of the first kind that matches.
fn form(size: (u16, u16), kind: &str) -> TestConsole {
    let fixture = Fixture::new(3, 2);
    let mut console = TestConsole::new(&fixture, &[], size);
    console.link(Answer::Organization(Arc::new(fixture.with_all_records())));
    console.press(Key::Char('p'));
    write(&mut console, kind);
    console
}

fn write(console: &mut TestConsole, text: &str) {
    for letter in text.chars() {
        console.press(Key::Char(letter));
    }
}

/// Writes text and goes to the next field.
fn enter(console: &mut TestConsole, text: &str) -> Vec<Effect> {
    write(console, text);
    console.press(Key::Enter)
}

/// Opens the form of the first kind and goes to a field.
fn select(console: &mut TestConsole, row: &str) {
    console.press(Key::Enter);
    for _ in 0..20 {
        if console.shown().contains(row) {
            return;
        }
        console.press(Key::Down);
    }
    unreachable!("{row}: {}", console.shown());
}

/// Returns the signed parameters of the draft in review.
fn drafted(console: &TestConsole) -> Value {
    let review = console.model.review.as_ref().map(|open| &open.review);
    let draft = review
        .and_then(|review| review.draft.as_ref())
        .unwrap_or_else(|| unreachable!("{}", console.shown()));
    let body: Value = serde_json::from_str(&draft.ballot.message).unwrap();
    body["parameters"].clone()
}

#[test]
fn a_tag_is_filled_in_by_names_and_reviewed() {
    for size in PROPOSE_SIZES {
        let name = |screen: &str| format!("propose_{screen}_{}x{}", size.0, size.1);
        let mut console = form(size, "create user");
        snapshot(&name("kinds"), &console.shown());
        enter(&mut console, " tag");
        snapshot(&name("empty"), &console.shown());
        console.press(Key::Ctrl('r'));
        assert!(console.shown().contains("userTagName: "), "{}", console.shown());
        enter(&mut console, "auditors");
        console.press(Key::Enter);
        write(&mut console, "j");
        snapshot(&name("names"), &console.shown());
        console.press(Key::Enter);
        assert!(!signs_or_sends(&console.press(Key::Ctrl('r'))));
        assert_eq!(drafted(&console), json!({"userTagName": "auditors", "userIds": [Fixture::user(1)]}));
        snapshot(&name("review"), &console.shown());
        // Nothing is lost behind the review.
        console.press(Key::Esc);
        console.press(Key::Up);
        console.press(Key::Up);
        console.press(Key::Up);
        assert!(console.shown().contains("auditors_"), "{}", console.shown());
    }
}

#[test]
fn enter_takes_the_first_suggestion_of_an_empty_required_field() {
    let mut console = form((120, 36), "create wallet");
    console.press(Key::Enter);
    enter(&mut console, "spare");
    // Adds an account, whose curve has three values and whose format of the path has one.
    console.press(Key::Enter);
    console.press(Key::Enter);
    console.press(Key::Enter);
    let shown = console.shown();
    assert!(shown.contains("CURVE_SECP256K1") && shown.contains("PATH_FORMAT_BIP32"), "{shown}");
    assert!(shown.contains("> path*"), "{shown}");
    // Tab leaves a field as it is, and so does Enter in an optional one.
    let mut console = form((120, 36), "create wallet");
    console.press(Key::Enter);
    enter(&mut console, "spare");
    select(&mut console, "> mnemonicLength");
    console.press(Key::Enter);
    assert!(!console.shown().contains("mnemonicLength  1"), "{}", console.shown());
}

#[test]
fn kinds_are_ranked_by_title_then_type_then_description() {
    for (words, first) in [
        ("user tag", "Create user tag"),
        ("wallet", "Create wallet"),
        ("delete user", "Delete user"),
        ("create user", "Create user tag"),
        ("sign_raw_payload", "Sign raw payload"),
    ] {
        let console = form((120, 36), words);
        let shown = console.shown();
        let selected = shown.lines().find(|line| line.contains("\u{2502} > ")).unwrap_or_default().to_owned();
        assert!(selected.contains(&format!("> {first}")), "{words}: {shown}");
    }
    let shown = form((120, 36), "").shown();
    assert!(!shown.contains("Accept invitation") && !shown.contains("Approve activity"), "{shown}");
}

#[test]
fn a_field_without_anything_to_name_states_that() {
    let mut console = form((120, 36), "add wallet accounts");
    console.link(Answer::Organization(Arc::new(Fixture::new(3, 2).organization())));
    let mut organization = Fixture::new(3, 2).organization();
    organization.wallets.clear();
    console.link(Answer::Organization(Arc::new(organization)));
    select(&mut console, "> walletId*");
    assert!(console.shown().contains("[!] This organization has no wallet yet."), "{}", console.shown());
}

#[test]
fn accounts_of_wallets_are_added_and_signed_with() {
    let mut console = form((120, 36), "create wallet accounts");
    console.press(Key::Enter);
    enter(&mut console, "treasury");
    console.press(Key::Enter);
    for text in ["SECP", "PATH_FORMAT_BIP32", "m/44'/60'/0'/0/1", "FORMAT_ETH"] {
        enter(&mut console, text);
    }
    let wallet = WalletId::from_bytes([0x51; 16]);
    console.press(Key::Ctrl('r'));
    let account = json!({"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/1",
        "addressFormat": "ADDRESS_FORMAT_ETHEREUM"});
    assert_eq!(drafted(&console), json!({"walletId": wallet, "accounts": [account]}));

    let mut console = form((120, 36), "sign transaction");
    let effects = console.press(Key::Enter);
    assert_eq!(effects, [Effect::Order(Order::Accounts(Fixture::id(), wallet, None))]);
    let address = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94".to_owned();
    let account = WalletAccount {
        wallet_account_id: WalletAccountId::from_bytes([0x61; 16]),
        organization_id: Fixture::id(),
        wallet_id: wallet,
        curve: "CURVE_SECP256K1".to_owned(),
        path_format: "PATH_FORMAT_BIP32".to_owned(),
        path: "m/44'/60'/0'/0/0".to_owned(),
        address_format: "ADDRESS_FORMAT_ETHEREUM".to_owned(),
        address: address.clone(),
        created_at: Timestamp::from_millis(NOW),
        updated_at: Timestamp::from_millis(NOW),
        public_key: None,
        wallet_details: None,
        name: None,
    };
    console.link(Answer::Accounts(wallet, None, AccountPage { accounts: vec![account], next: None }));
    enter(&mut console, "hot m/44");
    let shown = console.shown();
    assert!(shown.contains("signWith*  \"treasury-hot m/44'/60'/0'/0/0\"  0x"), "{shown}");
}

#[test]
fn secrets_are_not_shown_and_pastes_stay_in_the_field() {
    let mut console = form((120, 36), "otp_auth");
    select(&mut console, "> otpCode*");
    let effects = update(&mut console.model, Msg::Paste("4242424242421881\nq\n".to_owned().into()));
    assert!(effects.is_empty());
    let shown = console.shown();
    assert!(!shown.contains("4242") && shown.contains("********_ 16 characters"), "{shown}");
    console.press(Key::Up);
    assert!(!console.shown().contains("4242424242421881"), "{}", console.shown());
}

#[test]
fn typed_values_are_discarded_only_on_request() {
    let mut console = form((80, 24), "create user tag");
    console.press(Key::Enter);
    write(&mut console, "auditors");
    console.press(Key::Esc);
    assert!(console.shown().contains("Discard what you typed?"), "{}", console.shown());
    update(&mut console.model, Msg::Paste("y".to_owned().into()));
    console.press(Key::Esc);
    assert!(console.shown().contains("auditors_"), "{}", console.shown());
    console.press(Key::Esc);
    console.press(Key::Char('y'));
    assert!(console.shown().contains("Propose: create user tag_"), "{}", console.shown());
    console.press(Key::Esc);
    assert!(console.shown().contains("[1 Approvals"), "{}", console.shown());
}

#[test]
fn kinds_that_others_decide_are_not_offered() {
    let mut console = form((120, 36), "approve activity");
    console.press(Key::Enter);
    assert!(
        console.shown().contains("not proposed here: a vote is cast in the review"),
        "{}",
        console.shown()
    );
    let mut console = form((120, 36), "import wallet");
    select(&mut console, "> encryptedBundle*");
    assert!(console.shown().contains("encryptWalletToBundle"), "{}", console.shown());
}

/// Each kind that can be proposed becomes a draft with exactly its example parameters.
#[test]
fn each_kind_becomes_a_draft_of_its_example() {
    let examples: Value = serde_json::from_str(include_str!("../../../../assets/examples.json")).unwrap();
    let fixture = Fixture::new(3, 2);
    let console = TestConsole::new(&fixture, &[], (120, 36));
    for entry in crate::catalog::all().filter(|entry| crate::forms::unavailable(entry).is_none()) {
        let example = &examples[&entry.activity_type];
        let mut form = crate::forms::Form::new(entry);
        let mut leaves = Vec::new();
        crate::forms::tests::leaves(example, "", &mut leaves);
        for (path, text) in &leaves {
            form.set(path, text).unwrap();
        }
        let review = console.model.shared.review_request(&form.request(form.value())).unwrap();
        let ballot = review.draft.unwrap().ballot;
        let body: Value = serde_json::from_str(&ballot.message).unwrap();
        assert_eq!(body["parameters"].to_string(), example.to_string(), "{}", entry.activity_type);
        assert_eq!((&body["type"], ballot.path), (&json!(entry.activity_type), entry.path.as_str()));
    }
}

/// The review of a draft waits for the key that would sign, and shows what the transaction moves.
#[test]
fn a_drafted_transaction_is_reviewed_as_a_transfer() {
    let (with, to) =
        ("0x9858EfFD232B4033E47d90003D41EC34EcaEda94", "0x3535353535353535353535353535353535353535");
    let mut console = form((120, 36), "sign transaction");
    let entry = crate::book::Entry::new(quorate_chain::address::Chain::Ethereum, to, "exchange cold", 0);
    console.model.shared.book.add(entry.unwrap()).unwrap();
    console.press(Key::Enter);
    // The sample of EIP-155.
    let unsigned =
        "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";
    for text in [with, "TRANSACTION_TYPE_ETHEREUM", unsigned] {
        let row = console.shown();
        let is = |label: &str| row.contains(&format!("> {label}*"));
        let value = if is("signWith") {
            with
        } else if is("type") {
            "TRANSACTION_TYPE_ETHEREUM"
        } else if is("unsignedTransaction") {
            unsigned
        } else {
            unreachable!("{text}: {row}")
        };
        enter(&mut console, value);
    }
    let wanted = console.press(Key::Ctrl('r'));
    assert!(wanted.contains(&Effect::Order(Order::Signer(Fixture::id(), with.to_owned()))), "{wanted:?}");
    assert!(console.model.review.is_none(), "{}", console.shown());
    // A key that is pressed meanwhile keeps the form.
    console.press(Key::Up);
    let answer = Answer::Signer(with.to_owned(), Some(Box::new(super::transfers::account(with))));
    console.link(answer.clone());
    assert!(console.model.review.is_none(), "{}", console.shown());
    console.press(Key::Ctrl('r'));
    let effects = console.link(answer);
    let shown = console.shown();
    assert!(
        shown.contains("exchange cold [book]") && shown.contains("wallet \"treasury-hot\" [s]"),
        "{shown}"
    );
    assert!(shown.contains("1 ETH (1000000000000000000 wei)") && !shown.contains("looking up"), "{shown}");
    assert!(!signs_or_sends(&effects), "{effects:?}");
    let is_read = |effect: &Effect| matches!(effect, Effect::Order(Order::Transfers(..)));
    assert!(effects.iter().any(is_read), "{effects:?}");
    console.press(Key::Char('a'));
    assert!(!console.is_deciding() && console.shown().contains("not loaded yet"), "{}", console.shown());
    let none = EarlierTransfers { rows: Vec::new(), is_partial: false, owners: BTreeMap::new() };
    let id = console.model.review.as_ref().unwrap().review.activity.id;
    console.link(Answer::Transfers(id, Box::new(none)));
    assert!(console.shown().contains("never signed: not among the 0 executed"), "{}", console.shown());
}

#[test]
fn every_field_and_every_description_is_reached_on_a_small_terminal() {
    let mut console = form((40, 12), "import wallet");
    select(&mut console, "> encryptedBundle*");
    let mut seen = String::new();
    for _ in 0..8 {
        seen.push_str(&console.shown());
        console.press(Key::PageDown);
    }
    assert!(seen.contains("encryptWalletToBundle"), "{seen}");
    assert!(!console.shown().contains("more rows below: PgDn"), "the end: {}", console.shown());
    // Down is the key that shows more fields.
    let mut console = form((40, 12), "create sub-organization");
    console.press(Key::Enter);
    assert!(console.shown().contains("more rows below: Down"), "{}", console.shown());
    select(&mut console, "> Review the draft");
    // An object that is removed leaves the cursor on its row.
    let mut console = form((40, 12), "create sub-organization");
    for key in [Key::Enter, Key::Down, Key::Down] {
        console.press(key);
    }
    assert!(console.shown().contains("> clientSignature  left out"), "{}", console.shown());
    console.press(Key::Enter);
    assert!(console.shown().contains("> publicKey*"), "{}", console.shown());
    console.press(Key::Ctrl('d'));
    assert!(console.shown().contains("> clientSignature  left out"), "{}", console.shown());
}
