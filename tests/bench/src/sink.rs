//! A mail server (RFC 5321) that accepts every mail and keeps none, so that a daemon can send codes while it is
//! measured.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;

/// Writes the URL of the server to a file, and accepts mail until the process ends.
pub fn serve(ready: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::fs::write(ready, format!("smtp://{address}"))
        .unwrap_or_else(|error| panic!("{}: {error}", ready.display()));
    for stream in listener.incoming() {
        let stream = stream.expect("a connection");
        // A client may close its connection at any time.
        thread::spawn(move || drop(session(&stream)));
    }
}

fn session(mut stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream).lines();
    stream.write_all(b"220 sink\r\n")?;
    while let Some(line) = lines.next() {
        let line = line?.to_ascii_uppercase();
        let answer: &[u8] = match line.split_whitespace().next() {
            Some("DATA") => {
                stream.write_all(b"354 go on\r\n")?;
                for line in lines.by_ref() {
                    if line? == "." {
                        break;
                    }
                }
                b"250 accepted\r\n"
            }
            Some("EHLO") => b"250-sink\r\n250 SMTPUTF8\r\n",
            Some("QUIT") => {
                return stream.write_all(b"221 bye\r\n");
            }
            _ => b"250 ok\r\n",
        };
        stream.write_all(answer)?;
    }
    Ok(())
}
