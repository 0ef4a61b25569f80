//! A shell in which the samples of one page run, one after another.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Instant;

use quorate_tests::book::Page;
use quorate_tests::daemon::POLL_INTERVAL;
use quorate_tests::http::TIMEOUT;
use quorate_tests::paths;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

/// A shell that ends at the first command that fails. Everything that it started is killed when it is dropped.
pub(super) struct Shell {
    child: Child,
    input: ChildStdin,
    folder: TempDir,
    steps: usize,
}

impl Shell {
    /// Starts the shell in an empty folder, with the built programs and the clients that the page uses.
    pub(super) fn start(page: &Page) -> Self {
        let folder = tempfile::Builder::new().prefix("quorate-").tempdir().expect("a temporary folder");
        for name in ["home", "page", "steps"] {
            fs::create_dir(folder.path().join(name)).expect("a new folder");
        }
        for (language, client) in [("js", "npm"), ("python", "pypi")] {
            if page.blocks.iter().any(|block| block.language == language) {
                let setup = Command::new(paths::clients().join("setup.sh")).arg(client).status();
                assert!(setup.expect("setup.sh can be run").success(), "{client} cannot be installed");
            }
        }
        let packages = paths::clients().join("npm/node_modules");
        symlink(packages, folder.path().join("page/node_modules")).expect("a new link");
        let mut child = Command::new("sh")
            .arg("-eu")
            .current_dir(folder.path().join("page"))
            .env_clear()
            .env("HOME", folder.path().join("home"))
            .env("PATH", search_path())
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("sh can be started");
        let input = child.stdin.take().expect("an input");
        Self { child, input, folder, steps: 0 }
    }

    /// Runs commands and returns what they print. If they start a daemon in the background, waits until it is
    /// ready.
    pub(super) async fn run(&mut self, position: &str, commands: &str) -> String {
        self.steps += 1;
        let file = |name: &str| self.folder.path().join(format!("steps/{}.{name}", self.steps));
        let (script, output, done) = (file("sh"), file("output"), file("done"));
        fs::write(&script, commands).expect("a step can be written");
        let [script, log, end] = [&script, &output, &done].map(|path| path.display().to_string());
        writeln!(self.input, ". {script} </dev/null >{log} 2>&1; : >{end}").expect("the shell runs");
        let starts_daemon = commands.lines().any(|line| line.ends_with(" &"));
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let printed = fs::read_to_string(&output).unwrap_or_default();
            let ended = self.child.try_wait().expect("the shell can be waited for");
            assert!(ended.is_none(), "{position}: a command failed ({ended:?})\n{printed}");
            assert!(Instant::now() < deadline, "{position}: not done in time\n{printed}");
            if done.exists() && (!starts_daemon || printed.contains(" ready ")) {
                return fs::read_to_string(&output).unwrap_or_default();
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Saves a file in the current folder of the shell.
    pub(super) async fn save(&mut self, position: &str, name: &str, text: &str) {
        let copy = self.folder.path().join(format!("steps/{name}"));
        fs::write(&copy, text).expect("a file can be written");
        self.run(position, &format!("cp {} {name}", copy.display())).await;
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let _ = kill_process_group(group.expect("a process id"), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Returns the folders of the built programs and of the Python client, before those of the tests.
fn search_path() -> String {
    let programs = paths::program("quorate");
    let programs = programs.parent().unwrap_or(Path::new("")).to_owned();
    let clients: PathBuf = paths::clients().join("pypi/.venv/bin");
    let inherited = std::env::var("PATH").unwrap_or_default();
    format!("{}:{}:{inherited}", programs.display(), clients.display())
}
