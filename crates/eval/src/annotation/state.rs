//! The state of each entry, derived from its events. Each event is checked before it changes the state, so that a log
//! and the requests of annotators follow the same rules.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::event::{AnnotationAction, AnnotationEvent, Verdict};

/// Maximum number of questions of an entry, corrections included. An entry that people cannot agree on is then no longer
/// offered.
pub const MOST_ROUNDS: usize = 8;

/// The status of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnnotationStatus {
    /// It has no question.
    Open,
    /// It has a question that is not validated.
    Answered,
    /// Its question is a correction that is not validated.
    Corrected,
    /// Its question was rejected: it needs another one.
    Rejected,
    /// Its question was validated.
    Agreed,
}

impl AnnotationStatus {
    /// All statuses.
    pub const ALL: [AnnotationStatus; 5] = [
        AnnotationStatus::Open,
        AnnotationStatus::Answered,
        AnnotationStatus::Corrected,
        AnnotationStatus::Rejected,
        AnnotationStatus::Agreed,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            AnnotationStatus::Open => "open",
            AnnotationStatus::Answered => "answered",
            AnnotationStatus::Corrected => "corrected",
            AnnotationStatus::Rejected => "rejected",
            AnnotationStatus::Agreed => "agreed",
        }
    }

    /// Parses a name.
    pub fn named(name: &str) -> Option<AnnotationStatus> {
        AnnotationStatus::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Returns whether an entry with this status has a question.
    pub fn has_question(self) -> bool {
        matches!(self, AnnotationStatus::Answered | AnnotationStatus::Corrected | AnnotationStatus::Agreed)
    }
}

/// A question for an entry, with the verdicts on it.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionRound {
    /// The question.
    pub question: String,
    /// Its author.
    pub by: String,
    /// The time.
    pub at: Timestamp,
    /// Seconds since the author received the entry.
    pub seconds: Option<u32>,
    /// The suggestion that it began with.
    pub suggestion: Option<usize>,
    /// Whether it is a correction of the question before.
    pub is_correction: bool,
    /// The verdicts.
    pub verdicts: Vec<GivenVerdict>,
}

/// A verdict on a question.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenVerdict {
    /// The annotator.
    pub by: String,
    /// The time.
    pub at: Timestamp,
    /// Seconds since the annotator received the entry.
    pub seconds: Option<u32>,
    /// The verdict.
    pub verdict: Verdict,
    /// The corrected question.
    pub question: Option<String>,
    /// The reason.
    pub reason: Option<String>,
}

impl QuestionRound {
    /// Returns the verdict of the majority after `validations` verdicts; `None` before. Without a majority for the
    /// question, it is corrected if anyone corrected it, else rejected.
    fn outcome(&self, validations: usize) -> Option<Verdict> {
        let count = |verdict| self.verdicts.iter().filter(|given| given.verdict == verdict).count();
        if self.verdicts.len() < validations {
            return None;
        }
        Some(match () {
            () if 2 * count(Verdict::Agree) > self.verdicts.len() => Verdict::Agree,
            () if count(Verdict::Correct) > 0 => Verdict::Correct,
            () => Verdict::Reject,
        })
    }

    /// Returns the last correction.
    fn correction(&self) -> Option<&GivenVerdict> {
        self.verdicts.iter().rev().find(|given| given.verdict == Verdict::Correct)
    }
}

/// A lease: one annotator has the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryLease {
    /// The annotator.
    pub by: String,
    /// When it was received first.
    pub since: Timestamp,
    /// The end of the lease.
    pub until: Timestamp,
}

/// The state of an entry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EntryState {
    /// The questions, the current one last.
    pub rounds: Vec<QuestionRound>,
    /// How often each annotator skipped it, and the number of the last skip among all.
    pub skips: BTreeMap<String, (u32, u64)>,
    /// The current lease; it may be over.
    pub lease: Option<EntryLease>,
}

/// The reason why an event does not fit the state of its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// An annotator validates a question of their own.
    OwnQuestion,
    /// An annotator validates a question twice.
    JudgedBefore,
    /// The entry has a question already.
    HasQuestion,
    /// The question was replaced, validated, or never existed.
    NotCurrent,
    /// The entry has the maximum number of questions.
    Exhausted,
}

