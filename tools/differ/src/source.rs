//! Whom to ask: an HTTP service, or a program that reads a query and writes an answer.

use std::io::{ErrorKind, Read, Write};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};

use crate::generate::broken::BAD_BYTE;

/// The interval between checks whether a program has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// The failure that is recorded for a timeout.
const LATE: &str = "no answer in time";

/// The failure that is recorded for an answer that is too long to be compared.
const LONG: &str = "an answer too long to be compared";

/// Longer answers are not compared.
const MOST_BYTES: u64 = 1 << 28;

/// Something that answers queries as Overpass API does.
#[derive(Debug)]
pub enum DifferSource {
    /// The URL of an interpreter.
    Url(String, ureq::Agent),
    /// A program with its arguments, and how long it may take.
    Program(Vec<String>, Duration),
}

/// The result of running a query.
#[derive(Debug, Clone, PartialEq)]
pub enum EngineAnswer {
    /// An answer.
    Body(String),
    /// Refused, with these lines.
    Refused(Vec<String>),
    /// The program ran out of time or memory, crashed, or could not read its own files. This is no difference in the
    /// language.
    Failed(String),
}

impl DifferSource {
    /// A URL, or else a command with arguments between spaces, and how long an answer may take.
    pub fn parse(text: &str, timeout: Duration) -> Self {
        if text.starts_with("http://") {
            // A redirect is itself the answer and is not followed.
            let config = ureq::Agent::config_builder().timeout_global(Some(timeout));
            let config = config.http_status_as_error(false).max_redirects(0).max_redirects_will_error(false);
            return DifferSource::Url(text.to_owned(), config.build().into());
        }
        DifferSource::Program(text.split_whitespace().map(str::to_owned).collect(), timeout)
    }

    /// Asks one query.
    pub fn ask(&self, query: &str) -> Result<EngineAnswer> {
        match self {
            DifferSource::Url(url, agent) => by_http(agent, url, query),
            DifferSource::Program(command, timeout) => by_program(command, query, *timeout),
        }
    }
}

fn by_http(agent: &ureq::Agent, url: &str, query: &str) -> Result<EngineAnswer> {
    let form: String = ["data="].into_iter().chain(form_urlencoded::byte_serialize(&bytes(query))).collect();
    let sent = agent.post(url).content_type("application/x-www-form-urlencoded").send(form);
    let mut answer = match sent {
        Ok(answer) => answer,
        Err(e) if is_late(&e) => return Ok(EngineAnswer::Failed(LATE.to_owned())),
        Err(e) => return Err(e).with_context(|| format!("cannot ask {url}")),
    };
    let bytes = match answer.body_mut().with_config().limit(MOST_BYTES).read_to_vec() {
        Ok(bytes) => bytes,
        Err(ureq::Error::BodyExceedsLimit(_)) => return Ok(EngineAnswer::Failed(LONG.to_owned())),
        Err(e) if is_late(&e) => return Ok(EngineAnswer::Failed(LATE.to_owned())),
        Err(e) => return Err(e).with_context(|| format!("cannot read the answer of {url}")),
    };
    let body = String::from_utf8_lossy(&bytes).into_owned();
    if let Some(place) = answer.headers().get("location").and_then(|place| place.to_str().ok()) {
        return Ok(EngineAnswer::Body(format!("Location: {place}")));
    }
    if answer.status().as_u16() < 400 {
        return Ok(EngineAnswer::Body(body));
    }
    let plain = html_escape::decode_html_entities(&without_tags(&body)).into_owned();
    let lines: Vec<String> = plain
        .lines()
        .filter(|line| line.contains("error:"))
        .map(|line| line.trim().trim_start_matches("Error:").trim().to_owned())
        .collect();
    let lines = if lines.is_empty() { vec![format!("status {}", answer.status())] } else { lines };
    Ok(refused(lines))
}

