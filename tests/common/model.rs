//! A language model that follows a script: a server on loopback that speaks the protocol of chat completions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What is done with a request.
pub enum Act {
    /// It is answered with these words, as it asks to be: in pieces or whole.
    Say(String),
    /// Whole, whatever it asks for.
    Whole(Value),
    /// With these bytes of a body of this type.
    Bytes(&'static str, Vec<u8>),
    /// With a status, more headers, and a body.
    Status(u16, &'static str, Value),
    /// Not at all: the connection stays open until the client leaves.
    Silence,
    /// With words that never end.
    Endless,
}

impl Act {
    pub fn say(words: &str) -> Act {
        Act::Say(words.to_owned())
    }
}

/// A request that came.
#[derive(Clone)]
pub struct Asked {
    /// Its head, in lower case but for values.
    pub head: String,
    pub body: Value,
}

impl Asked {
    /// What was said last.
    pub fn last(&self) -> &str {
        self.body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
    }
}

/// The server. It ends with the process.
pub struct Model {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    left: Arc<Mutex<usize>>,
}

impl Model {
    /// Does with each request what the script says of it and its number, from 0.
    pub fn start(script: impl Fn(&Asked, usize) -> Act + Send + Sync + 'static) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (asked, left): (Arc<Mutex<Vec<Asked>>>, Arc<Mutex<usize>>) = Default::default();
        let script = Arc::new(script);
        let model = Model { url, asked: Arc::clone(&asked), left: Arc::clone(&left) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, left, script) = (Arc::clone(&asked), Arc::clone(&left), Arc::clone(&script));
                thread::spawn(move || {
                    // A client that leaves is none of the script's.
                    let _ = serve(stream, &asked, &left, &*script);
                });
            }
        });
        model
    }

    /// Says these, one after the other, and the last for ever.
    pub fn saying(words: &[&str]) -> Model {
        let words: Vec<String> = words.iter().map(|words| (*words).to_owned()).collect();
        Model::start(move |_, number| Act::Say(words[number.min(words.len() - 1)].clone()))
    }

    /// What was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until so many clients left without an answer.
    pub fn wait_until_left(&self, count: usize) {
        for _ in 0..600 {
            if *self.left.lock().unwrap() >= count {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the client did not leave");
    }

    /// The options that name it.
    pub fn options(&self) -> [&str; 4] {
        ["--model-url", &self.url, "--model-name", "scripted"]
    }
}

fn serve(
    mut stream: TcpStream,
    asked: &Mutex<Vec<Asked>>,
    left: &Mutex<usize>,
    script: &(dyn Fn(&Asked, usize) -> Act + Send + Sync),
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let request = Asked { head, body: serde_json::from_slice(&body).unwrap_or_default() };
        let number = {
            let mut asked = asked.lock().unwrap();
            asked.push(request.clone());
            asked.len() - 1
        };
        match script(&request, number) {
            Act::Say(words) if request.body["stream"] == true => {
                let mut text = String::from(": begins\n\n");
                for piece in words.chars().collect::<Vec<_>>().chunks(7) {
                    let piece: String = piece.iter().collect();
                    text.push_str(&format!(
                        "data: {}\n\n",
                        json!({"choices": [{"index": 0, "delta": {"content": piece}}]})
                    ));
                }
                text.push_str(
                    "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n",
                );
                send(&mut stream, 200, "text/event-stream", "", text.as_bytes())?;
            }
            Act::Say(words) => {
                let whole =
                    json!({"choices": [{"message": {"role": "assistant", "content": words}, "finish_reason": "stop"}]});
                send(&mut stream, 200, "application/json", "", whole.to_string().as_bytes())?;
            }
            Act::Whole(body) => send(&mut stream, 200, "application/json", "", body.to_string().as_bytes())?,
            Act::Bytes(media_type, bytes) => send(&mut stream, 200, media_type, "", &bytes)?,
            Act::Status(status, headers, body) => {
                send(&mut stream, status, "application/json", headers, body.to_string().as_bytes())?;
            }
            Act::Silence => {
                let _ = reader.read(&mut [0]);
                *left.lock().unwrap() += 1;
                return Ok(());
            }
            Act::Endless => {
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
                let piece = format!("data: {}\n\n", json!({"choices": [{"delta": {"content": "and so on, "}}]}));
                while stream.write_all(piece.as_bytes()).is_ok() {}
                *left.lock().unwrap() += 1;
                return Ok(());
            }
        }
    }
}

fn send(stream: &mut TcpStream, status: u16, media_type: &str, headers: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    write!(stream, "HTTP/1.1 {status} X\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n{headers}\r\n")?;
    stream.write_all(body)
}
