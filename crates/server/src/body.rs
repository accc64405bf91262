//! Reads request bodies, with limits on the bytes and time of each body and on the memory of all bodies together.

use std::borrow::Cow;
use std::io::Read;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use flate2::read::MultiGzDecoder;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::App;
use crate::connections::{ArrivingBody, TrackedConnection};
use crate::outcome::Outcome;
use crate::rejected::Rejected;

/// A route extension: its body limit in bytes, if that is lower than the server's.
#[derive(Debug, Clone, Copy)]
pub struct LongestBody(pub usize);

/// Bytes of a body that are not counted. Most queries are smaller, and therefore never wait for the bodies of others.
const FREE: usize = 16 << 10;

/// How long a body waits for room before another, incomplete body is dropped to make room.
const PATIENCE: Duration = Duration::from_millis(250);

/// The memory that all request bodies share.
pub struct Bodies {
    /// One permit per KiB.
    room: Arc<Semaphore>,
    /// Drops an incomplete body.
    make_room: Box<dyn Fn() + Send + Sync>,
    longest: usize,
    /// The time limit for a body; at most a third of it is spent waiting for room.
    time: Duration,
}

impl Bodies {
    /// Creates the limits: at most `longest` bytes in each body, received within `time`, and `memory` bytes for all
    /// bodies together, but at least as much as the longest body needs. If there is no room, `make_room` is called,
    /// which drops an incomplete body.
    pub fn new(longest: usize, time: Duration, memory: u64, make_room: impl Fn() + Send + Sync + 'static) -> Self {
        let longest = longest.min(u32::MAX as usize);
        // A compressed body needs room for its compressed and its decoded form.
        let room = usize::try_from(memory).unwrap_or(usize::MAX).max(longest.saturating_mul(2)) / 1024 + 1;
        let room = Arc::new(Semaphore::new(room.min(Semaphore::MAX_PERMITS)));
        Bodies { room, make_room: Box::new(make_room), longest, time }
    }

    /// Reserves room for a body of `length` bytes, in addition to the room in `taken`.
    async fn charge(&self, taken: &mut Option<OwnedSemaphorePermit>, length: usize) -> Result<(), Rejected> {
        let wanted = if length > FREE { length.div_ceil(1 << 10) } else { 0 };
        let more = wanted.saturating_sub(taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits));
        let Ok(more @ 1..) = u32::try_from(more) else { return Ok(()) };
        let room = Arc::clone(&self.room).acquire_many_owned(more);
        let Ok(Ok(permit)) = tokio::time::timeout(self.time / 3, self.pressing(room)).await else {
            return Err(Rejected::BodiesBusy);
        };
        match taken {
            Some(taken) => taken.merge(permit),
            None => *taken = Some(permit),
        }
        Ok(())
    }

    /// Waits for `room` and calls `make_room` repeatedly, because incomplete bodies must not block complete ones.
    async fn pressing<T>(&self, room: impl Future<Output = T>) -> T {
        let mut room = pin!(room);
        loop {
            if let Ok(found) = tokio::time::timeout(PATIENCE, &mut room).await {
                return found;
            }
            (self.make_room)();
        }
    }
}

/// A received body, possibly still compressed.
pub struct Received {
    bytes: Bytes,
    gzip: bool,
    longest: usize,
    /// The room for the bytes, held as long as they are.
    _room: Option<OwnedSemaphorePermit>,
}

/// A body that could not be read is answered in the error format of the route.
impl FromRequest<Arc<App>> for Received {
    type Rejection = Response;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Response> {
        let words = app.routes.wording(&request);
        let (parts, body) = request.into_parts();
        let longest = parts.extensions.get::<LongestBody>().map_or(usize::MAX, |longest| longest.0);
        let peer = parts.extensions.get::<Arc<TrackedConnection>>();
        let arriving = peer.map(TrackedConnection::body_arrives);
        let received = Received::read(&parts.headers, body, arriving.as_ref(), &app.bodies, longest).await;
        received.map_err(|why| {
            if let Some(peer) = peer {
                peer.leave_unread();
            }
            app.metrics.refused(Outcome::Refused);
            words.reject(&why)
        })
    }
}

