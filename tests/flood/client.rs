//! A client with its own address and a persistent connection.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::TcpSocket;

/// Interval at which a waiting client checks whether the test has ended.
const LOOK: Duration = Duration::from_millis(200);

/// How a client reads a response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReadPace {
    Whole,
    /// At 160 KB per second.
    Slowly,
    /// Closes the connection after this time, whatever has been received.
    Leaving(Duration),
    /// The connection is closed after so many bytes of the answer, as the system does for a process that is killed.
    Cut(u64),
}

/// The result of a request.
pub struct Answered {
    pub status: u16,
    /// False if the response is incomplete.
    pub whole: bool,
    /// Whether all that came of the body is the expected one, or its beginning where it broke off.
    pub as_expected: bool,
}

pub struct FloodClient<'o> {
    from: Ipv4Addr,
    to: SocketAddr,
    over: &'o AtomicBool,
    stream: Option<BufReader<TcpStream>>,
}

impl<'o> FloodClient<'o> {
    /// Creates a client at the loopback address `from`, which stops once `over` is set.
    pub fn new(from: Ipv4Addr, to: SocketAddr, over: &'o AtomicBool) -> Self {
        FloodClient { from, to, over, stream: None }
    }

    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Waits, at most until the end of the test.
    pub fn rest(&self, time: Duration) {
        let mut left = time;
        while !left.is_zero() && !self.is_over() {
            let piece = left.min(LOOK);
            std::thread::sleep(piece);
            left -= piece;
        }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let stream = runtime.block_on(async {
            let socket = TcpSocket::new_v4()?;
            socket.bind((self.from, 0).into())?;
            socket.connect(self.to).await?.into_std()
        })?;
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LOOK))?;
        stream.set_write_timeout(Some(Duration::from_secs(20)))?;
        Ok(stream)
    }

    /// Sends a request and reads the response. Returns `None` if there is none, or if the test ends first.
    pub fn ask(&mut self, method: &str, path: &str, content_type: &str, body: &str, how: ReadPace) -> Option<Answered> {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
        );
        self.send(&[head.as_bytes(), body.as_bytes()].concat(), how)
    }

    /// Sends these bytes unchanged and reads the response.
    pub fn send(&mut self, bytes: &[u8], how: ReadPace) -> Option<Answered> {
        self.compare(bytes, None, how)
    }

    /// Sends these bytes as they are, and compares the body that comes with the expected one.
    pub fn compare(&mut self, bytes: &[u8], expected: Option<&[u8]>, how: ReadPace) -> Option<Answered> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(self.connect().ok()?),
        };
        // A server that rejects a body closes the connection before reading all of it; its response is still valid.
        let _ = stream.get_mut().write_all(bytes);
        if let ReadPace::Leaving(after) = how {
            self.rest(after);
            return None;
        }
        let most = if let ReadPace::Cut(most) = how { most } else { u64::MAX };
        let slow = how == ReadPace::Slowly;
        let body = Body { expected, length: 0, differs: false, most };
        let mut answer = AnswerReader { stream: &mut stream, over: self.over, slow, body };
        let (status, length) = answer.head().ok()?;
        let read = answer.body(length);
        let as_expected = answer.body.is_as_expected(read.is_ok());
        let over = matches!(&read, Err(error) if error.kind() == ErrorKind::Interrupted);
        if matches!(read, Ok(true)) {
            self.stream = Some(stream);
        }
        (!over).then_some(Answered { status, whole: read.is_ok(), as_expected })
    }
}

/// A body as it comes.
struct Body<'e> {
    expected: Option<&'e [u8]>,
    length: usize,
    differs: bool,
    /// Bytes that are read at most.
    most: u64,
}

impl Body<'_> {
    fn take(&mut self, piece: &[u8]) {
        let end = self.length + piece.len();
        self.differs |= self.expected.is_some_and(|expected| expected.get(self.length..end) != Some(piece));
        self.length = end;
    }

    fn is_as_expected(&self, whole: bool) -> bool {
        let is_short = self.expected.is_some_and(|expected| self.length < expected.len());
        !self.differs && (!whole || !is_short)
    }
}

/// The length of a body.
enum Length {
    Bytes(u64),
    Chunks,
    /// Until the end of the connection.
    End,
}

struct AnswerReader<'a> {
    stream: &'a mut BufReader<TcpStream>,
    over: &'a AtomicBool,
    slow: bool,
    body: Body<'a>,
}

impl AnswerReader<'_> {
    /// Reads and retries after timeouts. The end of the test is an `Interrupted` error.
    fn patiently<T>(&mut self, mut read: impl FnMut(&mut BufReader<TcpStream>) -> io::Result<T>) -> io::Result<T> {
        loop {
            if self.over.load(Ordering::Relaxed) {
                return Err(ErrorKind::Interrupted.into());
            }
            match read(self.stream) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                other => return other,
            }
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.patiently(|stream| stream.read_until(b'\n', &mut line))?;
        if !line.ends_with(b"\r\n") {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.len() - 2);
        Ok(String::from_utf8_lossy(&line).to_ascii_lowercase())
    }

    fn head(&mut self) -> io::Result<(u16, Length)> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(ErrorKind::InvalidData)?;
        let mut length = Length::End;
        let mut closes = false;
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            match name {
                "content-length" => length = Length::Bytes(value.parse().map_err(io::Error::other)?),
                "transfer-encoding" => length = Length::Chunks,
                "connection" => closes = value == "close",
                _ => {}
            }
        }
        // If the server closes the connection, read to its end and do not use it again.
        Ok((status, if closes && !matches!(length, Length::Chunks) { Length::End } else { length }))
    }

    /// Skips the body; returns whether the connection can be used again.
    fn body(&mut self, length: Length) -> io::Result<bool> {
        match length {
            Length::Bytes(bytes) => self.read(bytes).map(|()| true),
            Length::End => match self.read(u64::MAX) {
                Err(error) if error.kind() != ErrorKind::Interrupted => Ok(false),
                other => other.map(|()| false),
            },
            Length::Chunks => loop {
                let size = u64::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
                self.read(size)?;
                if !self.line()?.is_empty() {
                    return Err(ErrorKind::InvalidData.into());
                }
                if size == 0 {
                    return Ok(true);
                }
            },
        }
    }

    fn read(&mut self, bytes: u64) -> io::Result<()> {
        let mut left = bytes;
        let mut piece = vec![0; 16 << 10];
        while left > 0 {
            if self.body.length as u64 >= self.body.most {
                return Err(ErrorKind::ConnectionAborted.into());
            }
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
            let read = self.patiently(|stream| stream.read(&mut piece[..most]))?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.body.take(&piece[..read]);
            left -= read as u64;
            if self.slow {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        Ok(())
    }
}

/// Sends one request on a separate connection and returns the status.
pub fn once(to: SocketAddr, path: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(to).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.split(' ').nth(1)?.parse().ok()
}
