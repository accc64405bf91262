//! Options of a command set in three ways: by flags, environment variables and keys of a TOML file. The names come
//! from the command's own grammar, so that every option has all three. Precedence: flag, environment variable, file,
//! default.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::{Spanned, Value};

use super::CommandError;

/// The option that names the file.
const FILE: &str = "config";
/// Options that choose an action; files and variables cannot set them.
const ACTIONS: [&str; 3] = ["check-config", "help", "version"];

/// The reason why the settings could not be read.
#[derive(Debug)]
pub enum ConfigError {
    /// The command line or an environment variable is wrong, or help was requested.
    CommandLine(clap::Error),
    /// The file is wrong.
    File(CommandError),
}

/// Parses a command line. The options of the command `name` can be set in all three ways.
pub fn matches(command: Command, name: &str, arguments: &[OsString]) -> Result<ArgMatches, ConfigError> {
    let bare = command.find_subcommand(name).cloned();
    let command = command.mut_subcommand(name, with_environment);
    let given = command.clone().try_get_matches_from(arguments).map_err(ConfigError::CommandLine)?;
    let file = given.subcommand_matches(name).and_then(|own| own.get_one::<PathBuf>(FILE));
    let (Some(file), Some(bare)) = (file, bare) else { return Ok(given) };
    let settings = ConfigFile::read(file, &bare).map_err(ConfigError::File)?;
    // The file's values become the defaults of a second parse.
    let command = command.mut_subcommand(name, |own| settings.as_defaults(own));
    command.try_get_matches_from(arguments).map_err(ConfigError::CommandLine)
}

/// Returns the command with an environment variable for each option.
pub fn with_environment(command: Command) -> Command {
    command.mut_args(|arg| {
        let key = key(&arg);
        if ACTIONS.contains(&key.as_str()) { arg } else { arg.env(kept(variable(&key))) }
    })
}

/// Returns an option's key in the file: its long flag, or the argument's identifier.
fn key(arg: &Arg) -> String {
    arg.get_long().map_or_else(|| arg.get_id().to_string(), str::to_owned)
}

fn variable(key: &str) -> String {
    format!("TERRAPIN_{}", key.replace('-', "_").to_ascii_uppercase())
}

/// Leaks a text, because the grammar needs texts of static lifetime. There are some dozens, made once.
fn kept(text: String) -> &'static str {
    text.leak()
}

/// Returns the options that a file may set.
fn settings(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| {
        let key = key(arg);
        key != FILE && !ACTIONS.contains(&key.as_str())
    })
}

fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

fn is_list(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

/// The values of a configuration file, by key.
struct ConfigFile(BTreeMap<String, Vec<String>>);

impl ConfigFile {
    /// Reads a file and checks each value against the grammar of `command`.
    fn read(path: &Path, command: &Command) -> Result<ConfigFile, CommandError> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|e| CommandError::input("config", format!("cannot read the configuration {shown}: {e}")))?;
        let line = |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1;
        let wrong = |at: usize, message: String| CommandError::usage(format!("{shown}:{}: {message}", line(at)));
        let entries: BTreeMap<Spanned<String>, Spanned<Value>> =
            toml::from_str(&text).map_err(|e| wrong(e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
        let mut file = BTreeMap::new();
        for (name, value) in entries {
            let at = name.span().start;
            let Some(arg) = settings(command).find(|arg| key(arg) == *name.get_ref()) else {
                return Err(wrong(at, unknown(name.get_ref(), command)));
            };
            let values = values(arg, value.get_ref()).map_err(|message| wrong(at, message))?;
            check(command, arg, &values).map_err(|message| wrong(at, message))?;
            file.insert(name.into_inner(), values);
        }
        Ok(ConfigFile(file))
    }

    fn as_defaults(&self, command: Command) -> Command {
        command.mut_args(|arg| match self.0.get(&key(&arg)) {
            Some(values) => arg.default_values(values.iter().cloned().map(kept)),
            None => arg,
        })
    }
}

fn unknown(name: &str, command: &Command) -> String {
    // A name far from all keys is not a typo. Long names are cut, because comparing them is slow.
    let wanted: String = name.to_ascii_lowercase().replace('_', "-").chars().take(40).collect();
    let nearest = settings(command)
        .map(|arg| (strsim::osa_distance(&wanted, &key(arg)), key(arg)))
        .min()
        .filter(|(distance, known)| *distance <= known.len().div_ceil(3));
    let help = match nearest {
        Some((_, known)) => format!("did you mean `{known}`?"),
        None => "a key is the name of an option of `terrapin serve` without its dashes".to_owned(),
    };
    format!("unknown key `{name}`: {help}")
}

/// Converts a value to command-line arguments.
fn values(arg: &Arg, value: &Value) -> Result<Vec<String>, String> {
    let one = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => Ok(value.to_string()),
        Value::Array(_) => Err(format!("`{}` takes one value, not a list", key(arg))),
        Value::Table(_) => Err(format!("`{}` takes a value, not a table", key(arg))),
    };
    match value {
        Value::Array(values) if is_list(arg) => values.iter().map(one).collect(),
        Value::Boolean(_) => one(value).map(|v| vec![v]),
        _ if is_flag(arg) => Err(format!("`{}` takes true or false", key(arg))),
        _ => one(value).map(|v| vec![v]),
    }
}

