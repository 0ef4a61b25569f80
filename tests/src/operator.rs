//! A person at the `quorate` program: a home folder of their own, and commands run to their end.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::daemon::{self, Daemon};
use crate::places;

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// Arguments.
    pub asked: String,
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub complaint: String,
}

impl Ended {
    /// Asserts the exit code.
    #[must_use]
    pub fn with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "unexpected exit code: {self:#?}");
        self
    }

    /// The lines of the output, each of which must be JSON.
    pub fn lines(&self) -> Vec<Value> {
        let parse =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON ({error}): {self:#?}"));
        self.output.lines().map(parse).collect()
    }

    /// The one line of the output.
    pub fn json(&self) -> Value {
        let mut lines = self.lines();
        assert_eq!(lines.len(), 1, "expected one line: {self:#?}");
        lines.pop().unwrap_or_default()
    }
}

/// A person at the console of a DEV daemon.
pub struct Operator {
    home: TempDir,
    credentials: PathBuf,
    user: String,
}

impl Operator {
    /// Acts as a root user.
    pub fn root(daemon: &Daemon, index: usize) -> Self {
        let user = daemon.credentials().root_users[index].user_name.clone();
        Self { home: home(), credentials: daemon.credentials_file(), user }
    }

    /// Acts in an organization as the user that `person` names: with `userId`, `userName`, `publicKey` and
    /// `privateKey`.
    pub fn of(daemon: &Daemon, organization: &str, person: &Value) -> Self {
        let home = home();
        let credentials = json!({
            "socket": daemon.credentials().socket,
            "organizationId": organization,
            "rootUsers": [person],
        });
        let path = home.path().join("credentials.json");
        write_secret(&path, credentials.to_string().as_bytes());
        let user = person["userName"].as_str().expect("a name").to_owned();
        Self { home, credentials: path, user }
    }

    /// The same person, who is told of another socket.
    #[must_use]
    pub fn through(&self, socket: &Path) -> Self {
        let home = home();
        let text = fs::read(&self.credentials).expect("a credentials file");
        let mut credentials: Value = serde_json::from_slice(&text).expect("credentials are JSON");
        credentials["socket"] = socket.to_str().expect("a path in UTF-8").into();
        let path = home.path().join("credentials.json");
        write_secret(&path, credentials.to_string().as_bytes());
        Self { home, credentials: path, user: self.user.clone() }
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Arguments that say who acts, for a program started elsewhere.
    pub fn identity(&self) -> Vec<String> {
        let credentials = self.credentials.to_str().expect("a path in UTF-8").to_owned();
        vec!["--credentials".to_owned(), credentials, "--user".to_owned(), self.user.clone()]
    }

    /// The environment of the person.
    pub fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        let below = |name: &str| self.home.path().join(name);
        vec![
            ("HOME", self.home.path().to_owned()),
            ("XDG_CONFIG_HOME", below("config")),
            ("XDG_STATE_HOME", below("state")),
            ("XDG_RUNTIME_DIR", below("runtime")),
        ]
    }

    /// Runs a command as this person, with JSON as output.
    pub async fn run(&self, arguments: &[&str]) -> Ended {
        let identity = self.identity();
        let all: Vec<&str> =
            identity.iter().map(String::as_str).chain(["--json"]).chain(arguments.iter().copied()).collect();
        self.run_plainly(&all, "").await
    }

    /// Runs a command with exactly these arguments, and this on its standard input.
    pub async fn run_plainly<S: AsRef<OsStr>>(&self, arguments: &[S], input: &str) -> Ended {
        let place = |name: &str| self.home.path().join(name);
        write_secret(&place("input"), input.as_bytes());
        let made = |name: &str| fs::File::create(place(name)).expect("a file for the output");
        let mut child = Command::new(places::program("quorate"))
            .args(arguments)
            .env_clear()
            .envs(self.environment())
            .env("PATH", "/usr/bin:/bin")
            .stdin(fs::File::open(place("input")).expect("the input"))
            .stdout(made("output"))
            .stderr(made("complaint"))
            .spawn()
            .expect("quorate can be started");
        let status = daemon::ended(&mut child).await;
        let read = |name: &str| fs::read_to_string(place(name)).expect("output in UTF-8");
        let shown = |argument: &S| argument.as_ref().to_string_lossy().into_owned();
        Ended {
            asked: arguments.iter().map(shown).collect::<Vec<_>>().join(" "),
            code: status.code().unwrap_or(-1),
            output: read("output"),
            complaint: read("complaint"),
        }
    }
}

fn home() -> TempDir {
    tempfile::Builder::new().prefix("quorate-home-").tempdir().expect("a temporary folder")
}

fn write_secret(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    let file = fs::File::options().create(true).write(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(bytes)).expect("the file can be written");
}
