//! Accepts and closes connections: limits their total number, their number for each client, and how long each may be
//! inactive. Passes requests to the given router and does not interpret them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
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
use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Sleep;
use tower::ServiceExt;

use crate::client::ClientKey;

/// Limit of a request's head in bytes, also the size of a connection's buffer: a URL of at most 65,534 bytes and 16 KiB
/// of headers.
const HEAD: usize = 80 << 10;
/// The socket's send buffer in bytes. A client that reads less than about a third of it within the stall timeout counts
/// as stalled.
const SEND_BUFFER: u32 = 256 << 10;
/// Maximum number of connections that the system queues until they are accepted.
const BACKLOG: u32 = 4096;
/// Interval at which connections are checked for timeouts.
const SWEEP: Duration = Duration::from_millis(250);
/// How long the rest of a rejected request is read and discarded. If the connection were closed at once, the client's
/// system would discard the error response.
const LINGER: Duration = Duration::from_secs(2);

/// How long a client must have read nothing of its response before its connection may be closed to make room for
/// another.
const SLUGGISH: Duration = Duration::from_secs(5);
/// Limits for the wait for the next piece of a body and for the whole body, while other bodies wait for room.
const PIECE_DUE: Duration = Duration::from_secs(1);
const BODY_DUE: Duration = Duration::from_secs(5);
/// The response to a connection over the limit of its client. Its request is not read.
const TOO_MANY: &[u8] = b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nRetry-After: 5\r\n\
    Connection: close\r\nContent-Length: 60\r\n\r\nthis client has too many connections open: close some first\n";

/// The limits of connections.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Maximum number of open connections, at least 1. If one more arrives, a connection that waits for its client is
    /// closed for it.
    pub most: usize,
    /// Maximum number of open connections of one client; 0 for no limit.
    pub per_client: usize,
    /// Networks of proxies. Their connections carry requests of many clients, and have no limit per client.
    pub proxies: Vec<IpNet>,
    /// Timeout for a request's head from its first byte, and for the first byte from the connection's start.
    pub head: Duration,
    /// Timeout for a request's body.
    pub body: Duration,
    /// How long an idle connection is kept open for another request.
    pub idle: Duration,
    /// Stall timeout: how long a client may read nothing of its response.
    pub stall: Duration,
    /// Bytes that all bodies together may hold.
    pub memory: u64,
}

/// All open connections.
pub struct Connections {
    limits: ConnectionLimits,
    /// When the server started. Times are milliseconds since then, at least 1; 0 stands for "not set".
    epoch: Instant,
    places: Arc<Semaphore>,
    peers: Mutex<Vec<Weak<TrackedConnection>>>,
    /// Set when every response shall be the last one of its connection.
    draining: AtomicBool,
    /// Set when every connection shall close after its current response.
    ending: watch::Sender<bool>,
}

/// The state of one connection that decides whether it stays open.
#[derive(Debug)]
pub struct TrackedConnection {
    /// The client at the other end, which may be a proxy.
    client: ClientKey,
    /// Since when the connection is idle, as milliseconds since [`Connections::epoch`]; 0 during a request.
    idle: AtomicU64,
    /// Since when a request's head is being received.
    head: AtomicU64,
    /// Since when a request's body is being received. Received pieces do not change this: otherwise a client could keep
    /// the connection forever by sending single bytes.
    body: AtomicU64,
    /// Since when the next piece of that body is awaited; 0 while the server processes a piece or has no room for one.
    awaited: AtomicU64,
    /// Since when the client reads nothing.
    stalled: AtomicU64,
    /// Number of requests received so far.
    requests: AtomicU64,
    unread: AtomicBool,
    /// Set if the connection must close even during a request or response.
    cut_off: AtomicBool,
    /// Set when the connection was chosen to be closed, so that it is not chosen again instead of another one.
    closing: AtomicBool,
    epoch: Instant,
    close: Notify,
}

/// A request's body that is being received.
pub struct ArrivingBody(Arc<TrackedConnection>);

impl ArrivingBody {
    /// Records that the next piece is awaited, or that it arrived.
    pub fn await_piece(&self, is_awaited: bool) {
        self.0.awaited.store(if is_awaited { self.0.now() } else { 0 }, Ordering::Relaxed);
    }
}

impl Drop for ArrivingBody {
    fn drop(&mut self) {
        self.0.awaited.store(0, Ordering::Relaxed);
        self.0.body.store(0, Ordering::Relaxed);
    }
}

impl TrackedConnection {
    fn now(&self) -> u64 {
        now(self.epoch)
    }

    /// Records that part of a request's body will not be read, so that the connection cannot serve another request.
    pub fn leave_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    /// Records that a request's body is being received, until the returned value is dropped.
    pub fn body_arrives(self: &Arc<Self>) -> ArrivingBody {
        self.body.store(self.now(), Ordering::Relaxed);
        ArrivingBody(Arc::clone(self))
    }

