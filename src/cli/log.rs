//! Writes the log to standard error from a thread of its own. A log without a reader, such as a full pipe, blocks no
//! request: lines that do not fit into the queue are dropped and counted.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

use super::diagnose;

/// The size of the queue in bytes.
const ROOM: usize = 8 << 20;
/// The delay that collects lines into one write. At thousands of lines a second, waking the thread for each line took
/// a tenth of the server's time.
const COLLECT: Duration = Duration::from_millis(5);
/// The longest time that the end of the process waits for queued lines.
const PATIENCE: Duration = Duration::from_secs(1);

/// The format of the log.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LogFormat {
    /// One line per event, for people.
    Text,
    /// One JSON object per event.
    Json,
}

/// The running log. Dropping it writes the queued lines, within a short time limit.
pub struct Log {
    queue: Queue,
    ended: Receiver<()>,
}

/// Starts the log. RUST_LOG sets the levels.
///
/// # Errors
/// Returns an error if no thread can be started.
pub fn start(form: LogFormat) -> io::Result<Log> {
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
    // A second subscriber in one process would be rejected; only this one exists.
    let _ = match form {
        LogFormat::Text => builder.with_ansi(diagnose::is_coloured()).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    Ok(Log { queue, ended })
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.queue.lines.send(LogMessage::End).is_ok() {
            let _ = self.ended.recv_timeout(PATIENCE);
        }
    }
}

enum LogMessage {
    Line(Vec<u8>),
    End,
}

/// The queue of lines.
#[derive(Clone)]
struct Queue {
    lines: Sender<LogMessage>,
    /// Bytes in the queue.
    waiting: Arc<AtomicUsize>,
    /// Lines dropped since the last report.
    lost: Arc<AtomicU64>,
}

impl Write for Queue {
    /// Queues a whole line or drops it. Never blocks.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let before = self.waiting.fetch_add(line.len(), Ordering::Relaxed);
        if before + line.len() > ROOM || self.lines.send(LogMessage::Line(line.to_vec())).is_err() {
            self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the thread. Errors of writing are ignored, because there is no other place to log them.
fn write(lines: &Receiver<LogMessage>, queue: &Queue, form: LogFormat, out: &mut impl Write) {
    let mut together = Vec::new();
    let mut open = true;
    while open && let Ok(mut message) = lines.recv() {
        if matches!(message, LogMessage::Line(_)) {
            std::thread::sleep(COLLECT);
        }
        loop {
            let LogMessage::Line(line) = message else {
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
            let message = "log lines were dropped: standard error is not read fast enough";
            let _ = match form {
                LogFormat::Text => writeln!(out, "{lost} {message}"),
                LogFormat::Json => {
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
        queue.lines.send(LogMessage::End).unwrap();
        let mut out = Vec::new();
        write(&lines, &queue, LogFormat::Text, &mut out);
        assert_eq!(queue.waiting.load(Ordering::Relaxed), 0);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches('x').count(), ROOM);
        assert!(text.contains("3 log lines were dropped"));
    }
}
