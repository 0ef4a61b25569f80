//! A new operator gets from the installed programs to the first approved activity by what the programs themselves show: each
//! key is announced on the screen before it is pressed, and all that is to be read takes less than ten minutes.

use std::collections::BTreeSet;

use quorate_tests::operator::Operator;

use crate::screen::{Screen, Setup};

/// Average rate of silent reading of non-fiction in English, in words per minute (Brysbaert, "How many words do we read per
/// minute?", 2019).
const WORDS_PER_MINUTE: usize = 238;
/// Time for each key or command, in seconds: finding it, and typing it.
const SECONDS_PER_STEP: usize = 5;
const MINUTES: usize = 10;

/// What a reader has seen. A line that stays on the screen is read once.
#[derive(Default)]
struct Reader {
    lines: BTreeSet<String>,
    steps: usize,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let shown = text.lines().map(|line| line.trim_matches(|letter: char| !letter.is_alphanumeric()));
        self.lines.extend(shown.map(str::to_owned));
    }

    /// Returns the time in seconds.
    fn seconds(&self) -> usize {
        let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
        let words: usize =
            self.lines.iter().map(|line| line.split_whitespace().filter(is_word).count()).sum();
        words * 60 / WORDS_PER_MINUTE + self.steps * SECONDS_PER_STEP
    }
}

#[tokio::test]
async fn the_built_in_help_leads_to_the_first_approval() {
    let mut reader = Reader::default();
    let help = Operator::newcomer().run_raw(&["--help"], "").await.with(0).output;
    assert!(
        help.contains("quorate dev                           try the console with a throwaway daemon"),
        "{help}"
    );
    reader.read(&help);
    let setup = Setup { arguments: &["dev"], ..Setup::default() };
    let operator = Operator::newcomer();
    let state = operator.home().join("state");
    let mut screen = Screen::start(operator, setup);
    // Before each key, the screen names it together with what it does.
    let path = [
        ("> HIGH  Change root quorum", ""),
        ("Enter Review", "\r"),
        ("d Raw bytes  v Proof  c Compare", "?"),
        ("type to search, Esc closes", "\u{1b}"),
        ("a Approve...", "a"),
        ("cannot approve: 2 sections unseen: PgDn", "\u{1b}[6~"),
        ("to approve, type the NEW THRESHOLD", "a"),
        ("Type the NEW THRESHOLD, then press Enter:", ""),
        ("Enter works once the answer is typed", "1"),
    ];
    for (announced, keys) in path {
        reader.read(&screen.shows(announced).await);
        screen.press(keys);
        reader.steps += 1;
    }
    reader.read(&screen.shows("[ 1_ ]").await);
    screen.press("\r");
    let receipt = screen.shows("It was executed.").await;
    reader.read(&receipt);
    assert!(receipt.contains("Vote recorded"), "{receipt}");
    // The next one, and the end, are announced as well.
    reader.read(&screen.shows("n opens ").await);
    screen.press("\u{1b}");
    screen.shows("Esc Back").await;
    screen.press("\u{1b}");
    screen.shows("q Quit").await;
    screen.press("q");
    assert_eq!(screen.exit_code().await, 0);
    // The console remembers nothing of an organization that does not exist anymore.
    assert!(!state.join("quorate").exists(), "{:?}", std::fs::read_dir(state.join("quorate")));
    let seconds = reader.seconds();
    assert!(
        seconds < MINUTES * 60,
        "{seconds} s for {} lines and {} steps",
        reader.lines.len(),
        reader.steps
    );
}
