//! From the thread that runs a query to the client that reads its answer: bounded, so that a slow reader holds the
//! engine back instead of filling the memory, and honest, so that a broken answer never looks like a whole one.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Bytes;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::Stream;

/// Bytes in one piece of an answer. What fits into the first piece is sent only when the query is done, so that an
/// error in it still gets its own status.
const PIECE: usize = 64 << 10;
/// Pieces that may wait for the client.
const PIECES: usize = 8;

/// How an answer begins, and of which content type it is; `E` is what a query of its language can fail with.
pub enum Head<E> {
    /// The whole of it.
    Whole(&'static str, Bytes),
    /// More than one piece; they come from here.
    Streaming(&'static str, mpsc::Receiver<Part>),
    /// It does not.
    Failed(E),
}

/// A piece of a streaming answer.
pub enum Part {
    /// More bytes.
    Bytes(Bytes),
    /// The answer is complete. A channel that closes without this one broke off.
    End,
}

/// The end that the engine writes to.
pub struct Sink<E> {
    content_type: &'static str,
    buffer: Vec<u8>,
    head: Option<oneshot::Sender<Head<E>>>,
    parts: Option<mpsc::Sender<Part>>,
    runtime: Handle,
    deadline: Instant,
    sent: u64,
}

impl<E> Sink<E> {
    /// A sink that announces itself through `head` and waits for its reader until `deadline`. Must be used outside the
    /// runtime's own threads.
    pub fn new(content_type: &'static str, head: oneshot::Sender<Head<E>>, runtime: Handle, deadline: Instant) -> Self {
        Sink { content_type, buffer: Vec::new(), head: Some(head), parts: None, runtime, deadline, sent: 0 }
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.sent + self.buffer.len() as u64
    }

    /// Ends the answer. Gives an error where the client did not get all of it.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(head) = self.head.take() {
            let whole = Bytes::from(std::mem::take(&mut self.buffer));
            return head.send(Head::Whole(self.content_type, whole)).map_err(|_| gone());
        }
        self.send_buffer()?;
        self.send(Part::End)
    }

    /// Gives up the answer: with the reasons where nothing of it was sent, else by breaking off.
    pub fn fail(mut self, failure: E) {
        if let Some(head) = self.head.take() {
            let _ = head.send(Head::Failed(failure));
        }
    }

    fn send_buffer(&mut self) -> io::Result<()> {
        if let Some(head) = self.head.take() {
            let (sender, receiver) = mpsc::channel(PIECES);
            self.parts = Some(sender);
            head.send(Head::Streaming(self.content_type, receiver)).map_err(|_| gone())?;
        }
        let piece = std::mem::replace(&mut self.buffer, Vec::with_capacity(PIECE));
        self.sent += piece.len() as u64;
        self.send(Part::Bytes(Bytes::from(piece)))
    }

    fn send(&mut self, part: Part) -> io::Result<()> {
        let Some(parts) = &self.parts else { return Err(gone()) };
        let part = match parts.try_send(part) {
            Ok(()) => return Ok(()),
            Err(mpsc::error::TrySendError::Closed(_)) => return Err(gone()),
            Err(mpsc::error::TrySendError::Full(part)) => part,
        };
        let patience = tokio::time::Instant::from_std(self.deadline);
        match self.runtime.block_on(async { tokio::time::timeout_at(patience, parts.send(part)).await }) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(gone()),
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads too slowly")),
        }
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client went away")
}

impl<E> Write for Sink<E> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() >= PIECE {
            self.send_buffer()?;
        }
        let n = bytes.len().min(PIECE - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Stops the query when the client goes away, wherever its answer is then.
pub struct StopWhenDropped(pub Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The body of a streaming answer.
pub struct AnswerBody {
    parts: mpsc::Receiver<Part>,
    done: bool,
    _guard: StopWhenDropped,
}

impl AnswerBody {
    /// The body that these parts make; dropping it stops the query.
    pub fn new(parts: mpsc::Receiver<Part>, guard: StopWhenDropped) -> Self {
        AnswerBody { parts, done: false, _guard: guard }
    }
}

impl Stream for AnswerBody {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.done {
            return Poll::Ready(None);
        }
        let Poll::Ready(part) = self.parts.poll_recv(cx) else { return Poll::Pending };
        self.done = !matches!(part, Some(Part::Bytes(_)));
        Poll::Ready(match part {
            Some(Part::Bytes(bytes)) => Some(Ok(bytes)),
            Some(Part::End) => None,
            None => Some(Err(io::Error::other("the query was stopped before its answer was complete"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio_stream::StreamExt;

    use super::*;
    use crate::overpass::Failure;

    fn sink() -> (Sink<Failure>, oneshot::Receiver<Head<Failure>>) {
        let (sender, receiver) = oneshot::channel();
        (Sink::new("text/csv", sender, Handle::current(), Instant::now() + Duration::from_millis(300)), receiver)
    }

    fn guard() -> (StopWhenDropped, Arc<AtomicBool>) {
        let flag = Arc::new(AtomicBool::new(false));
        (StopWhenDropped(Arc::clone(&flag)), flag)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_small_answer_is_sent_whole_or_not_at_all() {
        let (mut good, head) = sink();
        good.write_all(b"all").unwrap();
        good.finish().unwrap();
        assert!(matches!(head.await, Ok(Head::Whole("text/csv", bytes)) if bytes == "all"));

        let (mut bad, head) = sink();
        bad.write_all(b"some").unwrap();
        bad.fail(Failure { diagnostics: vec![] });
        assert!(matches!(head.await, Ok(Head::Failed(_))));
    }

    async fn stream(complete: bool) -> Vec<io::Result<Bytes>> {
        let (mut sink, head) = sink();
        let engine = tokio::task::spawn_blocking(move || {
            sink.write_all(&vec![7; 20 * PIECE + 1]).unwrap();
            if complete { sink.finish().unwrap() } else { sink.fail(Failure { diagnostics: vec![] }) }
        });
        let Ok(Head::Streaming(_, parts)) = head.await else { panic!("expected a stream") };
        let pieces = AnswerBody::new(parts, guard().0).collect().await;
        engine.await.unwrap();
        pieces
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_long_answer_streams_and_a_broken_one_ends_in_an_error() {
        let whole = stream(true).await;
        assert_eq!(whole.iter().map(|p| p.as_ref().unwrap().len()).sum::<usize>(), 20 * PIECE + 1);
        assert!(stream(false).await.last().is_some_and(Result::is_err));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_client_that_left_or_sleeps_stops_the_query() {
        let (mut sink, head) = sink();
        let (guard, flag) = guard();
        let engine = tokio::task::spawn_blocking(move || sink.write_all(&vec![7; 30 * PIECE]).unwrap_err().kind());
        let Ok(Head::Streaming(_, parts)) = head.await else { panic!("expected a stream") };
        let body = AnswerBody::new(parts, guard);
        assert_eq!(engine.await.unwrap(), io::ErrorKind::TimedOut);
        drop(body);
        assert!(flag.load(Ordering::Relaxed));

        let (mut sink, head) = self::sink();
        drop(head);
        assert_eq!(sink.write_all(&vec![7; 2 * PIECE]).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