/// Checks that the command line accepts these values.
fn check(command: &Command, arg: &Arg, values: &[String]) -> Result<(), String> {
    if is_flag(arg) {
        return Ok(());
    }
    let given = values.iter().flat_map(|value| match arg.get_long() {
        Some(long) => vec![format!("--{long}={value}")],
        None => vec!["--".to_owned(), value.clone()],
    });
    match command.clone().no_binary_name(true).try_get_matches_from(given) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.render().to_string();
            let text = text.trim_start_matches("error: ");
            Err(text.split("\n\n").next().unwrap_or(text).to_owned())
        }
    }
}

/// Returns the effective settings as a file for `--config`, each with its origin.
pub fn effective(command: &Command, matches: &ArgMatches) -> Result<String, CommandError> {
    let file = match matches.get_one::<PathBuf>(FILE) {
        Some(path) => ConfigFile::read(path, command)?,
        None => ConfigFile(BTreeMap::new()),
    };
    let mut out = String::new();
    for arg in settings(command) {
        let (id, key) = (arg.get_id().as_str(), key(arg));
        let from = match matches.value_source(id) {
            Some(ValueSource::CommandLine) => "command line".to_owned(),
            Some(ValueSource::EnvVariable) => variable(&key),
            _ if file.0.contains_key(&key) => "file".to_owned(),
            _ => "default".to_owned(),
        };
        let values = matches.get_raw(id).unwrap_or_default().map(|raw| raw.to_string_lossy().into_owned());
        let value = if is_flag(arg) {
            Some(matches.get_flag(id).to_string())
        } else if is_list(arg) {
            Some(Value::Array(values.map(Value::String).collect()).to_string())
        } else {
            let mut values = values;
            values.next().map(|text| written(&text))
        };
        out.push_str(&match value {
            Some(value) => format!("{:<40} # {from}\n", format!("{key} = {value}")),
            None => format!("# {key} is not set\n"),
        });
    }
    Ok(out)
}

/// Writes a number as a TOML integer and everything else as a string.
fn written(text: &str) -> String {
    match text.parse::<i64>() {
        Ok(number) if number.to_string() == text => number.to_string(),
        _ => Value::String(text.to_owned()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Args;

    use super::*;
    use crate::cli::serve;

    fn command() -> Command {
        serve::ServeArgs::augment_args(Command::new("serve"))
    }

    fn read(text: &str) -> Result<ConfigFile, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.toml");
        std::fs::write(&path, text).unwrap();
        ConfigFile::read(&path, &command()).map_err(|error| match error {
            CommandError::Other { exit, message, .. } => {
                assert_eq!(exit, super::super::Exit::Usage);
                message.rsplit_once("c.toml").unwrap().1.to_owned()
            }
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn every_option_has_a_variable_and_a_key() {
        let command = with_environment(command());
        for arg in settings(&command) {
            let name = key(arg).replace('-', "_").to_ascii_uppercase();
            assert_eq!(arg.get_env(), Some(format!("TERRAPIN_{name}").as_ref()));
            assert!(is_flag(arg) || is_list(arg) || matches!(arg.get_action(), ArgAction::Set), "{arg:?}");
        }
        command.debug_assert();
    }

    #[test]
    fn an_error_in_a_file_has_its_line() {
        let cases = [
            ("# limits\n\nmax-querys = 2", ":3: unknown key `max-querys`: did you mean `max-queries`?"),
            ("max_queries = 2", ":1: unknown key `max_queries`: did you mean `max-queries`?"),
            ("[limits]\nx = 1", ":1: unknown key `limits`: a key is"),
            ("max-queries = 0", ":1: invalid value '0' for '--max-queries <N>'"),
            ("json = 1", ":1: `json` takes true or false"),
            ("max-time = [1, 2]", ":1: `max-time` takes one value, not a list"),
            ("max-time = 1\nmax-time = 2", ":2: duplicate key"),
            ("max-time = ", ":1: "),
            ("log = \"xml\"", ":1: invalid value 'xml' for '--log <LOG>'"),
            ("config = \"x\"", ":1: unknown key `config`"),
            ("trusted-proxy = [\"10.0.0.0/40\"]", ":1: invalid value '10.0.0.0/40'"),
        ];
        for (text, message) in cases {
            let wrong = read(text).err().unwrap_or_else(|| panic!("{text} was accepted"));
            assert!(wrong.starts_with(message), "{text}: {wrong}");
        }
        assert!(read(&format!("\"{}\" = 1", "é".repeat(1 << 16))).is_err());
    }
}
