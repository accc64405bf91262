//! Transfers an answer from the query's thread to the client, in limited memory. If the client reads slowly, the rest
//! of the answer goes to a file, so that the engine is not blocked. If the answer is incomplete, the transfer is broken
//! off, so that it never looks complete.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Sleep;
use tokio_stream::Stream;

use crate::reply::Reply;
use crate::spool::{self, AnswerSpool, Aside};
use crate::trial::Unfinished;
use terrapin_budget::memory;

/// Size of a piece of an answer, in bytes.
const PIECE: usize = 64 << 10;
/// Number of pieces that are held back until the query ends, so that an error can still set the HTTP status. They count
/// in the memory for answers; if that is full, an answer is sent after its first piece.
const HELD: usize = 32;
/// Maximum bytes of pieces that wait in memory for the client.
const WAITING: usize = 8 * PIECE;
/// Maximum bytes that are read from an answer's file at once.
const READ: u64 = 256 << 10;
/// Total time that a client may block its query's engine. After that, the rest of the answer goes to a file, and the
/// engine is free for others.
const HELD_BACK: Duration = Duration::from_millis(250);
/// How long the last bytes of an incomplete answer have to be sent, before the connection is broken together with the
/// bytes still queued in it.
const FAREWELL: Duration = Duration::from_millis(250);
/// Interval at which a waiting engine checks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// The beginning of an answer or another response, for the request that waits for it.
pub type ReplySender = oneshot::Sender<Result<Reply, Unfinished>>;

/// The state that both ends of a streaming answer share.
struct PipeShared {
    state: Mutex<PipeState>,
    /// Notified when the reader took a piece or disconnected.
    room: Condvar,
    spool: Arc<AnswerSpool>,
    aside: Mutex<Aside>,
}

#[derive(Default)]
struct PipeState {
    /// The pieces in memory, which come before the bytes in the file.
    pieces: VecDeque<Bytes>,
    /// Total bytes of the pieces.
    waiting: usize,
    file: Option<Arc<File>>,
    /// Number of bytes written to the file since it was last emptied, and number of them already read.
    written: u64,
    read: u64,
    /// Set when the engine has ended: whether the answer is complete.
    end: Option<bool>,
    /// Whether the reader has disconnected.
    gone: bool,
    reader: Option<Waker>,
}

