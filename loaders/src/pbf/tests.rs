//! Tests with small files built byte by byte: every way to pack a blob and to write an element, and every kind of error
//! in both.

use crate::{LoaderError, ReadOptions, SourceElement, SourceHeader, read};
use std::io::Write;

/// A message under construction.
#[derive(Clone, Default)]
struct TestPbfMessage(Vec<u8>);

impl TestPbfMessage {
    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn int(mut self, number: u64, value: i64) -> Self {
        self.raw_varint(number << 3);
        self.raw_varint(value as u64);
        self
    }

    fn sint(self, number: u64, value: i64) -> Self {
        self.int(number, zigzag(value))
    }

    fn bytes(mut self, number: u64, bytes: impl AsRef<[u8]>) -> Self {
        self.raw_varint(number << 3 | 2);
        self.raw_varint(bytes.as_ref().len() as u64);
        self.0.extend_from_slice(bytes.as_ref());
        self
    }

    fn message(self, number: u64, message: TestPbfMessage) -> Self {
        self.bytes(number, message.0)
    }

    fn list(self, number: u64, values: &[i64]) -> Self {
        let mut list = TestPbfMessage::default();
        values.iter().for_each(|value| list.raw_varint(*value as u64));
        self.message(number, list)
    }

    fn deltas(self, number: u64, values: &[i64]) -> Self {
        let values: Vec<_> = values.iter().map(|value| zigzag(*value)).collect();
        self.list(number, &values)
    }
}

fn zigzag(value: i64) -> i64 {
    value << 1 ^ value >> 63
}

fn m() -> TestPbfMessage {
    TestPbfMessage::default()
}

/// Returns a blob with its header, from a finished blob message.
fn framed(kind: &str, blob: TestPbfMessage) -> Vec<u8> {
    let header = m().bytes(1, kind).int(3, blob.0.len() as i64);
    [&(header.0.len() as u32).to_be_bytes()[..], &header.0, &blob.0].concat()
}

fn raw(kind: &str, content: TestPbfMessage) -> Vec<u8> {
    framed(kind, m().message(1, content))
}

fn head() -> Vec<u8> {
    raw("OSMHeader", m().bytes(4, "OsmSchema-V0.6").bytes(4, "DenseNodes"))
}

/// Returns a block with one group and the strings "", "a", "b", "outer", "Ann".
fn block(group: TestPbfMessage) -> TestPbfMessage {
    let strings = ["", "a", "b", "outer", "Ann"].iter().fold(m(), |table, text| table.bytes(1, text));
    m().message(1, strings).message(2, group)
}

fn read_bytes(bytes: &[u8]) -> Result<(Vec<String>, SourceHeader), LoaderError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut all = Vec::new();
    let header = read::<_, LoaderError>(
        file.path(),
        &ReadOptions::default(),
        |block| {
            let mut texts = Vec::new();
            block.for_each(|element| texts.push(text(element)))?;
            Ok(texts)
        },
        |texts, _| {
            all.extend(texts);
            Ok(())
        },
    )?;
    Ok((all, header))
}

fn text(element: SourceElement<'_>) -> String {
    match element {
        SourceElement::Node(n) => format!("n{} {} {} {:?} {}", n.id, n.lat, n.lon, n.tags, meta(n.meta)),
        SourceElement::Way(w) => format!("w{} {:?} {:?} {:?} {}", w.id, w.refs, w.locations, w.tags, meta(w.meta)),
        SourceElement::Relation(r) => {
            let members: Vec<_> = r.members.iter().map(|m| format!("{:?} {} {:?}", m.kind, m.id, m.role)).collect();
            format!("r{} {:?} {:?} {}", r.id, members, r.tags, meta(r.meta))
        }
    }
}

fn meta(meta: Option<crate::SourceMeta<'_>>) -> String {
    meta.map_or("-".to_owned(), |m| {
        format!("v{} t{} c{} u{} {:?} {}", m.version, m.timestamp, m.changeset, m.uid, m.user, m.visible)
    })
}

