//! A pseudo-terminal that runs the real console: takes keys and returns the text of the screen.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use quorate_tests::daemon::POLL_INTERVAL;
use quorate_tests::http::TIMEOUT;
use quorate_tests::operator::Operator;
use quorate_tests::paths;
use rustix::process::Pid;

/// Columns and rows of the default terminal.
const SIZE: (u16, u16) = (120, 36);

/// How a console is started.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    /// Columns and rows of the terminal.
    pub(crate) size: (u16, u16),
    /// Environment variables, beside those of the operator and of an ordinary terminal.
    pub(crate) environment: &'a [(&'a str, &'a str)],
    /// Arguments after those that identify the user.
    pub(crate) arguments: &'a [&'a str],
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self { size: SIZE, environment: &[], arguments: &[] }
    }
}

type Keyboard = Arc<Mutex<Box<dyn Write + Send>>>;

/// What was sent to the clipboard last, in Base64.
type Clipboard = Arc<Mutex<String>>;

/// A terminal that runs the console. The console is killed when dropped.
pub(crate) struct Screen {
    terminal: Arc<Mutex<vt100::Parser<Replies>>>,
    /// All bytes that the program has written.
    output: Arc<Mutex<Vec<u8>>>,
    keyboard: Keyboard,
    clipboard: Clipboard,
    /// Keeps the home folder of the console.
    operator: Operator,
    child: Box<dyn Child + Send + Sync>,
    /// Kept open, because the console exits with its terminal.
    master: Box<dyn MasterPty + Send>,
    /// Description of the modes of the terminal before the start.
    modes: String,
}

impl Screen {
    /// Opens the console as this user.
    pub(crate) fn open(operator: Operator) -> Self {
        Self::sized(operator, SIZE)
    }

    /// Opens the console as this user, in a terminal with these columns and rows.
    pub(crate) fn sized(operator: Operator, size: (u16, u16)) -> Self {
        Self::start(operator, Setup { size, ..Setup::default() })
    }

    /// Opens the console as this user, with this editor command.
    pub(crate) fn with_editor(operator: Operator, editor: &str) -> Self {
        Self::start(operator, Setup { environment: &[("EDITOR", editor)], ..Setup::default() })
    }

    /// Opens the console as this user.
    pub(crate) fn start(operator: Operator, setup: Setup<'_>) -> Self {
        let (columns, rows) = setup.size;
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(paths::program("quorate"));
        command.args(operator.identity());
        command.args(setup.arguments);
        command.env_clear();
        for (name, value) in operator.environment() {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env("EDITOR", "false");
        for (name, value) in setup.environment {
            command.env(name, value);
        }
        command.cwd(operator.home());
        let modes = format!("{:?}", pair.master.get_termios());
        let child = pair.slave.spawn_command(command).expect("quorate can be started");
        let keyboard: Keyboard =
            Arc::new(Mutex::new(pair.master.take_writer().expect("the terminal can be written")));
        let clipboard = Arc::default();
        let replies = Replies(Arc::clone(&keyboard), Arc::clone(&clipboard));
        let terminal = vt100::Parser::new_with_callbacks(cells(rows), cells(columns), 0, replies);
        let terminal = Arc::new(Mutex::new(terminal));
        let reader = pair.master.try_clone_reader().expect("the terminal can be read");
        let (shown, output) = (Arc::clone(&terminal), Arc::default());
        let copy = Arc::clone(&output);
        std::thread::spawn(move || draw(reader, &shown, &copy));
        Self { terminal, output, keyboard, clipboard, operator, child, master: pair.master, modes }
    }

    /// Returns all bytes that the program has written so far.
    pub(crate) fn output(&self) -> Vec<u8> {
        self.output.lock().expect("no holder panicked").clone()
    }

    /// Returns whether the terminal is as it was before the program started.
    pub(crate) fn is_restored(&self) -> bool {
        let terminal = self.terminal.lock().expect("no holder panicked");
        let screen = terminal.screen();
        let is_taken = screen.alternate_screen() || screen.bracketed_paste() || screen.hide_cursor();
        !is_taken
            && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
            && self.modes == self.modes()
    }

    fn modes(&self) -> String {
        format!("{:?}", self.master.get_termios())
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&mut self, (columns, rows): (u16, u16)) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.terminal.lock().expect("no holder panicked").screen_mut().set_size(cells(rows), cells(columns));
        self.master.resize(size).expect("the terminal can be resized");
    }