impl EntryState {
    /// The state before any event.
    pub const EMPTY: EntryState = EntryState { rounds: Vec::new(), skips: BTreeMap::new(), lease: None };

    /// Returns the status if each question needs `validations` verdicts.
    pub fn status(&self, validations: usize) -> AnnotationStatus {
        let Some(last) = self.rounds.last() else { return AnnotationStatus::Open };
        match last.outcome(validations) {
            Some(Verdict::Agree) => AnnotationStatus::Agreed,
            // The correction is the next round, unless there are too many.
            Some(Verdict::Correct | Verdict::Reject) => AnnotationStatus::Rejected,
            None if last.is_correction => AnnotationStatus::Corrected,
            None => AnnotationStatus::Answered,
        }
    }

    /// Returns the current question; `None` if there is none or it was rejected.
    pub fn current(&self, validations: usize) -> Option<&QuestionRound> {
        self.rounds.last().filter(|_| self.status(validations).has_question())
    }

    /// Returns whether any verdict was not an agreement.
    pub fn is_disputed(&self) -> bool {
        self.rounds.iter().flat_map(|round| &round.verdicts).any(|given| given.verdict != Verdict::Agree)
    }

    /// Returns the lease of another annotator at a time.
    pub fn leased_to_other(&self, who: &str, now: Timestamp) -> Option<&EntryLease> {
        self.lease.as_ref().filter(|lease| lease.by != who && lease.until > now)
    }

    /// Checks that an annotator may write a question now.
    ///
    /// # Errors
    /// Returns why not.
    pub fn check_question(&self, validations: usize) -> Result<(), Unfit> {
        match self.status(validations) {
            AnnotationStatus::Open | AnnotationStatus::Rejected if self.rounds.len() < MOST_ROUNDS => Ok(()),
            AnnotationStatus::Open | AnnotationStatus::Rejected => Err(Unfit::Exhausted),
            _ => Err(Unfit::HasQuestion),
        }
    }

    /// Checks that `who` may validate question `number` now.
    ///
    /// # Errors
    /// Returns why not.
    pub fn check_verdict(&self, who: &str, number: usize, validations: usize) -> Result<(), Unfit> {
        let status = self.status(validations);
        let Some(last) = self.rounds.last().filter(|_| number == self.rounds.len()) else {
            return Err(Unfit::NotCurrent);
        };
        match () {
            () if last.by == who => Err(Unfit::OwnQuestion),
            () if last.verdicts.iter().any(|given| given.by == who) => Err(Unfit::JudgedBefore),
            () if !matches!(status, AnnotationStatus::Answered | AnnotationStatus::Corrected) => Err(Unfit::NotCurrent),
            () => Ok(()),
        }
    }
}

/// The states of all entries, in the order of the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationState {
    /// The entries.
    pub entries: Vec<EntryState>,
    /// The number of verdicts that each question needs, at least 1.
    pub validations: usize,
    skips: u64,
    /// The entry that each annotator received last.
    received: BTreeMap<String, usize>,
}

impl AnnotationState {
    /// Creates the state of a queue with `entries` entries before any event.
    pub fn new(entries: usize, validations: u8) -> AnnotationState {
        let validations = usize::from(validations.max(1));
        AnnotationState {
            entries: vec![EntryState::default(); entries],
            validations,
            skips: 0,
            received: BTreeMap::new(),
        }
    }

