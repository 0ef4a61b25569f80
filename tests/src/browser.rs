//! A real browser without a window: Chromium, controlled by its driver, with a virtual authenticator. It reaches this
//! machine only.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use base64ct::{Base64, Encoding};
use hyper::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::daemon::POLL_INTERVAL;
use crate::http::{Connection, Listener, TIMEOUT};

/// The programs, with Debian's names.
const DRIVER: &str = "chromedriver";
const BROWSER: &str = "chromium";
/// Maximum number of attempts to start the driver.
const ATTEMPTS: u32 = 5;
/// The member of an answer that names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Keys that have no character (W3C, keyboard actions).
pub mod keys {
    /// The tabulator key.
    pub const TAB: &str = "\u{e004}";
    /// The enter key.
    pub const ENTER: &str = "\u{e007}";
    /// The arrow key down.
    pub const DOWN: &str = "\u{e015}";
}

/// A browser with one tab. Its processes end when it is dropped.
pub struct Browser {
    driver: Child,
    listener: Listener,
    connection: Mutex<Option<Connection>>,
    session: String,
    /// Id of the virtual authenticator.
    authenticator: String,
    profile: TempDir,
}

/// Starts a driver. Returns `None` if it ended: it takes a free port of IPv4, which may be in use for IPv6.
fn start(home: &Path) -> Option<(Child, u16)> {
    let mut driver = Command::new(DRIVER)
        .arg("--port=0")
        .env("HOME", home)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the driver can be started");
    let mut lines = BufReader::new(driver.stdout.take().expect("its output is piped")).lines();
    let port = lines.find_map(|line| {
        let line = line.expect("the driver prints text");
        line.strip_prefix("ChromeDriver was started successfully on port ")?
            .trim_end_matches('.')
            .parse()
            .ok()
    });
    let Some(port) = port else {
        driver.wait().expect("the driver ends");
        return None;
    };
    // The driver must never wait for a reader of its output.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    Some((driver, port))
}

impl Browser {
    /// Starts a browser with a virtual authenticator, or returns `None` if this machine has no Chromium.
    #[expect(clippy::print_stderr, reason = "a skipped scenario is reported")]
    pub async fn start() -> Option<Self> {
        let runs = |program: &str| Command::new(program).arg("--version").output().is_ok();
        if !runs(BROWSER) || !runs(DRIVER) {
            eprintln!("SKIPPED: the pages need {BROWSER} and {DRIVER}");
            return None;
        }
        let profile =
            tempfile::Builder::new().prefix("quorate-browser-").tempdir().expect("a temporary folder");
        let (driver, port) = (0..ATTEMPTS).find_map(|_| start(profile.path())).expect("a driver");
        let listener = Listener::Tcp(([127, 0, 0, 1], port).into());
        let connection = Mutex::default();
        let (session, authenticator) = (String::new(), String::new());
        let mut browser = Self { driver, listener, connection, session, authenticator, profile };
        browser.open_session().await;
        Some(browser)
    }

