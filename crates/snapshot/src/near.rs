//! Fuzzy matching of words: an automaton over the bytes of words, whose state is the last two rows of the table of
//! edit distances.

use fst::Automaton;

/// The maximum number of letters of a searched word; longer words are matched exactly.
const LETTERS: usize = 24;

type Row = [u8; LETTERS + 1];

/// An automaton of the words within an edit distance of a word: insertions, deletions, substitutions, and swaps of
/// neighbours.
pub struct LevenshteinAutomaton {
    word: Vec<char>,
    most: u8,
}

/// The state after a prefix of a word.
#[derive(Debug, Clone, Copy)]
pub struct EditDistanceState {
    /// The edit distances from every prefix of the searched word to the read prefix.
    row: Row,
    /// The row before the last letter.
    before: Row,
    last: char,
    /// The bits of an incomplete letter, and the number of its missing bytes.
    bits: u32,
    left: u8,
}

impl LevenshteinAutomaton {
    /// Builds the automaton; `None` if the word is too long.
    pub fn new(word: &str, most: u8) -> Option<LevenshteinAutomaton> {
        let word: Vec<char> = word.chars().collect();
        (word.len() <= LETTERS).then_some(LevenshteinAutomaton { word, most })
    }

    /// Returns the edit distance to a word, or the maximum plus one.
    pub fn edits(&self, word: &str) -> u8 {
        word.chars().fold(self.start(), |state, letter| self.read(state, letter)).row[self.word.len()]
    }

    fn read(&self, state: EditDistanceState, letter: char) -> EditDistanceState {
        let most = self.most + 1;
        let mut row = [most; LETTERS + 1];
        row[0] = (state.row[0] + 1).min(most);
        for (at, &wanted) in self.word.iter().enumerate() {
            let mut least = state.row[at] + u8::from(wanted != letter);
            least = least.min(state.row[at + 1] + 1).min(row[at] + 1);
            if at > 0 && wanted == state.last && self.word[at - 1] == letter {
                least = least.min(state.before[at - 1] + 1);
            }
            row[at + 1] = least.min(most);
        }
        EditDistanceState { row, before: state.row, last: letter, bits: 0, left: 0 }
    }
}

impl Automaton for LevenshteinAutomaton {
    type State = EditDistanceState;

    fn start(&self) -> EditDistanceState {
        let most = self.most + 1;
        let mut row = [most; LETTERS + 1];
        row.iter_mut().enumerate().for_each(|(at, edits)| *edits = most.min(u8::try_from(at).unwrap_or(most)));
        EditDistanceState { row, before: [most; LETTERS + 1], last: '\0', bits: 0, left: 0 }
    }

    fn is_match(&self, state: &EditDistanceState) -> bool {
        state.left == 0 && state.row[self.word.len()] <= self.most
    }

    fn can_match(&self, state: &EditDistanceState) -> bool {
        state.row[..=self.word.len()].iter().any(|&edits| edits <= self.most)
    }

    fn accept(&self, state: &EditDistanceState, byte: u8) -> EditDistanceState {
        let (bits, left) = match byte {
            0..0x80 => (u32::from(byte), 0),
            0x80..0xc0 => (state.bits << 6 | u32::from(byte & 0x3f), state.left.saturating_sub(1)),
            0xc0..0xe0 => (u32::from(byte & 0x1f), 1),
            0xe0..0xf0 => (u32::from(byte & 0x0f), 2),
            _ => (u32::from(byte & 0x07), 3),
        };
        match left {
            0 => self.read(*state, char::from_u32(bits).unwrap_or(char::REPLACEMENT_CHARACTER)),
            left => EditDistanceState { bits, left, ..*state },
        }
    }
}

/// An automaton of the words with a fixed prefix and a fuzzy rest.
pub struct Behind<'a> {
    pub start: &'a [u8],
    pub near: &'a LevenshteinAutomaton,
}

/// The position in a word.
#[derive(Debug, Clone, Copy)]
pub enum WordPosition {
    /// Within the prefix, after this many bytes.
    Start(usize),
    Rest(EditDistanceState),
    /// The prefix differs.
    Elsewhere,
}

impl Behind<'_> {
    fn at(&self, read: usize) -> WordPosition {
        if read == self.start.len() { WordPosition::Rest(self.near.start()) } else { WordPosition::Start(read) }
    }
}

impl Automaton for Behind<'_> {
    type State = WordPosition;

    fn start(&self) -> WordPosition {
        self.at(0)
    }

    fn is_match(&self, place: &WordPosition) -> bool {
        matches!(place, WordPosition::Rest(state) if self.near.is_match(state))
    }

    fn can_match(&self, place: &WordPosition) -> bool {
        match place {
            WordPosition::Start(_) => true,
            WordPosition::Rest(state) => self.near.can_match(state),
            WordPosition::Elsewhere => false,
        }
    }

    fn accept(&self, place: &WordPosition, byte: u8) -> WordPosition {
        match place {
            WordPosition::Start(read) if self.start.get(*read) == Some(&byte) => self.at(read + 1),
            WordPosition::Rest(state) => WordPosition::Rest(self.near.accept(state, byte)),
            _ => WordPosition::Elsewhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(near: &LevenshteinAutomaton, word: &str) -> bool {
        let mut state = near.start();
        for byte in word.bytes() {
            state = near.accept(&state, byte);
            if !near.can_match(&state) {
                return false;
            }
        }
        near.is_match(&state)
    }

    #[test]
    fn a_letter_or_two() {
        let near = LevenshteinAutomaton::new("valletta", 1).unwrap();
        for word in ["valletta", "valetta", "vallettta", "vallexta", "valeltta"] {
            assert!(reads(&near, word), "{word}");
        }
        for word in ["valeta", "vallettaxx", "", "v", "sliema"] {
            assert!(!reads(&near, word), "{word}");
        }
        assert_eq!((near.edits("valletta"), near.edits("valetta"), near.edits("sliema")), (0, 1, 2));
        let two = LevenshteinAutomaton::new("żurrieq", 2).unwrap();
        assert!(reads(&two, "zurieq") && reads(&two, "żurrieq") && !reads(&two, "zurie"));
        assert!(LevenshteinAutomaton::new(&"x".repeat(LETTERS + 1), 1).is_none());
    }
}
