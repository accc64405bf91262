//! Connections: how many there are, how long each may do nothing, and how they end. Answers requests by the router that
//! it is given and knows nothing of what they mean.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, header};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Sleep;
use tower::ServiceExt;

/// Longest head of a request in bytes, which is also what a connection buffers: an address of 65,534 bytes, which is the
/// most that is read, and 16 KiB of headers.
const HEAD: usize = 80 << 10;
/// Bytes of an answer that the system holds for a client. A client that takes less than about a third of it in the time
/// for a stall counts as one that takes nothing.
const SEND_BUFFER: u32 = 256 << 10;
/// Connections that the system holds until they are accepted.
const BACKLOG: u32 = 1024;
/// How often connections are looked at for having taken too long.
const SWEEP: Duration = Duration::from_millis(250);
/// How long a client that was refused may go on sending what nobody reads: closed at once, its system would throw the
/// refusal away.
const LINGER: Duration = Duration::from_secs(2);

/// What bounds connections.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Connections at once, at least 1. One more waits, and the one that has been idle the longest is closed for it.
    pub most: usize,
    /// How long a request's head may take from its first byte, and the first byte from connecting.
    pub head: Duration,
    /// How long a request's body may take.
    pub body: Duration,
    /// How long a connection is kept open for another request.
    pub idle: Duration,
    /// How long a client may take nothing of its answer.
    pub stall: Duration,
    /// Bytes that all bodies together may hold.
    pub memory: u64,
}

/// All connections.
pub struct Connections {
    limits: ConnectionLimits,
    /// When the server started: times are milliseconds since then, and 1 at least, so that 0 is never.
    epoch: Instant,
    places: Arc<Semaphore>,
    peers: Mutex<Vec<Weak<Peer>>>,
    /// Told when answers shall be the last ones of their connections.
    draining: AtomicBool,
    /// Told when connections shall end after the answer that they are at.
    ending: watch::Sender<bool>,
}

/// One connection, as those see it who decide whether it stays.
#[derive(Debug)]
pub struct Peer {
    /// Since when there is no request, by [`Connections::epoch`]; 0 while there is one.
    idle: AtomicU64,
    /// Since when a request's head is arriving.
    head: AtomicU64,
    /// Since when the client takes nothing.
    stalled: AtomicU64,
    /// Requests so far.
    requests: AtomicU64,
    unread: AtomicBool,
    /// Set where it has to go whatever it is at.
    cut_off: AtomicBool,
    epoch: Instant,
    close: Notify,
}

impl Peer {
    fn now(&self) -> u64 {
        now(self.epoch)
    }

    /// Says that part of a request's body will not be read, so that the connection cannot go on.
    pub fn leave_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    fn begin(&self) {
        self.idle.store(0, Ordering::Relaxed);
        self.head.store(0, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.idle.store(self.now(), Ordering::Relaxed);
    }
}

fn now(epoch: Instant) -> u64 {
    epoch.elapsed().as_millis() as u64 + 1
}

/// Opens the port.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As the standard library does it, where a port may be taken again at once after a restart.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    // Connections get theirs from here. Only a wish: the system may allow less.
    let _ = socket.set_send_buffer_size(SEND_BUFFER);
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Connections {
    /// None yet.
    pub fn new(limits: ConnectionLimits) -> Arc<Self> {
        let most = limits.most.clamp(1, Semaphore::MAX_PERMITS);
        Arc::new(Connections {
            limits: ConnectionLimits { most, ..limits },
            epoch: Instant::now(),
            places: Arc::new(Semaphore::new(most)),
            peers: Mutex::default(),
            draining: AtomicBool::new(false),
            ending: watch::Sender::new(false),
        })
    }

    /// Connections that are open now.
    pub fn open(&self) -> usize {
        self.limits.most - self.places.available_permits().min(self.limits.most)
    }

    /// From here on every answer is the last one of its connection.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Ends every connection after the answer that it is at, those without one at once.
    pub fn end(&self) {
        self.drain();
        self.ending.send_replace(true);
    }

    /// Returns when all connections have ended.
    pub async fn ended(&self) {
        let _ = self.places.acquire_many(u32::try_from(self.limits.most).unwrap_or(u32::MAX)).await;
    }

    /// Accepts connections and serves them. Never returns; dropped, it accepts no more, and those that are open go on.
    pub async fn serve(self: Arc<Self>, listener: TcpListener, router: Router) -> Infallible {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => {
                    let place = self.place().await;
                    let peer = self.enter();
                    tokio::spawn(Arc::clone(&self).connection(stream, address, peer, place, router.clone()));
                }
                Err(error) if is_the_clients(&error) => {}
                Err(error) => {
                    // No descriptor left, in most cases.
                    tracing::warn!(%error, "no connection can be accepted");
                    self.close_idlest();
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Waits until there is room for one more connection.
    async fn place(&self) -> OwnedSemaphorePermit {
        loop {
            if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
                return place;
            }
            self.close_idlest();
            // Those that are busy now may be idle soon.
            let waited = tokio::time::timeout(SWEEP, Arc::clone(&self.places).acquire_owned()).await;
            if let Ok(Ok(place)) = waited {
                return place;
            }
        }
    }

    fn peers(&self) -> MutexGuard<'_, Vec<Weak<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) -> Arc<Peer> {
        let peer = Arc::new(Peer {
            idle: AtomicU64::new(now(self.epoch)),
            head: AtomicU64::new(0),
            stalled: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            unread: AtomicBool::new(false),
            cut_off: AtomicBool::new(false),
            epoch: self.epoch,
            close: Notify::new(),
        });
        self.peers().push(Arc::downgrade(&peer));
        peer
    }

    /// Closes the connection that has been without a request for the longest time.
    fn close_idlest(&self) {
        let peers: Vec<Arc<Peer>> = self.peers().iter().filter_map(Weak::upgrade).collect();
        // A client that takes its answer is not idle, even where all of it was handed on.
        let idle =
            |peer: &&Arc<Peer>| peer.idle.load(Ordering::Relaxed) > 0 && peer.stalled.load(Ordering::Relaxed) == 0;
        let idlest = peers.iter().filter(idle).min_by_key(|peer| peer.idle.load(Ordering::Relaxed));
        if let Some(peer) = idlest {
            peer.close.notify_one();
        }
    }

    /// Closes what has taken too long. Never returns.
    pub async fn sweep(self: Arc<Self>) {
        let mut every = tokio::time::interval(SWEEP);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            let now = now(self.epoch);
            let limits = &self.limits;
            self.peers().retain(|peer| {
                let Some(peer) = peer.upgrade() else { return false };
                let over = |since: &AtomicU64, limit: Duration| {
                    let since = since.load(Ordering::Relaxed);
                    since > 0 && u128::from(now.saturating_sub(since)) > limit.as_millis()
                };
                // A client connects to ask something: its first request has the time of a head.
                let first = peer.requests.load(Ordering::Relaxed) == 0;
                let idle = if first { limits.head } else { limits.idle };
                let stalled = over(&peer.stalled, limits.stall);
                if stalled {
                    peer.cut_off.store(true, Ordering::Relaxed);
                }
                if stalled || over(&peer.head, limits.head) || over(&peer.idle, idle) {
                    peer.close.notify_one();
                }
                true
            });
        }
    }

