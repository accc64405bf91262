//! Compares the elements of real files with those that osmpbf reads, if it can read the file.

use crate::{place, skip};
use osmpbf::RelMemberType;
use terrapin_loaders::{LoaderError, ReadOptions, SourceElement, SourceElementType, SourceMeta, read};

/// An element as text; metadata only if both readers have it.
type Line = String;

fn ours(path: &std::path::Path) -> Vec<Line> {
    let mut all = Vec::new();
    read::<_, LoaderError>(
        path,
        &ReadOptions::default(),
        |block| {
            let mut lines = Vec::new();
            block.for_each(|element| lines.push(our_line(element)))?;
            Ok(lines)
        },
        |lines, _| {
            all.extend(lines);
            Ok(())
        },
    )
    .unwrap();
    all
}

fn our_line(element: SourceElement<'_>) -> Line {
    match element {
        SourceElement::Node(n) => format!("n{} {} {} {:?} {}", n.id, n.lat, n.lon, n.tags, our_meta(n.meta)),
        SourceElement::Way(w) => format!("w{} {:?} {:?} {}", w.id, w.refs, w.tags, our_meta(w.meta)),
        SourceElement::Relation(r) => {
            let members: Vec<_> = r.members.iter().map(|m| (letter(m.kind), m.id, m.role)).collect();
            format!("r{} {:?} {:?} {}", r.id, members, r.tags, our_meta(r.meta))
        }
    }
}

fn letter(kind: SourceElementType) -> char {
    match kind {
        SourceElementType::Node => 'n',
        SourceElementType::Way => 'w',
        SourceElementType::Relation => 'r',
    }
}

fn our_meta(meta: Option<SourceMeta<'_>>) -> String {
    let Some(m) = meta else { return "-".to_owned() };
    format!("v{} t{} c{} u{} {:?} {}", m.version, m.timestamp, m.changeset, m.uid, m.user, m.visible)
}

fn theirs(path: &std::path::Path) -> Vec<Line> {
    let mut all = Vec::new();
    osmpbf::ElementReader::from_path(path).unwrap().for_each(|element| all.push(their_line(element))).unwrap();
    all
}

fn their_line(element: osmpbf::Element<'_>) -> Line {
    match element {
        osmpbf::Element::DenseNode(n) => {
            let tags: Vec<_> = n.tags().collect();
            let meta = n.info().map_or("-".to_owned(), |i| {
                let (seconds, user) = (i.milli_timestamp() / 1000, i.user().unwrap());
                format!("v{} t{} c{} u{} {:?} {}", i.version(), seconds, i.changeset(), i.uid(), user, i.visible())
            });
            format!("n{} {} {} {:?} {}", n.id(), n.decimicro_lat(), n.decimicro_lon(), tags, meta)
        }
        osmpbf::Element::Node(n) => {
            let tags: Vec<_> = n.tags().collect();
            let meta = their_meta(&n.info());
            format!("n{} {} {} {:?} {}", n.id(), n.decimicro_lat(), n.decimicro_lon(), tags, meta)
        }
        osmpbf::Element::Way(w) => {
            let (refs, tags): (Vec<_>, Vec<_>) = (w.refs().collect(), w.tags().collect());
            format!("w{} {:?} {:?} {}", w.id(), refs, tags, their_meta(&w.info()))
        }
        osmpbf::Element::Relation(r) => {
            let tags: Vec<_> = r.tags().collect();
            let members = r.members().map(|m| {
                let kind = match m.member_type {
                    RelMemberType::Node => 'n',
                    RelMemberType::Way => 'w',
                    RelMemberType::Relation => 'r',
                };
                (kind, m.member_id, m.role().unwrap().to_owned())
            });
            format!("r{} {:?} {:?} {}", r.id(), members.collect::<Vec<_>>(), tags, their_meta(&r.info()))
        }
    }
}

fn their_meta(i: &osmpbf::Info<'_>) -> String {
    if i.version().is_none() && i.milli_timestamp().is_none() {
        return "-".to_owned();
    }
    format!(
        "v{} t{} c{} u{} {:?} {}",
        i.version().unwrap_or(0),
        i.milli_timestamp().unwrap_or(0) / 1000,
        i.changeset().unwrap_or(0),
        i.uid().unwrap_or(0),
        i.user().map_or("", |user| user.unwrap()),
        i.visible()
    )
}

#[test]
fn element_by_element_as_osmpbf() {
    let shared = place::shared();
    for name in ["niue.osm.pbf", "niue.osh.pbf", "monaco.osm.pbf", "malta-2016.osm.pbf", "malta-2024.osm.pbf"] {
        let path = shared.join("data/osm").join(name);
        if !path.exists() {
            skip::skipped(skip::Need::Shared, format_args!("no {name}"));
            continue;
        }
        let (ours, theirs) = (ours(&path), theirs(&path));
        assert_eq!(ours.len(), theirs.len(), "{name}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{name}");
        }
    }
}