/// Returns the elements of a file with one block.
fn elements(block: TestPbfMessage) -> Result<Vec<String>, LoaderError> {
    Ok(read_bytes(&[head(), raw("OSMData", block)].concat())?.0)
}

fn problem(bytes: &[u8]) -> String {
    read_bytes(bytes).map(|(elements, _)| elements).unwrap_err().to_string()
}

fn group_problem(group: TestPbfMessage) -> String {
    elements(block(group)).unwrap_err().to_string()
}

fn plain_node() -> TestPbfMessage {
    let info = m().int(1, 2).int(2, 1000).int(3, 9).int(4, 7).int(5, 4);
    m().sint(1, 12).list(2, &[1]).list(3, &[2]).message(4, info).sint(8, -355_000_000).sint(9, 1_800_000_000)
}

const PLAIN_NODE: &str = r#"n12 -355000000 1800000000 [("a", "b")] v2 t1000 c9 u7 "Ann" true"#;

#[test]
fn every_packing_of_a_blob() {
    let content = block(m().message(1, plain_node())).0;
    let size = content.len() as i64;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&content).unwrap();
    let zlib = encoder.finish().unwrap();
    let lz4 = lz4_flex::block::compress(&content);
    let zstd = zstd::bulk::compress(&content, 3).unwrap();
    for blob in [
        m().bytes(1, &content),
        m().int(2, size).bytes(1, &content),
        m().int(2, size).bytes(3, &zlib),
        m().bytes(3, &zlib),
        m().int(2, size).bytes(6, &lz4),
        m().int(2, size).bytes(7, &zstd),
        m().bytes(7, &zstd),
    ] {
        let file = [head(), framed("OSMData", blob)].concat();
        assert_eq!(read_bytes(&file).unwrap().0, [PLAIN_NODE]);
    }
    for (blob, expected) in [
        (m(), "the blob has no data, or data in an unknown compression"),
        (m().int(2, 9).bytes(8, &content), "the blob has no data, or data in an unknown compression"),
        (m().int(2, 9).bytes(4, &content), "LZMA compression is not supported"),
        (m().int(2, 9).bytes(5, &content), "bzip2 compression is not supported"),
        (m().bytes(6, &lz4), "LZ4 data is broken: the blob does not give its unpacked size"),
        (m().int(2, size + 1).bytes(1, &content), "the blob unpacks to"),
        (m().int(2, size + 1).bytes(3, &zlib), "the blob unpacks to"),
        (m().int(2, size - 1).bytes(3, &zlib), "zlib data is broken: there are more than"),
        (m().int(2, size).bytes(3, &zlib[..zlib.len() / 2]), "zlib data is broken"),
        (m().bytes(3, &zlib[..zlib.len() / 2]), "zlib data is broken"),
        (m().int(2, size + 1).bytes(6, &lz4), "the blob unpacks to"),
        (m().int(2, size - 1).bytes(6, &lz4), "LZ4 data is broken"),
        (m().int(2, size + 1).bytes(7, &zstd), "the blob unpacks to"),
        (m().int(2, size - 1).bytes(7, &zstd), "Zstandard data is broken"),
        (m().int(2, 33_554_433).bytes(3, &zlib), "unpacked content of 33554433 bytes, at most 33554432 are allowed"),
        (m().int(2, -1).bytes(3, &zlib), "unpacked content of -1 bytes"),
        (m().int(1, 5), "field 1 has the wrong encoding"),
    ] {
        let error = problem(&[head(), framed("OSMData", blob)].concat());
        assert!(error.contains(expected), "{error}");
        assert!(error.contains(&format!("blob 1 at byte {}: ", head().len())), "{error}");
    }
}

#[test]
fn a_bomb_is_refused() {
    let zeros = vec![0; 40 << 20];
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&zeros).unwrap();
    let zlib = encoder.finish().unwrap();
    let zstd = zstd::bulk::compress(&zeros, 3).unwrap();
    assert!(
        problem(&[head(), framed("OSMData", m().bytes(3, zlib))].concat()).contains("unpacked content of 33554433")
    );
    assert!(problem(&[head(), framed("OSMData", m().bytes(7, zstd))].concat()).contains("Zstandard data is broken"));
}

