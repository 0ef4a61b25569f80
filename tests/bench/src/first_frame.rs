//! How long a terminal program takes from its start to its first complete frame, seen from outside.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

/// Size of the terminal.
const SIZE: PtySize = PtySize { rows: 50, cols: 200, pixel_width: 0, pixel_height: 0 };
/// A frame is complete when so long nothing more comes.
const SILENCE: Duration = Duration::from_millis(300);
/// Fewer bytes are no frame yet.
const FRAME: usize = 500;
/// A program that shows nothing for so long has failed.
const DEADLINE: Duration = Duration::from_secs(10);

/// Starts a program some times and returns the median time to its first complete frame, in milliseconds.
pub fn median_ms(program: &[String], runs: usize) -> f64 {
    let mut figures: Vec<f64> = (0..runs).map(|_| one(program).as_secs_f64() * 1000.0).collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn one(program: &[String]) -> Duration {
    let pair = native_pty_system().openpty(SIZE).expect("a terminal opens");
    let (name, arguments) = program.split_first().expect("a program is named");
    let mut command = CommandBuilder::new(name);
    command.args(arguments);
    command.env("TERM", "xterm-256color");
    command.cwd(std::env::current_dir().expect("there is a working directory"));
    let mut reader = pair.master.try_clone_reader().expect("the terminal is read");
    let mut writer = pair.master.take_writer().expect("the terminal is written");
    let start = Instant::now();
    let mut child = pair.slave.spawn_command(command).expect("the program starts");
    drop(pair.slave);
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count) = reader.read(&mut buffer) {
            if count == 0 || sender.send((Instant::now(), buffer[..count].to_vec())).is_err() {
                return;
            }
        }
    });
    let complete = watch(&receiver, &mut writer, start + DEADLINE);
    // It may have ended by itself; then the frame tells.
    drop(child.kill());
    drop(child.wait());
    complete.expect("the program shows a frame").duration_since(start)
}

/// The instant of the last byte before the silence.
fn watch(receiver: &Receiver<(Instant, Vec<u8>)>, writer: &mut dyn Write, end: Instant) -> Option<Instant> {
    let mut seen = 0;
    let mut last = None;
    loop {
        match receiver.recv_timeout(SILENCE) {
            Ok((at, bytes)) => {
                seen += bytes.len();
                last = Some(at);
                answer(&bytes, writer);
            }
            Err(RecvTimeoutError::Timeout) if seen >= FRAME => return last,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return last.filter(|_| seen >= FRAME),
        }
        if Instant::now() > end {
            return None;
        }
    }
}

/// Answers what programs ask of their terminal at the start: where the cursor is, and what it can.
fn answer(bytes: &[u8], writer: &mut dyn Write) {
    for (question, reply) in [(b"\x1b[6n".as_slice(), "\x1b[1;1R"), (b"\x1b[c".as_slice(), "\x1b[?62;c")] {
        if bytes.windows(question.len()).any(|window| window == question) {
            // A program that has gone needs no answer.
            drop(writer.write_all(reply.as_bytes()));
        }
    }
}
