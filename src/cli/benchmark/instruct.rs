//! `terrapin benchmark instruct`: a model writes questions for gold queries.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use terrapin_chat::{ChatMessage, LanguageModel, MessageRole, Patience, Request, TokenCounts};

use super::super::eval::field_map;
use super::super::model::ModelArgs;
use super::super::{CommandError, stdout};
use super::bar::bar;
use super::label::LabelOptions;
use super::pairs::{pairs_of, row};
use crate::ask::TEXT;
use crate::eval::dataset::GoldPair;
use crate::eval::labels::LabelledQuery;
use crate::snapshot::hex;

/// The prompt; `{query}`, `{labels}`, `{context}` and `{count}` are replaced.
const PROMPT: &str = "\
Here is a query, with labels in brackets in place of identifiers:

{query}

{labels}{context}Write {count} different instructions or questions that a user could ask and that this query answers exactly. \
Name every condition of the query, in everyday words, without identifiers, keys or code. \
Reply with {count} lines: one instruction a line, nothing else.";
/// The maximum length of an instruction in characters.
const LONGEST: usize = 1_000;

/// Let a language model write questions for gold queries
///
/// For each query, the model gets the query with labels (`terrapin benchmark label`), the labels, and the question in the
/// file as context, and writes --count instructions, as Instruct-to-SPARQL was made. Every line has its provenance: the
/// model, the digest of the prompt, and the tokens. A stopped run resumes with the same command and asks nothing twice.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Writes the pairs to --out, in the format of `terrapin benchmark check`: the question is that of the file, or the
first instruction if there is none; `paraphrases` are the (other) instructions, `provenance` says where they are from.

Examples:
  terrapin benchmark instruct queries.jsonl --db wikidata.terrapin --count 5 --out instructed.jsonl \\
    --model-url http://127.0.0.1:8080/v1 --model-name qwen
  terrapin benchmark instruct moved.jsonl --db malta.terrapin --no-context --out instructed.jsonl"
)]
pub struct BenchmarkInstructArgs {
    /// Files or folders of gold queries, with or without questions
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    labels: LabelOptions,
    /// Number of instructions for each query
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=50))]
    count: u16,
    /// Leave the question in the file out of the prompt
    #[arg(long)]
    no_context: bool,
    /// File with another prompt: {query}, {labels}, {context} and {count} are replaced
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Names of fields in the file, such as gold=sparql,nl=text
    #[arg(long, value_name = "FIELD=NAME", value_delimiter = ',')]
    map: Vec<String>,
    /// The file to write; a file of a stopped run is continued
    #[arg(long, value_name = "FILE.jsonl")]
    out: PathBuf,
    #[command(flatten)]
    model: ModelArgs,
}

/// The origin of the instructions of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Provenance {
    /// The model's name at its server.
    model: String,
    /// SHA-256 of the prompt with the query.
    prompt: String,
    /// The number of requested instructions.
    requested: u16,
    /// The number of usable instructions in the reply.
    received: usize,
    /// The digest of the snapshot with the labels.
    snapshot: String,
    /// The tokens of the request, if the server counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<Value>,
}

