//! Time from the start of a terminal program to its first complete frame, observed from outside.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

/// Size of the terminal.
const SIZE: PtySize = PtySize { rows: 50, cols: 200, pixel_width: 0, pixel_height: 0 };
/// A frame is complete after this time without output.
const SILENCE: Duration = Duration::from_millis(300);
/// Minimum number of bytes of a frame.
const FRAME: usize = 500;
/// Time limit of a program without a frame.
const DEADLINE: Duration = Duration::from_secs(10);

/// Starts a program `runs` times and returns the median time to its first complete frame, in milliseconds.
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
    // The program may have exited by itself; the frame counts then.
    drop(child.kill());
    drop(child.wait());
    complete.expect("the program shows a frame").duration_since(start)
}

/// Returns the instant of the last byte before the silence.
fn watch(receiver: &Receiver<(Instant, Vec<u8>)>, writer: &mut dyn Write, end: Instant) -> Option<Instant> {
    let mut seen = 0;
    let mut last = None;
    loop {
        match receiver.recv_timeout(SILENCE) {
            Ok((instant, bytes)) => {
                seen += bytes.len();
                last = Some(instant);
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

/// Answers the queries of programs to their terminal at the start: cursor position and capabilities.
fn answer(bytes: &[u8], writer: &mut dyn Write) {
    for (query, reply) in [(b"\x1b[6n".as_slice(), "\x1b[1;1R"), (b"\x1b[c".as_slice(), "\x1b[?62;c")] {
        if bytes.windows(query.len()).any(|window| window == query) {
            // Nobody reads the answer if the program has exited.
            drop(writer.write_all(reply.as_bytes()));
        }
    }
}
