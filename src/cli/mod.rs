//! The command line, one file per command. It may use every module; no module uses it.

mod ask;
mod benchmark;
mod config;
mod connections;
mod convert;
mod diagnose;
mod error;
mod eval;
mod export;
mod extract;
mod features;
mod feedback;
#[cfg(feature = "geoparquet")]
mod geoparquet;
mod health;
mod info;
mod labelled;
mod leaderboard;
mod load;
mod log;
mod manual;
mod mcp;
mod mirror;
mod model;
mod open;
mod pin;
mod progress;
mod query;
mod remote;
mod serve;
mod sigbus;
mod slips;
mod sparql;
mod stdout;
mod stop;
mod tags;
mod tools;
mod verify;
mod version;
mod whole;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::stack;

pub use error::{Error, Exit};

/// The command that also reads its options from a file and the environment.
const SERVE: &str = "serve";

const AFTER_HELP: &str = "\
Exit status:
  0  done
  1  the query was rejected or stopped, a snapshot failed its verification,
     or a server is not healthy
  2  the command line is wrong
  3  an input file is missing, broken or of the wrong kind
  4  the system failed: disk full, address in use, out of threads
  5  the snapshot was truncated or became unreadable while it was in use
  129, 130, 143  a load was stopped by SIGHUP, SIGINT (Ctrl-C), SIGTERM; no partial file remains

Errors go to standard error, with --json as one JSON object. A pipe closed by its reader is not an error.

Examples:
  terrapin load --osm malta.osm.pbf --out malta.terrapin
  terrapin query malta.terrapin 'node[amenity=cafe]({{bbox}});out;' --bbox 35.8,14.1,36.1,14.6
  terrapin serve malta.terrapin --bind 127.0.0.1:8080";

/// Pinned OpenStreetMap snapshots that answer OverpassQL the same way everywhere.
#[derive(Debug, Parser)]
#[command(name = "terrapin", version, after_help = AFTER_HELP, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Load(load::Args),
    Export(export::Args),
    Extract(extract::Args),
    Info(info::Args),
    Verify(verify::Args),
    Pull(remote::PullArgs),
    Push(remote::PushArgs),
    Query(query::Args),
    Convert(convert::Args),
    Serve(serve::Args),
    Health(health::Args),
    Eval(eval::Args),
    Benchmark(benchmark::Args),
    Leaderboard(leaderboard::Args),
    Feedback(feedback::Args),
    Ask(ask::Args),
    Tags(tags::Args),
    Mcp(mcp::Args),
    Tools(tools::Args),
    Label(labelled::LabelArgs),
    Unlabel(labelled::UnlabelArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
    /// Print the version, as --version does
    #[command(hide = true)]
    Version,
}

/// Runs the command that the process was started with. `commit` is the commit of the build, empty if unknown.
pub fn main(commit: &'static str) -> ExitCode {
    version::keep(commit);
    sigbus::say_so();
    stack::main(command).unwrap_or_else(|error| {
        diagnose::report(&Error::system("threads", error), false);
        Exit::System.into()
    })
}

fn command() -> ExitCode {
    // Searched by hand, because a wrong command line has no parsed options.
    let as_json = std::env::args_os().skip(1).take_while(|a| a != "--").any(|a| a == "--json");
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let parsed = config::matches(Cli::command().long_version(version::long().leak() as &str), SERVE, &arguments)
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches).map_err(config::Wrong::CommandLine)?, matches)));
    let result = match parsed {
        Ok((cli, matches)) => run(cli.command, &matches),
        Err(config::Wrong::File(error)) => Err(error),
        Err(config::Wrong::CommandLine(wrong)) if as_json && wrong.use_stderr() => {
            let text = slips::explain(wrong, &arguments).render().to_string();
            Err(Error::usage(text.trim_start_matches("error: ").trim_end()))
        }
        Err(config::Wrong::CommandLine(wrong)) => {
            let wrong = slips::explain(wrong, &arguments);
            let _ = wrong.print();
            return if wrong.use_stderr() { Exit::Usage } else { Exit::Done }.into();
        }
    };
    match result {
        Ok(()) => Exit::Done.into(),
        Err(error) => {
            diagnose::report(&error, as_json);
            error.exit().into()
        }
    }
}

fn run(command: Command, matches: &ArgMatches) -> Result<(), Error> {
    match command {
        Command::Load(args) => load::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Extract(args) => extract::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Pull(args) => remote::run_pull(&args),
        Command::Push(args) => remote::run_push(&args),
        Command::Query(args) => query::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Serve(args) => serve::run(&args, matches.subcommand_matches(SERVE)),
        Command::Health(args) => health::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Benchmark(args) => benchmark::run(&args),
        Command::Leaderboard(args) => leaderboard::run(&args),
        Command::Feedback(args) => feedback::run(&args),
        Command::Ask(args) => ask::run(&args),
        Command::Tags(args) => tags::run(&args),
        Command::Mcp(args) => mcp::run(&args),
        Command::Tools(args) => tools::run(&args),
        Command::Label(args) => labelled::run_label(&args),
        Command::Unlabel(args) => labelled::run_unlabel(&args),
        Command::Completions(args) => manual::run_completions(&args),
        Command::Man(args) => manual::run_man(&args),
        Command::Version => stdout::print(&format!("terrapin {}\n", version::long())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_of_the_command_line_is_sound() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