fn by_program(command: &[String], query: &str, timeout: Duration) -> Result<EngineAnswer> {
    let (program, arguments) = command.split_first().context("the command is empty")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let mut input = child.stdin.take().context("no standard input")?;
    input.write_all(&bytes(query))?;
    drop(input);
    // Both are read while it runs: a pipe that is full would stop it.
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let end = Instant::now() + timeout;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() >= end => {
                child.kill()?;
                child.wait()?;
                return Ok(EngineAnswer::Failed(LATE.to_owned()));
            }
            None => std::thread::sleep(PAUSE),
        }
    };
    let text = |thread: JoinHandle<Vec<u8>>| thread.join().map_err(|_| anyhow!("cannot read from {program}"));
    let (out, err) = (text(out)?, text(err)?);
    if out.len() as u64 > MOST_BYTES {
        return Ok(EngineAnswer::Failed(LONG.to_owned()));
    }
    if status.code().is_none() {
        // The errors that it wrote may be the first few only.
        return Ok(EngineAnswer::Failed(format!("crashed: {status}")));
    }
    let errors = String::from_utf8_lossy(&err);
    let lines: Vec<String> = errors.lines().filter(|line| line.contains("error:")).map(str::to_owned).collect();
    if !lines.is_empty() {
        return Ok(refused(lines));
    }
    ensure!(status.success(), "{program} ended with {status}: {errors}");
    Ok(EngineAnswer::Body(without_head(&String::from_utf8_lossy(&out)).to_owned()))
}

/// Returns the bytes of a query to send, with a byte that is not UTF-8 for each placeholder.
fn bytes(query: &str) -> Vec<u8> {
    let mut parts = query.split(BAD_BYTE);
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(0xff);
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

/// Returns the output that a program writes for a web server without the header lines. If these contain a redirect,
/// returns its `Location` line.
fn without_head(out: &str) -> &str {
    if !["Status:", "Content-type:"].iter().any(|name| out.starts_with(name)) {
        return out;
    }
    let (head, body) = out.split_once("\n\n").unwrap_or((out, ""));
    head.lines().find(|line| line.starts_with("Location:")).unwrap_or(body)
}

/// Returns whether the request timed out, at any stage.
fn is_late(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Timeout(_) => true,
        ureq::Error::Io(e) => {
            matches!(e.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) || e.to_string().starts_with("timeout")
        }
        _ => false,
    }
}

/// Reads the output of a program, up to one byte more than the maximum that is compared.
fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // If reading fails, the bytes before the error are compared.
            let _ = pipe.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        }
        bytes
    })
}

fn refused(lines: Vec<String>) -> EngineAnswer {
    match lines.iter().find_map(|line| failure(line)) {
        Some(why) => EngineAnswer::Failed(why),
        None => EngineAnswer::Refused(lines),
    }
}

/// Returns the failure if an error line reports one, and not a mistake in the query. The paths of the reference's files
/// are removed, so that equal failures are counted together.
fn failure(line: &str) -> Option<String> {
    if let Some((_, file)) = line.split_once("error: open64: ") {
        let words = file.split(' ').filter(|word| !word.starts_with('/'));
        return Some(format!("a file: {}", words.collect::<Vec<_>>().join(" ")));
    }
    (line.contains("timed out") || line.contains("out of memory")).then(|| line.to_owned())
}

fn without_tags(html: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(script: &str) -> EngineAnswer {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        DifferSource::Program(command, Duration::from_secs(10)).ask("out;").unwrap()
    }

    #[test]
    fn tells_failures_from_refusals() {
        let fails =
            |script: &str, why: &str| assert_eq!(program(script), EngineAnswer::Failed(why.to_owned()), "{script}");
        let file = "a file: Random_File: id too large for map file";
        fails(
            "cat >/dev/null; echo 'runtime error: open64: /db/nodes.map Random_File: id too large for map file' >&2",
            file,
        );
        fails("cat; echo 'line 1: parse error: x' >&2; kill -9 $$", "crashed: signal: 9 (SIGKILL)");
        let late = "runtime error: Query timed out in \"query\" at line 2 after 3 seconds.";
        fails(&format!("cat >/dev/null; echo '{late}' >&2"), late);
        let wrong = "line 1: parse error: Unknown query clause";
        assert_eq!(
            program(&format!("cat >/dev/null; echo '{wrong}' >&2")),
            EngineAnswer::Refused(vec![wrong.to_owned()])
        );
        assert_eq!(program("cat"), EngineAnswer::Body("out;".to_owned()));
    }
}