/// Runs the command.
pub fn run(args: &BenchmarkInstructArgs) -> Result<(), CommandError> {
    let asker = args.model.needed()?;
    let pairs = pairs_of(&args.files, &field_map(&args.map)?)?;
    let template = match &args.prompt {
        None => PROMPT.to_owned(),
        Some(path) => std::fs::read_to_string(path)
            .map_err(|e| CommandError::input("prompts", format!("{}: {e}", path.display())))?,
    };
    if !template.contains("{query}") {
        return Err(CommandError::usage("the file of --prompt needs {query}, where the query is put"));
    }
    let engine = args.labels.open(&pairs)?;
    let mut prompts = Vec::with_capacity(pairs.len());
    for pair in &pairs {
        let labelled = args.labels.label(&engine, pair)?;
        prompts.push(prompt(&template, pair, &labelled, args));
    }
    let FinishedLines { lines: done, bytes: length, mut short } = read_done(&args.out, asker.model.name(), &prompts)?;
    let mut file = resumed(&args.out, length)?;
    let bar = bar(pairs.len());
    bar.inc(done as u64);
    for (pair, prompt) in pairs.iter().zip(&prompts).skip(done) {
        let (instructions, tokens) = ask(&*asker.model, prompt, args.count)?;
        short += usize::from(instructions.len() < usize::from(args.count));
        let provenance = Provenance {
            model: asker.model.name().to_owned(),
            prompt: digest(prompt),
            requested: args.count,
            received: instructions.len(),
            snapshot: engine.digest().to_owned(),
            tokens: if tokens.is_empty() { None } else { serde_json::to_value(tokens).ok() },
        };
        let line = format!("{}\n", Value::Object(line(pair, instructions, &provenance)?));
        file.write_all(line.as_bytes()).and_then(|()| file.flush()).map_err(|e| unwritable(&args.out, e))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let resumed = if done > 0 { format!(", {done} of them before") } else { String::new() };
    stdout::print(&format!(
        "{}: {} queries{resumed}, {short} with fewer than {} instructions\n",
        args.out.display(),
        pairs.len(),
        args.count
    ))
}

/// Returns the prompt for a query.
fn prompt(template: &str, pair: &GoldPair, labelled: &LabelledQuery, args: &BenchmarkInstructArgs) -> String {
    let list: String = labelled.labels.iter().map(|label| format!("- {}: {}\n", label.name, label.label)).collect();
    let labels = if list.is_empty() { list } else { format!("Labels:\n{list}\n") };
    let context = match pair.question.trim() {
        question if question.is_empty() || args.no_context => String::new(),
        question => format!("Context: {question}\n\n"),
    };
    // The query comes last: it may contain the marks.
    let text = template.replace("{count}", &args.count.to_string()).replace("{labels}", &labels);
    let text = text.replace("{context}", &context);
    text.replacen("{query}", labelled.labelled.trim(), 1)
}

/// Asks the model. Returns the instructions and the tokens.
fn ask(model: &dyn LanguageModel, prompt: &str, count: u16) -> Result<(Vec<String>, TokenCounts), CommandError> {
    let messages = [ChatMessage::new(MessageRole::User, prompt)];
    let cancelled = AtomicBool::new(false);
    let reply = model
        .reply(&Request::new(TEXT, &messages), Patience { deadline: None, cancelled: &cancelled })
        .map_err(|error| CommandError::system("model", format!("{error}; run the command again to continue")))?;
    Ok((instructions(&reply.text, usize::from(count)), reply.tokens))
}

/// Returns the instructions in a reply: a JSON list of texts, or lines, without numbers, bullets, fences and marks.
fn instructions(reply: &str, count: usize) -> Vec<String> {
    let unfenced = reply.trim().trim_start_matches("```json").trim_matches('`').trim();
    let lines: Vec<String> = match serde_json::from_str::<Vec<String>>(unfenced) {
        Ok(list) => list,
        Err(_) => reply.lines().map(str::to_owned).collect(),
    };
    let mut found: Vec<String> = Vec::new();
    for line in lines {
        let text = bare(&line);
        // A line such as "Here are five instructions:" is not one.
        let is_heading = text.ends_with(':') || line.trim().starts_with("```");
        if text.is_empty() || is_heading || text.chars().count() > LONGEST || found.contains(&text) {
            continue;
        }
        found.push(text);
    }
    found.truncate(count);
    found
}

/// Returns a line without its number or bullet and without quotation marks around it.
fn bare(line: &str) -> String {
    let line = line.trim();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = line.get(digits..).filter(|_| digits > 0).and_then(|rest| rest.strip_prefix(['.', ')', ':']));
    let bulleted = || ["- ", "* ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet));
    let text = numbered.or_else(bulleted).unwrap_or(line).trim();
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or(text).trim().to_owned()
}

/// Returns the line of a pair.
fn line(
    pair: &GoldPair,
    mut instructions: Vec<String>,
    provenance: &Provenance,
) -> Result<Map<String, Value>, CommandError> {
    let mut pair = pair.clone();
    if pair.question.trim().is_empty() && !instructions.is_empty() {
        pair.question = instructions.remove(0);
    }
    pair.paraphrases = instructions;
    let mut row = row(&pair);
    let provenance = serde_json::to_value(provenance).map_err(|e| CommandError::system("output", e))?;
    row.insert("provenance".to_owned(), provenance);
    Ok(row)
}

fn digest(prompt: &str) -> String {
    hex(&Sha256::digest(prompt))
}

/// The complete lines of a stopped run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct FinishedLines {
    /// Their number.
    lines: usize,
    /// Their length.
    bytes: u64,
    /// The number of those with fewer instructions than requested.
    short: usize,
}

/// Reads the complete lines of a stopped run.
fn read_done(out: &Path, model: &str, prompts: &[String]) -> Result<FinishedLines, CommandError> {
    #[derive(Deserialize)]
    struct Line {
        provenance: Provenance,
    }
    // The last line may end within a character.
    let text = match std::fs::read(out) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(FinishedLines::default()),
        Err(e) => return Err(CommandError::input("output-unreadable", format!("{}: {e}", out.display()))),
    };
    let mut done = FinishedLines::default();
    for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        let read = serde_json::from_slice::<Line>(line).ok().zip(prompts.get(done.lines));
        let read = read.map(|(line, prompt)| (line.provenance, prompt));
        let same = read.filter(|(line, prompt)| line.model == model && line.prompt == digest(prompt));
        let Some((provenance, _)) = same else {
            return Err(CommandError::input(
                "other-run",
                format!(
                    "{}: line {} is of other queries, labels, prompts or models: continue with those, or choose another --out",
                    out.display(),
                    done.lines + 1
                ),
            ));
        };
        done.lines += 1;
        done.bytes += line.len() as u64;
        done.short += usize::from(provenance.received < usize::from(provenance.requested));
    }
    Ok(done)
}

