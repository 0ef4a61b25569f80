//! The console and its terminal: it is restored however the console ends, resizing loses nothing, locales without UTF-8
//! and terminals without colour work, and an idle console costs nothing.

use std::time::Duration;

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::screen::{Screen, Setup};

/// Starts a daemon of two users with an activity of risk HIGH that waits.
async fn daemon() -> Daemon {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let members = [daemon.root_id(0), daemon.root_id(1)];
    let quorum = json!({"threshold": 1, "userIds": members});
    let _ = daemon.root(0).waiting("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &quorum).await;
    daemon
}

#[tokio::test]
async fn the_terminal_is_restored_however_the_console_ends() {
    let daemon = daemon().await;
    for how in ["q", "Ctrl-C", "TERM", "HUP", "INT"] {
        let mut screen = Screen::open(Operator::root(&daemon, 1));
        screen.shows("Change root quorum").await;
        assert!(!screen.is_restored(), "the console has the terminal");
        let signal = |signal| kill_process(screen.process_id(), signal).expect("the console runs");
        match how {
            "q" => screen.press("q"),
            "Ctrl-C" => screen.press("\u{3}"),
            "TERM" => signal(Signal::TERM),
            "HUP" => signal(Signal::HUP),
            _ => signal(Signal::INT),
        }
        screen.wait_until(how, Screen::has_ended).await;
        screen.wait_until("a restored terminal", |screen| screen.is_restored()).await;
    }
}

#[tokio::test]
async fn the_terminal_is_restored_while_the_console_is_stopped() {
    let daemon = daemon().await;
    for how in ["Ctrl-Z", "TSTP"] {
        let mut screen = Screen::open(Operator::root(&daemon, 1));
        screen.shows("Change root quorum").await;
        match how {
            "Ctrl-Z" => screen.press("\u{1a}"),
            _ => kill_process(screen.process_id(), Signal::TSTP).expect("the console runs"),
        }
        screen.wait_until("a restored terminal", |screen| screen.is_restored()).await;
        assert!(!screen.has_ended(), "{how}");
        kill_process(screen.process_id(), Signal::CONT).expect("the console exists");
        screen.wait_until("the console again", |screen| !screen.is_restored()).await;
        screen.shows("Change root quorum").await;
    }
}

#[tokio::test]
async fn a_panic_on_any_thread_restores_the_terminal() {
    let daemon = daemon().await;
    // While a frame is drawn, in a request to the daemon, and on a thread that reads files.
    for (point, keys) in [("draw", ""), ("order", ""), ("examine", "7")] {
        let setup = Setup { environment: &[("QUORATE_PANIC", point)], ..Setup::default() };
        let mut screen = Screen::start(Operator::root(&daemon, 1), setup);
        screen.wait_until("the alternate screen", |screen| contains(&screen.output(), b"\x1b[?1049h")).await;
        if !keys.is_empty() {
            screen.shows("Change root quorum").await;
            screen.press(keys);
        }
        assert_eq!(screen.exit_code().await, 101, "{point}");
        screen.wait_until("a restored terminal", |screen| screen.is_restored()).await;
        let advice = "Start `quorate` again";
        screen.wait_until("what to do", |screen| screen.text().contains(advice)).await;
        let text = screen.text().replace('\n', "");
        let reason = format!("internal error: provoked at {point}<U+001B>[31m<U+202E> (tui/src/");
        assert!(text.contains(&reason), "{point}: {text}");
        assert!(text.contains("`quorate activity get`"), "{point}: {text}");
        let log = screen.operator().home().join("state/quorate/console.log");
        let log = std::fs::read_to_string(log).expect("a log");
        assert!(log.contains(&format!("internal error: provoked at {point}")), "{log}");
    }
}

fn contains(output: &[u8], bytes: &[u8]) -> bool {
    output.windows(bytes.len()).any(|window| window == bytes)
}

#[tokio::test]
async fn a_user_who_does_not_exist_leaves_the_terminal_restored() {
    let daemon = daemon().await;
    let organization = daemon.credentials().organization_id.clone();
    let reader = Operator::reading(&daemon.credentials().socket, &organization);
    let setup = Setup { arguments: &["--user", "nobody"], ..Setup::default() };
    let mut screen = Screen::start(reader, setup);
    screen.wait_until("the end", Screen::has_ended).await;
    screen.wait_until("a restored terminal", |screen| screen.is_restored()).await;
    assert!(screen.text().contains("nobody"), "{}", screen.text());
}

#[tokio::test]
async fn resizing_loses_neither_text_nor_place() {
    let daemon = daemon().await;
    let mut screen = Screen::sized(Operator::root(&daemon, 1), (120, 36));
    screen.shows("Change root quorum").await;
    screen.press("/root");
    screen.shows("/root_").await;
    screen.resize((20, 5));
    screen.until("the required size", |text| text.replace('\n', " ").contains("needs 40x12")).await;
    screen.resize((40, 12));
    screen.shows("/root_").await;
    screen.resize((120, 36));
    screen.shows("/root_  1 of 1").await;
}

/// Terminals that show less than most do.
const PLAIN: [&[(&str, &str)]; 4] = [
    &[("LANG", "C")],
    &[("LC_ALL", "POSIX"), ("TERM", "linux")],
    &[("LANG", ""), ("TERM", "vt100")],
    &[("LANG", "C"), ("TERM", "xterm-16color")],
];

#[tokio::test]
async fn locales_without_utf_8_get_ascii_only() {
    let daemon = daemon().await;
    for environment in PLAIN {
        let setup = Setup { environment, size: (80, 24), ..Setup::default() };
        let mut screen = Screen::start(Operator::root(&daemon, 1), setup);
        screen.shows("Change root quorum").await;
        screen.press("\r");
        screen.shows("1 What happens").await;
        screen.press("?");
        screen.shows("Keys on this screen").await;
        let other: Vec<u8> = screen.output().into_iter().filter(|byte| !byte.is_ascii()).collect();
        assert!(other.is_empty(), "{environment:?}: {}", String::from_utf8_lossy(&other));
    }
}

#[tokio::test]
async fn nothing_is_coloured_if_the_user_wants_no_colour() {
    let daemon = daemon().await;
    let setup = Setup { environment: &[("NO_COLOR", "1")], ..Setup::default() };
    let mut screen = Screen::start(Operator::root(&daemon, 1), setup);
    screen.shows("> HIGH").await;
    let output = String::from_utf8_lossy(&screen.output()).into_owned();
    for part in output.split("\u{1b}[").skip(1) {
        let numbers = part.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
        if !numbers.starts_with('m') {
            continue;
        }
        let numbers = &part[..part.len() - numbers.len()];
        let is_colour = |number: &str| matches!(number.parse(), Ok(30..=38_u8 | 40..=48 | 90..=107));
        assert!(!numbers.split(';').any(is_colour), "ESC[{numbers}m");
    }
    assert!(output.contains("\u{1b}[7m"), "the selected row is in reverse video");
}

#[tokio::test]
async fn an_idle_console_draws_nothing_and_needs_no_processor() {
    const WINDOW: Duration = Duration::from_secs(6);
    let daemon = daemon().await;
    let mut screen = Screen::sized(Operator::root(&daemon, 1), (170, 36));
    screen.shows("on this host").await;
    let before = processor_millis(&screen);
    // What is measured is a span of time, so the test waits for that long.
    let mut drawn = Vec::new();
    for _ in 0..3 {
        let before = screen.output().len();
        tokio::time::sleep(WINDOW / 3).await;
        let output = screen.output();
        drawn.push(String::from_utf8_lossy(output.get(before..).unwrap_or_default()).into_owned());
    }
    let busy = drawn.iter().filter(|output| !output.is_empty()).count();
    assert!(busy <= 1, "at most the change of the minute is drawn: {drawn:?}");
    let used = processor_millis(&screen) - before;
    assert!(used < 300, "{used} ms of the processor in {WINDOW:?}");
}

/// Writes the configuration of an operator's console.
fn configure(operator: &Operator, text: &str) {
    let folder = operator.home().join("config/quorate");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), text).expect("a file");
}

