//! Tests error messages with their lines, and compares the sample file with the known keys.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use quorate_core::policy::DenyErrors;
use tracing::level_filters::LevelFilter;

use super::*;
use crate::auth_proxy::settings::Method::{Email, Passkey};
use crate::store::engine::Engine;
use crate::store::redb::CommitMode;
use crate::telemetry::LogFormat;

const SAMPLE: &str = include_str!("../../../assets/quorated.toml");
const MINIMAL: &str = "[socket]\npath = \"s\"\n[store]\npath = \"d\"\n[key]\nfile = \"k\"\n";

fn problems(text: &str) -> Vec<String> {
    let outcome = Config::check(text, Path::new("/etc/quorate"));
    outcome.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

#[test]
fn the_minimal_configuration_has_the_documented_defaults() {
    let config = Config::check(MINIMAL, Path::new("/etc/quorate")).unwrap();
    assert_eq!(config.http, None);
    assert_eq!(config.socket.path, Path::new("/etc/quorate/s"));
    assert_eq!(config.key, KeySource::File("/etc/quorate/k".into()));
    assert_eq!(config.webhook, ReceiverPolicy::default());
    assert_eq!((config.log.format, config.log.level), (LogFormat::Text, LevelFilter::INFO));
    assert_eq!(config.limits.requests_per_second, None);
    assert_eq!(config.limits.resources.records.private_keys, 1000);
}

#[test]
fn reads_a_full_configuration() {
    let text = r#"
        [http]
        listen = "[::1]:443"
        base_url = "https://keys.example.org/api/"
        tls_certificate = "/tls/c.pem"
        tls_key = "k.pem"
        [socket]
        path = "/run/quorate/quorated.sock"
        group = "quorate"
        [store]
        path = "/var/lib/quorate"
        [key]
        passphrase_prompt = true
        [webhook]
        allow_networks = ["10.0.0.0/8", "fd00::/8"]
        allow_http = true
        [log]
        format = "json"
        level = "debug"
        [limits]
        requests_per_second = 60
        wallets = 0x20
    "#;
    let config = Config::check(text, Path::new("/etc/quorate")).unwrap();
    let http = config.http.unwrap();
    assert_eq!(http.base_url.as_deref(), Some("https://keys.example.org/api"));
    assert_eq!(http.tls.unwrap().key, Path::new("/etc/quorate/k.pem"));
    assert_eq!(config.socket.group.as_deref(), Some("quorate"));
    assert_eq!(config.key, KeySource::PassphrasePrompt);
    assert_eq!(config.webhook.allow_networks.len(), 2);
    assert_eq!(config.limits.requests_per_second, Some(60));
    assert_eq!(config.limits.resources.records.wallets, 32);
}

#[test]
fn reports_all_problems_with_line_and_key() {
    let text = r#"[http]
listen = "8080"
base_url = "ftp://a"
tls_key = "k"
port = 1
[store]
path = 7
[key]
file = "a"
passphrase_prompt = true
[webhook]
allow_networks = [
  "10.0.0.0/8",
  "10.0.0.1/8",
  "ten",
]
allow_http = "yes"
[log]
format = "xml"
level = "loud"
[limits]
users = 0
tags = -1
[metrics]
on = true
"#;
    let expected = [
        "line 1: http: tls_certificate and tls_key must be set together",
        "line 2: http.listen: must be an address and a port, such as \"127.0.0.1:8080\" or \"[::1]:8080\"",
        "line 3: http.base_url: must be an http or https URL without query, such as \"https://keys.example.org\"",
        "line 5: http.port: unknown key",
        "line 7: store.path: must be a string",
        "line 8: key: needs exactly one of file, passphrase_file, passphrase_prompt = true, command, pkcs11 and shares = true",
        "line 14: webhook.allow_networks: has bits set beyond its prefix length",
        "line 15: webhook.allow_networks: must be a network, such as \"10.0.0.0/8\"",
        "line 17: webhook.allow_http: must be true or false",
        "line 19: log.format: must be \"text\" or \"json\"",
        "line 20: log.level: must be one of off, error, warn, info, debug",
        "line 22: limits.users: must be an integer from 1 to 10000",
        "line 23: limits.tags: must be an integer from 1 to 10000",
        "line 24: metrics: unknown section",
        "line 25: socket: required section is missing",
    ];
    assert_eq!(problems(text), expected);
}

#[test]
fn reports_single_problems() {
    for (text, expected) in [
        (
            "",
            vec![
                "line 1: socket: required section is missing",
                "line 1: store: required section is missing",
                "line 1: key: required section is missing",
            ],
        ),
        (&MINIMAL.replace("path = \"s\"", ""), vec!["line 1: socket.path: required key is missing"]),
        (&MINIMAL.replace("\"d\"", "\"\""), vec!["line 4: store.path: must be a path"]),
        (
            &MINIMAL.replace("file = \"k\"", ""),
            vec![
                "line 5: key: needs exactly one of file, passphrase_file, passphrase_prompt = true, command, pkcs11 and shares = true",
            ],
        ),
        (
            &MINIMAL.replace("file = \"k\"", "passphrase_prompt = false"),
            vec![
                "line 5: key: needs exactly one of file, passphrase_file, passphrase_prompt = true, command, pkcs11 and shares = true",
            ],
        ),
        (&format!("log = 1\n{MINIMAL}"), vec!["line 1: log: must be a section"]),
        (&format!("{MINIMAL}[http]\n"), vec!["line 7: http.listen: required key is missing"]),
        (&format!("{MINIMAL}[store]\n"), vec!["line 7: duplicate key"]),
    ] {
        assert_eq!(problems(text), expected, "{text}");
    }
    assert!(problems("[http\n").first().unwrap().starts_with("line 1: "));
}

#[test]
fn reads_the_pages() {
    let check = |section: &str, expected: Option<(&str, &str, bool)>| {
        let config = Config::check(&format!("{MINIMAL}[pages]\n{section}"), Path::new("")).unwrap();
        let pages = config.pages.as_ref();
        let found = pages.map(|one| (one.url.as_str(), one.relying_party_id.as_str(), one.allow_high));
        assert_eq!(found, expected, "{section}");
    };
    check("", None);
    check("url = \"https://keys.example.org\"", None);
    check(
        "enabled = true\nurl = \"https://keys.example.org/q/\"",
        Some(("https://keys.example.org/q", "keys.example.org", false)),
    );
    check(
        "enabled = true\nurl = \"https://keys.example.org\"\nrelying_party_id = \"example.org\"\nallow_high = true",
        Some(("https://keys.example.org", "example.org", true)),
    );
    check(
        "enabled = true\nurl = \"http://localhost:8787\"",
        Some(("http://localhost:8787", "localhost", false)),
    );
}

#[test]
fn rejects_pages_without_passkeys() {
    let check = |section: &str, expected: &str| {
        assert_eq!(
            problems(&format!("{MINIMAL}[pages]\nenabled = true\n{section}")),
            [expected],
            "{section}"
        );
    };
    let url =
        r#"line 9: pages.url: must be an https URL with a host name, such as "https://keys.example.org""#;
    check("", "line 7: pages.url: required key is missing");
    check("url = \"http://keys.example.org\"", url);
    check("url = \"https://192.0.2.1\"", url);
    check("url = \"https://[::1]\"", url);
    check("url = \"https://keys.example.org#a\"", url);
    let domain = "line 7: pages: relying_party_id must be the host name of url, or a domain above it";
    for id in ["", "example.com", "le.org", "a.keys.example.org", ".example.org"] {
        check(&format!("url = \"https://keys.example.org\"\nrelying_party_id = \"{id}\""), domain);
    }
}

#[test]
fn errors_name_the_file_and_contain_no_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quorated.toml");
    assert!(matches!(Config::read(&path), Err(ConfigError::Read { .. })));
    std::fs::write(&path, "[key]\npassphrase = \"open sesame\"\n").unwrap();
    let text = Config::read(&path).unwrap_err().to_string();
    let first = "quorated.toml: invalid configuration:\n  line 1: key: needs exactly one";
    assert!(text.contains(first), "{text}");
    assert!(text.contains("\n  line 2: key.passphrase: unknown key"), "{text}");
    assert!(!text.contains("sesame"), "{text}");
}

