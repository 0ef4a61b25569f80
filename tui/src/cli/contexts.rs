//! `quorate context ls|use|show`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::arguments::ContextCommand;
use crate::config::{self, Config, Selection};
use crate::failure::{Exit, Failure, Result};
use crate::files::Folders;
use crate::output::Answer;
use crate::session::{Context, Settings, unknown_context};
use crate::text::clean;

pub(super) fn run(folders: &Folders, context: &Context, command: &ContextCommand) -> Result<Answer> {
    let config = Config::load(folders)?;
    // `ls` and `use` also help if the selected context is missing.
    let current = Settings::of(context, &config).ok().and_then(|settings| settings.context);
    let current = current.map(|setting| setting.value);
    let is_current = |name: &str| current.as_deref() == Some(name);
    match command {
        ContextCommand::Ls => {
            let rows = config.contexts.iter().map(|(name, selection)| {
                let mark = if is_current(name) { '*' } else { ' ' };
                let text = format!("{mark} {}\n", clean(name));
                (data(name, selection, is_current(name)), text)
            });
            Ok(Answer::rows(rows, "No contexts. Add a section [contexts.NAME] to config.toml."))
        }
        ContextCommand::Show { name } => {
            let none = || Failure::new(Exit::NotFound, "no context is selected; see `quorate context ls`");
            let name = name.clone().or_else(|| current.clone()).ok_or_else(none)?;
            let selection = of(&config, &name)?;
            Ok(Answer::one(data(&name, selection, is_current(&name)), text(&name, selection)))
        }
        ContextCommand::Use { name } => {
            let selection = of(&config, name)?;
            config::use_context(folders, name)?;
            let mut text = format!("config.toml now uses context {}.\n", clean(name));
            if current.is_some() && !is_current(name) && config.context != current {
                text.push_str(
                    "The option --context or the variable QUORATE_CONTEXT selects another one now.\n",
                );
            }
            Ok(Answer::one(data(name, selection, true), text))
        }
    }
}

fn of<'a>(config: &'a Config, name: &str) -> Result<&'a Selection> {
    config.contexts.get(name).ok_or_else(|| unknown_context(name, config))
}

fn data(name: &str, selection: &Selection, is_current: bool) -> Value {
    let Selection { socket, url, pin, ca_file, organization, user, key } = selection;
    json!({"name": name, "current": is_current, "socket": socket, "url": url, "pin": pin, "caFile": ca_file,
        "organization": organization, "user": user, "key": key})
}

fn text(name: &str, selection: &Selection) -> String {
    let Selection { socket, url, pin, ca_file, organization, user, key } = selection;
    let shown = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let rows = [("context", Some(name.to_owned())), ("socket", shown(socket)), ("url", url.clone())];
    let rows = rows.into_iter().chain([("pin", pin.clone()), ("ca_file", shown(ca_file))]);
    let rows = rows.chain([("organization", organization.clone())]);
    let rows = rows.chain([("user", user.clone()), ("key", key.clone())]);
    let rows = rows.filter_map(|(label, value)| Some(format!("{label:<12}  {}\n", clean(&value?))));
    rows.collect()
}
