//! A PKCS #11 token in software: `SoftHSM2`.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Places of the module on the supported systems.
const MODULES: [&str; 4] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
    "/usr/lib64/softhsm/libsofthsm2.so",
    "/opt/homebrew/lib/softhsm/libsofthsm2.so",
];

/// A folder with tokens.
pub struct SoftTokens {
    folder: TempDir,
    module: PathBuf,
}

impl SoftTokens {
    /// PIN of every token.
    pub const PIN: &str = "648219";

    /// Creates an empty folder, or reports that `SoftHSM2` is not installed.
    pub fn new() -> Option<Self> {
        let module = MODULES.iter().map(PathBuf::from).find(|path| path.is_file());
        let Some(module) = module.filter(|_| crate::ssh_agent::find("softhsm2-util").is_some()) else {
            eprintln!("SKIPPED: keys on PKCS #11 tokens need the package softhsm2");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("quorate-tokens-").tempdir().expect("a folder");
        let tokens = folder.path().join("tokens");
        std::fs::create_dir(&tokens).expect("a folder");
        let text = format!("directories.tokendir = {}\nobjectstore.backend = file\n", tokens.display());
        std::fs::write(folder.path().join("softhsm2.conf"), text).expect("a file");
        Some(Self { folder, module })
    }

    /// Returns the path of the module.
    pub fn module(&self) -> &Path {
        &self.module
    }

    /// Returns the value of `SOFTHSM2_CONF`.
    pub fn configuration(&self) -> PathBuf {
        self.folder.path().join("softhsm2.conf")
    }

    /// Creates a token.
    pub fn create(&self, label: &str) {
        self.run(
            "softhsm2-util",
            &["--init-token", "--free", "--label", label, "--pin", Self::PIN, "--so-pin", "12345678"],
        );
    }

    /// Creates a key on a token.
    pub fn add_key(&self, token: &str, label: &str, id: &str, curve: &str) {
        let path = self.folder.path().join(format!("{id}.pem"));
        let file = path.to_str().expect("a path in UTF-8");
        let curve = format!("ec_paramgen_curve:{curve}");
        self.run("openssl", &["genpkey", "-algorithm", "EC", "-pkeyopt", &curve, "-out", file]);
        self.run(
            "softhsm2-util",
            &["--import", file, "--token", token, "--label", label, "--id", id, "--pin", Self::PIN],
        );
    }

    /// Creates an AES key on a token, which cannot be read.
    pub fn add_secret_key(&self, token: &str, label: &str) {
        let module = self.module.to_str().expect("a path in UTF-8");
        let login = ["--module", module, "--token-label", token, "--login", "--pin", Self::PIN];
        let key = ["--keygen", "--key-type", "AES:32", "--label", label, "--sensitive"];
        self.run("pkcs11-tool", &[&login[..], &key].concat());
    }

    /// Removes an AES key from a token.
    pub fn remove_secret_key(&self, token: &str, label: &str) {
        let module = self.module.to_str().expect("a path in UTF-8");
        let login = ["--module", module, "--token-label", token, "--login", "--pin", Self::PIN];
        let key = ["--delete-object", "--type", "secrkey", "--label", label];
        self.run("pkcs11-tool", &[&login[..], &key].concat());
    }

    /// Removes a token with its keys.
    pub fn remove(&self, token: &str) {
        self.run("softhsm2-util", &["--delete-token", "--token", token]);
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(program);
        let command = command.args(arguments).env("SOFTHSM2_CONF", self.configuration());
        let output = command.output().expect("a program");
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    }
}