impl PipeShared {
    fn lock(&self) -> MutexGuard<'_, PipeState> {
        // Every change is complete before a panic can occur: the state is always consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes the reader.
    fn tell(&self, change: impl FnOnce(&mut PipeState)) {
        let reader = {
            let mut state = self.lock();
            change(&mut state);
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl Drop for PipeShared {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.spool.give_memory(state.waiting);
    }
}

/// The writing end, used by the engine. If it is dropped without [`Sink::finish`], the answer breaks off.
pub struct PipeSink {
    headers: HeaderMap,
    buffer: Vec<u8>,
    /// The pieces held back until the answer begins.
    held: UnsentPieces,
    head: Option<ReplySender>,
    spool: Arc<AnswerSpool>,
    streaming: Option<Streaming>,
    deadline: Instant,
    cancelled: Arc<AtomicBool>,
    sent: u64,
    one_piece: bool,
}

impl PipeSink {
    /// Creates a sink that begins its answer, with these headers, through `head`. It waits for its reader until `deadline`, or until it is
    /// cancelled. Must not be used on the runtime's own threads, because it blocks.
    pub fn new(
        headers: HeaderMap,
        head: ReplySender,
        spool: Arc<AnswerSpool>,
        deadline: Instant,
        cancelled: Arc<AtomicBool>,
    ) -> Self {
        PipeSink {
            headers,
            buffer: Vec::new(),
            held: UnsentPieces { pieces: VecDeque::new(), spool: Arc::clone(&spool) },
            head: Some(head),
            spool,
            streaming: None,
            deadline,
            cancelled,
            sent: 0,
            one_piece: false,
        }
    }

    /// Limits the answer to a single piece: writing more is an error.
    pub fn of_one_piece(self) -> Self {
        PipeSink { one_piece: true, ..self }
    }

    /// Returns the number of bytes written so far.
    pub fn written(&self) -> u64 {
        self.sent + self.held.bytes() as u64 + self.buffer.len() as u64
    }

    /// Sends the bytes written so far. After this, an error can only break the answer off.
    pub fn pass_on(&mut self) -> io::Result<()> {
        self.announce()?;
        if self.buffer.is_empty() { Ok(()) } else { self.send_buffer() }
    }

    /// Ends the answer. Returns an error if the client disconnected before the answer was complete.
    pub fn finish(mut self) -> io::Result<()> {
        if self.held.pieces.is_empty()
            && let Some(head) = self.head.take()
        {
            let whole = Bytes::from(std::mem::take(&mut self.buffer));
            let headers = std::mem::take(&mut self.headers);
            return head.send(Ok(Reply::Whole(headers, whole))).map_err(|_| gone());
        }
        if !self.buffer.is_empty() {
            self.send_buffer()?;
        }
        self.announce()?;
        self.streaming.take().ok_or_else(gone)?.end()
    }

    /// Abandons the answer. If none of it was sent, `instead` is sent. Otherwise the answer breaks off after the
    /// engine's last output, which contains the reason. Its last byte is not sent: a reader that does not notice the
    /// broken transfer, such as a script that reads a file, must not find a closed document.
    pub fn refuse(mut self, instead: Response) {
        if let Some(head) = self.head.take() {
            let _ = head.send(Ok(instead.into()));
            return;
        }
        let written = self.buffer.trim_ascii_end().len();
        self.buffer.truncate(written.saturating_sub(1));
        if !self.buffer.is_empty() {
            // If this fails, the client no longer reads.
            let _ = self.send_buffer();
        }
    }

    /// Abandons an answer that was limited to a single piece.
    pub fn unfinished(mut self, again: bool) {
        if let Some(head) = self.head.take() {
            let _ = head.send(Err(Unfinished { again }));
        }
    }

    fn send_buffer(&mut self) -> io::Result<()> {
        if self.one_piece {
            return Err(gone());
        }
        if self.head.is_some() && self.held.pieces.len() < HELD && self.spool.take_memory(self.buffer.len()) {
            self.held.pieces.push_back(piece_of(&mut self.buffer));
            return Ok(());
        }
        self.announce()?;
        self.sent += self.buffer.len() as u64;
        let Some(streaming) = &mut self.streaming else { return Err(gone()) };
        streaming.send(&mut self.buffer, self.deadline, &self.cancelled)
    }

    /// Begins the answer with the pieces held back so far.
    fn announce(&mut self) -> io::Result<()> {
        let Some(head) = self.head.take() else { return Ok(()) };
        let bytes = self.held.bytes();
        let pieces = std::mem::take(&mut self.held.pieces);
        self.sent += bytes as u64;
        let shared = Arc::new(PipeShared {
            state: Mutex::new(PipeState { pieces, waiting: bytes, ..PipeState::default() }),
            room: Condvar::new(),
            spool: Arc::clone(&self.spool),
            aside: Mutex::new(Aside::new(Arc::clone(&self.spool))),
        });
        self.streaming = Some(Streaming { shared: Arc::clone(&shared), ended: false, left: HELD_BACK });
        let body = AnswerBody::new(AnswerStream(shared), StopWhenDropped(Arc::clone(&self.cancelled)));
        let headers = std::mem::take(&mut self.headers);
        head.send(Ok(Reply::Streaming(headers, Body::from_stream(body)))).map_err(|_| gone())
    }
}

/// Moves the buffer's content into a piece and leaves the buffer empty. The connection that sends the piece frees it;
/// its memory is counted by the spool and not by the query.
fn piece_of(buffer: &mut Vec<u8>) -> Bytes {
    if buffer.len() <= PIECE / 4 {
        let piece = memory::within(None, || Bytes::copy_from_slice(buffer));
        buffer.clear();
        return piece;
    }
    let empty = memory::within(None, || Vec::with_capacity(PIECE));
    Bytes::from(std::mem::replace(buffer, empty))
}

/// Pieces in memory that are not yet visible to the reader.
struct UnsentPieces {
    pieces: VecDeque<Bytes>,
    spool: Arc<AnswerSpool>,
}

impl UnsentPieces {
    fn bytes(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum()
    }
}

impl Drop for UnsentPieces {
    fn drop(&mut self) {
        self.spool.give_memory(self.bytes());
    }
}

impl Write for PipeSink {
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

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client disconnected")
}

/// The engine's end of an answer with more than one piece.
struct Streaming {
    shared: Arc<PipeShared>,
    ended: bool,
    /// How long the reader may still block the engine.
    left: Duration,
}

impl Streaming {
    /// Sends the buffer's content and leaves the buffer empty.
    fn send(&mut self, buffer: &mut Vec<u8>, deadline: Instant, cancelled: &AtomicBool) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        loop {
            if state.gone {
                return Err(gone());
            }
            let drained = state.read == state.written;
            if drained && state.waiting < WAITING && shared.spool.take_memory(buffer.len()) {
                drop(state);
                let piece = piece_of(buffer);
                shared.tell(|state| {
                    state.waiting += piece.len();
                    state.pieces.push_back(piece);
                });
                return Ok(());
            }
            // Once the query's time is over, its last output is stored at once or not at all.
            if self.left.is_zero() || !drained || Instant::now() >= deadline {
                drop(state);
                if self.put_aside(buffer, drained) {
                    buffer.clear();
                    return Ok(());
                }
                state = shared.lock();
                // The reader may have left while the lock was released; it notifies only once.
                if state.gone {
                    return Err(gone());
                }
            }
            let now = Instant::now();
            if cancelled.load(Ordering::Relaxed) {
                return Err(io::Error::new(io::ErrorKind::BrokenPipe, "the query was cancelled"));
            }
            let Some(time) = deadline.checked_duration_since(now).filter(|time| !time.is_zero()) else {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads too slowly"));
            };
            let most = if self.left.is_zero() { LOOK } else { LOOK.min(self.left) };
            state = match shared.room.wait_timeout(state, most.min(time)) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
            self.left = self.left.saturating_sub(now.elapsed());
        }
    }

    /// Writes a piece to the answer's file. Returns false if there is no room, so that the engine has to wait.
    fn put_aside(&self, piece: &[u8], drained: bool) -> bool {
        let mut aside = self.shared.aside.lock().unwrap_or_else(PoisonError::into_inner);
        // Only this end writes: a completely read file stays so until here.
        let at = if drained { 0 } else { self.shared.lock().written };
        if drained {
            aside.empty();
        }
        if !aside.write(piece, at) {
            return false;
        }
        let Ok(file) = aside.file() else { return false };
        self.shared.tell(|state| {
            if drained {
                state.read = 0;
            }
            state.written = at + piece.len() as u64;
            state.file = Some(file);
        });
        true
    }

    fn end(mut self) -> io::Result<()> {
        self.ended = true;
        // Read before the end is announced, because a reader that has the whole answer also leaves.
        let mut left_before = false;
        self.shared.tell(|state| {
            left_before = state.gone;
            state.end = Some(true);
        });
        if left_before { Err(gone()) } else { Ok(()) }
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.tell(|state| state.end = Some(false));
        }
    }
}