    /// Waits until a condition holds, which is not one of the text.
    pub(crate) async fn wait_until(&mut self, what: &str, condition: impl Fn(&mut Self) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !condition(self) {
            assert!(Instant::now() < deadline, "not in time: {what}:\n{}", self.text());
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns whether the program has exited.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("the console can be waited for").is_some()
    }

    /// Waits until the program has exited, and returns its exit code.
    pub(crate) async fn exit_code(&mut self) -> u32 {
        self.wait_until("the end", Self::has_ended).await;
        self.child.wait().expect("the console can be waited for").exit_code()
    }

    /// Returns the user of the console.
    pub(crate) fn operator(&self) -> &Operator {
        &self.operator
    }

    /// Returns the id of the console's process.
    pub(crate) fn process_id(&self) -> Pid {
        let id = self.child.process_id().and_then(|id| Pid::from_raw(id.cast_signed()));
        id.expect("the console runs")
    }

    /// Returns the text of the screen, line by line.
    pub(crate) fn text(&self) -> String {
        self.terminal.lock().expect("no holder panicked").screen().contents()
    }

    /// Returns what the console sent to the clipboard of the terminal last, in Base64.
    pub(crate) fn clipboard(&self) -> String {
        self.clipboard.lock().expect("no holder panicked").clone()
    }

    /// Sends key presses.
    pub(crate) fn press(&mut self, keys: &str) {
        send(&self.keyboard, keys).expect("the console reads");
    }

    /// Waits until the screen fulfils a condition, and returns its text.
    pub(crate) async fn until(&mut self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let text = self.text();
            if condition(&text) {
                return text;
            }
            let ended = self.child.try_wait().expect("the console can be waited for");
            assert!(ended.is_none(), "the console exited ({ended:?}) before {what}:\n{text}");
            assert!(Instant::now() < deadline, "not on the screen in time: {what}:\n{text}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits until the screen shows this text, and returns the whole text.
    pub(crate) async fn shows(&mut self, words: &str) -> String {
        self.until(words, |text| text.contains(words)).await
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the console's last screen\n{}", self.text());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cells(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a terminal has rows and columns")
}

fn draw(mut output: Box<dyn Read + Send>, terminal: &Mutex<vt100::Parser<Replies>>, copy: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        copy.lock().expect("no holder panicked").extend_from_slice(&buffer[..count]);
        terminal.lock().expect("no holder panicked").process(&buffer[..count]);
    }
}

fn send(keyboard: &Keyboard, keys: &str) -> std::io::Result<()> {
    let mut keyboard = keyboard.lock().expect("no holder panicked");
    keyboard.write_all(keys.as_bytes()).and_then(|()| keyboard.flush())
}

/// Answers the queries of programs to a terminal (ECMA-48, 8.3.24 and 8.3.35).
struct Replies(Keyboard, Clipboard);

impl vt100::Callbacks for Replies {
    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        *self.1.lock().expect("no holder panicked") = String::from_utf8_lossy(data).into_owned();
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        kind: char,
    ) {
        let reply = match (first, parameters, kind) {
            (None, [[6]], 'n') => {
                let (row, column) = screen.cursor_position();
                format!("\u{1b}[{};{}R", row + 1, column + 1)
            }
            (None, _, 'c') => "\u{1b}[?62c".to_owned(),
            _ => return,
        };
        // Nobody reads the answer once the console is gone.
        let _ = send(&self.0, &reply);
    }
}
