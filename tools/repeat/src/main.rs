//! `terrapin-repeat`: lays an extract several times side by side, for measuring how loads and answers grow with the
//! size of the data.
//!
//! ```text
//! terrapin-repeat patchwork-world.osm.pbf --times 16 --out 16.osm.pbf
//! ```
//!
//! Each copy has ids of its own and is shifted east by an equal part of the globe; elements beyond the antimeridian
//! continue from the west. If the elements of the extract are sorted by type and id, the result is also.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use rayon::prelude::*;
use terrapin_loaders::pbf::write::{BlockWriter, Compression, header};
use terrapin_loaders::{
    ElementBlock, LoaderError, NO_COORDINATE, ReadOptions, SourceElement, SourceHeader, SourceMember, read,
};

/// Lay an extract several times side by side
#[derive(Debug, Parser)]
#[command(version)]
struct RepeatArguments {
    /// The extract
    extract: PathBuf,
    /// The number of copies in the result
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    times: u16,
    /// The file to write
    #[arg(long)]
    out: PathBuf,
}

fn main() -> Result<()> {
    let RepeatArguments { extract, times, out } = RepeatArguments::parse();
    let span = highest_id(&extract)? + 1;
    let SourceHeader { replication_timestamp, history, .. } = terrapin_loaders::header(&extract)?;
    let spans = i64::from(times).checked_mul(span).context("ids would be larger than any can be")?;
    eprintln!("ids up to {spans}");

    // Blobs of each type and copy, in a temporary file until all are complete.
    let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    let mut files = Vec::new();
    for _ in 0..3 * usize::from(times) {
        files.push(BufWriter::new(tempfile::tempfile_in(folder)?));
    }
    let map = |block: &ElementBlock| -> Result<Vec<[Option<Vec<u8>>; 3]>, LoaderError> {
        let copies = (0..times).into_par_iter();
        copies.map(|copy| blobs(block, Copy::of(copy, times, span), history)).collect()
    };
    read::<_, anyhow::Error>(
        &extract,
        &ReadOptions::default(),
        |block| Ok(map(block)?),
        |copies, _| {
            for (copy, blobs) in copies.iter().enumerate() {
                for (kind, blob) in blobs.iter().enumerate() {
                    files[kind * usize::from(times) + copy].write_all(blob.as_deref().unwrap_or_default())?;
                }
            }
            Ok(())
        },
    )?;

    let mut whole = File::create(&out).with_context(|| format!("cannot write {}", out.display()))?;
    let program = Some(format!("terrapin-repeat {}", env!("CARGO_PKG_VERSION")));
    let sorted = !history;
    whole.write_all(&header(
        &SourceHeader { replication_timestamp, history, writing_program: program, ..SourceHeader::default() },
        sorted,
        Compression::Zlib,
    ))?;
    for file in files {
        let mut file = file.into_inner()?;
        file.rewind()?;
        io::copy(&mut file, &mut whole)?;
    }
    Ok(())
}

/// The highest id that anything in the extract has or refers to.
fn highest_id(extract: &std::path::Path) -> Result<i64> {
    let highest = |block: &ElementBlock| -> Result<i64, LoaderError> {
        let mut highest = 0;
        block.for_each(|element| {
            let id = match element {
                SourceElement::Node(node) => node.id,
                SourceElement::Way(way) => way.refs.iter().fold(way.id, |a, &b| a.max(b)),
                SourceElement::Relation(relation) => relation.members.iter().fold(relation.id, |a, b| a.max(b.id)),
            };
            highest = highest.max(id);
        })?;
        Ok(highest)
    };
    let mut all = 0;
    read::<_, LoaderError>(extract, &ReadOptions::default(), highest, |one, _| {
        all = all.max(one);
        Ok(())
    })?;
    Ok(all)
}

/// The values by which a copy differs.
#[derive(Clone, Copy)]
struct Copy {
    /// Added to all ids.
    ids: i64,
    /// Added to longitudes, in 1e-7 degrees.
    east: i64,
}

impl Copy {
    fn of(number: u16, times: u16, span: i64) -> Copy {
        Copy { ids: i64::from(number) * span, east: i64::from(number) * 3_600_000_000 / i64::from(times) }
    }

    fn lon(&self, lon: i32) -> i32 {
        let lon = i64::from(lon) + self.east;
        (if lon > 1_800_000_000 { lon - 3_600_000_000 } else { lon }) as i32
    }
}

/// The blobs of a copy of a block, by type.
fn blobs(block: &ElementBlock, copy: Copy, history: bool) -> Result<[Option<Vec<u8>>; 3], LoaderError> {
    let mut writers = [(); 3].map(|()| BlockWriter::new(history));
    block.for_each(|element| match element {
        SourceElement::Node(mut node) => {
            node.id += copy.ids;
            if node.lon != NO_COORDINATE {
                node.lon = copy.lon(node.lon);
            }
            writers[0].push(&SourceElement::Node(node));
        }
        SourceElement::Way(mut way) => {
            let refs: Vec<i64> = way.refs.iter().map(|id| id + copy.ids).collect();
            way.id += copy.ids;
            writers[1].push(&SourceElement::Way(terrapin_loaders::Way { refs: &refs, locations: None, ..way }));
        }
        SourceElement::Relation(mut relation) => {
            relation.id += copy.ids;
            let members: Vec<SourceMember<'_>> =
                relation.members.iter().map(|m| SourceMember { id: m.id + copy.ids, ..*m }).collect();
            writers[2]
                .push(&SourceElement::Relation(terrapin_loaders::SourceRelation { members: &members, ..relation }));
        }
    })?;
    Ok(writers.map(|writer| (!writer.is_empty()).then(|| writer.finish(Compression::Zlib))))
}