#[test]
fn headers() {
    let bbox = m().sint(1, -1_250_000_050).sint(2, 190_000_000_000).sint(3, 2_000_000_001).sint(4, -1);
    let content = m()
        .message(1, bbox)
        .bytes(4, "OsmSchema-V0.6")
        .bytes(4, "HistoricalInformation")
        .bytes(5, "LocationsOnWays")
        .bytes(16, "hand")
        .int(32, 1_700_000_000)
        .int(33, 12)
        .bytes(34, "https://example.org");
    let expected = SourceHeader {
        bbox: Some([-1, -12_500_001, 20_000_001, 1_800_000_000]),
        replication_timestamp: Some(1_700_000_000),
        replication_sequence: Some(12),
        replication_url: Some("https://example.org".to_owned()),
        writing_program: Some("hand".to_owned()),
        history: true,
        warnings: Vec::new(),
    };
    let file = [raw("OSMHeader", content), raw("Unknown", m().int(77, 1)), head()].concat();
    assert_eq!(read_bytes(&file).unwrap(), (vec![], expected));
    let foreign = raw("OSMHeader", m().bytes(4, "OsmSchema-V0.7"));
    assert!(problem(&foreign).contains("blob 0 at byte 0: the file needs the feature \"OsmSchema-V0.7\""));
    assert!(problem(&[head(), foreign].concat()).contains("blob 1 at byte"));
    assert!(problem(&raw("OSMData", m())).contains("the first blob is of type \"OSMData\", not \"OSMHeader\""));
}

#[test]
fn lengths_are_checked_before_memory_is_taken() {
    let long_header = [&70_000_u32.to_be_bytes()[..], &[0; 100]].concat();
    assert!(problem(&[head(), long_header].concat()).contains("blob header of 70000 bytes, at most 65536"));
    for size in [-1, 33_554_433, i64::from(i32::MAX)] {
        let header = m().bytes(1, "OSMData").int(3, size).0;
        let file = [&head()[..], &(header.len() as u32).to_be_bytes(), &header].concat();
        assert!(problem(&file).contains(&format!("blob content of {size} bytes")));
    }
    let file = [head(), raw("OSMData", block(m().message(1, plain_node())))].concat();
    for end in 1..file.len() {
        match read_bytes(&file[..end]) {
            Ok((elements, _)) => assert_eq!((end, elements.len()), (head().len(), 0)),
            Err(error) => {
                let error = error.to_string();
                let expected = if end < 2 { "neither PBF" } else { "the file ends within the blob's" };
                assert!(error.contains(expected), "{end}: {error}");
            }
        }
    }
}

#[test]
fn plain_elements() {
    let way = m().int(1, -5).list(2, &[1, 2]).list(3, &[2, 1]).deltas(8, &[7, -3, 3]);
    let located = m().int(1, 6).deltas(8, &[7, 1]).deltas(9, &[10, 2_147_483_637]).deltas(10, &[-20, 2_147_483_667]);
    let relation = m().int(1, 8).list(8, &[3, 0, 0]).deltas(9, &[5, -5, 8]).list(10, &[1, 0, 2]);
    let deleted = m().sint(1, 13).message(4, m().int(1, 3).int(6, 0)).sint(8, 2_147_483_647).sint(9, 2_147_483_647);
    // A node without a location, as libosmium writes it.
    let unplaced = m().sint(1, 14).sint(8, 2_147_483_647).sint(9, 2_147_483_647);
    let group = m()
        .message(1, plain_node())
        .message(1, m().sint(1, -1))
        .message(1, deleted)
        .message(1, unplaced)
        .message(3, way)
        .message(3, located)
        .message(4, relation);
    let expected = [
        PLAIN_NODE,
        "n-1 0 0 [] -",
        "n13 2147483647 2147483647 [] v3 t0 c0 u0 \"\" false",
        "n14 2147483647 2147483647 [] -",
        r#"w-5 [7, 4, 7] None [("a", "b"), ("b", "a")] -"#,
        "w6 [7, 8] Some([(10, -20), (2147483647, 2147483647)]) [] -",
        r#"r8 ["Way 5 \"outer\"", "Node 0 \"\"", "Relation 8 \"\""] [] -"#,
    ];
    assert_eq!(elements(block(group)).unwrap(), expected);
}

