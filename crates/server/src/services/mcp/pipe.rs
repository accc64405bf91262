//! Messages over standard input and output, one per line. Lines that are not valid messages are answered here, with the
//! same errors as over HTTP.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Stdin, Stdout};
use tokio::sync::{Mutex, mpsc};

use super::LONGEST;
use super::message::{MessageError, check};

/// Standard input and output as the SDK's transport.
pub struct StdioTransport {
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    output: Arc<Mutex<Stdout>>,
}

impl StdioTransport {
    /// Starts a task that reads standard input until its end. Needs a Tokio runtime.
    pub fn new() -> StdioTransport {
        let (sender, messages) = mpsc::channel(1);
        let output = Arc::new(Mutex::new(tokio::io::stdout()));
        tokio::spawn(read(BufReader::new(tokio::io::stdin()), sender, Arc::clone(&output)));
        StdioTransport { messages, output }
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move { write(&output, serde_json::to_string(&message)?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.messages.close();
        Ok(())
    }
}

async fn write(output: &Mutex<Stdout>, mut line: String) -> Result<(), std::io::Error> {
    line.push('\n');
    let mut output = output.lock().await;
    output.write_all(line.as_bytes()).await?;
    output.flush().await
}

/// Passes messages to the SDK, and answers lines that are not valid messages.
async fn read(
    mut input: BufReader<Stdin>,
    sender: mpsc::Sender<RxJsonRpcMessage<RoleServer>>,
    output: Arc<Mutex<Stdout>>,
) {
    let mut line = Vec::new();
    loop {
        let message = match next_line(&mut input, &mut line).await {
            Ok(LineRead::Line) => parse(line.trim_ascii()),
            Ok(LineRead::TooLong) => {
                let why = format!("a message has at most {} KiB", LONGEST >> 10);
                Err(MessageError::invalid_request(&why, None))
            }
            Ok(LineRead::End) => return,
            Err(error) => return tracing::error!(%error, "standard input cannot be read"),
        };
        let ended = match message {
            Ok(Some(message)) => sender.send(message).await.is_err(),
            Ok(None) => false,
            Err(error) if error.is_of_notification() => false,
            Err(error) => write(&output, error.to_json()).await.is_err(),
        };
        if ended {
            return;
        }
    }
}

enum LineRead {
    Line,
    TooLong,
    End,
}

/// Reads a line of at most [`LONGEST`] bytes into `line`, and skips the rest of a longer one.
async fn next_line(input: &mut BufReader<Stdin>, line: &mut Vec<u8>) -> Result<LineRead, std::io::Error> {
    let mut is_too_long = false;
    loop {
        line.clear();
        let read = (&mut *input).take(LONGEST as u64 + 1).read_until(b'\n', line).await?;
        return Ok(match (line.last(), is_too_long) {
            (Some(b'\n'), true) => LineRead::TooLong,
            (Some(last), false) if *last == b'\n' || read <= LONGEST => LineRead::Line,
            (None, false) => LineRead::End,
            (None, true) => LineRead::TooLong,
            _ => {
                is_too_long = true;
                continue;
            }
        });
    }
}

/// Parses a line; returns `None` if it is not a message for the SDK and needs no answer.
fn parse(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, MessageError> {
    if line.is_empty() {
        return Ok(None);
    }
    let message = check(line)?;
    match (serde_json::from_slice(line), message.id) {
        (Ok(parsed), _) => Ok(Some(parsed)),
        // A notification is never answered.
        (Err(_), None) => Ok(None),
        (Err(error), id) => Err(MessageError::invalid_params(&message.method, &error.to_string(), id)),
    }
}
