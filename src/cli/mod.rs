//! The command line, one file per command. It may use every module; no module uses it.

mod annotation;
mod ask;
mod benchmark;
mod config;
mod connections;
mod convert;
mod diagnose;
mod error;
mod eval;
mod examples;
mod export;
mod extract;
mod features;
mod feedback;
mod fmt;
mod for_queries;
#[cfg(feature = "geoparquet")]
mod geoparquet;
mod grammar;
mod health;
mod identity;
mod info;
mod labelled;
mod leaderboard;
mod lint;
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
mod query_files;
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
mod words;
mod work;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::stack;

pub use error::{CommandError, Exit};

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
    command: CliCommand,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    Load(load::LoadArgs),
    Export(export::ExportArgs),
    Extract(extract::ExtractArgs),
    Info(info::InfoArgs),
    Verify(verify::VerifyArgs),
    Pull(remote::PullArgs),
    Push(remote::PushArgs),
    Query(query::QueryCommandArgs),
    Convert(convert::ConvertArgs),
    Fmt(fmt::FmtArgs),
    Lint(lint::LintArgs),
    Grammar(grammar::GrammarArgs),
    Serve(serve::ServeArgs),
    Health(health::HealthArgs),
    Eval(eval::EvalArgs),
    Benchmark(benchmark::BenchmarkArgs),
    Leaderboard(leaderboard::LeaderboardArgs),
    Feedback(feedback::FeedbackArgs),
    Ask(ask::AskArgs),
    Tags(tags::TagsArgs),
    Mcp(mcp::McpArgs),
    Tools(tools::ToolsArgs),
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
    run_command_line(commit, std::env::args_os().collect()).into()
}

/// Runs the command of `arguments`, the first of which is the name of the program, and returns the exit status. For a
/// program in another language that contains this library, such as the command of the Python package.
pub fn run_command_line(commit: &'static str, arguments: Vec<OsString>) -> Exit {
    version::keep(commit);
    sigbus::say_so();
    stack::main(|| command(&arguments)).unwrap_or_else(|error| {
        diagnose::report(&CommandError::system("threads", error), false);
        Exit::System
    })
}

fn command(arguments: &[OsString]) -> Exit {
    // Searched by hand, because a wrong command line has no parsed options.
    let as_json = arguments.iter().skip(1).take_while(|a| *a != "--").any(|a| a == "--json");
    let parsed = config::matches(Cli::command().long_version(version::long().leak() as &str), SERVE, arguments)
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches).map_err(config::ConfigError::CommandLine)?, matches)));
    let result = match parsed {
        Ok((cli, matches)) => run(cli.command, &matches),
        Err(config::ConfigError::File(error)) => Err(error),
        Err(config::ConfigError::CommandLine(wrong)) if as_json && wrong.use_stderr() => {
            let text = slips::explain(wrong, arguments).render().to_string();
            Err(CommandError::usage(text.trim_start_matches("error: ").trim_end()))
        }
        Err(config::ConfigError::CommandLine(wrong)) => {
            let wrong = slips::explain(wrong, arguments);
            let _ = wrong.print();
            return if wrong.use_stderr() { Exit::Usage } else { Exit::Done };
        }
    };
    match result {
        Ok(()) => Exit::Done,
        Err(error) => {
            diagnose::report(&error, as_json);
            error.exit()
        }
    }
}

fn run(command: CliCommand, matches: &ArgMatches) -> Result<(), CommandError> {
    match command {
        CliCommand::Load(args) => load::run(&args),
        CliCommand::Export(args) => export::run(&args),
        CliCommand::Extract(args) => extract::run(&args),
        CliCommand::Info(args) => info::run(&args),
        CliCommand::Verify(args) => verify::run(&args),
        CliCommand::Pull(args) => remote::run_pull(&args),
        CliCommand::Push(args) => remote::run_push(&args),
        CliCommand::Query(args) => query::run(&args),
        CliCommand::Convert(args) => convert::run(&args),
        CliCommand::Fmt(args) => fmt::run(&args),
        CliCommand::Lint(args) => lint::run(&args),
        CliCommand::Grammar(args) => grammar::run(&args),
        CliCommand::Serve(args) => serve::run(&args, matches.subcommand_matches(SERVE)),
        CliCommand::Health(args) => health::run(&args),
        CliCommand::Eval(args) => eval::run(&args),
        CliCommand::Benchmark(args) => benchmark::run(&args),
        CliCommand::Leaderboard(args) => leaderboard::run(&args),
        CliCommand::Feedback(args) => feedback::run(&args),
        CliCommand::Ask(args) => ask::run(&args),
        CliCommand::Tags(args) => tags::run(&args),
        CliCommand::Mcp(args) => mcp::run(&args),
        CliCommand::Tools(args) => tools::run(&args),
        CliCommand::Label(args) => labelled::run_label(&args),
        CliCommand::Unlabel(args) => labelled::run_unlabel(&args),
        CliCommand::Completions(args) => manual::run_completions(&args),
        CliCommand::Man(args) => manual::run_man(&args),
        CliCommand::Version => stdout::print(&format!("terrapin {}\n", version::long())),
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