    async fn connection(
        self: Arc<Self>,
        stream: TcpStream,
        address: SocketAddr,
        peer: Arc<Peer>,
        _place: OwnedSemaphorePermit,
        router: Router,
    ) {
        let _ = stream.set_nodelay(true);
        let io = TokioIo::new(Watched { stream, peer: Arc::clone(&peer), lingering: None });
        let service = service_fn(|request: hyper::Request<Incoming>| {
            let busy = Busy::new(&peer);
            let mut request = request.map(Body::new);
            let extensions = request.extensions_mut();
            extensions.insert(ConnectInfo(address));
            extensions.insert(Arc::clone(&peer));
            let answer = router.clone().oneshot(request);
            let (peer, all) = (&peer, &self);
            async move {
                let mut response = answer.await?;
                if all.draining.load(Ordering::Relaxed) || peer.unread.load(Ordering::Relaxed) {
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response.map(|body| Answer { body, _busy: busy }))
            }
        });
        let connection = http1::Builder::new().max_buf_size(HEAD).max_header_size(HEAD).serve_connection(io, service);
        let mut connection = pin!(connection);
        let mut ending = self.ending.subscribe();
        let mut told = false;
        loop {
            tokio::select! {
                result = connection.as_mut() => {
                    if let Err(error) = result {
                        tracing::debug!(%error, "a connection broke off");
                    }
                    return;
                }
                () = peer.close.notified() => {
                    // A request may just have come after all.
                    if peer.cut_off.load(Ordering::Relaxed) || peer.idle.load(Ordering::Relaxed) > 0 {
                        return;
                    }
                }
                _ = ending.wait_for(|ending| *ending), if !told => {
                    told = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

/// Whether accepting failed for a reason that lies with the client that tried to connect.
fn is_the_clients(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// A request that is worked on or answered.
struct Busy(Arc<Peer>);

impl Busy {
    fn new(peer: &Arc<Peer>) -> Self {
        peer.begin();
        Busy(Arc::clone(peer))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// An answer's body, which keeps its connection busy until all of it was handed on.
struct Answer {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The stream, which notes when bytes come and when none go.
struct Watched {
    stream: TcpStream,
    peer: Arc<Peer>,
    /// Until when what still comes is read and thrown away.
    lingering: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    fn noted<T>(&self, result: Poll<T>) -> Poll<T> {
        let stalled = &self.peer.stalled;
        match &result {
            Poll::Ready(_) => {
                if stalled.load(Ordering::Relaxed) != 0 {
                    stalled.store(0, Ordering::Relaxed);
                }
            }
            Poll::Pending => {
                let _ = stalled.compare_exchange(0, self.peer.now(), Ordering::Relaxed, Ordering::Relaxed);
            }
        }
        result
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before
            && self.peer.idle.load(Ordering::Relaxed) > 0
            && self.peer.head.load(Ordering::Relaxed) == 0
        {
            self.peer.head.store(self.peer.now(), Ordering::Relaxed);
        }
        result
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.noted(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.noted(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            std::task::ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            // Also of a head that was refused, there may be more to come.
            if !self.peer.unread.load(Ordering::Relaxed) && self.peer.head.load(Ordering::Relaxed) == 0 {
                return Poll::Ready(Ok(()));
            }
            self.lingering = Some(Box::pin(tokio::time::sleep(LINGER)));
        }
        let this = &mut *self;
        let mut scratch = [0; 4096];
        loop {
            if let Some(timer) = &mut this.lingering
                && timer.as_mut().poll(cx).is_ready()
            {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut this.stream).poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(Ok(())),
            }
        }
    }
}