    /// Changes the state of an entry by an event.
    ///
    /// # Errors
    /// Returns why the event does not fit; the state is then unchanged.
    pub fn apply(&mut self, index: usize, event: &AnnotationEvent) -> Result<(), Unfit> {
        let validations = self.validations;
        if let AnnotationAction::Lease { .. } = event.action {
            self.release_other(index, &event.by);
        }
        let Some(entry) = self.entries.get_mut(index) else { return Err(Unfit::NotCurrent) };
        let (by, at) = (event.by.clone(), event.at);
        match &event.action {
            AnnotationAction::Lease { until } => {
                let same = entry.lease.as_ref().filter(|lease| lease.by == by && lease.until > at);
                entry.lease = Some(EntryLease { since: same.map_or(at, |lease| lease.since), by, until: *until });
                return Ok(());
            }
            AnnotationAction::Question { question, suggestion, seconds } => {
                entry.check_question(validations)?;
                let (question, suggestion, seconds) = (question.clone(), *suggestion, *seconds);
                let verdicts = Vec::new();
                let is_correction = false;
                entry.rounds.push(QuestionRound { question, by, at, seconds, suggestion, is_correction, verdicts });
            }
            AnnotationAction::Verdict { number, verdict, question, reason, seconds } => {
                entry.check_verdict(&by, *number, validations)?;
                let (verdict, question, reason, seconds) = (*verdict, question.clone(), reason.clone(), *seconds);
                if let Some(last) = entry.rounds.last_mut() {
                    last.verdicts.push(GivenVerdict { by, at, seconds, verdict, question, reason });
                }
                entry.adopt_correction(validations);
            }
            AnnotationAction::Skip { .. } => {
                self.skips += 1;
                let (count, last) = entry.skips.entry(by).or_default();
                *count = count.saturating_add(1);
                *last = self.skips;
            }
        }
        entry.lease = None;
        Ok(())
    }

    /// Returns the number of the entry that an annotator received last.
    pub fn received_by(&self, who: &str) -> Option<usize> {
        self.received.get(who).copied()
    }

    /// Ends the lease of an annotator on another entry: each annotator has one entry at a time.
    fn release_other(&mut self, index: usize, who: &str) {
        let before = self.received.insert(who.to_owned(), index).filter(|before| *before != index);
        if let Some(entry) = before.and_then(|before| self.entries.get_mut(before))
            && entry.lease.as_ref().is_some_and(|lease| lease.by == who)
        {
            entry.lease = None;
        }
    }
}