/// Opens the output at the end of its complete lines.
fn resumed(out: &Path, length: u64) -> Result<File, CommandError> {
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| unwritable(out, e))?;
    }
    let file = OpenOptions::new().append(true).create(true).open(out).map_err(|e| unwritable(out, e))?;
    file.set_len(length).map_err(|e| unwritable(out, e))?;
    Ok(file)
}

fn unwritable(out: &Path, error: std::io::Error) -> CommandError {
    CommandError::system("output", format!("{}: {error}", out.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_within_a_character_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.jsonl");
        let line = |received: usize| {
            let prompt = digest("a");
            let of = serde_json::json!({
                "model": "m", "prompt": prompt, "requested": 5, "received": received, "snapshot": "s"
            });
            format!("{}\n", serde_json::json!({"nl": "Cafés", "provenance": of})).into_bytes()
        };
        let (first, cut) = (line(3), line(5));
        let middle = cut.iter().position(|byte| *byte == 0xc3).unwrap() + 1;
        std::fs::write(&out, [&first[..], &cut[..middle]].concat()).unwrap();
        let done = read_done(&out, "m", &["a".to_owned(), "a".to_owned()]).unwrap();
        assert_eq!(done, FinishedLines { lines: 1, bytes: first.len() as u64, short: 1 });
        assert!(read_done(&out, "other", &["a".to_owned()]).is_err());
    }

    #[test]
    fn instructions_are_read_from_lines_and_lists() {
        let lines =
            "Here are 3 instructions:\n\n1. Which cafes are here?\n2) \"List the cafes\"\n- Cafes\nCafes\n4. More";
        assert_eq!(instructions(lines, 3), ["Which cafes are here?", "List the cafes", "Cafes"]);
        assert_eq!(instructions("```json\n[\"A b\", \"C d\"]\n```", 5), ["A b", "C d"]);
        assert_eq!(instructions("", 5), Vec::<String>::new());
        assert_eq!(instructions("2 cafes in a row", 5), ["2 cafes in a row"]);
    }
}