/// The reader's end of a streaming answer. Dropping it stops the engine.
struct AnswerStream(Arc<PipeShared>);

impl Drop for AnswerStream {
    fn drop(&mut self) {
        self.0.lock().gone = true;
        self.0.room.notify_all();
    }
}

/// Cancels the query on drop, when the client disconnects.
pub struct StopWhenDropped(pub Arc<AtomicBool>);

impl StopWhenDropped {
    /// Drops this guard without cancelling the query: another one took over.
    pub fn disarm(mut self) {
        self.0 = Arc::default();
    }
}

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The HTTP body of a streaming answer.
struct AnswerBody {
    parts: AnswerStream,
    /// A pending read from the answer's file.
    reading: Option<JoinHandle<io::Result<Vec<u8>>>>,
    /// Timer after which an incomplete answer breaks off.
    farewell: Option<Pin<Box<Sleep>>>,
    done: bool,
    _guard: StopWhenDropped,
}

impl AnswerBody {
    /// Creates the body of an answer. Dropping it stops the query.
    fn new(parts: AnswerStream, guard: StopWhenDropped) -> Self {
        AnswerBody { parts, reading: None, farewell: None, done: false, _guard: guard }
    }

    fn fail(&mut self, why: impl Into<io::Error>) -> Poll<Option<io::Result<Bytes>>> {
        self.done = true;
        Poll::Ready(Some(Err(why.into())))
    }

    /// Returns the next bytes from the file, once they are read.
    fn poll_file(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
        let Poll::Ready(result) = Pin::new(reading).poll(cx) else { return Poll::Pending };
        self.reading = None;
        match result.map_err(io::Error::other).flatten() {
            Ok(bytes) => {
                self.parts.0.lock().read += bytes.len() as u64;
                self.parts.0.room.notify_one();
                Poll::Ready(Some(Ok(Bytes::from(bytes))))
            }
            Err(error) => {
                tracing::error!(%error, "a spilled answer cannot be read");
                self.fail(error)
            }
        }
    }
}

impl Stream for AnswerBody {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.done {
            return Poll::Ready(None);
        }
        if self.reading.is_some() {
            return self.poll_file(cx);
        }
        let shared = Arc::clone(&self.parts.0);
        let mut state = shared.lock();
        if let Some(piece) = state.pieces.pop_front() {
            state.waiting -= piece.len();
            drop(state);
            shared.spool.give_memory(piece.len());
            shared.room.notify_one();
            return Poll::Ready(Some(Ok(piece)));
        }
        if state.read < state.written
            && let Some(file) = state.file.clone()
        {
            let (at, bytes) = (state.read, (state.written - state.read).min(READ));
            drop(state);
            // Reading from disk would block a thread that serves connections.
            self.reading = Some(tokio::task::spawn_blocking(move || spool::read_at(&file, at, bytes as usize)));
            return self.poll_file(cx);
        }
        if let Some(complete) = state.end {
            drop(state);
            if !complete {
                let farewell = self.farewell.get_or_insert_with(|| Box::pin(tokio::time::sleep(FAREWELL)));
                if farewell.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                return self.fail(io::Error::other("the query was stopped before its answer was complete"));
            }
            self.done = true;
            return Poll::Ready(None);
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
