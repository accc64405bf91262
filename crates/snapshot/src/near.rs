//! Words that are nearly another one: an automaton over the bytes of words, whose state is the last two rows of the table of
//! edit distances.

use fst::Automaton;

/// Letters of a word that is looked for; longer ones are taken as they are written.
const LETTERS: usize = 24;

type Row = [u8; LETTERS + 1];

/// The words at most so many edits away from one: insertions, deletions, substitutions, and swaps of neighbours.
pub struct Near {
    word: Vec<char>,
    most: u8,
}

/// What was read so far of a word.
#[derive(Debug, Clone, Copy)]
pub struct State {
    /// Of every beginning of the word that is looked for, the edits to what was read.
    row: Row,
    /// Before the last letter.
    before: Row,
    last: char,
    /// Of a letter whose bytes have not all come: its bits, and how many bytes come yet.
    bits: u32,
    left: u8,
}

impl Near {
    /// `None` where the word is too long.
    pub fn new(word: &str, most: u8) -> Option<Near> {
        let word: Vec<char> = word.chars().collect();
        (word.len() <= LETTERS).then_some(Near { word, most })
    }

    /// The edits to a word; more than asked for are one more.
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

/// Words that begin with a text and are near behind it.
pub struct Behind<'a> {
    pub start: &'a [u8],
    pub near: &'a Near,
}

/// How far a word was read.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// So many bytes of the text.
    Start(usize),
    Rest(State),
    /// It begins otherwise.
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