impl Received {
    /// Reads a body of at most `longest` bytes, or of the server's limit if that is lower.
    async fn read(
        headers: &HeaderMap,
        body: Body,
        arriving: Option<&ArrivingBody>,
        bodies: &Bodies,
        longest: usize,
    ) -> Result<Self, Rejected> {
        let gzip = is_gzip(headers)?;
        let longest = bodies.longest.min(longest);
        if HttpBody::size_hint(&body).lower() > longest as u64 {
            return Err(Rejected::BodyTooLong(longest));
        }
        let mut room = None;
        let reading = async {
            let bytes = collect(body, arriving, bodies, longest, &mut room).await?;
            if gzip {
                // The body is decoded later, on a worker thread that must not wait for room. Its room is therefore
                // reserved here.
                bodies.charge(&mut room, bytes.len() + longest).await?;
            }
            Ok(bytes)
        };
        let bytes =
            tokio::time::timeout(bodies.time, reading).await.map_err(|_| Rejected::BodyTooSlow(bodies.time))??;
        Ok(Received { bytes, gzip, longest, _room: room })
    }

    /// Returns the decoded bytes; an uncompressed body is not copied.
    pub fn text(&self) -> Result<Bytes, Rejected> {
        if self.gzip { self.decoded().map(|text| Bytes::from(text.into_owned())) } else { Ok(self.bytes.clone()) }
    }

    /// Returns the decoded bytes. Not to be called on the threads that serve connections, since decoding takes time.
    pub fn decoded(&self) -> Result<Cow<'_, [u8]>, Rejected> {
        if !self.gzip {
            return Ok(Cow::Borrowed(&self.bytes));
        }
        let mut plain = Vec::new();
        let mut decoder = MultiGzDecoder::new(&*self.bytes).take(self.longest as u64 + 1);
        if let Err(error) = decoder.read_to_end(&mut plain) {
            return Err(Rejected::BodyBroken(
                format!("it is not valid gzip, despite its Content-Encoding: {error}").into(),
            ));
        }
        if plain.len() > self.longest { Err(Rejected::BodyTooLong(self.longest)) } else { Ok(Cow::Owned(plain)) }
    }
}

/// Returns whether a body is compressed with gzip.
fn is_gzip(headers: &HeaderMap) -> Result<bool, Rejected> {
    let mut gzip = false;
    for value in headers.get_all(header::CONTENT_ENCODING) {
        let name = String::from_utf8_lossy(value.as_bytes()).trim().to_ascii_lowercase();
        match name.as_str() {
            "" | "identity" => {}
            "gzip" | "x-gzip" if !gzip => gzip = true,
            _ => return Err(Rejected::BodyEncoding(name)),
        }
    }
    Ok(gzip)
}

