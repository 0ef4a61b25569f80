//! Kannel, a third-party SMS gateway, with the fake SMS centre of its package. The gateway is started on free ports
//! from a configuration in a temporary folder, and ended by process id.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::daemon::POLL_INTERVAL;
use crate::http::TIMEOUT;

const BEARERBOX: &str = "/usr/sbin/bearerbox";
const SMSBOX: &str = "/usr/sbin/smsbox";
const CENTRE: &str = "/usr/lib/kannel/test/fakesmsc";
/// Number of times that a start is attempted, as another process may take a free port first.
const STARTS: usize = 5;

/// User name for the gateway.
pub const USER: &str = "quorate";
/// Password for the gateway.
pub const PASSWORD: &str = "pass & word";

/// An SMS that reached the centre.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Name or number of the sender.
    pub from: String,
    /// Number of the receiver.
    pub to: String,
    /// Text.
    pub text: String,
}

/// Ports on loopback.
struct Ports {
    admin: u16,
    smsbox: u16,
    centre: u16,
    sendsms: u16,
}

/// A gateway and its centre. Both are killed when dropped.
pub struct SmsGateway {
    folder: TempDir,
    ports: Ports,
    boxes: Vec<Child>,
    centre: Option<Child>,
    /// Number of connections of the centre so far.
    connections: usize,
}

impl SmsGateway {
    /// Starts the gateway without its centre, with at most this many SMS waiting for the centre. It sends to
    /// numbers that begin with +49 or +1. Returns `None`, and prints why, if Kannel is not installed.
    #[expect(clippy::print_stderr, reason = "shown by the test runner")]
    pub async fn start(waiting: usize) -> Option<Self> {
        if [BEARERBOX, SMSBOX, CENTRE].iter().any(|program| !Path::new(program).exists()) {
            eprintln!("SKIPPED: SMS through Kannel need the packages kannel and kannel-extras");
            return None;
        }
        for _ in 0..STARTS {
            let mut gateway = Self {
                folder: folder(),
                ports: Ports::free(),
                boxes: Vec::new(),
                centre: None,
                connections: 0,
            };
            gateway.configure(waiting);
            if gateway.start_boxes().await {
                return Some(gateway);
            }
        }
        panic!("Kannel cannot be started");
    }