#[test]
fn dense_nodes() {
    let info = m()
        .list(1, &[1, -1])
        .deltas(2, &[1000, -500])
        .deltas(3, &[9, 1])
        .deltas(4, &[-1, 8])
        .deltas(5, &[4, -4])
        .list(6, &[1, 0]);
    let nodes = m().deltas(1, &[5, -7]).deltas(8, &[100, 1]).deltas(9, &[200, -1]).list(10, &[1, 2, 2, 3, 0, 0]);
    let group = m().message(2, nodes.clone().message(5, info));
    let expected = [
        r#"n5 100 200 [("a", "b"), ("b", "outer")] v1 t1000 c9 u0 "Ann" true"#,
        r#"n-2 101 199 [] v0 t500 c10 u7 "" false"#,
    ];
    assert_eq!(elements(block(group)).unwrap(), expected);
    // Writers omit metadata that they do not have.
    let some = m().list(1, &[1, 2]).deltas(2, &[1000, 1]);
    let expected = [
        r#"n5 100 200 [("a", "b"), ("b", "outer")] v1 t1000 c0 u0 "" true"#,
        r#"n-2 101 199 [] v2 t1001 c0 u0 "" true"#,
    ];
    assert_eq!(elements(block(m().message(2, nodes.message(5, some)))).unwrap(), expected);
    // No tags at all, and a list that ends after the last node with tags.
    let bare = m().deltas(1, &[5, 1]).deltas(8, &[1, 1]).deltas(9, &[2, 1]);
    assert_eq!(elements(block(m().message(2, bare.clone()))).unwrap(), ["n5 1 2 [] -", "n6 2 3 [] -"]);
    let short = elements(block(m().message(2, bare.list(10, &[1, 2, 0])))).unwrap();
    assert_eq!(short, [r#"n5 1 2 [("a", "b")] -"#, "n6 2 3 [] -"]);
}

#[test]
fn granularity_and_offsets() {
    let nodes = m().deltas(1, &[1, 1]).deltas(8, &[3, -8]).deltas(9, &[-3, 3]);
    let group = m().message(2, nodes.message(5, m().deltas(2, &[5, -12])));
    let block = block(group).int(17, 1000).int(18, 500).int(19, 250).int(20, -1250);
    assert_eq!(
        elements(block.clone()).unwrap(),
        [r#"n1 32 -42 [] v0 t2 c0 u0 "" true"#, r#"n2 -47 -12 [] v0 t-4 c0 u0 "" true"#]
    );
    assert!(elements(block.clone().int(17, 0)).unwrap_err().to_string().contains("granularity of 0"));
    assert!(elements(block.int(18, -7)).unwrap_err().to_string().contains("granularity of -7"));
}

#[test]
fn what_is_wrong_with_an_element_is_said() {
    let dense = |lists: TestPbfMessage| m().message(2, lists.deltas(1, &[5, 1]));
    let place = m().deltas(8, &[1, 1]).deltas(9, &[2, 1]);
    for (group, expected) in [
        (
            m().message(1, m().sint(1, 1).list(2, &[9]).list(3, &[1])),
            "node 1: string 9 is out of range: the block has 5",
        ),
        (m().message(1, m().sint(1, 1).list(2, &[1])), "node 1: not as many values as keys"),
        (m().message(1, m().sint(1, 1).sint(8, 900_000_001)), "node 1: coordinates out of range: 90000000100, 0"),
        (m().message(1, m().sint(1, 1).sint(9, i64::MAX)), "node 1: coordinates out of range"),
        (m().message(1, m().sint(1, 1).message(4, m().int(5, -1))), "node 1: string -1"),
        (m().message(1, m().sint(1, 1).message(4, m().int(1, 1 << 40))), "node 1: version out of range"),
        (m().message(1, m().sint(1, 1).message(4, m().int(2, i64::MAX))), "node 1: timestamp out of range"),
        (m().message(1, m().bytes(1, "x")), "broken message: field 1 has the wrong encoding"),
        (m().message(3, m().int(1, 2).deltas(8, &[1]).deltas(9, &[1])), "way 2: not as many locations as nodes"),
        (m().message(3, m().int(1, 2).deltas(8, &[i64::MAX, 1])), "the differences between node ids add up"),
        (m().message(3, m().int(1, 2).bytes(8, [0x80])), "broken message: it ends within a field"),
        (m().message(3, m().int(1, 2).bytes(8, [0xff; 11])), "broken message: a number of more than ten bytes"),
        (m().message(4, m().int(1, 3).list(8, &[0]).deltas(9, &[1])), "relation 3: not as many ids, roles and types"),
        (
            m().message(4, m().int(1, 3).list(8, &[0]).deltas(9, &[1]).list(10, &[3])),
            "relation 3: unknown member type 3",
        ),
        (dense(m().deltas(8, &[1]).deltas(9, &[2, 1])), "dense nodes: fewer latitudes than ids"),
        (dense(m().deltas(8, &[1, 1]).deltas(9, &[2, 1, 1])), "dense nodes: more longitudes than ids"),
        (dense(place.clone().list(10, &[1])), "node 5: a key without a value"),
        (dense(place.clone().list(10, &[0, 0, 0])), "dense nodes: more tags than ids"),
        (dense(place.clone().list(10, &[7, 1, 0])), "node 5: string 7"),
        (dense(place.clone().message(5, m().list(1, &[1]))), "dense nodes: fewer versions than ids"),
        (dense(place.clone().message(5, m().deltas(5, &[1, -2]))), "node 6: string -1"),
        (dense(place.message(5, m().list(6, &[1, 1, 1]))), "dense nodes: more metadata than ids"),
    ] {
        let error = group_problem(group);
        assert!(error.contains(expected), "{error}");
    }
    let strings = m().message(1, m().bytes(1, "").bytes(1, b"\xff"));
    assert!(elements(strings).unwrap_err().to_string().contains("string 1 is not valid UTF-8"));
}

/// A pseudo-random generator with a fixed sequence.
struct PbfTestRandom(u64);

impl PbfTestRandom {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

#[test]
fn no_bytes_make_a_block_panic() {
    let info = m().list(1, &[1; 40]).deltas(2, &[3; 40]).deltas(5, &[0; 40]).list(6, &[1; 40]);
    let nodes = m().deltas(1, &[1; 40]).deltas(8, &[1000; 40]).deltas(9, &[-70; 40]).list(10, &[1, 2, 0, 0]);
    let way = m().int(1, 6).list(2, &[1]).list(3, &[2]).deltas(8, &[7, 1]).deltas(9, &[10, 1]).deltas(10, &[-20, 1]);
    let relation = m().int(1, 8).list(8, &[3, 0, 0]).deltas(9, &[5, -5, 8]).list(10, &[1, 0, 2]);
    let group = m().message(1, plain_node()).message(2, nodes.message(5, info)).message(3, way).message(4, relation);
    let whole = block(group).int(17, 100).0;
    let (mut random, mut good) = (PbfTestRandom(0x2545_f491_4f6c_dd1d), 0);
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(8) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at.min(bytes.len()), random.below(256) as u8),
                2 if !bytes.is_empty() => drop(bytes.remove(at)),
                _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            }
        }
        good += usize::from(super::block::for_each(&bytes, |_| ()).is_ok());
    }
    assert!((100..15_000).contains(&good), "{good} of 20000 were still good: not much of a test");
}