    /// Returns since when the connection waits for its client to send a request's head or the rest of its body.
    fn waits(&self) -> Option<u64> {
        let idle = self.idle.load(Ordering::Relaxed);
        if idle > 0 { Some(idle) } else { self.waits_for_body() }
    }

    fn waits_for_body(&self) -> Option<u64> {
        let is_awaited = self.awaited.load(Ordering::Relaxed) > 0;
        Some(self.body.load(Ordering::Relaxed)).filter(|since| is_awaited && *since > 0)
    }

    /// Returns since when a body is being received, if it blocks others: its next piece is late, or all of it takes too
    /// long.
    fn is_half_a_body(&self) -> Option<u64> {
        let (since, now) = (self.waits_for_body()?, self.now());
        let over = |since: u64, limit: Duration| u128::from(now.saturating_sub(since)) > limit.as_millis();
        (over(self.awaited.load(Ordering::Relaxed), PIECE_DUE) || over(since, BODY_DUE)).then_some(since)
    }

    /// Returns since when the client reads nothing of its response, if that is long enough to close the connection for
    /// another one.
    fn is_sluggish(&self) -> Option<u64> {
        let since = self.stalled.load(Ordering::Relaxed);
        let enough = since > 0 && u128::from(self.now().saturating_sub(since)) > SLUGGISH.as_millis();
        enough.then_some(since)
    }

