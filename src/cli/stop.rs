//! Handles SIGINT, SIGTERM and SIGHUP for commands that clean up before they end.

use std::io;

use super::Exit;

/// A signal that stops the process.
#[derive(Debug, Clone, Copy)]
pub struct Signal {
    /// The name of the signal.
    pub name: &'static str,
    /// The exit status, as in shells: 128 plus the number of the signal.
    pub exit: Exit,
}

/// Runs `f` on a thread of its own at the first of these signals. The signals no longer end the process; `f` must.
/// Signals that were ignored at the start, as with `nohup`, stay ignored.
///
/// # Errors
/// Returns the operating system's errors.
#[cfg(unix)]
pub fn on_signal(f: impl FnOnce(Signal) + Send + 'static) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let known = [
        (SignalKind::interrupt(), Signal { name: "SIGINT", exit: Exit::Interrupted }),
        (SignalKind::terminate(), Signal { name: "SIGTERM", exit: Exit::Terminated }),
        (SignalKind::hangup(), Signal { name: "SIGHUP", exit: Exit::HungUp }),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let ignored = ignored();
    let inside = runtime.enter();
    for (kind, told) in known {
        if ignored & (1 << (kind.as_raw_value() - 1)) != 0 {
            continue;
        }
        let (mut stream, sender) = (signal(kind)?, sender.clone());
        runtime.spawn(async move {
            if stream.recv().await.is_some() {
                let _ = sender.send(told).await;
            }
        });
    }
    drop((inside, sender));
    let wait = move || {
        if let Some(signal) = runtime.block_on(receiver.recv()) {
            f(signal);
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    Ok(())
}

/// Returns the ignored signals as bits, signal 1 in the lowest; zero if the system does not report them.
#[cfg(unix)]
fn ignored() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Returns zero: this system has no such signals.
#[cfg(not(unix))]
pub fn on_signal(_: impl FnOnce(Signal) + Send + 'static) -> io::Result<()> {
    Ok(())
}