    fn configure(&self, waiting: usize) {
        let Ports { admin, smsbox, centre, sendsms } = self.ports;
        let text = format!(
            "group = core\nadmin-port = {admin}\nadmin-password = admin\nadmin-allow-ip = 127.0.0.1\n\
             smsbox-port = {smsbox}\nbox-allow-ip = 127.0.0.1\nbox-deny-ip = \"*.*.*.*\"\n\
             sms-outgoing-queue-limit = {waiting}\n\n\
             group = smsc\nsmsc = fake\nhost = 127.0.0.1\nport = {centre}\nconnect-allow-ip = 127.0.0.1\n\n\
             group = smsbox\nbearerbox-host = 127.0.0.1\nsendsms-port = {sendsms}\n\
             white-list-regex = \"^[+](49|1)\"\n\n\
             group = sendsms-user\nusername = {USER}\npassword = \"{PASSWORD}\"\n\n\
             group = sms-service\nkeyword = default\ntext = \"none\"\n"
        );
        fs::write(self.path("kannel.conf"), text).expect("the configuration can be written");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the programs of a stopped gateway. Returns whether they listen.
    async fn start_boxes(&mut self) -> bool {
        for (program, port) in [(BEARERBOX, self.ports.smsbox), (SMSBOX, self.ports.sendsms)] {
            let log =
                File::create(self.path(if program == BEARERBOX { "bearerbox.log" } else { "smsbox.log" }));
            let log = log.expect("a log file");
            let child = Command::new(program)
                .args(["-v", "0"])
                .arg(self.path("kannel.conf"))
                .current_dir(self.folder.path())
                .stdin(Stdio::null())
                .stdout(log.try_clone().expect("a log file"))
                .stderr(log)
                .spawn()
                .expect("Kannel can be started");
            self.boxes.push(child);
            let deadline = Instant::now() + TIMEOUT;
            while TcpStream::connect(("127.0.0.1", port)).is_err() {
                let has_ended = |child: &mut Child| !matches!(child.try_wait(), Ok(None));
                if self.boxes.iter_mut().any(has_ended) || Instant::now() > deadline {
                    self.stop();
                    return false;
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
        true
    }

    /// Starts a stopped gateway again, on the same ports, and connects its centre.
    pub async fn restart(&mut self) {
        assert!(self.start_boxes().await, "Kannel cannot be started again");
        self.connect_centre().await;
    }

    /// Kills the gateway and its centre. Whatever waits for the centre is lost.
    pub fn stop(&mut self) {
        self.boxes.drain(..).rev().for_each(end);
        self.centre.take().into_iter().for_each(end);
    }

    /// Connects the centre, which receives all SMS from now on.
    pub async fn connect_centre(&mut self) {
        let deadline = Instant::now() + TIMEOUT;
        // The first message is from the centre to the gateway, and shows that they are connected.
        loop {
            let running = self.centre.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)));
            if running && self.output(self.connections).contains("sent message 1") {
                return;
            }
            if !running {
                self.connections += 1;
                let output = File::create(self.log(self.connections)).expect("a log file");
                let child = Command::new(CENTRE)
                    .args(["-H", "127.0.0.1", "-r", &self.ports.centre.to_string()])
                    .args(["-m", "1", "123 234 text nop"])
                    .stdin(Stdio::null())
                    .stdout(output.try_clone().expect("a log file"))
                    .stderr(output)
                    .spawn()
                    .expect("the SMS centre can be started");
                self.centre = Some(child);
            }
            assert!(Instant::now() < deadline, "the centre does not connect");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    fn log(&self, connection: usize) -> PathBuf {
        self.path(&format!("centre.{connection}.log"))
    }

    fn output(&self, connection: usize) -> String {
        let output = fs::read(self.log(connection)).unwrap_or_default();
        String::from_utf8_lossy(&output).into_owned()
    }

    /// Returns the section `[sms]` for a daemon, which reads [`PASSWORD`] from this file.
    pub fn section(&self, secret: &Path) -> String {
        let port = self.ports.sendsms;
        format!(
            "[sms]\npreset = \"kannel\"\nurl = \"http://127.0.0.1:{port}/cgi-bin/sendsms\"\nfrom = \"Quorate\"\n\
             username = \"{USER}\"\nsecret_file = \"{}\"\n",
            secret.display()
        )
    }

    /// Returns the SMS that reached the centre, except answers to its own first message.
    pub fn received(&self) -> Vec<Received> {
        let received = |line: &str| {
            let (_, sms) = line.split_once("Got message ")?.1.split_once(": <")?;
            let mut parts = sms.strip_suffix('>')?.splitn(4, ' ');
            let (from, to, kind, text) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
            assert_eq!(kind, "text", "{line}");
            Some(Received { from: from.to_owned(), to: to.to_owned(), text: text.to_owned() })
        };
        let all: String = (1..=self.connections).map(|connection| self.output(connection)).collect();
        all.lines().filter_map(received).filter(|sms| sms.to != "123").collect()
    }

    /// Waits until this many SMS have reached the centre, and returns them.
    pub async fn until(&self, count: usize) -> Vec<Received> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let received = self.received();
            if received.len() >= count {
                return received;
            }
            assert!(Instant::now() < deadline, "no SMS arrives in time; received: {received:#?}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

impl Drop for SmsGateway {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Ports {
    /// Selects ports that are free now.
    fn free() -> Self {
        let listeners = [(); 4].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let [admin, smsbox, centre, sendsms] =
            listeners.map(|listener| listener.local_addr().expect("a bound address").port());
        Self { admin, smsbox, centre, sendsms }
    }
}

fn folder() -> TempDir {
    tempfile::Builder::new().prefix("quorate-kannel-").tempdir().expect("a temporary folder")
}

fn end(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}
