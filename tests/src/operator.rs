//! A user of the `quorate` program: a separate home folder, and commands that run until they exit.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::daemon::{self, Daemon};
use crate::paths;

/// Outcome of a command.
#[derive(Debug)]
pub struct Ended {
    /// Command line, for messages.
    pub arguments: String,
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub stderr: String,
}

impl Ended {
    /// Asserts the exit code.
    #[must_use]
    pub fn with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "unexpected exit code: {self:#?}");
        self
    }

    /// Parses each line of the output as JSON.
    pub fn lines(&self) -> Vec<Value> {
        let parse =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("not JSON ({error}): {self:#?}"));
        self.output.lines().map(parse).collect()
    }

    /// Parses the single line of the output as JSON.
    pub fn json(&self) -> Value {
        let mut lines = self.lines();
        assert_eq!(lines.len(), 1, "expected one line: {self:#?}");
        lines.pop().unwrap_or_default()
    }
}

/// A user of the console, usually of a DEV daemon.
pub struct Operator {
    home: TempDir,
    /// Credentials file of a DEV daemon, and the user in it.
    credentials: PathBuf,
    user: String,
    /// Arguments that identify the user instead of the credentials.
    own: Option<Vec<String>>,
    /// More environment variables.
    variables: Vec<(&'static str, PathBuf)>,
}

impl Operator {
    /// Creates an operator that acts as a root user.
    pub fn root(daemon: &Daemon, index: usize) -> Self {
        let user = daemon.credentials().root_users[index].user_name.clone();
        Self::new(home(), daemon.credentials_file(), user)
    }

    /// Creates an operator without a key, who reads an organization of the daemon that listens on a socket.
    pub fn reading(socket: &Path, organization: &str) -> Self {
        let socket = socket.to_str().expect("a path in UTF-8");
        let words = ["--socket", socket, "--organization", organization];
        Self {
            own: Some(words.map(str::to_owned).to_vec()),
            ..Self::new(home(), PathBuf::new(), String::new())
        }
    }

    /// Creates an operator without a key, who names no organization of the daemon that listens on a socket.
    pub fn anywhere(socket: &Path) -> Self {
        let socket = socket.to_str().expect("a path in UTF-8");
        let words = ["--socket", socket].map(str::to_owned).to_vec();
        Self { own: Some(words), ..Self::new(home(), PathBuf::new(), String::new()) }
    }

    /// Creates somebody who has used no daemon yet.
    pub fn newcomer() -> Self {
        Self { own: Some(Vec::new()), ..Self::new(home(), PathBuf::new(), String::new()) }
    }

    /// Creates an operator that acts in an organization as the user in `person`, an object with `userId`,
    /// `userName`, `publicKey` and `privateKey`.
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
        Self::new(home, path, user)
    }

    fn new(home: TempDir, credentials: PathBuf, user: String) -> Self {
        Self { home, credentials, user, own: None, variables: Vec::new() }
    }

    /// Returns the same user with a key of their own instead of the one in the credentials.
    #[must_use]
    pub fn with_key(self, daemon: &Daemon, index: usize, key: &str) -> Self {
        let credentials = daemon.credentials();
        let socket = credentials.socket.to_str().expect("a path in UTF-8");
        let user = daemon.root_id(index);
        let organization = credentials.organization_id.as_str();
        let words = ["--socket", socket, "--organization", organization, "--user", user, "--key", key];
        Self { own: Some(words.map(str::to_owned).to_vec()), ..self }
    }

    /// Returns the same user with more arguments that select the daemon.
    #[must_use]
    pub fn with_arguments(self, words: &[&str]) -> Self {
        let more = words.iter().map(|word| (*word).to_owned());
        Self { own: Some(self.identity().into_iter().chain(more).collect()), ..self }
    }

    /// Returns the same user with one more environment variable.
    #[must_use]
    pub fn with_variable(mut self, name: &'static str, value: PathBuf) -> Self {
        self.variables.push((name, value));
        self
    }

    /// Returns the same user with another socket.
    #[must_use]
    pub fn through(&self, socket: &Path) -> Self {
        let home = home();
        let text = fs::read(&self.credentials).expect("a credentials file");
        let mut credentials: Value = serde_json::from_slice(&text).expect("credentials are JSON");
        credentials["socket"] = socket.to_str().expect("a path in UTF-8").into();
        let path = home.path().join("credentials.json");
        write_secret(&path, credentials.to_string().as_bytes());
        Self::new(home, path, self.user.clone())
    }

    /// Writes the configuration of the console.
    pub fn configure(&self, text: &str) {
        let folder = self.home.path().join("config").join("quorate");
        fs::create_dir_all(&folder).expect("a folder");
        write_secret(&folder.join("config.toml"), text.as_bytes());
    }

    /// Returns the home folder.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the arguments that identify the user, for a program started elsewhere.
    pub fn identity(&self) -> Vec<String> {
        if let Some(own) = &self.own {
            return own.clone();
        }
        let credentials = self.credentials.to_str().expect("a path in UTF-8").to_owned();
        vec!["--credentials".to_owned(), credentials, "--user".to_owned(), self.user.clone()]
    }

    /// Returns the environment variables of the user.
    pub fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        let below = |name: &str| self.home.path().join(name);
        let own = [
            ("HOME", self.home.path().to_owned()),
            ("XDG_CONFIG_HOME", below("config")),
            ("XDG_STATE_HOME", below("state")),
            ("XDG_RUNTIME_DIR", below("runtime")),
        ];
        own.into_iter().chain(self.variables.iter().cloned()).collect()
    }

    /// Runs a command as this user, with JSON output.
    pub async fn run(&self, arguments: &[&str]) -> Ended {
        let identity = self.identity();
        let all: Vec<&str> =
            identity.iter().map(String::as_str).chain(["--json"]).chain(arguments.iter().copied()).collect();
        self.run_raw(&all, "").await
    }

    /// Runs a command with exactly these arguments and this standard input.
    pub async fn run_raw<S: AsRef<OsStr>>(&self, arguments: &[S], input: &str) -> Ended {
        let path = |name: &str| self.home.path().join(name);
        write_secret(&path("input"), input.as_bytes());
        let create = |name: &str| fs::File::create(path(name)).expect("a file for the output");
        let mut child = Command::new(paths::program("quorate"))
            .args(arguments)
            .env_clear()
            .envs(self.environment())
            .env("PATH", "/usr/bin:/bin")
            .stdin(fs::File::open(path("input")).expect("the input"))
            .stdout(create("output"))
            .stderr(create("stderr"))
            .spawn()
            .expect("quorate can be started");
        let status = daemon::ended(&mut child).await;
        let read = |name: &str| fs::read_to_string(path(name)).expect("output in UTF-8");
        let shown = |argument: &S| argument.as_ref().to_string_lossy().into_owned();
        Ended {
            arguments: arguments.iter().map(shown).collect::<Vec<_>>().join(" "),
            code: status.code().unwrap_or(-1),
            output: read("output"),
            stderr: read("stderr"),
        }
    }
}

fn home() -> TempDir {
    tempfile::Builder::new().prefix("quorate-home-").tempdir().expect("a temporary folder")
}

pub(crate) fn write_secret(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    let file = fs::File::options().create(true).write(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(bytes)).expect("the file can be written");
}
