//! The settings that select a daemon, an organization, a user and a key, with where each comes from. An argument is
//! stronger than an environment variable, a variable than the named context, and that than the rest of the file.

use std::path::PathBuf;

use super::options::Context;
use crate::config::{Config, Selection};
use crate::failure::{Exit, Failure, Result};
use crate::files;
use crate::text::quoted;

/// Where a setting comes from, strongest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    Argument,
    Variable,
    /// The context with this name in the configuration file.
    Context(String),
    File,
    /// Nobody set it.
    Default,
}

/// A setting that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// The settings that apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Name of the context that applies.
    pub(crate) context: Option<Setting<String>>,
    pub(crate) socket: Setting<PathBuf>,
    /// URL of a daemon elsewhere, unless a socket is set by something stronger.
    pub(crate) url: Option<Setting<String>>,
    /// Pin of the TLS key of that daemon. A pin that is weaker than the URL is for another one.
    pub(crate) pin: Option<Setting<String>>,
    /// File of certificate authorities for that daemon, likewise.
    pub(crate) ca_file: Option<Setting<PathBuf>>,
    /// Organization, by name or id.
    pub(crate) organization: Option<Setting<String>>,
    /// User, by name or id.
    pub(crate) user: Option<Setting<String>>,
    pub(crate) key: Option<Setting<String>>,
    /// See [`super::Identity::is_of_other`].
    pub(crate) is_of_other: bool,
}

impl Settings {
    /// Determines the settings that apply.
    ///
    /// # Errors
    /// Returns an error if the selected context is not in the file.
    pub(crate) fn of(arguments: &Context, config: &Config) -> Result<Self> {
        let context = context(arguments, config);
        let mut layers = vec![
            (Origin::Argument, arguments.selection()),
            (Origin::Variable, arguments.environment.selection.clone()),
        ];
        if let Some(Setting { value: name, .. }) = &context {
            let selection = config.contexts.get(name).ok_or_else(|| unknown(name, config))?;
            layers.push((Origin::Context(name.clone()), selection.clone()));
        }
        layers.push((Origin::File, config.selection.clone()));
        let text = |of: fn(&Selection) -> &Option<String>| {
            layers.iter().find_map(|(origin, selection)| {
                Some(Setting { value: of(selection).clone()?, origin: origin.clone() })
            })
        };
        let default = || Setting { value: files::default_socket(), origin: Origin::Default };
        let path = |of: fn(&Selection) -> &Option<PathBuf>| {
            layers.iter().find_map(|(origin, selection)| {
                Some(Setting { value: of(selection).clone()?, origin: origin.clone() })
            })
        };
        let socket = path(|selection| &selection.socket);
        let is_weaker = |origin: &Origin| socket.as_ref().is_some_and(|socket| socket.origin < *origin);
        let url = text(|selection| &selection.url).filter(|url| !is_weaker(&url.origin));
        let is_of_url = |origin: &Origin| url.as_ref().is_some_and(|url| *origin <= url.origin);
        let pin = text(|selection| &selection.pin).filter(|pin| is_of_url(&pin.origin));
        let ca_file = path(|selection| &selection.ca_file).filter(|file| is_of_url(&file.origin));
        let organization = text(|selection| &selection.organization);
        let user = text(|selection| &selection.user);
        let key = text(|selection| &selection.key);
        let is_of_other = organization.as_ref().is_some_and(|chosen| {
            let weaker = [&user, &key].into_iter().flatten().map(|setting| &setting.origin).min();
            let own = layers.iter().filter(|(origin, _)| weaker.is_some_and(|weaker| origin >= weaker));
            let own = own.map(|(_, selection)| &selection.organization).find(|one| one.is_some());
            weaker.is_some_and(|weaker| chosen.origin < *weaker)
                && own.and_then(Option::as_ref) != Some(&chosen.value)
        });
        let socket = socket.unwrap_or_else(default);
        Ok(Self { context, socket, url, pin, ca_file, organization, user, key, is_of_other })
    }
}

