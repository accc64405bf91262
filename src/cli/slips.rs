//! Hints for common mistakes: names the option that was probably meant. Hints never change the behaviour.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::CommandError;
use crate::eval::language;

/// Names of other servers' options for the address.
const ADDRESS: &[&str] = &["--port", "-p", "--host", "--listen", "--address", "--addr", "-b"];

/// Adds a hint to an error of the command line, if one is known.
pub fn explain(mut wrong: clap::Error, arguments: &[OsString]) -> clap::Error {
    if let Some(hint) = hint(&wrong, arguments) {
        wrong.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(hint)]));
    }
    wrong
}

fn hint(wrong: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let text = |kind| match wrong.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let words: Vec<String> = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let command = words.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    match (wrong.kind(), command, text(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, "serve", Some(argument)) if ADDRESS.contains(&argument) => {
            Some(format!("pass the address as one option: --bind {}", address(after(&words, argument))))
        }
        (ErrorKind::ValueValidation | ErrorKind::InvalidValue, "serve", Some(argument))
            if argument.starts_with("--bind") =>
        {
            Some(format!("an address needs a port: --bind {}", address(text(ContextKind::InvalidValue))))
        }
        (ErrorKind::UnknownArgument, "load", Some(file)) if !file.starts_with('-') => Some(to_load(file)),
        (ErrorKind::UnknownArgument, "query" | "feedback" | "convert", Some(word)) if !word.starts_with('-') => {
            Some("put the query in single quotes, so that the shell passes it as one argument".to_owned())
        }
        (ErrorKind::InvalidSubcommand, file, _) if is_snapshot(file) => {
            Some(format!("start with a command: terrapin info {file}, or terrapin query {file} 'node(1);out;'"))
        }
        _ => None,
    }
}

/// Returns the value of an option, given after it or after its `=`.
fn after<'a>(words: &'a [String], option: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| word == option || word.starts_with(&format!("{option}=")))?;
    let own = words.get(at).and_then(|word| word.split_once('=')).map(|(_, value)| value);
    own.or_else(|| words.get(at + 1).map(String::as_str))
}

/// Returns the address for a port or a host alone.
fn address(given: Option<&str>) -> String {
    let given = given.unwrap_or_default();
    let (host, port) = given.rsplit_once(':').unwrap_or(if is_port(given) { ("", given) } else { (given, "") });
    let host = if host.parse::<std::net::IpAddr>().is_ok() { host } else { "127.0.0.1" };
    format!("{host}:{}", if is_port(port) { port } else { "8080" })
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

/// Returns the command that loads a file of this name.
fn to_load(file: &str) -> String {
    if is_address(Path::new(file)) {
        return fetch(file);
    }
    let name = file.trim_end_matches(".gz").trim_end_matches(".bz2").trim_end_matches(".zst");
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let option = match ending {
        "nt" | "nq" | "ttl" => "--rdf",
        "json" | "jsonl" => "--wikidata",
        _ => "--osm",
    };
    format!("pass the file with the option for its kind: {option} {file}")
}

fn fetch(address: &str) -> String {
    format!("files are not downloaded: save the file first, for example with curl -LO {address}")
}

fn is_snapshot(file: &str) -> bool {
    file.ends_with(".terrapin") || Path::new(file).is_file()
}

/// Returns whether a file name is a web address.
pub fn is_address(path: &Path) -> bool {
    let text = path.to_string_lossy();
    (text.starts_with("http://") || text.starts_with("https://")) && !path.exists()
}

/// Rejects a web address in the place of an input file.
///
/// # Errors
/// Returns an error if the path is a web address.
pub fn no_address(path: &Path) -> Result<(), CommandError> {
    if is_address(path) { Err(CommandError::usage(fetch(&path.display().to_string()))) } else { Ok(()) }
}

/// Rejects a query in the place of the snapshot.
///
/// # Errors
/// Returns an error if the snapshot is missing and the first argument is a query.
pub fn in_order(snapshot: &Path, query: Option<&str>) -> Result<(), CommandError> {
    if snapshot.exists() {
        return Ok(());
    }
    let first = snapshot.to_string_lossy();
    let file = query.filter(|query| is_snapshot(query));
    if file.is_some() || language::of(&first).is_some() {
        let file = file.unwrap_or("NAME.terrapin");
        return Err(CommandError::usage(format!(
            "pass the snapshot before the query: terrapin query {file} '{first}'"
        )));
    }
    Ok(())
}

/// Rejects a file name in the place of a query.
///
/// # Errors
/// Returns an error if the query is the name of a file.
pub fn no_file(query: &str) -> Result<(), CommandError> {
    let is_name = query.len() < 4096 && !query.is_empty() && language::of(query).is_none();
    if is_name && Path::new(query).is_file() {
        return Err(CommandError::usage(format!("{query} is a file: pass -f {query} to read the query from it")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_what_was_meant() {
        for (given, meant) in [
            (Some("8080"), "127.0.0.1:8080"),
            (Some(":9000"), "127.0.0.1:9000"),
            (Some("localhost:9000"), "127.0.0.1:9000"),
            (Some("0.0.0.0"), "0.0.0.0:8080"),
            (Some("0.0.0.0:99999"), "0.0.0.0:8080"),
            (None, "127.0.0.1:8080"),
        ] {
            assert_eq!(address(given), meant, "{given:?}");
        }
    }
}