async fn collect(
    mut body: Body,
    arriving: Option<&ArrivingBody>,
    bodies: &Bodies,
    longest: usize,
    room: &mut Option<OwnedSemaphorePermit>,
) -> Result<Bytes, Rejected> {
    let mut first = Bytes::new();
    let mut whole: Vec<u8> = Vec::new();
    let awaited = |is_awaited| {
        if let Some(arriving) = arriving {
            arriving.await_piece(is_awaited);
        }
    };
    loop {
        awaited(true);
        let frame = body.frame().await;
        awaited(false);
        let Some(frame) = frame else { break };
        let Ok(frame) = frame else { return Err(Rejected::BodyBroken("it broke off".into())) };
        let Ok(data) = frame.into_data() else { continue };
        let length = first.len() + whole.len() + data.len();
        if length > longest {
            return Err(Rejected::BodyTooLong(longest));
        }
        if length == data.len() {
            // Most bodies arrive in one piece, which is not copied.
            bodies.charge(room, length).await?;
            first = data;
            continue;
        }
        if whole.capacity() < length {
            let capacity = length.next_power_of_two().min(longest);
            bodies.charge(room, capacity).await?;
            whole.reserve_exact(capacity - whole.len());
            whole.extend_from_slice(&std::mem::take(&mut first));
        }
        whole.extend_from_slice(&data);
    }
    Ok(if whole.is_empty() { first } else { Bytes::from(whole) })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use axum::http::{HeaderValue, StatusCode};
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tokio_stream::StreamExt;

    use super::*;

    fn pieces(count: usize, length: usize) -> Body {
        Body::from_stream(tokio_stream::iter(0..count).map(move |n| Ok::<_, std::io::Error>(vec![n as u8; length])))
    }

    async fn read(body: Body, bodies: &Bodies) -> Result<Received, Rejected> {
        Received::read(&HeaderMap::new(), body, None, bodies, usize::MAX).await
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_length_and_charged_beyond_the_first_bytes() {
        let bodies = Bodies::new(100_000, Duration::from_secs(5), 1 << 20, || ());
        let all = bodies.room.available_permits();
        let small = read(pieces(2, 100), &bodies).await.unwrap();
        assert_eq!(small.decoded().unwrap().len(), 200);
        assert_eq!(bodies.room.available_permits(), all);
        let large = read(pieces(9, 11_000), &bodies).await.unwrap();
        assert_eq!(large.decoded().unwrap()[98_999], 8);
        assert!(bodies.room.available_permits() < all - 90);
        drop(large);
        assert_eq!(bodies.room.available_permits(), all);
        assert_eq!(read(pieces(10, 11_000), &bodies).await.err(), Some(Rejected::BodyTooLong(100_000)));
        assert_eq!(read(Body::from(vec![0; 100_001]), &bodies).await.err(), Some(Rejected::BodyTooLong(100_000)));
        assert_eq!(bodies.room.available_permits(), all);
    }

    #[tokio::test]
    async fn what_does_not_arrive_or_finds_no_room_is_given_up() {
        let bodies = Bodies::new(100_000, Duration::from_millis(300), 1 << 20, || ());
        let never = Body::from_stream(tokio_stream::pending::<Result<Bytes, std::io::Error>>());
        assert_eq!(read(never, &bodies).await.err(), Some(Rejected::BodyTooSlow(Duration::from_millis(300))));
        let _all = bodies.room.clone().acquire_many_owned(bodies.room.available_permits() as u32).await.unwrap();
        assert!(read(pieces(1, FREE), &bodies).await.is_ok(), "a small one needs no room");
        assert_eq!(read(pieces(2, FREE), &bodies).await.err(), Some(Rejected::BodiesBusy));
    }

    #[tokio::test]
    async fn a_packed_body_is_held_to_its_length_unpacked() {
        let bodies = Bodies::new(100_000, Duration::from_secs(5), 1 << 20, || ());
        let packed = |length: usize| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&vec![b'x'; length]).unwrap();
            encoder.finish().unwrap()
        };
        let headers =
            |name: &'static str| HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static(name))]);
        let good =
            Received::read(&headers("gzip"), Body::from(packed(100_000)), None, &bodies, usize::MAX).await.unwrap();
        assert_eq!(good.decoded().unwrap().len(), 100_000);
        let bomb =
            Received::read(&headers("GZIP"), Body::from(packed(50_000_000)), None, &bodies, usize::MAX).await.unwrap();
        assert_eq!(bomb.decoded().err(), Some(Rejected::BodyTooLong(100_000)));
        let wrong = Received::read(&headers("gzip"), Body::from("plain"), None, &bodies, usize::MAX).await.unwrap();
        assert_eq!(wrong.decoded().err().map(|e| e.status()), Some(StatusCode::BAD_REQUEST));
        let other = Received::read(&headers("br"), Body::from("x"), None, &bodies, usize::MAX).await.err();
        assert_eq!(other.map(|e| e.status()), Some(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
}