/// Reads a file with a memory limit and returns the number of elements in each piece.
fn piece_sizes(bytes: &[u8], memory: u64) -> Result<Vec<u64>, LoaderError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut sizes = Vec::new();
    let map = |block: &crate::ElementBlock| {
        let mut count = 0;
        block.for_each(|_| count += 1)?;
        Ok(count)
    };
    let options = ReadOptions { memory, ..ReadOptions::default() };
    read::<u64, LoaderError>(file.path(), &options, map, |count, _| {
        sizes.push(count);
        Ok(())
    })?;
    Ok(sizes)
}

#[test]
fn blocks_of_any_size_are_read_in_bounded_pieces() {
    let many = 1_000_000;
    let (ids, zeros) = (vec![1; many], vec![0; many]);
    let dense = block(m().message(2, m().deltas(1, &ids).deltas(8, &zeros).deltas(9, &zeros)));
    let single = (1..200_000).fold(m(), |group, id| group.message(1, m().sint(1, id).sint(8, 0).sint(9, 0)));
    let few = block(m().message(2, m().deltas(1, &ids[..9000]).deltas(8, &zeros[..9000]).deltas(9, &zeros[..9000])));
    let file = [head(), raw("OSMData", few), raw("OSMData", dense), raw("OSMData", block(single))].concat();
    for memory in [0, 1 << 30] {
        let sizes = piece_sizes(&file, memory).unwrap();
        assert_eq!(sizes.iter().sum::<u64>(), 9000 + 1_000_000 + 199_999);
        assert_eq!(sizes[0], 9000);
        assert!(sizes[1..].iter().all(|size| *size <= 8000), "{sizes:?}");
    }
}

