//! Snapshots received from untrusted storage. The announced header, footer and manifest and the received bytes may be
//! wrong, too short or too long, and arrive in any pieces. An input is the size of the pieces and a list of changes of
//! the town's snapshot.

use std::sync::OnceLock;

use terrapin::snapshot::Arrival;

/// The length of a change in bytes: kind u8, position u32, value u8.
const CHANGE: usize = 6;

pub fn seeds() -> Vec<Vec<u8>> {
    // No change; a changed byte of the received or of the announced bytes; too few bytes; too many bytes.
    let change = |what: u8, place: u32, value: u8| [&[255, 15, what][..], &place.to_le_bytes(), &[value]].concat();
    let mut seeds = vec![vec![255, 255], vec![0, 0]];
    seeds.extend((0..4).flat_map(|what| [0, 5000, u32::MAX].map(|place| change(what, place, 1))));
    seeds
}

pub fn check(input: &[u8]) {
    static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
    let whole = WHOLE.get_or_init(|| std::fs::read(super::town::opened().path()).expect("the town's snapshot"));
    let Some((&[low, high], changes)) = input.split_first_chunk() else { return };
    let piece = usize::from(u16::from_le_bytes([low, high])) + 1;
    let (mut announced, mut comes) = (whole.clone(), whole.clone());
    for change in changes.chunks_exact(CHANGE) {
        let place = u32::from_le_bytes([change[1], change[2], change[3], change[4]]) as usize;
        // Positions count from the end, which contains most of the announced bytes.
        let from_end = announced.len() - 1 - place % announced.len();
        match change[0] % 4 {
            0 => {
                let place = place % comes.len();
                comes[place] ^= change[5];
            }
            1 => announced[from_end] ^= change[5],
            2 => comes.truncate(1 + place % comes.len()),
            _ => comes.extend(std::iter::repeat_n(change[5], 1 + place % 5000)),
        }
    }
    claim(whole, changes);
    let Ok((header, footer)) = Arrival::ends(announced.len() as u64) else { return };
    let bytes = |range: std::ops::Range<u64>| &announced[range.start as usize..range.end as usize];
    let Ok(rest) = Arrival::manifest(announced.len() as u64, bytes(footer)) else { return };
    let Ok(mut arrival) = Arrival::new(announced.len() as u64, bytes(header), bytes(rest)) else { return };
    let taken = comes.chunks(piece).try_for_each(|piece| arrival.take(piece));
    assert!(arrival.checked() <= arrival.at() && arrival.at() <= arrival.file_len());
    if taken.is_ok() && arrival.checked() == arrival.file_len() {
        assert!(comes == *whole, "what is not the snapshot was taken for it");
    }
    assert_eq!(arrival.rewind(), arrival.checked());
}

/// Checks that the number of bytes to fetch at once is limited, even though a server may announce any length, and its
/// footer any position.
fn claim(whole: &[u8], changes: &[u8]) {
    let number = |at: usize| {
        let mut bytes = [0; 8];
        bytes.iter_mut().zip(changes.iter().skip(at)).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(bytes)
    };
    let (len, mut footer) = (number(0), whole[whole.len() - 64..].to_vec());
    footer[..8].copy_from_slice(&number(8).to_le_bytes());
    footer[8..16].copy_from_slice(&number(16).to_le_bytes());
    let sum = blake3::hash(&footer[..48]);
    footer[48..56].copy_from_slice(&sum.as_bytes()[..8]);
    if let Ok(range) = Arrival::manifest(len, &footer) {
        assert!(range.end == len && range.end - range.start <= 129 << 20, "{range:?} of {len}");
    }
}
