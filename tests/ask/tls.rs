//! Tests a model behind TLS: a server on loopback with a certificate of a private authority. The standard variable
//! `SSL_CERT_FILE` names the authority. A Python program terminates TLS in front of the scripted model.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::common::model::TestModel;
use crate::common::skip::{Need, skipped};
use crate::common::{Town, terrapin};

const KEY: &str = "sk-behind-tls-0123456789";
const RIGHT: &str = "```overpassql\nnode[amenity=cafe]; out center;\n```";

/// Accepts TLS connections and forwards them to a port on loopback.
const FRONT: &str = r#"
import socket, ssl, sys, threading
certificate, key, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
def carry(source, sink):
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
def serve(stream):
    try:
        stream = context.wrap_socket(stream, server_side=True)
    except (OSError, ssl.SSLError):
        return
    behind = socket.create_connection(("127.0.0.1", port))
    threading.Thread(target=carry, args=(behind, stream), daemon=True).start()
    carry(stream, behind)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"#;

/// Files of a private authority's certificate, and of a certificate for 127.0.0.1 with its key.
struct Certificates {
    authority: PathBuf,
    server: PathBuf,
    key: PathBuf,
}

fn made(folder: &Path) -> Option<Certificates> {
    let run = |arguments: &[&str]| {
        let done = Command::new("openssl").args(arguments).current_dir(folder).output();
        done.is_ok_and(|done| done.status.success())
    };
    let elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority = ["req", "-x509", "-days", "2", "-subj", "/CN=authority", "-keyout", "a.key", "-out", "a.pem"];
    let server = ["req", "-subj", "/CN=model", "-keyout", "s.key", "-out", "s.csr"];
    std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1").ok()?;
    let signed = [
        "x509",
        "-req",
        "-in",
        "s.csr",
        "-CA",
        "a.pem",
        "-CAkey",
        "a.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        "names",
        "-out",
        "s.pem",
    ];
    let all = run(&[&authority[..], &elliptic].concat()) && run(&[&server[..], &elliptic].concat()) && run(&signed);
    let at = |name: &str| folder.join(name);
    all.then(|| Certificates { authority: at("a.pem"), server: at("s.pem"), key: at("s.key") })
}

/// A TLS proxy in front of a model.
struct TlsProxy {
    child: Child,
    port: u16,
}

impl TlsProxy {
    fn start(certificates: &Certificates, model: &TestModel) -> Option<TlsProxy> {
        let port = model.url.rsplit(':').next()?.split('/').next()?;
        let mut command = Command::new("python3");
        command.args(["-c", FRONT]).args([&certificates.server, &certificates.key]).arg(port).stdout(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
        Some(TlsProxy { child, port: line.trim().parse().ok()? })
    }
}

impl Drop for TlsProxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `ask` with the authorities in this file; returns exit status, standard output and standard error.
fn ask(town: &Town, url: &str, authorities: &Path) -> (i32, String, String) {
    let mut command = terrapin();
    command.env("SSL_CERT_FILE", authorities).env_remove("SSL_CERT_DIR").env("TERRAPIN_MODEL_KEY", KEY);
    command.arg("ask").arg(town.snapshot()).args(["Cafes?", "--no-search", "--format", "json"]);
    command.args(["--model-url", url, "--model-name", "scripted", "--model-time", "20"]);
    let done = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

#[test]
fn a_model_with_a_certificate_of_a_private_authority_is_asked() {
    let town = Town::new();
    let Some(certificates) = made(&town.path(".")) else {
        return skipped(Need::System, "no certificates can be made (openssl)");
    };
    let model = TestModel::saying(&[RIGHT, "Four."]);
    let Some(front) = TlsProxy::start(&certificates, &model) else {
        return skipped(Need::Python, "python3 does not speak TLS");
    };
    let url = format!("https://127.0.0.1:{}/v1", front.port);

    // The certificate is untrusted: nothing is sent, and in particular not the key.
    let others = Town::new();
    let Some(strangers) = made(&others.path(".")) else { return };
    let (status, out, err) = ask(&town, &url, &strangers.authority);
    assert_eq!((status, out.as_str()), (4, ""), "{err}");
    assert!(err.contains("certificate") && !err.contains(KEY), "{err}");
    // The certificate is for the address, not for this host name.
    let (status, _, err) = ask(&town, &url.replace("127.0.0.1", "localhost"), &certificates.authority);
    assert!(status == 4 && err.contains("certificate"), "{err}");
    // The server at this port does not speak TLS.
    let (status, _, err) = ask(&town, &model.url.replace("http:", "https:"), &certificates.authority);
    assert!(status == 4 && err.contains("cannot be reached"), "{err}");
    assert!(model.asked().is_empty());

    let (status, out, err) = ask(&town, &url, &certificates.authority);
    assert_eq!(status, 0, "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&answer["text"], answer["results"][0]["total"].as_u64()), (&Value::from("Four."), Some(4)));
    assert!(model.asked().iter().all(|asked| asked.head.contains(&format!("Bearer {KEY}"))));
}