#[test]
fn pieces_have_all_that_whole_blocks_have() {
    let (ids, zeros) = (vec![1; 140_000], vec![0; 140_000]);
    let info = m().int(1, 3).int(2, 5).int(3, 7).int(4, 9).int(5, 4).int(6, 1);
    let group = |rest: TestPbfMessage| {
        rest.message(3, m().int(1, 7).list(2, &[1]).list(3, &[2]).message(4, info.clone()).deltas(8, &[5, 1, -3]))
            .message(3, m().int(1, 8).deltas(8, &[5, 1]).deltas(9, &[1, 1]).deltas(10, &[2, 2]))
            .message(4, m().int(1, 9).list(8, &[3, 0]).deltas(9, &[7, 2]).list(10, &[1, 2]).list(2, &[1]).list(3, &[1]))
            .message(1, m().sint(1, -4).sint(8, 100).sint(9, 200))
    };
    let dense = m().message(2, m().deltas(1, &ids).deltas(8, &zeros).deltas(9, &zeros));
    let small = elements(block(group(m()))).unwrap();
    let large = elements(block(group(dense))).unwrap();
    assert_eq!(large[large.len() - 4..], small[..]);
    assert_eq!(large.len(), 140_004);
}

#[test]
fn no_element_has_more_than_any_real_one() {
    let says = |group: TestPbfMessage| elements(block(group)).unwrap_err().to_string();
    let many = vec![0; (1 << 20) + 1];
    let way = m().int(1, 5).deltas(8, &many);
    assert!(says(m().message(3, way)).ends_with("way 5: more than 1048576 nodes"));
    let relation = m().int(1, 6).list(8, &many).deltas(9, &many).list(10, &many);
    assert!(says(m().message(4, relation)).ends_with("relation 6: more than 1048576 members"));
    let tags = vec![1; (1 << 16) + 1];
    let way = m().int(1, 7).list(2, &tags).list(3, &tags);
    assert!(says(m().message(3, way)).ends_with("way 7: more than 65536 tags"));
    let pairs: Vec<i64> = std::iter::repeat_n(1, 2 * ((1 << 16) + 1)).collect();
    let dense = m().deltas(1, &[3]).deltas(8, &[0]).deltas(9, &[0]).list(10, &pairs);
    assert!(says(m().message(2, dense)).ends_with("node 3: more than 65536 tags"));
    for (number, name) in [(1, "node"), (3, "way"), (4, "relation")] {
        assert!(says(m().message(number, m().list(2, &[]))).ends_with(&format!("a {name} without an id")));
    }
    let strings = m().bytes(1, [0x0a, 0].repeat((1 << 22) + 1));
    let error = elements(strings).unwrap_err().to_string();
    assert!(error.ends_with("more than 4194304 strings in a block"), "{error}");
}