#[tokio::test]
async fn a_new_high_activity_notifies_as_configured() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let operator = Operator::root(&daemon, 1);
    configure(&operator, "notify = [\"bell\", \"osc9\", \"osc777\", \"title\"]\n[keys]\nquit = \"Q\"\n");
    let mut screen = Screen::open(operator);
    screen.shows("Nothing waits").await;
    let quorum = json!({"threshold": 1, "userIds": [daemon.root_id(0), daemon.root_id(1)]});
    let _ = daemon.root(0).waiting("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &quorum).await;
    let text = "new HIGH: Change root quorum: threshold 2 [s] -> 1, same 2 members [s]";
    let sent = |screen: &Screen| String::from_utf8_lossy(&screen.output()).into_owned();
    for sequence in [
        format!("\u{1b}]9;quorate: {text}\u{1b}\\"),
        format!("\u{1b}]777;notify;quorate;{text}\u{1b}\\"),
        "\u{1b}[22;2t\u{7}".to_owned(),
        format!("\u{1b}]2;quorate: {text}\u{1b}\\"),
    ] {
        screen.wait_until(&format!("{sequence:?}"), |screen| sent(screen).contains(&sequence)).await;
    }
    // The added key works, and the title of before comes back.
    screen.press("Q");
    screen.wait_until("the end", Screen::has_ended).await;
    screen.wait_until("the title", |screen| sent(screen).contains("\u{1b}[23;2t")).await;
}

