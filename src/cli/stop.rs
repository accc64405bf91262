//! Signals that are to end a command which does not end by itself: Ctrl-C, SIGTERM, and SIGHUP of a terminal that went.

use std::io;

use super::Exit;

/// What told the process to stop.
#[derive(Debug, Clone, Copy)]
pub struct Signal {
    /// Its name.
    pub name: &'static str,
    /// The status to exit with: as the shell has it, 128 and the signal's number.
    pub exit: Exit,
}

/// Runs `f` on a thread of its own when the first of the signals comes. They no longer end the process then: `f` has to.
/// What the process was started to ignore, as `nohup` does it, it goes on to ignore.
///
/// # Errors
/// The operating system's.
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

/// The signals that this process ignores, a bit each, the first for signal 1; none where the system does not tell.
#[cfg(unix)]
fn ignored() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// There are none.
#[cfg(not(unix))]
pub fn on_signal(_: impl FnOnce(Signal) + Send + 'static) -> io::Result<()> {
    Ok(())
}
