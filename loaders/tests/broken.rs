//! Damages a real file by flipping bits and truncating it. Reading it must return an error with a position, and must
//! not panic.

use crate::{place, skip};
use terrapin_loaders::{LoaderError, ReadOptions, read};

fn niue() -> Option<Vec<u8>> {
    let shared = place::shared();
    let bytes = std::fs::read(shared.join("data/osm/niue.osm.pbf")).ok();
    if bytes.is_none() {
        skip::skipped(skip::Need::Shared, "no niue.osm.pbf");
    }
    bytes
}

fn count(bytes: &[u8]) -> Result<u64, LoaderError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let mut sum = 0;
    read::<u64, LoaderError>(
        file.path(),
        &ReadOptions::default(),
        |block| {
            let mut count = 0;
            block.for_each(|_| count += 1)?;
            Ok(count)
        },
        |count, _| {
            sum += count;
            Ok(())
        },
    )?;
    Ok(sum)
}

#[test]
fn three_hundred_broken_files() {
    let Some(whole) = niue() else { return };
    assert_eq!(count(&whole).unwrap(), 41_816 + 3_007 + 125);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % limit
    };
    let (mut errors, mut located) = (0, 0);
    for round in 0..300 {
        let mut bytes = whole.clone();
        match round % 3 {
            0 => bytes.truncate(below(whole.len())),
            // Most of a file is packed data, so half of the flips hit the lengths and headers at its start.
            1 => bytes[below(300)] ^= 1 << below(8),
            _ => bytes[below(whole.len())] ^= 1 << below(8),
        }
        if let Err(error) = count(&bytes) {
            errors += 1;
            let text = error.to_string();
            assert!(!text.is_empty() && !text.contains('\n'), "{text}");
            located += usize::from(text.contains(": blob ") && text.contains(" at byte "));
        }
    }
    println!("{errors} errors, {located} with their place");
    assert!(errors > 270, "only {errors} of 300 were seen");
    assert!(located > errors - 20, "only {located} of {errors} say where");
}
