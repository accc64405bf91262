//! `terrapin tools`: prints the definitions of the agents' tools for other protocols.

use clap::ValueEnum;
use serde_json::{Value, json};

use super::{CommandError, stdout};
use crate::agents::{Definition, TOOLS};

/// Print the definitions of the tools that `terrapin mcp` offers
///
/// The output is JSON, for programs that pass tools to a model themselves and call them over HTTP.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin tools --format openai > tools.json")]
pub struct ToolsArgs {
    /// Format: OpenAI functions, Anthropic tools, or the Model Context Protocol
    #[arg(long, value_enum, default_value_t = ToolFormat::Openai)]
    format: ToolFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ToolFormat {
    Openai,
    Anthropic,
    Mcp,
}

impl ToolFormat {
    fn of(self, tool: &Definition) -> Value {
        let (name, description) = (tool.name, tool.description);
        match self {
            ToolFormat::Openai => json!({
                "type": "function",
                "function": { "name": name, "description": description, "parameters": tool.input() },
            }),
            ToolFormat::Anthropic => json!({ "name": name, "description": description, "input_schema": tool.input() }),
            ToolFormat::Mcp => json!({
                "name": name,
                "title": tool.title,
                "description": description,
                "inputSchema": tool.input(),
                "outputSchema": tool.output(),
            }),
        }
    }
}

/// Runs the command.
pub fn run(args: &ToolsArgs) -> Result<(), CommandError> {
    let all: Vec<Value> = TOOLS.iter().map(|tool| args.format.of(tool)).collect();
    let text = serde_json::to_string_pretty(&all).map_err(|error| CommandError::system("output", error))?;
    stdout::print(&(text + "\n"))
}
