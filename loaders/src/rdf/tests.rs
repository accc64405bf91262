use super::*;
use std::io::Write;
use std::path::PathBuf;

fn file(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    (folder, path)
}

fn read_all(path: &Path, options: &RdfOptions) -> (Vec<String>, Result<RdfSummary, LoaderError>) {
    let mut triples = Vec::new();
    let result = read(path, options, |batch, _| {
        triples.extend(batch.triples.iter().map(ToString::to_string));
        Ok(())
    });
    (triples, result)
}

fn parsed(name: &str, text: &str) -> Vec<String> {
    let (_folder, path) = file(name, text);
    let (triples, result) = read_all(&path, &RdfOptions::default());
    assert_eq!(result.unwrap().triples, triples.len() as u64);
    triples
}

fn error(name: &str, text: &str) -> String {
    let (_folder, path) = file(name, text);
    let error = read_all(&path, &RdfOptions::default()).1.unwrap_err();
    assert_eq!(error.file(), path);
    error.to_string().replace(path.to_str().unwrap(), "FILE")
}

#[test]
fn formats_are_known_by_name_and_content() {
    let nt = "# a comment\n\n<http://a/s> <http://a/p> \"o\"@en-GB .\n_:x <http://a/p> _:y .";
    for name in ["a.nt", "a", "a.txt", "a.ttl"] {
        assert_eq!(parsed(name, nt), [r#"<http://a/s> <http://a/p> "o"@en-gb"#, "_:x <http://a/p> _:y"], "{name}");
    }
    let nq = "<http://a/s> <http://a/p> <http://a/o> <http://a/g> .\n<http://a/s> <http://a/p> <http://a/o> .\n";
    assert_eq!(parsed("a", nq), ["<http://a/s> <http://a/p> <http://a/o>"; 2]);
    let turtle = "@prefix a: <http://a/> . a:s a:p 1, 2.";
    assert_eq!(parsed("a", turtle)[1], r#"<http://a/s> <http://a/p> "2"^^<http://www.w3.org/2001/XMLSchema#integer>"#);
    assert!(parsed("a", "").is_empty());
    let body = "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"\r\n xmlns:a=\"http://a/\">\r\n\
                <rdf:Description rdf:about=\"http://a/s\"><a:p><![CDATA[1 <2]]></a:p></rdf:Description></rdf:RDF>";
    let xml = format!("<?xml version=\"1.0\"?>\n{body}");
    for (name, text) in [("a", xml.as_str()), ("a.rdf", &xml), ("a.owl", body), ("a", body)] {
        assert_eq!(parsed(name, text), ["<http://a/s> <http://a/p> \"1 <2\""], "{name}");
    }
    for other in ["[{\"@id\": 1}]", "{\"@id\": 1}", "\0\0\0\x0e"] {
        let message = error("a", other);
        assert!(message.contains("neither") || message.contains("JSON, not"), "{message}");
    }
}

#[test]
fn errors_of_xml_have_their_place() {
    let root = "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:a=\"http://a/\">";
    let declared = format!("<!DOCTYPE rdf:RDF [<!ENTITY e \"x\">]>{root}</rdf:RDF>");
    assert!(error("a.rdf", &declared).contains("document type declaration"));
    let unknown = error("a.rdf", &format!("{root}\n<rdf:Description rdf:about='http://a/s' a:p='&e;'/></rdf:RDF>"));
    assert!(unknown.starts_with("FILE: line 2"), "{unknown}");
    let nodes = format!("{root}<rdf:Description><a:p><rdf:Description/></a:p></rdf:Description></rdf:RDF>");
    assert_eq!(parsed("a.rdf", &nodes), parsed("a.rdf", &nodes));
}

/// The limit of the snapshot's keys. RDF 1.2 XML Syntax, section 2.8: `rdf:parseType="Triple"`.
#[test]
fn triple_terms_of_xml_have_a_maximum_depth() {
    let nested = |levels: usize| {
        let open = "<rdf:Description rdf:about='http://a/s'><a:p rdf:parseType='Triple'>".repeat(levels);
        let close = "</a:p></rdf:Description>".repeat(levels);
        format!(
            "<rdf:RDF rdf:version='1.2' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:a='http://a/'>\
             {open}<rdf:Description rdf:about='http://a/s' a:p='x'/>{close}</rdf:RDF>"
        )
    };
    assert_eq!(parsed("a.rdf", &nested(64))[0].matches("<<(").count(), 64);
    for levels in [65, 490] {
        assert!(error("a.rdf", &nested(levels)).ends_with("more than 64 triple terms within each other"), "{levels}");
    }
}

#[test]
fn blank_nodes_of_turtle_are_the_same_every_time() {
    let text = "@prefix a: <http://a/> . a:s a:p [ a:q _:x ] ; a:r ( 1 ), _:e39d2a834262fbd171919ab2c038c9fb . \
                _:e39d2a834262fbd171919ab2c038c9fb a:r a:s .";
    let triples = parsed("a", text);
    assert_eq!(triples, parsed("a", text));
    assert_eq!(triples.iter().filter(|triple| triple.contains("_:x")).count(), 1);
    let first = |triple: &str| triple.split(' ').next().unwrap().to_owned();
    let last = triples.last().unwrap();
    assert_eq!(triples.iter().filter(|triple| triple.ends_with(&first(last))).count(), 1);
}

#[test]
fn errors_say_where() {
    let good = "<http://a/s> <http://a/p> <http://a/o> .\n";
    let bad = format!("{}<http://a/s> <http://a/p> .\n{good}", good.repeat(40_000));
    let message = error("a.nt", &bad);
    let at = 40_000 * good.len() + 26;
    assert!(message.starts_with(&format!("FILE: line 40001, byte {at}: ")), "{message}");
    assert!(error("a.ttl", "@prefix a: <http://a/> .\na:s a:p b:c .").starts_with("FILE: line 2, byte 33: "));

    let (_folder, path) = file("a.nt", &bad);
    let (triples, summary) = read_all(&path, &RdfOptions { skip_bad: true, ..RdfOptions::default() });
    let summary = summary.unwrap();
    assert_eq!((triples.len(), summary.triples, summary.bad), (40_001, 40_001, 1));
    assert!(summary.errors[0].to_string().contains("line 40001"));
}

#[test]
fn the_consumer_can_end_it() {
    let (_folder, path) = file("a.nt", "<http://a/s> <http://a/p> <http://a/o> .\n");
    let error = LoaderError::Format { file: "b".into(), reason: "enough" };
    let mut error = Some(error);
    let result = read(&path, &RdfOptions::default(), |_, _| error.take().map_or(Ok(()), Err));
    assert_eq!(result.unwrap_err().to_string(), "b: enough");
}

#[test]
fn a_cut_packed_file_ends_where_it_is_cut() {
    for (name, line) in [("a.ttl", "a:s a:p a:o .\n"), ("a.nt", "<http://a/s> <http://a/p> <http://a/o> .\n")] {
        let prefix = if name == "a.ttl" { "@prefix a: <http://a/> .\n" } else { "" };
        let text = prefix.to_owned() + &line.repeat(200_000);
        let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, &packed[..packed.len() - 5]).unwrap();
        let (triples, result) = read_all(&path, &RdfOptions { skip_bad: true, ..RdfOptions::default() });
        let error = result.unwrap_err().to_string();
        assert!(error.contains("cannot be read") && !error.contains(": line 1,"), "{error}");
        assert!(triples.len() > 1000 && triples.len() <= 200_000, "{name}: {}", triples.len());
    }
}
