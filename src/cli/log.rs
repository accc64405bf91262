//! The log, on standard error. A thread of its own writes it, so that a log that nobody reads, such as a full pipe, holds
//! up nobody: lines that find no room are left out and counted.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

use super::diagnose;

/// Bytes of lines that wait to be written.
const ROOM: usize = 8 << 20;
/// How long lines are collected before they are written together: at thousands of lines a second, waking the thread for
/// each cost a tenth of the server's time.
const COLLECT: Duration = Duration::from_millis(5);
/// How long the end of the process waits for lines that are not written yet.
const PATIENCE: Duration = Duration::from_secs(1);

/// How the log is written.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Form {
    /// A line an event, for people.
    Text,
    /// A JSON object an event.
    Json,
}

/// The log while it is written. What waits is written when this is dropped, where that is quickly done.
pub struct Log {
    queue: Queue,
    ended: Receiver<()>,
}

/// Starts it. RUST_LOG says what is in it.
///
/// # Errors
/// The system gives no thread.
pub fn start(form: Form) -> io::Result<Log> {
    let (sender, lines) = mpsc::channel();
    let queue = Queue { lines: sender, waiting: Arc::default(), lost: Arc::default() };
    let (end, ended) = mpsc::channel();
    let shared = queue.clone();
    std::thread::Builder::new().name("log".into()).spawn(move || {
        write(&lines, &shared, form, &mut io::stderr());
        let _ = end.send(());
    })?;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let make = queue.clone();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(move || make.clone());
    // A second subscriber in one process would be refused; there is none.
    let _ = match form {
        Form::Text => builder.with_ansi(diagnose::is_coloured()).try_init(),
        Form::Json => builder.json().flatten_event(true).try_init(),
    };
    Ok(Log { queue, ended })
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.queue.lines.send(Message::End).is_ok() {
            let _ = self.ended.recv_timeout(PATIENCE);
        }
    }
}

enum Message {
    Line(Vec<u8>),
    End,
}

/// Where lines wait.
#[derive(Clone)]
struct Queue {
    lines: Sender<Message>,
    /// Bytes that wait.
    waiting: Arc<AtomicUsize>,
    /// Lines that found no room since that was last told.
    lost: Arc<AtomicU64>,
}

impl Write for Queue {
    /// Takes a line, which comes whole, or leaves it out. Never waits.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let before = self.waiting.fetch_add(line.len(), Ordering::Relaxed);
        if before + line.len() > ROOM || self.lines.send(Message::Line(line.to_vec())).is_err() {
            self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the thread does. Where the log cannot be written there is nobody to tell.
fn write(lines: &Receiver<Message>, queue: &Queue, form: Form, out: &mut impl Write) {
    let mut together = Vec::new();
    let mut open = true;
    while open && let Ok(mut message) = lines.recv() {
        if matches!(message, Message::Line(_)) {
            std::thread::sleep(COLLECT);
        }
        loop {
            let Message::Line(line) = message else {
                open = false;
                break;
            };
            together.extend_from_slice(&line);
            let Ok(next) = lines.try_recv() else { break };
            message = next;
        }
        let _ = out.write_all(&together);
        queue.waiting.fetch_sub(together.len(), Ordering::Relaxed);
        together.clear();
        let lost = queue.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let message = "lines of the log were lost: nobody read them";
            let _ = match form {
                Form::Text => writeln!(out, "{lost} {message}"),
                Form::Json => {
                    let line = serde_json::json!({"level": "WARN", "target": "log", "message": message, "lost": lost});
                    writeln!(out, "{line}")
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_left_out_and_counted() {
        let (sender, lines) = mpsc::channel();
        let mut queue = Queue { lines: sender, waiting: Arc::default(), lost: Arc::default() };
        let line = vec![b'x'; ROOM / 4];
        for _ in 0..7 {
            queue.write_all(&line).unwrap();
        }
        queue.lines.send(Message::End).unwrap();
        let mut out = Vec::new();
        write(&lines, &queue, Form::Text, &mut out);
        assert_eq!(queue.waiting.load(Ordering::Relaxed), 0);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches('x').count(), ROOM);
        assert!(text.contains("3 lines of the log were lost"));
    }
}
