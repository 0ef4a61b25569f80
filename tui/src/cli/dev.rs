//! `quorate dev`: starts a throwaway daemon and opens the console for it.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::time::Duration;

use quorate_common::activity::Status;
use quorate_common::console::PAGE_LIMIT;
use serde_json::{Value, json};

use crate::failure::{Exit, Failure, Result};
use crate::files::{self, Folders};
use crate::output::Answer;
use crate::session::{Context, Session};

/// Time limit for the start of the daemon.
const START_SECONDS: u64 = 30;
const PAUSE_MILLIS: u64 = 50;
/// Time limit for the end of the daemon before it is killed.
const STOP_SECONDS: u64 = 10;
const CREDENTIALS_LIMIT: u64 = 1024 * 1024;

/// Options of the throwaway daemon.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct DevArguments {
    /// Keep the data in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Number of root users
    #[arg(long)]
    pub(crate) users: Option<u32>,
    /// Root quorum threshold
    #[arg(long)]
    pub(crate) threshold: Option<u32>,
    /// Start without demo data
    #[arg(long)]
    pub(crate) no_demo: bool,
    /// Address of the HTTP API, on loopback
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub(crate) listen: String,
}

/// A running throwaway daemon. It is stopped on drop.
pub(crate) struct Daemon {
    child: Child,
    folder: PathBuf,
    folders: Folders,
}

impl Daemon {
    /// Starts the daemon and waits until it is ready.
    pub(crate) async fn start(options: &DevArguments, folders: &Folders) -> Result<Self> {
        // Without a session, such as in a container, the variable may name a folder that does not exist.
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
        let base = runtime.unwrap_or_else(std::env::temp_dir);
        let folder = base.join(format!("quorate-dev-{}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let log = std::fs::File::create(folder.join("quorated.log"))?;
        let mut process = Process::new(program());
        process.arg("dev").arg("--listen").arg(&options.listen);
        process
            .arg("--socket")
            .arg(folder.join("socket"))
            .arg("--credentials")
            .arg(folder.join("credentials.json"));
        if let Some(data) = &options.data_dir {
            process.arg("--data-dir").arg(data);
        }
        for (flag, number) in [("--users", options.users), ("--threshold", options.threshold)] {
            if let Some(number) = number {
                process.arg(flag).arg(number.to_string());
            }
        }
        if options.no_demo {
            process.arg("--no-demo");
        }
        process.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = process.spawn().map_err(|error| {
            let _ = std::fs::remove_dir_all(&folder);
            Failure::new(Exit::Failed, format!("cannot start {}: {error}", program().display()))
        })?;
        // What a console remembers about data that is removed is removed with it.
        let state = options.data_dir.as_ref().map_or_else(|| folder.join("state"), |_| folders.state.clone());
        let folders = Folders { config: folders.config.clone(), state };
        let mut daemon = Self { child, folder, folders };
        daemon.wait_until_ready().await?;
        Ok(daemon)
    }

    /// Returns the folders of a console for this daemon. Those of its state end with the data of the daemon.
    pub(crate) const fn folders(&self) -> &Folders {
        &self.folders
    }

    /// Returns the path of the credentials file.
    pub(crate) fn credentials(&self) -> PathBuf {
        self.folder.join("credentials.json")
    }

    /// Returns the address of the API.
    fn base_url(&self) -> Result<String> {
        let url = self.credentials_json()?.get("baseUrl").and_then(Value::as_str).map(crate::text::clean);
        Ok(url.unwrap_or_default())
    }

    fn credentials_json(&self) -> Result<Value> {
        let bytes = files::read_private(&self.credentials(), CREDENTIALS_LIMIT)?.unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Returns a context for the first root user who can still vote.
    pub(crate) async fn context(&self) -> Result<Context> {
        let mut context = Context { credentials: Some(self.credentials()), ..Context::default() };
        let session = Session::new(&context, &self.folders)?;
        let file = self.credentials_json()?;
        let users: Vec<(String, String)> = file
            .get("rootUsers")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|user| {
                Some((user.get("userId")?.as_str()?.to_owned(), user.get("userName")?.as_str()?.to_owned()))
            })
            .collect();
        let id = session.organization_id().await?;
        let waiting = session.client.activities(id, &Status::WAITING, &[], None, PAGE_LIMIT).await?;
        let open: Vec<String> = waiting
            .activities
            .iter()
            .filter_map(|row| row.waiting.as_ref())
            .flat_map(|waiting| &waiting.open_to)
            .map(ToString::to_string)
            .collect();
        let chosen = users.iter().find(|(id, _)| open.contains(id)).or_else(|| users.first());
        context.user = chosen.map(|(_, name)| name.clone());
        Ok(context)
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let attempts = START_SECONDS.saturating_mul(1000) / PAUSE_MILLIS;
        for _ in 0..attempts {
            if let Some(status) = self.child.try_wait()? {
                return Err(Failure::new(
                    Exit::Failed,
                    format!("quorated exited ({status}): {}", self.log()),
                ));
            }
            if self.credentials().exists() {
                let session = Session::new(
                    &Context { credentials: Some(self.credentials()), ..Context::default() },
                    &self.folders,
                );
                if let Ok(session) = session
                    && session.daemon_status().await.is_ok()
                {
                    return Ok(());
                }
            }
            tokio::time::sleep(Duration::from_millis(PAUSE_MILLIS)).await;
        }
        Err(Failure::new(
            Exit::Unreachable,
            format!("quorated was not ready within {START_SECONDS} s: {}", self.log()),
        ))
    }

    /// Returns the last lines of the daemon's log.
    fn log(&self) -> String {
        let text = std::fs::read_to_string(self.folder.join("quorated.log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(5).collect();
        crate::text::clean(&lines.into_iter().rev().collect::<Vec<_>>().join(" / "))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let steps = STOP_SECONDS.saturating_mul(1000) / PAUSE_MILLIS;
        let ended = (0..steps).any(|_| {
            let ended = matches!(self.child.try_wait(), Ok(Some(_)));
            if !ended {
                std::thread::sleep(Duration::from_millis(PAUSE_MILLIS));
            }
            ended
        });
        if !ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Runs the daemon until a signal arrives, and prints the commands to connect from another shell.
pub(super) async fn without_terminal(options: &DevArguments, folders: &Folders) -> Result<Answer> {
    let daemon = Daemon::start(options, folders).await?;
    let context = daemon.context().await?;
    let user = context.user.unwrap_or_default();
    let file = daemon.credentials();
    let command = format!("quorate --credentials {} --user {user}", file.display());
    let base_url = daemon.base_url()?;
    let data = json!({"credentials": file, "user": user, "console": command, "baseUrl": base_url});
    crate::output::now(
        &data,
        &format!(
            "The DEV daemon runs until this command ends.\nIts API is at {base_url}, and the keys of its users are in {}.\nIn another shell, run:\n  {command}\n  {command} approvals ls\n",
            file.display()
        ),
    );
    crate::signals::ended().await;
    drop(daemon);
    Ok(Answer::list(Vec::new(), String::new()))
}

/// Returns the daemon program beside this program, otherwise the one in the search path.
fn program() -> PathBuf {
    let beside =
        std::env::current_exe().ok().and_then(|own| own.parent().map(|folder| folder.join("quorated")));
    beside.filter(|path| Path::new(path).is_file()).unwrap_or_else(|| PathBuf::from("quorated"))
}
