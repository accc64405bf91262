//! From the thread that runs a query to the client that reads its answer: bounded, so that no answer fills the memory;
//! put aside, so that a slow reader does not hold the engine back; and honest, so that a broken answer never looks like a
//! whole one.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::response::Response;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Sleep;
use tokio_stream::Stream;

use crate::spool::{self, Aside, Spool};
use terrapin_budget::memory;

/// Bytes in one piece of an answer.
const PIECE: usize = 64 << 10;
/// Pieces that are held until the query is done or there are more, so that an error in it still gets its own status. They
/// count among what lies in memory for clients: where that is full, an answer goes out after its first piece.
const HELD: usize = 32;
/// Bytes of pieces that may wait in memory for the client.
const WAITING: usize = 8 * PIECE;
/// Bytes that are read from an answer's file at once.
const READ: u64 = 256 << 10;
/// How long in all a client may hold its query's engine back. Whoever reads more slowly than that gets the rest of its
/// answer from a file, and the engine is free for others.
const HELD_BACK: Duration = Duration::from_millis(250);
/// How long the last of a broken answer has to leave before the connection is broken, with what then still waits in it.
const FAREWELL: Duration = Duration::from_millis(250);
/// How often an engine that waits looks whether it was told to stop.
const LOOK: Duration = Duration::from_millis(50);