    async fn open_session(&mut self) {
        let profile = self.profile.path().join("profile");
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
            &format!("--user-data-dir={}", profile.display()),
        ];
        let capabilities = json!({"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": arguments}});
        let opened =
            self.send(Method::POST, "/session", json!({"capabilities": {"alwaysMatch": capabilities}})).await;
        self.session = text(&opened["sessionId"]);
        let authenticator = json!({"protocol": "ctap2", "transport": "internal", "hasResidentKey": true,
            "hasUserVerification": true, "isUserConsenting": true, "isUserVerified": true});
        self.authenticator = text(&self.command("webauthn/authenticator", authenticator).await);
    }

    /// Returns the passkeys on the virtual authenticator.
    pub async fn passkeys(&self) -> Vec<Value> {
        let path =
            format!("/session/{}/webauthn/authenticator/{}/credentials", self.session, self.authenticator);
        self.send(Method::GET, &path, Value::Null).await.as_array().cloned().expect("a list of passkeys")
    }

    /// Sends a command of the session and returns its value.
    pub async fn command(&self, name: &str, parameters: Value) -> Value {
        self.send(Method::POST, &format!("/session/{}/{name}", self.session), parameters).await
    }

    async fn send(&self, method: Method, path: &str, body: Value) -> Value {
        let mut kept = self.connection.lock().await;
        let mut connection = match kept.take() {
            Some(connection) if connection.is_usable() => connection,
            _ => self.listener.connect().await.expect("the driver listens"),
        };
        let bytes = if method == Method::POST { body.to_string().into_bytes() } else { Vec::new() };
        let headers = [("content-type", "application/json")];
        let reply = connection.call(method, path, &headers, &bytes).await.expect("the driver answers");
        *kept = Some(connection);
        reply.success()["value"].clone()
    }

    /// Loads a page.
    pub async fn open(&self, url: &str) {
        self.command("url", json!({ "url": url })).await;
    }

    /// Runs a script and returns its value.
    pub async fn run(&self, script: &str) -> Value {
        self.command("execute/sync", json!({"script": script, "args": []})).await
    }

    /// Returns the text of an element, or an empty text if it is missing or hidden.
    pub async fn text(&self, selector: &str) -> String {
        let shown = format!(
            "const one = document.querySelector({});\n\
             return one && one.checkVisibility() ? one.innerText : '';",
            json!(selector)
        );
        text(&self.run(&shown).await)
    }

    /// Waits until an element shows a text, and returns everything that it shows. Fails early if the page shows
    /// an error instead.
    pub async fn shows(&self, selector: &str, expected: &str) -> String {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let shown = self.text(selector).await;
            if shown.contains(expected) {
                return shown;
            }
            if Instant::now() > deadline {
                let page = self.text("body").await;
                panic!("{selector} does not show {expected:?}: {shown:?}\n{page}\n{:?}", self.log().await);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns whether an element is shown.
    pub async fn is_shown(&self, selector: &str) -> bool {
        let script =
            format!("return document.querySelector({})?.checkVisibility() === true;", json!(selector));
        self.run(&script).await == true
    }

    /// Clicks an element as a person does.
    pub async fn click(&self, selector: &str) {
        let element = self.element(selector).await;
        self.command(&format!("element/{element}/click"), json!({})).await;
    }

    /// Replaces the text of an input field.
    pub async fn fill(&self, selector: &str, text: &str) {
        let element = self.element(selector).await;
        self.command(&format!("element/{element}/clear"), json!({})).await;
        self.command(&format!("element/{element}/value"), json!({ "text": text })).await;
    }

    async fn element(&self, selector: &str) -> String {
        let found = self.command("element", json!({"using": "css selector", "value": selector})).await;
        text(&found[ELEMENT])
    }

    /// Presses keys, one after the other, wherever the focus is.
    pub async fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key})))
            .collect();
        self.command("actions", json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}))
            .await;
    }

    /// Presses the tabulator key until the element has the focus.
    pub async fn tab_to(&self, selector: &str) {
        const MOST: usize = 40;
        let script = format!("return document.activeElement?.matches({}) === true;", json!(selector));
        for _ in 0..MOST {
            self.press(keys::TAB).await;
            if self.run(&script).await == true {
                return;
            }
        }
        panic!("{selector} cannot be reached with the tabulator key");
    }

    /// Returns the messages that the browser logged since the last call, violations of policies among them.
    pub async fn log(&self) -> Vec<String> {
        let entries = self.command("se/log", json!({"type": "browser"})).await;
        entries.as_array().into_iter().flatten().map(|entry| text(&entry["message"])).collect()
    }

    /// Sets the width of the page in pixels, and the color scheme.
    pub async fn look(&self, width: u32, scheme: &str) {
        let parameters = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        let name = "Emulation.setDeviceMetricsOverride";
        self.command("goog/cdp/execute", json!({"cmd": name, "params": parameters})).await;
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        let name = "Emulation.setEmulatedMedia";
        self.command("goog/cdp/execute", json!({"cmd": name, "params": features})).await;
    }

    /// Writes a picture of the whole page to a file.
    pub async fn picture(&self, path: &Path) {
        let parameters = json!({"captureBeyondViewport": true, "format": "png"});
        let shot = self
            .command("goog/cdp/execute", json!({"cmd": "Page.captureScreenshot", "params": parameters}))
            .await;
        let bytes = Base64::decode_vec(&text(&shot["data"])).expect("a picture in base64");
        std::fs::write(path, bytes).expect("the picture can be written");
    }

    /// Ends the browser, and then its driver.
    pub async fn close(self) {
        self.send(Method::DELETE, &format!("/session/{}", self.session), Value::Null).await;
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