    /// Requests that the connection closes; with `cut_off`, also during a request or response.
    fn close(&self, cut_off: bool) {
        if cut_off {
            self.cut_off.store(true, Ordering::Relaxed);
        }
        self.closing.store(true, Ordering::Relaxed);
        self.close.notify_one();
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

/// Opens the listening socket.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As in the standard library: allows binding the port again immediately after a restart.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit this size. The system may use a smaller one.
    let _ = socket.set_send_buffer_size(SEND_BUFFER);
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Connections {
    /// Creates the limits, without any connection.
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

    /// Returns the number of open connections.
    pub fn open(&self) -> usize {
        self.limits.most - self.places.available_permits().min(self.limits.most)
    }

    /// Makes every response from now on the last one of its connection.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Closes every connection after its current response, and idle ones immediately.
    pub fn end(&self) {
        self.drain();
        self.ending.send_replace(true);
    }

    /// Waits until all connections are closed.
    pub async fn ended(&self) {
        let _ = self.places.acquire_many(u32::try_from(self.limits.most).unwrap_or(u32::MAX)).await;
    }

    /// Accepts connections and serves them. Never returns. If the future is dropped, no more connections are accepted;
    /// open ones continue.
    pub async fn serve(self: Arc<Self>, listener: TcpListener, router: Router) -> Infallible {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => {
                    let client = ClientKey::of_address(address.ip());
                    if !self.admits(&client, address.ip()) {
                        // The socket's send buffer is empty: it takes the whole response at once, unless the client is
                        // gone.
                        let _ = stream.try_write(TOO_MANY);
                        continue;
                    }
                    let place = self.place().await;
                    let peer = self.enter(client);
                    tokio::spawn(Arc::clone(&self).connection(stream, address, peer, place, router.clone()));
                }
                Err(error) if is_the_clients(&error) => {}
                Err(error) => {
                    // In most cases, no file descriptor is free.
                    tracing::warn!(%error, "no connection can be accepted");
                    self.make_room();
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Returns whether a client may open one more connection. If it is at its limit, its connection that has waited
    /// longest for a request is closed for the new one. If none of them waits, the new one is refused.
    fn admits(&self, client: &ClientKey, address: IpAddr) -> bool {
        let most = self.limits.per_client;
        let address = address.to_canonical();
        if most == 0 || self.limits.proxies.iter().any(|net| net.contains(&address)) {
            return true;
        }
        let mut own = self.living();
        own.retain(|peer| peer.client == *client && !peer.closing.load(Ordering::Relaxed));
        if own.len() < most {
            return true;
        }
        let waiting = own.iter().filter_map(|peer| Some((peer.waits()?, peer))).min_by_key(|(since, _)| *since);
        if let Some((_, peer)) = waiting {
            peer.close(false);
        } else {
            tracing::debug!(client = &*client.0, "connection refused: the client has too many open");
        }
        waiting.is_some()
    }

    /// Waits until one more connection is allowed.
    async fn place(&self) -> OwnedSemaphorePermit {
        loop {
            if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
                return place;
            }
            self.make_room();
            // Connections that are busy now may soon be idle.
            let waited = tokio::time::timeout(SWEEP, Arc::clone(&self.places).acquire_owned()).await;
            if let Ok(Ok(place)) = waited {
                return place;
            }
        }
    }

    fn peers(&self) -> MutexGuard<'_, Vec<Weak<TrackedConnection>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn living(&self) -> Vec<Arc<TrackedConnection>> {
        self.peers().iter().filter_map(Weak::upgrade).collect()
    }

    fn enter(&self, client: ClientKey) -> Arc<TrackedConnection> {
        let peer = Arc::new(TrackedConnection {
            client,
            idle: AtomicU64::new(now(self.epoch)),
            head: AtomicU64::new(0),
            body: AtomicU64::new(0),
            awaited: AtomicU64::new(0),
            stalled: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            unread: AtomicBool::new(false),
            cut_off: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            epoch: self.epoch,
            close: Notify::new(),
        });
        self.peers().push(Arc::downgrade(&peer));
        peer
    }

    /// Closes a connection that waits for its client: an idle one or one with an incomplete body, or else one with a
    /// stalled client. It is one of the client with the most such connections, namely the one that has waited longest.
    fn make_room(&self) {
        let peers = self.living();
        // A client that still reads its response is not idle, even if the whole response is already in the send buffer.
        let waits = |peer: &TrackedConnection| peer.waits().filter(|_| peer.stalled.load(Ordering::Relaxed) == 0);
        if let Some(peer) = longest(&peers, waits) {
            peer.close(false);
        } else if let Some(peer) = longest(&peers, TrackedConnection::is_sluggish) {
            peer.close(true);
        }
    }

    /// Closes a connection with an incomplete body, to make room for other bodies.
    pub fn drop_a_body(&self) {
        if let Some(peer) = longest(&self.living(), TrackedConnection::is_half_a_body) {
            peer.close(false);
        }
    }

    /// Closes connections that exceed a timeout, at every interval. Never returns.
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
                // A client connects to send a request: until the first one, the timeout is that of a request's head.
                let first = peer.requests.load(Ordering::Relaxed) == 0;
                let idle = if first { limits.head } else { limits.idle };
                let stalled = over(&peer.stalled, limits.stall);
                if stalled || over(&peer.head, limits.head) || over(&peer.idle, idle) {
                    peer.close(stalled);
                }
                true
            });
        }
    }

    async fn connection(
        self: Arc<Self>,
        stream: TcpStream,
        address: SocketAddr,
        peer: Arc<TrackedConnection>,
        _place: OwnedSemaphorePermit,
        router: Router,
    ) {
        let _ = stream.set_nodelay(true);
        let io = TokioIo::new(WatchedStream { stream, peer: Arc::clone(&peer), lingering: None });
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
                Ok::<_, Infallible>(response.map(|body| BusyBody { body, _busy: busy }))
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
                    // A request, or the rest of its body, may have arrived in the meantime.
                    if peer.cut_off.load(Ordering::Relaxed) || peer.waits().is_some() {
                        return;
                    }
                    peer.closing.store(false, Ordering::Relaxed);
                }
                _ = ending.wait_for(|ending| *ending), if !told => {
                    told = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

/// Returns the connection that has waited longest, of the client with most waiting connections. `waits` returns since
/// when a connection waits, or `None` if it does not.
fn longest(
    peers: &[Arc<TrackedConnection>],
    waits: impl Fn(&TrackedConnection) -> Option<u64>,
) -> Option<&Arc<TrackedConnection>> {
    let open = peers.iter().filter(|peer| !peer.closing.load(Ordering::Relaxed));
    let waiting: Vec<(u64, &Arc<TrackedConnection>)> = open.filter_map(|peer| Some((waits(peer)?, peer))).collect();
    let mut counts: HashMap<&ClientKey, usize> = HashMap::new();
    for (_, peer) in &waiting {
        *counts.entry(&peer.client).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    let of_most = waiting.into_iter().filter(|(_, peer)| counts.get(&peer.client) == Some(&most));
    of_most.min_by_key(|(since, _)| *since).map(|(_, peer)| peer)
}

/// Returns whether accepting failed because of the client that tried to connect.
fn is_the_clients(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// A request that is being processed or answered.
struct Busy(Arc<TrackedConnection>);

impl Busy {
    fn new(peer: &Arc<TrackedConnection>) -> Self {
        peer.begin();
        Busy(Arc::clone(peer))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A response body that marks its connection as busy until it is dropped.
struct BusyBody {
    body: Body,
    _busy: Busy,
}

impl HttpBody for BusyBody {
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

/// A stream that records when bytes are received and when none can be sent.
struct WatchedStream {
    stream: TcpStream,
    peer: Arc<TrackedConnection>,
    /// Timer until which further received bytes are read and discarded.
    lingering: Option<Pin<Box<Sleep>>>,
}

impl WatchedStream {
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

impl AsyncRead for WatchedStream {
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

impl AsyncWrite for WatchedStream {
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
            // More bytes may follow, also after a rejected head.
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
