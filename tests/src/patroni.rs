//! Three servers of PostgreSQL with Patroni and etcd, as `assets/ha/start.sh` starts them. Everything ends with it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cluster::unprivileged;

/// Number of servers.
pub const NODES: usize = 3;
/// Time between two looks at the servers. Each starts a program.
const LOOK: Duration = Duration::from_millis(500);

/// The servers and what controls them.
pub struct Patroni {
    script: Child,
    /// The script ends when this is closed.
    input: Option<ChildStdin>,
    folder: PathBuf,
    url: String,
}

/// A server as Patroni shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub number: usize,
    /// Its role, such as `Leader`, `Sync Standby` or `Replica`.
    pub role: String,
    /// Its state, such as `running`.
    pub state: String,
}

impl Patroni {
    /// Starts the servers, in strict synchronous mode or without synchronous standbys.
    ///
    /// # Panics
    /// Panics if a program is missing or does not start.
    pub fn start(is_synchronous: bool) -> Self {
        let mut script = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/ha/start.sh"));
        script.arg("--database").args((!is_synchronous).then_some("--asynchronous")).arg("/");
        let mut script =
            script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the script runs");
        let input = script.stdin.take();
        let lines = BufReader::new(script.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let lines: Vec<String> = lines.take(2).collect();
        let [first, url] = &*lines else { panic!("the script ended: {lines:#?}") };
        let folder = PathBuf::from(first.rsplit(' ').next().expect("a folder"));
        Self { script, input, folder, url: url.clone() }
    }

    /// Returns the URL of the database of stores, with all servers.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    fn control(&self, arguments: &[&str]) -> String {
        let file = self.folder.join("patroni0.yml");
        let output = Command::new("patronictl").arg("-c").arg(file).args(arguments).output();
        let output = output.expect("patronictl runs");
        // A command fails while there is no primary.
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the servers that Patroni knows now.
    pub fn nodes(&self) -> Vec<Node> {
        let listed: Value = serde_json::from_str(&self.control(&["list", "-f", "json"])).unwrap_or_default();
        let node = |one: &Value| {
            let text = |name: &str| Some(one[name].as_str()?.to_owned());
            let number = text("Member")?.strip_prefix("postgres")?.parse().ok()?;
            Some(Node { number, role: text("Role")?, state: text("State")? })
        };
        listed.as_array().into_iter().flatten().filter_map(node).collect()
    }

    /// Returns the primary, once there is one besides `others`.
    pub async fn primary(&self, others: &[usize]) -> usize {
        loop {
            let is_primary = |node: &Node| node.role == "Leader" && node.state == "running";
            let found = self.nodes().into_iter().find(is_primary).map(|node| node.number);
            match found.filter(|number| !others.contains(number)) {
                Some(number) => return number,
                None => tokio::time::sleep(LOOK).await,
            }
        }
    }

    /// Waits until all servers run, with a primary, and with a synchronous standby if there should be one.
    pub async fn whole(&self, is_synchronous: bool) {
        loop {
            let nodes = self.nodes();
            let count = |role: &str| nodes.iter().filter(|node| node.role == role).count();
            let runs = |node: &Node| ["running", "streaming"].contains(&&*node.state);
            let is_whole = nodes.len() == NODES && nodes.iter().all(runs) && count("Leader") == 1;
            if is_whole && count("Sync Standby") == usize::from(is_synchronous) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Makes another server the primary.
    pub fn switch_over(&self) {
        self.control(&["switchover", "--force"]);
    }

    /// Sends a signal to Patroni of a node.
    pub fn signal_patroni(&self, node: usize, signal: Signal) {
        send(number_in(&self.folder.join(format!("patroni{node}.pid"))), signal);
    }

    /// Sends a signal to all processes of the server of a node.
    pub fn signal_server(&self, node: usize, signal: Signal) {
        let server = number_in(&self.folder.join(format!("postgres{node}/data/postmaster.pid")));
        let own = children(server);
        // The server first, so that it does not react to the end of its processes.
        send(server, signal);
        for process in own {
            send(Some(process), signal);
        }
    }

    /// Sends a signal to the process of a node that receives the log of the primary.
    pub fn signal_receiver(&self, node: usize, signal: Signal) {
        let server = number_in(&self.folder.join(format!("postgres{node}/data/postmaster.pid")));
        let is_receiver = |process: &i32| {
            let title = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
            title.contains("walreceiver")
        };
        children(server).into_iter().filter(is_receiver).for_each(|process| send(Some(process), signal));
    }

    /// Starts Patroni of a node again, which starts its server.
    ///
    /// # Panics
    /// Panics if it does not start.
    pub fn restart(&self, node: usize) {
        let log = fs::File::options().append(true).open(self.folder.join(format!("patroni{node}.log")));
        let log = log.expect("the log");
        let mut command = Command::new("patroni");
        if let Some((user, group)) = unprivileged() {
            command.uid(user).gid(group);
        }
        let file = self.folder.join(format!("patroni{node}.yml"));
        command.arg(file).current_dir(&self.folder).env("LC_ALL", "C").env("HOME", &self.folder);
        let error = log.try_clone().expect("the log");
        let mut started =
            command.stdin(Stdio::null()).stdout(log).stderr(error).spawn().expect("Patroni runs");
        let number = format!("{}\n", started.id());
        fs::write(self.folder.join(format!("patroni{node}.pid")), number).expect("written");
        // The script waits until it is gone.
        std::thread::spawn(move || started.wait());
    }
}

impl Drop for Patroni {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.script.wait();
        assert!(std::thread::panicking() || !self.folder.exists(), "{} is left", self.folder.display());
    }
}

/// Returns the number on the first line of a file.
fn number_in(file: &Path) -> Option<i32> {
    fs::read_to_string(file).ok()?.lines().next()?.parse().ok()
}

fn children(process: Option<i32>) -> Vec<i32> {
    let Some(process) = process else { return Vec::new() };
    let listed = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

fn send(process: Option<i32>, signal: Signal) {
    // It may have ended meanwhile.
    let _ = process.and_then(Pid::from_raw).map(|process| kill_process(process, signal));
}