impl EntryState {
    /// Makes the correction the current question if the verdicts ask for it.
    fn adopt_correction(&mut self, validations: usize) {
        let is_full = self.rounds.len() >= MOST_ROUNDS;
        let Some(last) = self.rounds.last() else { return };
        let wanted = last.outcome(validations) == Some(Verdict::Correct) && !is_full;
        let Some(GivenVerdict { by, at, seconds, question: Some(question), .. }) =
            last.correction().filter(|_| wanted).cloned()
        else {
            return;
        };
        let verdicts = Vec::new();
        self.rounds.push(QuestionRound { question, by, at, seconds, suggestion: None, is_correction: true, verdicts });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(by: &str, second: i64, action: AnnotationAction) -> AnnotationEvent {
        let at = Timestamp::from_second(1_700_000_000 + second).unwrap();
        AnnotationEvent { entry: "a".to_owned(), query: String::new(), by: by.to_owned(), at, action }
    }

    fn question(by: &str, text: &str) -> AnnotationEvent {
        event(by, 0, AnnotationAction::Question { question: text.to_owned(), suggestion: None, seconds: None })
    }

    fn verdict(by: &str, number: usize, verdict: Verdict) -> AnnotationEvent {
        let question = (verdict == Verdict::Correct).then(|| format!("better, says {by}"));
        event(by, 0, AnnotationAction::Verdict { number, verdict, question, reason: None, seconds: None })
    }

    fn status(state: &AnnotationState) -> AnnotationStatus {
        state.entries[0].status(state.validations)
    }

    #[test]
    fn nobody_validates_their_own_question_or_correction() {
        let mut state = AnnotationState::new(1, 1);
        assert_eq!(status(&state), AnnotationStatus::Open);
        assert_eq!(state.apply(0, &verdict("bob", 1, Verdict::Agree)), Err(Unfit::NotCurrent));
        state.apply(0, &question("ann", "Which?")).unwrap();
        assert_eq!(state.apply(0, &verdict("ann", 1, Verdict::Agree)), Err(Unfit::OwnQuestion));
        assert_eq!(state.apply(0, &question("bob", "What?")), Err(Unfit::HasQuestion));
        state.apply(0, &verdict("bob", 1, Verdict::Correct)).unwrap();
        assert_eq!(status(&state), AnnotationStatus::Corrected);
        // The correction is bob's question, which ann may validate.
        assert_eq!(state.apply(0, &verdict("bob", 2, Verdict::Agree)), Err(Unfit::OwnQuestion));
        assert_eq!(state.apply(0, &verdict("ann", 1, Verdict::Agree)), Err(Unfit::NotCurrent));
        state.apply(0, &verdict("ann", 2, Verdict::Agree)).unwrap();
        assert_eq!(status(&state), AnnotationStatus::Agreed);
        assert_eq!(state.entries[0].current(1).unwrap().question, "better, says bob");
        assert!(state.entries[0].is_disputed());
        assert_eq!(state.apply(0, &verdict("cee", 2, Verdict::Agree)), Err(Unfit::NotCurrent));
    }

    #[test]
    fn a_rejected_question_is_written_again() {
        let mut state = AnnotationState::new(1, 1);
        state.apply(0, &question("ann", "Which?")).unwrap();
        state.apply(0, &verdict("bob", 1, Verdict::Reject)).unwrap();
        assert_eq!((status(&state), state.entries[0].current(1)), (AnnotationStatus::Rejected, None));
        state.apply(0, &question("ann", "Which ones?")).unwrap();
        state.apply(0, &verdict("bob", 2, Verdict::Agree)).unwrap();
        assert_eq!(status(&state), AnnotationStatus::Agreed);
    }

    #[test]
    fn with_two_validations_the_majority_decides() {
        for (verdicts, expected) in [
            ([Verdict::Agree, Verdict::Agree], AnnotationStatus::Agreed),
            ([Verdict::Agree, Verdict::Correct], AnnotationStatus::Corrected),
            ([Verdict::Agree, Verdict::Reject], AnnotationStatus::Rejected),
            ([Verdict::Correct, Verdict::Reject], AnnotationStatus::Corrected),
        ] {
            let mut state = AnnotationState::new(1, 2);
            state.apply(0, &question("ann", "Which?")).unwrap();
            state.apply(0, &verdict("bob", 1, verdicts[0])).unwrap();
            assert_eq!(status(&state), AnnotationStatus::Answered);
            assert_eq!(state.apply(0, &verdict("bob", 1, Verdict::Agree)), Err(Unfit::JudgedBefore));
            state.apply(0, &verdict("cee", 1, verdicts[1])).unwrap();
            assert_eq!(status(&state), expected, "{verdicts:?}");
        }
    }

    #[test]
    fn people_who_never_agree_come_to_an_end() {
        let mut state = AnnotationState::new(1, 1);
        state.apply(0, &question("ann", "Which?")).unwrap();
        for number in 1..MOST_ROUNDS {
            let by = if number % 2 == 1 { "bob" } else { "ann" };
            state.apply(0, &verdict(by, number, Verdict::Correct)).unwrap();
        }
        assert_eq!((state.entries[0].rounds.len(), status(&state)), (MOST_ROUNDS, AnnotationStatus::Corrected));
        state.apply(0, &verdict("ann", MOST_ROUNDS, Verdict::Correct)).unwrap();
        assert_eq!((state.entries[0].rounds.len(), status(&state)), (MOST_ROUNDS, AnnotationStatus::Rejected));
        assert_eq!(state.entries[0].check_question(1), Err(Unfit::Exhausted));
    }

    #[test]
    fn work_ends_a_lease_and_a_renewal_keeps_its_beginning() {
        let mut state = AnnotationState::new(1, 1);
        let at = |second: i64| Timestamp::from_second(1_700_000_000 + second).unwrap();
        state.apply(0, &event("ann", 0, AnnotationAction::Lease { until: at(60) })).unwrap();
        state.apply(0, &event("ann", 30, AnnotationAction::Lease { until: at(90) })).unwrap();
        let lease = state.entries[0].lease.clone().unwrap();
        assert_eq!((lease.since, lease.until), (at(0), at(90)));
        assert!(state.entries[0].leased_to_other("bob", at(89)).is_some());
        assert!(state.entries[0].leased_to_other("bob", at(90)).is_none());
        assert!(state.entries[0].leased_to_other("ann", at(1)).is_none());
        state.apply(0, &question("ann", "Which?")).unwrap();
        assert_eq!(state.entries[0].lease, None);
    }
}
