//! Fuzzy matching of words: an automaton over the bytes of words, whose state is the last two rows of the table of
//! edit distances.

use fst::Automaton;

/// The maximum number of letters of a searched word; longer words are matched exactly.
const LETTERS: usize = 24;

type Row = [u8; LETTERS + 1];

/// An automaton of the words within an edit distance of a word: insertions, deletions, substitutions, and swaps of
/// neighbours.
pub struct Near {
    word: Vec<char>,
    most: u8,
}

/// The state after a prefix of a word.
#[derive(Debug, Clone, Copy)]
pub struct State {
    /// The edit distances from every prefix of the searched word to the read prefix.
    row: Row,
    /// The row before the last letter.
    before: Row,
    last: char,
    /// The bits of an incomplete letter, and the number of its missing bytes.
    bits: u32,
    left: u8,
}

impl Near {
    /// Builds the automaton; `None` if the word is too long.
    pub fn new(word: &str, most: u8) -> Option<Near> {
        let word: Vec<char> = word.chars().collect();
        (word.len() <= LETTERS).then_some(Near { word, most })
    }

    /// Returns the edit distance to a word, or the maximum plus one.
    pub fn edits(&self, word: &str) -> u8 {
        word.chars().fold(self.start(), |state, letter| self.read(state, letter)).row[self.word.len()]
    }

    fn read(&self, state: State, letter: char) -> State {
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
        State { row, before: state.row, last: letter, bits: 0, left: 0 }
    }
}

impl Automaton for Near {
    type State = State;

    fn start(&self) -> State {
        let most = self.most + 1;
        let mut row = [most; LETTERS + 1];
        row.iter_mut().enumerate().for_each(|(at, edits)| *edits = most.min(u8::try_from(at).unwrap_or(most)));
        State { row, before: [most; LETTERS + 1], last: '\0', bits: 0, left: 0 }
    }

    fn is_match(&self, state: &State) -> bool {
        state.left == 0 && state.row[self.word.len()] <= self.most
    }

    fn can_match(&self, state: &State) -> bool {
        state.row[..=self.word.len()].iter().any(|&edits| edits <= self.most)
    }

    fn accept(&self, state: &State, byte: u8) -> State {
        let (bits, left) = match byte {
            0..0x80 => (u32::from(byte), 0),
            0x80..0xc0 => (state.bits << 6 | u32::from(byte & 0x3f), state.left.saturating_sub(1)),
            0xc0..0xe0 => (u32::from(byte & 0x1f), 1),
            0xe0..0xf0 => (u32::from(byte & 0x0f), 2),
            _ => (u32::from(byte & 0x07), 3),
        };
        match left {
            0 => self.read(*state, char::from_u32(bits).unwrap_or(char::REPLACEMENT_CHARACTER)),
            left => State { bits, left, ..*state },
        }
    }
}

/// An automaton of the words with a fixed prefix and a fuzzy rest.
pub struct Behind<'a> {
    pub start: &'a [u8],
    pub near: &'a Near,
}

/// The position in a word.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// Within the prefix, after this many bytes.
    Start(usize),
    Rest(State),
    /// The prefix differs.
    Elsewhere,
}

impl Behind<'_> {
    fn at(&self, read: usize) -> Place {
        if read == self.start.len() { Place::Rest(self.near.start()) } else { Place::Start(read) }
    }
}

impl Automaton for Behind<'_> {
    type State = Place;

    fn start(&self) -> Place {
        self.at(0)
    }

    fn is_match(&self, place: &Place) -> bool {
        matches!(place, Place::Rest(state) if self.near.is_match(state))
    }

    fn can_match(&self, place: &Place) -> bool {
        match place {
            Place::Start(_) => true,
            Place::Rest(state) => self.near.can_match(state),
            Place::Elsewhere => false,
        }
    }

    fn accept(&self, place: &Place, byte: u8) -> Place {
        match place {
            Place::Start(read) if self.start.get(*read) == Some(&byte) => self.at(read + 1),
            Place::Rest(state) => Place::Rest(self.near.accept(state, byte)),
            _ => Place::Elsewhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(near: &Near, word: &str) -> bool {
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
        let near = Near::new("valletta", 1).unwrap();
        for word in ["valletta", "valetta", "vallettta", "vallexta", "valeltta"] {
            assert!(reads(&near, word), "{word}");
        }
        for word in ["valeta", "vallettaxx", "", "v", "sliema"] {
            assert!(!reads(&near, word), "{word}");
        }
        assert_eq!((near.edits("valletta"), near.edits("valetta"), near.edits("sliema")), (0, 1, 2));
        let two = Near::new("żurrieq", 2).unwrap();
        assert!(reads(&two, "zurieq") && reads(&two, "żurrieq") && !reads(&two, "zurie"));
        assert!(Near::new(&"x".repeat(LETTERS + 1), 1).is_none());
    }
}
