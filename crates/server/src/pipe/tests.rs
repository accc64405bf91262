use axum::body::BodyDataStream;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use tokio_stream::StreamExt;

use super::*;
use crate::spool::SpoolLimits;

fn spool(answer: u64) -> Arc<AnswerSpool> {
    AnswerSpool::new(SpoolLimits { memory: 64 << 20, answer, total: answer, folder: std::env::temp_dir() })
}

type Receiver = oneshot::Receiver<Result<Reply, Unfinished>>;

fn sink(spool: &Arc<AnswerSpool>) -> (PipeSink, Receiver) {
    sink_for(spool, Duration::from_secs(60))
}

fn sink_for(spool: &Arc<AnswerSpool>, time: Duration) -> (PipeSink, Receiver) {
    let (sender, receiver) = oneshot::channel();
    let deadline = Instant::now() + time;
    (PipeSink::new(HeaderMap::new(), sender, Arc::clone(spool), deadline, Arc::default()), receiver)
}

/// Returns the body of an answer that is streamed.
async fn streamed(head: Receiver) -> BodyDataStream {
    let Ok(Ok(Reply::Streaming(_, body))) = head.await else { panic!("expected a stream") };
    body.into_data_stream()
}

fn refusal() -> Response {
    StatusCode::BAD_REQUEST.into_response()
}

/// Returns test bytes that depend on their position.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n / 7 % 251) as u8).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_answer_is_sent_whole_or_not_at_all() {
    let spool = spool(0);
    let (mut good, head) = sink(&spool);
    good.write_all(b"all").unwrap();
    good.finish().unwrap();
    assert!(matches!(head.await, Ok(Ok(Reply::Whole(_, bytes))) if bytes == "all"));

    let (mut bad, head) = sink(&spool);
    bad.write_all(b"some").unwrap();
    bad.refuse(refusal());
    assert!(matches!(head.await, Ok(Ok(Reply::Other(_)))));
}

/// More bytes than are held back.
const LONG: usize = (HELD + 20) * PIECE + 9;

async fn stream(complete: bool) -> Vec<Result<Bytes, axum::Error>> {
    let (mut sink, head) = sink(&spool(0));
    let engine = tokio::task::spawn_blocking(move || {
        sink.write_all(&pattern(LONG)).unwrap();
        if complete { sink.finish().unwrap() } else { sink.refuse(refusal()) }
    });
    let pieces = streamed(head).await.collect().await;
    engine.await.unwrap();
    pieces
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_streams_and_a_broken_one_ends_in_an_error() {
    let whole: Vec<u8> = stream(true).await.into_iter().flat_map(|piece| piece.unwrap()).collect();
    assert!(whole == pattern(LONG));
    let mut broken = stream(false).await;
    assert!(broken.pop().is_some_and(|end| end.is_err()));
    // Everything that was written, except the last byte.
    let begun: Vec<u8> = broken.into_iter().flat_map(|piece| piece.unwrap()).collect();
    assert!(begun == pattern(LONG - 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_megabytes_are_held_while_there_is_memory() {
    let spool = spool(0);
    let (mut bad, head) = sink(&spool);
    bad.write_all(&pattern(HELD * PIECE)).unwrap();
    assert!(spool.memory_taken() as usize >= (HELD - 1) * PIECE);
    bad.refuse(refusal());
    assert!(matches!(head.await, Ok(Ok(Reply::Other(_)))));
    assert_eq!(spool.memory_taken(), 0);

    let (mut good, head) = sink(&spool);
    good.write_all(&pattern(HELD * PIECE)).unwrap();
    good.finish().unwrap();
    let pieces: Vec<_> = streamed(head).await.collect().await;
    let whole: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.unwrap()).collect();
    assert!(whole == pattern(HELD * PIECE));
    assert_eq!(spool.memory_taken(), 0);

    // With no memory for answers, this one is sent after its first piece.
    let full =
        AnswerSpool::new(SpoolLimits { memory: 0, answer: 1 << 20, total: 1 << 20, folder: std::env::temp_dir() });
    let (mut sink, head) = sink(&full);
    let engine = tokio::task::spawn_blocking(move || {
        sink.write_all(&pattern(3 * PIECE)).unwrap();
        sink.refuse(refusal());
    });
    let head = head.await;
    assert!(matches!(head, Ok(Ok(Reply::Streaming(..)))));
    engine.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_nobody_reads_is_put_aside_and_comes_whole() {
    let spool = spool(64 << 20);
    let (mut sink, head) = sink(&spool);
    let length = 300 * PIECE + 5;
    let engine = tokio::task::spawn_blocking(move || {
        sink.write_all(&pattern(length)).unwrap();
        sink.finish().unwrap();
    });
    let mut body = streamed(head).await;
    // The engine ends before the first byte is read.
    engine.await.unwrap();
    assert!(spool.on_disk() as usize > 250 * PIECE, "{}", spool.on_disk());
    let mut whole = Vec::new();
    while let Some(piece) = body.next().await {
        whole.extend_from_slice(&piece.unwrap());
    }
    assert!(whole == pattern(length));
    drop(body);
    assert_eq!(spool.on_disk(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_comes_and_goes_gets_every_byte_in_order() {
    // The spool is smaller than the answer: the engine waits for room several times, and the file is emptied and
    // reused.
    let spool = spool(40 * PIECE as u64);
    let (mut sink, head) = sink(&spool);
    let length = 400 * PIECE + 5;
    let engine = tokio::task::spawn_blocking(move || {
        sink.write_all(&pattern(length)).unwrap();
        sink.finish().unwrap();
    });
    let mut body = streamed(head).await;
    let mut whole = Vec::new();
    while let Some(piece) = body.next().await {
        whole.extend_from_slice(&piece.unwrap());
        if whole.len() % (50 * PIECE) < PIECE {
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
    }
    engine.await.unwrap();
    assert!(whole == pattern(length));
    drop(body);
    assert_eq!(spool.on_disk(), 0);
    assert_eq!(spool.memory_taken(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_left_or_sleeps_stops_the_query() {
    let spool = spool(10 * PIECE as u64);
    let (mut sink, head) = sink_for(&spool, Duration::from_secs(1));
    let flag = Arc::clone(&sink.cancelled);
    let engine = tokio::task::spawn_blocking(move || sink.write_all(&vec![7; (HELD + 30) * PIECE]).unwrap_err().kind());
    let body = streamed(head).await;
    assert_eq!(engine.await.unwrap(), io::ErrorKind::TimedOut);
    drop(body);
    assert!(flag.load(Ordering::Relaxed));
    assert_eq!((spool.on_disk(), spool.memory_taken()), (0, 0));

    let (mut sink, head) = self::sink(&spool);
    drop(head);
    assert_eq!(sink.write_all(&vec![7; (HELD + 2) * PIECE]).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}