/// Returns the elements of a file in their debug form, with all fields.
fn listed(bytes: &[u8]) -> Vec<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let mut all = Vec::new();
    let list = |block: &crate::ElementBlock| {
        let mut list = Vec::new();
        block.for_each(|element| list.push(format!("{element:?}")))?;
        Ok(list)
    };
    read::<_, LoaderError>(file.path(), &ReadOptions::default(), list, |list, _| {
        all.extend(list);
        Ok(())
    })
    .unwrap();
    all
}

#[test]
fn what_is_written_is_read_again() {
    use crate::pbf::write::{BlockWriter, Compression, header};
    use crate::{NO_COORDINATE, SourceElementType, SourceMember, SourceMeta, SourceNode, SourceRelation, Way};

    let meta =
        SourceMeta { version: 3, timestamp: 1_600_000_000, changeset: 5, uid: 7, user: "Jürgen", visible: true };
    let anonymous = SourceMeta { uid: 0, user: "", ..meta };
    let deleted = SourceMeta { visible: false, ..meta };
    let node =
        SourceNode { id: 1, lat: -900_000_000, lon: 1_799_999_999, tags: &[("a", "b"), ("", "a")], meta: Some(meta) };
    let member = |kind, id, role| SourceMember { kind, id, role };
    let members = [
        member(SourceElementType::Way, 9, "outer"),
        member(SourceElementType::Node, 1, ""),
        member(SourceElementType::Relation, -4, "a"),
    ];
    let elements = [
        SourceElement::Node(node),
        SourceElement::Node(SourceNode { id: -7, lat: 0, lon: 0, tags: &[], meta: Some(anonymous) }),
        SourceElement::Way(Way { id: 9, refs: &[1, -7, 1], locations: None, tags: &[("k", "v")], meta: Some(meta) }),
        SourceElement::Way(Way { id: 10, refs: &[], locations: None, tags: &[], meta: None }),
        SourceElement::Relation(SourceRelation { id: i64::MAX, members: &members, tags: &[], meta: Some(anonymous) }),
        SourceElement::Node(SourceNode { id: i64::MIN, lat: 1, lon: 2, tags: &[], meta: Some(meta) }),
    ];
    let write = |elements: &[SourceElement<'_>], history, compression| {
        let mut block = BlockWriter::new(history);
        elements.iter().for_each(|element| block.push(element));
        assert_eq!(block.len(), elements.len());
        let written = SourceHeader { history, bbox: Some([-10, -20, 30, 40]), ..SourceHeader::default() };
        let mut file = header(&written, true, compression);
        file.extend(block.finish(compression));
        file
    };
    let expected =
        |elements: &[SourceElement<'_>]| -> Vec<String> { elements.iter().map(|e| format!("{e:?}")).collect() };
    for compression in [Compression::None, Compression::Zlib, Compression::Zstd] {
        assert_eq!(listed(&write(&elements, false, compression)), expected(&elements), "{compression:?}");
    }

    // PBF cannot express a missing position. A deleted node is written at 0, 0.
    let nowhere = SourceNode { lat: NO_COORDINATE, lon: NO_COORDINATE, meta: Some(deleted), ..node };
    let read = SourceNode { lat: 0, lon: 0, ..nowhere };
    assert_eq!(
        listed(&write(&[SourceElement::Node(nowhere)], true, Compression::Zlib)),
        expected(&[SourceElement::Node(read)])
    );
}