#[tokio::test]
async fn the_mouse_is_used_unless_it_is_off() {
    let daemon = daemon().await;
    for (configuration, is_used) in [("", true), ("mouse = false\n", false)] {
        let operator = Operator::root(&daemon, 1);
        configure(&operator, configuration);
        let mut screen = Screen::open(operator);
        screen.shows("[1 Approvals 1]").await;
        let output = String::from_utf8_lossy(&screen.output()).into_owned();
        assert_eq!(output.contains("\u{1b}[?1000h"), is_used);
        if is_used {
            // A click on the second tab (xterm, mode 1006).
            screen.press("\u{1b}[<0;22;2M\u{1b}[<0;22;2m");
            screen.shows("[2 Organizations").await;
        }
        screen.press("q");
        screen.wait_until("the end", Screen::has_ended).await;
        screen.wait_until("a restored terminal", |screen| screen.is_restored()).await;
    }
}

#[tokio::test]
async fn keys_with_two_meanings_are_refused_with_their_line() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let operator = Operator::root(&daemon, 1);
    configure(&operator, "[keys]\nrefresh = \"Z\"\napprove = \"Enter\"\n");
    let check = operator.run_raw(&["config", "check"], "").await.with(2);
    assert!(check.output.contains("config.toml:3: keys: \"approve\": \"Enter\""), "{check:#?}");
    let mut screen = Screen::open(operator);
    screen.wait_until("the end", Screen::has_ended).await;
    screen.wait_until("the reason", |screen| screen.text().contains("config.toml:3: keys")).await;
}

#[tokio::test]
async fn errors_on_screen_are_in_the_log_of_the_console() {
    let mut daemon = daemon().await;
    let mut screen = Screen::open(Operator::root(&daemon, 1));
    screen.shows("Change root quorum").await;
    daemon.kill();
    screen.shows("DISCONNECTED").await;
    let path = screen.operator().home().join("state/quorate/console.log");
    screen
        .wait_until("the error in the log", |_| {
            std::fs::read_to_string(&path).is_ok_and(|log| log.contains("no daemon listens at"))
        })
        .await;
}

/// Returns the processor time of the console, in milliseconds.
fn processor_millis(screen: &Screen) -> u64 {
    let process = screen.process_id().as_raw_nonzero();
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("a process");
    let (_, rest) = stat.rsplit_once(") ").expect("a state");
    let ticks = |index: usize| rest.split(' ').nth(index).and_then(|text| text.parse().ok()).unwrap_or(0);
    // Fields 14 and 15 of proc_pid_stat(5), in hundredths of a second.
    (ticks(11) + ticks(12)) * 10
}