/// Returns the sample with all optional keys enabled. Prose in its comments never looks like `# key = value`.
fn uncommented() -> String {
    let is_key = |line: &str| {
        let word = line.split(" = ").next().unwrap_or_default();
        line.contains(" = ")
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let lines = SAMPLE.lines().map(|line| match line.strip_prefix("# ") {
        Some(rest) if is_key(rest) => rest,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn keys_read_from(text: &str) -> BTreeSet<String> {
    let mut document = Document::parse(text, Path::new(""));
    document.section("http", http::read);
    document.section("socket", socket::read);
    document.section("store", store::read);
    document.section("journal", journal::read);
    document.section("key", key::read);
    document.section("webhook", webhook::read);
    document.section("oidc", oidc::read);
    document.section("oauth2", oauth2::read);
    document.section("mail", mail::read);
    document.section("sms", sms::read);
    document.section("pages", pages::read);
    document.section("organizations", organizations::read);
    document.section("policies", policies::read);
    document.section("auth_proxy", auth_proxy::read);
    document.section("log", log::read);
    document.section("limits", limits::read);
    document.read_keys().iter().cloned().collect()
}

/// Returns the configuration with the engine to which the keys of a database belong.
fn on_a_database(text: &str) -> String {
    text.replace("engine = \"sled\"", "engine = \"postgres\"")
}

#[test]
fn the_sample_is_valid_and_shows_every_key() {
    assert_eq!(problems(SAMPLE), Vec::<String>::new());
    let full = uncommented();
    let table: toml::Table = full.parse().unwrap();
    let shown: BTreeSet<String> = table
        .iter()
        .flat_map(|(section, keys)| {
            keys.as_table().unwrap().keys().map(move |key| format!("{section}.{key}"))
        })
        .collect();
    assert_eq!(shown, keys_read_from(&full));
    // With all keys enabled, only the sources of the root key conflict, if the engine is that of all keys.
    let full = on_a_database(&full);
    let line = 1 + full.lines().position(|line| line == "[key]").unwrap();
    assert_eq!(
        problems(&full),
        [format!(
            "line {line}: key: needs exactly one of file, passphrase_file, passphrase_prompt = true, command, pkcs11 and shares = true"
        )]
    );
}

#[test]
fn the_sample_shows_the_defaults() {
    let defaults = Limits::default();
    // One source of the root key.
    let others = ["passphrase_", "command = ", "pkcs11", "pin_file", "shares = "];
    let is_other = |line: &&str| !others.iter().any(|other| line.starts_with(other));
    let text: Vec<String> =
        on_a_database(&uncommented()).lines().filter(is_other).map(str::to_owned).collect();
    let shown = Config::check(&text.join("\n"), Path::new("")).unwrap();
    assert_eq!(shown.limits, defaults);
    assert_eq!(shown.log, Log::default());
    assert!(!shown.webhook.allow_http);
    assert_eq!(shown.organizations, Organizations::default());
    assert_eq!(shown.policies.deny_errors, DenyErrors::Skip);
    let sample = Config::check(SAMPLE, Path::new("")).unwrap();
    assert_eq!((sample.sms, sample.auth_proxy), (None, None));
    assert_eq!((sample.mail, sample.http.unwrap().trusted_proxies), (None, Vec::new()));
}

#[test]
fn registrations_and_trusted_organizations_are_checked() {
    let (one, two) = ("00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002");
    let of = |keys: &str| format!("{MINIMAL}[organizations]\n{keys}\n");
    let text = of(&format!("registrations_per_address = 7\ntrusted = [\"{one}\", \"{two}\"]"));
    let config = Config::check(&text, Path::new("")).unwrap().organizations;
    assert_eq!(config.registrations_per_address, 7);
    assert_eq!(config.trusted, [one, two].map(|id| id.parse().unwrap()));
    for (keys, key) in [
        ("registrations_per_address = 0", "registrations_per_address"),
        ("registrations_per_address = 1000001", "registrations_per_address"),
        ("trusted = \"00000000-0000-4000-8000-000000000001\"", "trusted"),
        ("trusted = [\"team\"]", "trusted"),
        ("trusted = [7]", "trusted"),
    ] {
        let problems = problems(&of(keys));
        assert!(problems.concat().starts_with(&format!("line 8: organizations.{key}: ")), "{problems:?}");
    }
}

#[test]
fn the_earlier_key_of_registration_still_works() {
    let (current, earlier) = ("allow_registration", "founding");
    for (key, value) in [(current, true), (earlier, true), (earlier, false)] {
        let text = format!("{MINIMAL}[organizations]\n{key} = {value}\n");
        let config = Config::check(&text, Path::new("")).unwrap();
        assert_eq!(config.organizations.allow_registration, value, "{key}");
    }
    let problems = problems(&format!("{MINIMAL}[organizations]\n{current} = true\n{earlier} = true\n"));
    assert!(
        problems.concat().ends_with("is the earlier name of allow_registration; remove it"),
        "{problems:?}"
    );
}

#[test]
fn an_authentication_proxy_is_checked() {
    let organization = "organization = \"00000000-0000-4000-8000-000000000001\"";
    let proxy = |keys: &str| problems(&format!("{MINIMAL}[auth_proxy]\n{organization}\n{keys}\n"));
    for valid in [
        "",
        "allowed_origins = [\"https://app.example.org\", \"http://localhost:5173\"]",
        "oauth_redirect_url = \"myapp://callback\"",
        "methods = []\nemail_issuers = []\ngoogle_client_id = \"\"",
        "methods = [\"passkey\", \"wallet\", \"google\"]\nemail_issuers = [\"https://issuer.example\"]",
    ] {
        assert_eq!(proxy(valid), Vec::<String>::new(), "{valid}");
    }
    for invalid in [
        "allowed_origins = [\"*\"]",
        "allowed_origins = [\"null\"]",
        "allowed_origins = [\"https://app.example.org/\"]",
        "allowed_origins = [\"https://APP.example.org\"]",
        "allowed_origins = [\"app.example.org\"]",
        "methods = [\"pigeon\"]",
        "base_path = \"/\"",
        "base_path = \"/auth/\"",
        "base_path = \"/public/v1\"",
        "base_path = \"/console\"",
        "base_path = \"/pages\"",
        "oauth_redirect_url = \"javascript:alert(1)\"",
        "oauth_redirect_url = \"callback\"",
        "code_length = 5",
        "session_seconds = 86401",
        "requests_per_address = 0",
        "sms_per_hour = 0",
        "sms_per_hour_and_address = 0",
        "sign_ups_per_address = 0",
        "waiting_codes_per_address = 0",
    ] {
        assert_eq!(proxy(invalid).len(), 1, "{invalid}");
    }
}

#[test]
fn an_sms_gateway_is_complete() {
    let sms = |keys: &str| problems(&format!("{MINIMAL}[sms]\n{keys}\n"));
    let none = Vec::<String>::new();
    let kannel = "preset = \"kannel\"\nfrom = \"Acme\"\nusername = \"u\"";
    let secret = "secret_file = \"s\"";
    let fields = "fields = [\"n={to}\", \"m={text}\"]";
    for good in [
        String::new(),
        format!("{kannel}\n{secret}"),
        format!("{}\n{secret}", kannel.replace("kannel", "twilio")),
        format!("{kannel}\n{fields}\nmethod = \"POST\"\nbody = \"json\""),
        format!("url = \"http://10.0.0.1/\"\n{fields}\naccepted = [200, 204]"),
        format!("url = \"http://10.0.0.1/\"\n{fields}\n{secret}\nsecret_header = \"X-Api-Key\""),
    ] {
        assert_eq!(sms(&good), none, "{good}");
    }
    for (bad, expected) in [
        (fields.to_owned(), "line 7: sms: needs preset or url"),
        (
            kannel.to_owned(),
            "line 7: sms: secret_file is required, because a field or header contains the secret",
        ),
        (
            format!("url = \"http://10.0.0.1/\"\n{fields}\n{secret}"),
            "line 7: sms: secret_file needs username, secret_header or a field that contains {secret}",
        ),
        (
            "url = \"http://10.0.0.1/\"".to_owned(),
            "line 7: sms: fields must contain {to} and {text}; set preset or fields",
        ),
        (
            format!("{}\n{secret}", kannel.replace("from = \"Acme\"\n", "")),
            "line 7: sms: from is required, because the fields contain {from}",
        ),
        (format!("{kannel}\n{secret}\nbody = \"json\""), "line 7: sms: body cannot be json if method is GET"),
        (format!("{kannel}\n{secret}\naccepted = []"), "line 7: sms: accepted must not be empty"),
        (
            format!("{kannel}\n{secret}\naccepted = [302]"),
            "line 12: sms.accepted: must be a list of integers from 200 to 299",
        ),
        (
            format!("preset = \"twilio\"\nfrom = \"Acme\"\n{secret}"),
            "line 7: sms: url needs a username of letters, digits and -._~",
        ),
        (
            format!("url = \"ftp://10.0.0.1/\"\n{fields}"),
            "line 7: sms: url must begin with http:// or https://",
        ),
        ("preset = \"other\"".to_owned(), "line 8: sms.preset: must be \"twilio\" or \"kannel\""),
    ] {
        assert_eq!(sms(&bad), [expected], "{bad}");
    }
}

#[test]
fn the_engine_is_named_and_its_settings_need_it() {
    let text = |keys: &str| MINIMAL.replace("path = \"d\"", &format!("path = \"d\"\n{keys}"));
    let store = |keys: &str| Config::check(&text(keys), Path::new("/etc/quorate")).unwrap().store;
    assert_eq!((store("").engine, store("").redb), (None, CommitMode::OnePhase));
    assert_eq!(store("engine = \"sled\"").engine, Some(Engine::Sled));
    let redb = store("engine = \"redb\"\ntwo_phase = true");
    assert_eq!((redb.engine, redb.redb), (Some(Engine::Redb), CommitMode::TwoPhase));
    let unknown = problems(&text("engine = \"mysql\""));
    assert_eq!(unknown, ["line 5: store.engine: must be \"sled\", \"redb\" or \"postgres\""]);
    let quick = store("engine = \"redb\"\nquick_repair = true");
    assert_eq!(quick.redb, CommitMode::QuickRepair);
    for key in ["two_phase", "quick_repair"] {
        for engine in ["", "engine = \"sled\"\n"] {
            let expected = format!("line 3: store: {key} needs engine = \"redb\"");
            assert_eq!(problems(&text(&format!("{engine}{key} = true"))), [expected]);
        }
    }
}

#[test]
fn a_mail_password_requires_tls() {
    let mail = |keys: &str| problems(&format!("{MINIMAL}[mail]\n{keys}\n"));
    let server = "server = \"smtp://mail.example.org\"\nfrom = \"q@example.org\"";
    assert_eq!(mail(server), Vec::<String>::new());
    assert_eq!(mail("from = \"q@example.org\""), ["line 7: mail: server and from must be set together"]);
    let login = "username = \"u\"\npassword_file = \"p\"";
    assert_eq!(mail(&format!("{server}\n{login}")), Vec::<String>::new());
    assert_eq!(
        mail(&format!("{server}\n{login}\nallow_plain = true")),
        ["line 7: mail: allow_plain cannot be combined with a password, which could be sent without TLS"]
    );
    assert_eq!(mail(&format!("{server}\nfrom_domains = [\"acme.example\"]")), Vec::<String>::new());
    assert_eq!(
        mail(&format!("{server}\nfrom_domains = [\"@acme.example\"]")),
        ["line 10: mail.from_domains: must be a domain, such as \"example.org\""]
    );
    let reported = mail("server = \"http://mail.example.org\"\nfrom = \"nobody\"");
    let begins = ["line 8: mail.server: must be a mail server", "line 9: mail.from: must be an address"];
    assert_eq!(reported.len(), begins.len(), "{reported:?}");
    assert!(reported.iter().zip(begins).all(|(problem, begin)| problem.starts_with(begin)), "{reported:?}");
}

#[test]
fn oauth2_needs_an_issuer_and_endpoints_that_may_be_reached() {
    let oauth2 = |keys: &str| problems(&format!("{MINIMAL}[oauth2]\n{keys}\n"));
    let on = "enabled = true\nissuer = \"https://keys.example.org/\"";
    for good in ["", on, "enabled = false", &format!("{on}\nx_user_url = \"https://x.example/me\"")] {
        assert_eq!(oauth2(good), Vec::<String>::new(), "{good}");
    }
    let config = Config::check(&format!("{MINIMAL}[oauth2]\n{on}\n"), Path::new("")).unwrap();
    let settings = config.oauth2.unwrap();
    assert_eq!((settings.issuer.as_str(), settings.key_generation), ("https://keys.example.org", 1));
    assert_eq!(Config::check(MINIMAL, Path::new("")).unwrap().oauth2, None);
    let local = "discord_token_url = \"http://127.0.0.1/token\"";
    assert_eq!(oauth2(&format!("{on}\n{local}")), ["line 7: oauth2: discord_token_url must use https"]);
    assert_eq!(
        oauth2(&format!("{on}\nallow_http = true\n{local}")),
        ["line 7: oauth2: discord_token_url must have a public host"]
    );
    for bad in ["enabled = true", "enabled = true\nissuer = \"keys.example.org\"", "key_generation = 0"] {
        assert_eq!(oauth2(bad).len(), 1, "{bad}");
    }
}

#[test]
fn the_proxy_accepts_own_id_tokens_if_a_method_needs_them() {
    let on = "[oauth2]\nenabled = true\nissuer = \"https://keys.example.org\"";
    let listed = "[oidc]\nissuers = [\"https://issuer.example\"]";
    let mail = "[mail]\nserver = \"smtp://localhost\"\nfrom = \"q@example.org\"";
    let issuers = |methods: &str, more: &str| {
        let organization = "organization = \"00000000-0000-4000-8000-000000000001\"";
        let text = format!("{MINIMAL}{more}\n[auth_proxy]\n{organization}\nmethods = [{methods}]\n");
        Config::check(&text, Path::new("")).unwrap().auth_proxy.unwrap().issuers
    };
    for method in ["\"x\"", "\"discord\""] {
        assert_eq!(issuers(method, on), ["https://keys.example.org"]);
        let both = issuers(method, &format!("{on}\n{listed}"));
        assert_eq!(both, ["https://issuer.example", "https://keys.example.org"]);
    }
    assert_eq!(issuers("\"email\", \"passkey\"", &format!("{on}\n{mail}")), [""; 0]);
}

#[test]
fn methods_of_the_proxy_need_their_sections() {
    let organization = "organization = \"00000000-0000-4000-8000-000000000001\"";
    let proxy = |keys: &str, more: &str| {
        problems(&format!("{MINIMAL}[auth_proxy]\n{organization}\n{keys}\n{more}\n"))
    };
    let mail = "[mail]\nserver = \"smtp://localhost\"\nfrom = \"q@example.org\"";
    let sms = "[sms]\nurl = \"http://127.0.0.1/\"\nfields = [\"t={to}\", \"m={text}\"]";
    let oauth2 = "[oauth2]\nenabled = true\nissuer = \"http://127.0.0.1:1\"";
    let disabled = "[oidc]\ndisabled = true";
    let named = |method: &str| format!("methods = [\"passkey\", \"{method}\"]");
    let lacks =
        |method: &str, needs: &str| vec![format!("line 9: auth_proxy.methods: {method} needs {needs}")];
    let on = "enabled = true in the section [oauth2]";
    assert_eq!(proxy(&named("email"), ""), lacks("email", "the section [mail]"));
    assert_eq!(proxy(&named("email"), "[mail]\nfrom_domains = []"), lacks("email", "the section [mail]"));
    assert_eq!(proxy(&named("sms"), mail), lacks("sms", "the section [sms]"));
    for method in ["x", "discord"] {
        assert_eq!(proxy(&named(method), ""), lacks(method, on));
        assert_eq!(proxy(&named(method), &oauth2.replace("true", "false")), lacks(method, on));
        assert_eq!(proxy(&named(method), oauth2), [""; 0]);
    }
    let tokens = "ID tokens, which disabled = true in the section [oidc] rejects";
    for method in ["google", "apple", "facebook", "x"] {
        assert_eq!(proxy(&named(method), &format!("{oauth2}\n{disabled}")), lacks(method, tokens));
        assert_eq!(proxy(&named(method), oauth2), [""; 0]);
    }
    assert_eq!(proxy(&named("email"), mail), [""; 0]);
    assert_eq!(proxy(&named("sms"), sms), [""; 0]);
    // The default contains codes by mail only if mail can be sent.
    let methods = |more: &str| {
        let text = format!("{MINIMAL}[auth_proxy]\n{organization}\n{more}\n");
        Config::check(&text, Path::new("")).unwrap().auth_proxy.unwrap().methods
    };
    assert_eq!((methods(""), methods(mail)), (vec![Passkey], vec![Email, Passkey]));
    // Problems within sections are reported alone.
    assert_eq!(proxy(&named("email"), "[mail]\nserver = \"smtp://localhost\"").len(), 1);
}

#[test]
fn issuers_can_be_reached() {
    let oidc = |keys: &str| problems(&format!("{MINIMAL}[oidc]\n{keys}\n"));
    let problem = |line: u8, key: &str| {
        let text = "each issuer must be an https URL with a public host, unless allow_http and allow_networks of the \
            section [oidc] allow others";
        vec![format!("line {line}: {key}: {text}")]
    };
    let issuers = |issuer: &str| format!("issuers = [\"https://issuer.example/tenant\", \"{issuer}\"]");
    for issuer in ["http://issuer.example", "https://127.0.0.1", "https://localhost", "issuer.example"] {
        assert_eq!(oidc(&issuers(issuer)), problem(8, "oidc.issuers"), "{issuer}");
    }
    for (issuer, keys) in [
        ("https://accounts.google.com", ""),
        ("http://issuer.example", "allow_http = true"),
        ("http://127.0.0.1:8080", "allow_http = true\nallow_networks = [\"127.0.0.0/8\"]"),
        ("http://127.0.0.1:1", "[oauth2]\nenabled = true\nissuer = \"http://127.0.0.1:1\""),
    ] {
        assert_eq!(oidc(&format!("{}\n{keys}", issuers(issuer))), [""; 0], "{issuer} {keys}");
    }
    let proxy = "[auth_proxy]\norganization = \"00000000-0000-4000-8000-000000000001\"\nemail_issuers = [\"http://a.example\"]";
    assert_eq!(problems(&format!("{MINIMAL}{proxy}\n")), problem(9, "auth_proxy.email_issuers"));
    assert_eq!(problems(&format!("{MINIMAL}{proxy}\n[oidc]\nallow_http = true\n")), [""; 0]);
}

#[test]
fn warns_of_what_is_probably_a_mistake() {
    let warnings =
        |text: &str| Config::check(&format!("{MINIMAL}{text}\n"), Path::new("")).unwrap().warnings();
    let mail = |url: &str| {
        warnings(&format!("[mail]\nserver = \"{url}\"\nfrom = \"q@example.org\"\nallow_plain = true"))
    };
    for local in ["smtp://127.0.0.1:25", "smtp://127.8.0.1", "smtp://[::1]:25", "smtp://localhost"] {
        assert_eq!(mail(local), [""; 0], "{local}");
    }
    let exposed = ["mail with keys and codes is sent to another machine without TLS: allow_plain in [mail]"];
    for remote in
        ["smtp://mail.example.org", "smtps://mail.example.org", "smtp://10.0.0.1", "smtp://localhost.example"]
    {
        assert_eq!(mail(remote), exposed, "{remote}");
    }
    assert_eq!(warnings("[mail]\nserver = \"smtp://mail.example.org\"\nfrom = \"q@example.org\""), [""; 0]);
    let pages = |url: &str, tls: &str| {
        warnings(&format!(
            "[http]\nlisten = \"127.0.0.1:0\"\n{tls}\n[pages]\nenabled = true\nurl = \"{url}\""
        ))
    };
    let tls = "tls_certificate = \"c.pem\"\ntls_key = \"k.pem\"";
    assert_eq!(pages("http://localhost:8080", ""), [""; 0]);
    assert_eq!(pages("https://localhost:8080", tls), [""; 0]);
    assert_eq!(pages("https://keys.example.org", ""), [""; 0], "a proxy in front terminates TLS");
    let other = pages("http://localhost:8080", tls);
    assert!(
        matches!(other.as_slice(), [one] if one.contains("url in [pages] begins with http")),
        "{other:?}"
    );
    let proxy = |issuer: &str| {
        let organization = "organization = \"00000000-0000-4000-8000-000000000001\"";
        warnings(&format!(
            "[auth_proxy]\n{organization}\nmethods = [\"google\"]\n[oidc]\nissuers = [\"{issuer}\"]"
        ))
    };
    assert_eq!(proxy("https://accounts.google.com"), [""; 0]);
    assert_eq!(
        proxy("https://issuer.example"),
        [
            "issuers in [oidc] does not list https://accounts.google.com, so the method google in [auth_proxy] accepts no ID \
          token of this provider"
        ]
    );
    let codes = |more: &str, prefixes: &str| {
        let sms = "[sms]\npreset = \"kannel\"\nurl = \"https://sms.example.org/\"\nfrom = \"q\"\nsecret_file = \"secret\"";
        warnings(&format!(
            "[auth_proxy]\norganization = \"00000000-0000-4000-8000-000000000001\"\nmethods = [\"sms\"]\n{more}\n{sms}\n{prefixes}"
        ))
    };
    let prefixes = "prefixes = [\"+49\"]";
    assert_eq!(codes("", prefixes), [""; 0]);
    assert_eq!(codes("code_length = 6", prefixes), [""; 0]);
    assert_eq!(codes("code_letters = false", prefixes), [""; 0]);
    let short = codes("code_length = 6\ncode_letters = false", prefixes);
    assert!(matches!(short.as_slice(), [one] if one.contains("6 digits")), "{short:?}");
    let open = codes("", "");
    assert!(matches!(open.as_slice(), [one] if one.contains("set prefixes in [sms]")), "{open:?}");
}

#[test]
fn a_database_has_a_url_without_a_password() {
    let text = |keys: &str| MINIMAL.replace("path = \"d\"", &format!("path = \"d\"\n{keys}"));
    let url = "url = \"postgres://quorate@db.example.org/quorate\"";
    let complete =
        format!("engine = \"postgres\"\n{url}\nca_file = \"ca.pem\"\npassword_file = \"/run/password\"");
    let store = Config::check(&text(&complete), Path::new("/etc/quorate")).unwrap().store;
    let database = store.database.unwrap();
    assert_eq!(store.engine, Some(Engine::Postgres));
    assert_eq!(database.ca_file.as_deref(), Some(Path::new("/etc/quorate/ca.pem")));
    assert_eq!(database.password_file.as_deref(), Some(Path::new("/run/password")));
    assert_eq!(problems(&text("engine = \"postgres\"")), ["line 3: store: engine = \"postgres\" needs url"]);
    assert_eq!(problems(&text(url)), ["line 3: store: url needs engine = \"postgres\""]);
    // Only the cause is reported.
    let misspelled = text(&format!("engine = \"postgre\"\n{url}\npassword_file = \"/p\"\ntwo_phase = true"));
    assert_eq!(problems(&misspelled), ["line 5: store.engine: must be \"sled\", \"redb\" or \"postgres\""]);
    let secret = "engine = \"postgres\"\nurl = \"postgres://quorate:secret@db.example.org/quorate\"";
    assert_eq!(
        problems(&text(secret)),
        ["line 6: store.url: must not contain a password; use password_file"]
    );
}
