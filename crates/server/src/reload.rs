//! SIGHUP: reloads the token file. If the new file is invalid, the previous tokens stay valid.

use std::io;
use std::sync::Arc;

use crate::App;

/// Reloads the tokens at each SIGHUP, until the process ends.
#[cfg(unix)]
pub fn on_hangup(app: Arc<App>) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            match app.tokens.as_ref().map(|tokens| tokens.reload()) {
                Some(Ok(count)) => tracing::info!(count, "tokens reloaded"),
                Some(Err(wrong)) => tracing::error!(%wrong, "tokens not reloaded, the previous ones stay valid"),
                None => {}
            }
        }
    });
    Ok(())
}

/// Does nothing on systems without this signal.
#[cfg(not(unix))]
pub fn on_hangup(_: Arc<App>) -> io::Result<()> {
    Ok(())
}
