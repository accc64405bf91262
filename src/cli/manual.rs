//! `terrapin completions` and `terrapin man`: shell completions and manual pages.

use std::path::PathBuf;

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::{Cli, CommandError, stdout};

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin completions bash > ~/.local/share/bash-completion/completions/terrapin
  terrapin completions zsh > ~/.zfunc/_terrapin
  terrapin completions fish > ~/.config/fish/completions/terrapin.fish")]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print or write the manual pages
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin man query | man -l -
  terrapin man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Command whose page is printed, such as `query` or `eval jsonl` [default: the page of terrapin]
    #[arg(conflicts_with = "out")]
    command: Vec<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `terrapin completions`.
pub fn run_completions(args: &CompletionsArgs) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "terrapin", &mut script);
    stdout::print(&String::from_utf8_lossy(&script))
}

/// Runs `terrapin man`.
pub fn run_man(args: &ManArgs) -> Result<(), CommandError> {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    if let Some(folder) = &args.out {
        let output = |e: std::io::Error| CommandError::system("output", format!("{}: {e}", folder.display()));
        std::fs::create_dir_all(folder).map_err(output)?;
        return clap_mangen::generate_to(all, folder).map_err(output);
    }
    let mut command = &all;
    for name in &args.command {
        let unknown = || CommandError::usage(format!("unknown command `{}`", args.command.join(" ")));
        command = command.find_subcommand(name).ok_or_else(unknown)?;
    }
    stdout::print(&page(command.clone())?)
}

fn page(command: Command) -> Result<String, CommandError> {
    let name = command.get_display_name().map_or_else(|| command.get_name().to_owned(), str::to_owned);
    let mut page = Vec::new();
    // Leaked because the grammar needs a text of static lifetime.
    let name: &'static str = name.leak();
    clap_mangen::Man::new(command.name(name)).render(&mut page).map_err(|e| CommandError::system("output", e))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