/// Returns the name of the context that applies.
fn context(arguments: &Context, config: &Config) -> Option<Setting<String>> {
    let of = |value: &Option<String>, origin| value.clone().map(|value| Setting { value, origin });
    of(&arguments.named, Origin::Argument)
        .or_else(|| of(&arguments.environment.context, Origin::Variable))
        .or_else(|| of(&config.context, Origin::File))
}

/// Returns the error about a context that is not in the file.
pub(crate) fn unknown(name: &str, config: &Config) -> Failure {
    let names: Vec<String> = config.contexts.keys().map(|name| quoted(name)).collect();
    let known = if names.is_empty() {
        "config.toml has none: add a section [contexts.NAME]".to_owned()
    } else {
        format!("config.toml has {}", names.join(", "))
    };
    Failure::new(Exit::NotFound, format!("context {} not found; {known}", quoted(name)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    const FILE: &str = "socket = \"/file\"\norganization = \"file\"\nuser = \"file\"\nkey = \"file\"\n\
                        [contexts.prod]\nsocket = \"/prod\"\norganization = \"prod\"\nuser = \"prod\"\n";

    fn settings(arguments: &Context) -> Settings {
        Settings::of(arguments, &Config::of(FILE)).unwrap()
    }

    fn shown(setting: Option<Setting<String>>) -> (String, Origin) {
        setting.map(|setting| (setting.value, setting.origin)).unwrap()
    }

    #[test]
    fn an_argument_is_stronger_than_a_variable_a_context_and_the_file() {
        let mut arguments = Context::default();
        let of = |name: &str, origin| (name.to_owned(), origin);
        assert_eq!(shown(settings(&arguments).user), of("file", Origin::File));
        arguments.named = Some("prod".to_owned());
        let prod = || Origin::Context("prod".to_owned());
        assert_eq!(shown(settings(&arguments).user), of("prod", prod()));
        // What the context does not set comes from the file.
        assert_eq!(shown(settings(&arguments).key), of("file", Origin::File));
        arguments.environment.selection.user = Some("variable".to_owned());
        assert_eq!(shown(settings(&arguments).user), of("variable", Origin::Variable));
        assert_eq!(settings(&arguments).socket, Setting { value: "/prod".into(), origin: prod() });
        arguments.user = Some("argument".to_owned());
        assert_eq!(shown(settings(&arguments).user), of("argument", Origin::Argument));
    }

    #[test]
    fn the_context_is_selected_by_argument_variable_or_file() {
        let config = Config::of(&format!("context = \"prod\"\n{FILE}[contexts.test]\n[contexts.other]\n"));
        let mut arguments = Context::default();
        let chosen = |arguments: &Context| shown(Settings::of(arguments, &config).unwrap().context);
        assert_eq!(chosen(&arguments), ("prod".to_owned(), Origin::File));
        arguments.environment.context = Some("test".to_owned());
        assert_eq!(chosen(&arguments), ("test".to_owned(), Origin::Variable));
        arguments.named = Some("other".to_owned());
        assert_eq!(chosen(&arguments), ("other".to_owned(), Origin::Argument));
        arguments.named = Some("none".to_owned());
        let failure = Settings::of(&arguments, &config).unwrap_err();
        assert_eq!(failure.exit, Exit::NotFound);
        assert_eq!(
            failure.message(),
            "context \"none\" not found; config.toml has \"other\", \"prod\", \"test\""
        );
    }

    #[test]
    fn user_and_key_of_a_weaker_place_may_be_of_another_organization() {
        let mut arguments = Context { organization: Some("another".to_owned()), ..Context::default() };
        assert!(settings(&arguments).is_of_other);
        arguments.organization = Some("file".to_owned());
        assert!(!settings(&arguments).is_of_other);
        arguments.organization = Some("another".to_owned());
        arguments.user = Some("mira".to_owned());
        assert!(!settings(&arguments).is_of_other);
        let prod = Context { named: Some("prod".to_owned()), ..Context::default() };
        assert!(!settings(&prod).is_of_other);
    }
}