/// How an answer begins, and of which content type it is.
pub enum Head {
    /// The whole of it.
    Whole(&'static str, Bytes),
    /// More than one piece; they come from here.
    Streaming(&'static str, Parts),
    /// It does not: this goes out instead.
    Refused(Box<Response>),
    /// What was to be one piece did not become one, and nothing of it went out; whether another try may help.
    Unfinished { again: bool },
}

/// What both ends of a streaming answer share.
struct Shared {
    state: Mutex<State>,
    /// Told when the reader took something, or left.
    room: Condvar,
    spool: Arc<Spool>,
    aside: Mutex<Aside>,
}

#[derive(Default)]
struct State {
    /// In memory; older than what lies in the file.
    pieces: VecDeque<Bytes>,
    /// Their bytes.
    waiting: usize,
    file: Option<Arc<File>>,
    /// Bytes written to the file since it was last empty, and those of them that were read.
    written: u64,
    read: u64,
    /// Whether the answer is complete, once the engine is done with it.
    end: Option<bool>,
    /// The reader went away.
    gone: bool,
    reader: Option<Waker>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is made in one go: nothing in here can be left half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something that the reader waits for.
    fn tell(&self, change: impl FnOnce(&mut State)) {
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

impl Drop for Shared {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.spool.give_memory(state.waiting);
    }
}

/// The end that the engine writes to. Dropped without [`Sink::finish`], the answer breaks off.
pub struct Sink {
    content_type: &'static str,
    buffer: Vec<u8>,
    /// What is written before the answer announces itself.
    held: Held,
    head: Option<oneshot::Sender<Head>>,
    spool: Arc<Spool>,
    streaming: Option<Streaming>,
    deadline: Instant,
    cancelled: Arc<AtomicBool>,
    sent: u64,
    one_piece: bool,
}

impl Sink {
    /// A sink that announces itself through `head` and waits for its reader until `deadline`, or until it is cancelled.
    /// Must be used outside the runtime's own threads.
    pub fn new(
        content_type: &'static str,
        head: oneshot::Sender<Head>,
        spool: Arc<Spool>,
        deadline: Instant,
        cancelled: Arc<AtomicBool>,
    ) -> Self {
        Sink {
            content_type,
            buffer: Vec::new(),
            held: Held { pieces: VecDeque::new(), spool: Arc::clone(&spool) },
            head: Some(head),
            spool,
            streaming: None,
            deadline,
            cancelled,
            sent: 0,
            one_piece: false,
        }
    }

    /// The same for an answer that is to be one piece: more cannot be written.
    pub fn of_one_piece(self) -> Self {
        Sink { one_piece: true, ..self }
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.sent + self.held.bytes() as u64 + self.buffer.len() as u64
    }

    /// Lets what was written so far go out. From here on an error can only break the answer off.
    pub fn pass_on(&mut self) -> io::Result<()> {
        self.announce()?;
        if self.buffer.is_empty() { Ok(()) } else { self.send_buffer() }
    }

    /// Ends the answer. Gives an error where the client disconnected before all of it was ready.
    pub fn finish(mut self) -> io::Result<()> {
        if self.held.pieces.is_empty()
            && let Some(head) = self.head.take()
        {
            let whole = Bytes::from(std::mem::take(&mut self.buffer));
            return head.send(Head::Whole(self.content_type, whole)).map_err(|_| gone());
        }
        if !self.buffer.is_empty() {
            self.send_buffer()?;
        }
        self.announce()?;
        self.streaming.take().ok_or_else(gone)?.end()
    }

    /// Gives up the answer: with a reason where nothing of it was sent, else by breaking off after what the engine wrote
    /// last, which says why. Its last byte stays away: whoever does not see that the transfer broke, as scripts that
    /// read a file do not, shall not find a document that is closed.
    pub fn refuse(mut self, instead: Response) {
        if let Some(head) = self.head.take() {
            let _ = head.send(Head::Refused(Box::new(instead)));
            return;
        }
        let written = self.buffer.trim_ascii_end().len();
        self.buffer.truncate(written.saturating_sub(1));
        if !self.buffer.is_empty() {
            // What cannot be told any more is left out.
            let _ = self.send_buffer();
        }
    }

    /// Gives up an answer that was to be one piece.
    pub fn unfinished(mut self, again: bool) {
        if let Some(head) = self.head.take() {
            let _ = head.send(Head::Unfinished { again });
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

    /// Lets the answer begin, with what was held of it.
    fn announce(&mut self) -> io::Result<()> {
        let Some(head) = self.head.take() else { return Ok(()) };
        let bytes = self.held.bytes();
        let pieces = std::mem::take(&mut self.held.pieces);
        self.sent += bytes as u64;
        let shared = Arc::new(Shared {
            state: Mutex::new(State { pieces, waiting: bytes, ..State::default() }),
            room: Condvar::new(),
            spool: Arc::clone(&self.spool),
            aside: Mutex::new(Aside::new(Arc::clone(&self.spool))),
        });
        self.streaming = Some(Streaming { shared: Arc::clone(&shared), ended: false, left: HELD_BACK });
        head.send(Head::Streaming(self.content_type, Parts(shared))).map_err(|_| gone())
    }
}

/// Takes what is in the buffer and leaves it empty. It is freed by the connection that sends it: the spool counts it, not
/// the query.
fn piece_of(buffer: &mut Vec<u8>) -> Bytes {
    if buffer.len() <= PIECE / 4 {
        let piece = memory::within(None, || Bytes::copy_from_slice(buffer));
        buffer.clear();
        return piece;
    }
    let empty = memory::within(None, || Vec::with_capacity(PIECE));
    Bytes::from(std::mem::replace(buffer, empty))
}

/// Pieces in memory that nobody has been told of.
struct Held {
    pieces: VecDeque<Bytes>,
    spool: Arc<Spool>,
}

impl Held {
    fn bytes(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.spool.give_memory(self.bytes());
    }
}

impl Write for Sink {
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

/// The engine's end of an answer of more than one piece.
struct Streaming {
    shared: Arc<Shared>,
    ended: bool,
    /// How long the reader may still hold the engine back.
    left: Duration,
}

impl Streaming {
    /// Sends what is in the buffer and leaves it empty.
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
            // What a query says when its time is over finds a place at once, or none.
            if self.left.is_zero() || !drained || Instant::now() >= deadline {
                drop(state);
                if self.put_aside(buffer, drained) {
                    buffer.clear();
                    return Ok(());
                }
                state = shared.lock();
                // It may have left while nobody held the lock, and would not say so again.
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

    /// Writes a piece to the answer's file; false where it has to wait instead.
    fn put_aside(&self, piece: &[u8], drained: bool) -> bool {
        let mut aside = self.shared.aside.lock().unwrap_or_else(PoisonError::into_inner);
        // Only this end writes, so that a file of which all was read stays so.
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
        // Looked at before the end is told: a reader that has all of it goes away, too.
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
pub struct Parts(Arc<Shared>);

impl Drop for Parts {
    fn drop(&mut self) {
        self.0.lock().gone = true;
        self.0.room.notify_all();
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
    parts: Parts,
    /// A part of the file that is being read.
    reading: Option<JoinHandle<io::Result<Vec<u8>>>>,
    /// When a broken answer may break off.
    farewell: Option<Pin<Box<Sleep>>>,
    done: bool,
    _guard: StopWhenDropped,
}

impl AnswerBody {
    /// The body that these parts make; dropping it stops the query.
    pub fn new(parts: Parts, guard: StopWhenDropped) -> Self {
        AnswerBody { parts, reading: None, farewell: None, done: false, _guard: guard }
    }

    fn fail(&mut self, why: impl Into<io::Error>) -> Poll<Option<io::Result<Bytes>>> {
        self.done = true;
        Poll::Ready(Some(Err(why.into())))
    }

    /// Takes what the disk gave.
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
            // The disk may take its time, which the threads that serve connections do not have.
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
