use super::*;

const SETTINGS: DeskSettings = DeskSettings { validations: 1, lease: Duration::from_secs(900) };

struct TestDesk {
    folder: tempfile::TempDir,
}

impl TestDesk {
    fn new(entries: usize) -> TestDesk {
        let folder = tempfile::tempdir().unwrap();
        let line =
            |n: usize| format!("{{\"id\": \"q{n}\", \"query\": \"node({n});out;\", \"suggestions\": [\"S\"]}}\n");
        std::fs::write(folder.path().join("queue.jsonl"), (1..=entries).map(line).collect::<String>()).unwrap();
        TestDesk { folder }
    }

    fn open(&self) -> OpenedDesk {
        AnnotationDesk::open(&self.folder.path().join("queue.jsonl"), SETTINGS).unwrap()
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn take(desk: &AnnotationDesk, who: &str, second: i64) -> Option<(String, TaskKind)> {
    let task = desk.take(who, &WantedTask::Any, at(second)).unwrap()?;
    Some((task.entry.id, task.task))
}

fn write(desk: &AnnotationDesk, who: &str, id: &str, text: &str) -> Result<(), AnnotationError> {
    desk.write(who, id, &WrittenQuestion { question: text.to_owned(), suggestion: None }, at(0))
}

fn judge(desk: &AnnotationDesk, who: &str, id: &str, verdict: Verdict) -> Result<(), AnnotationError> {
    let question = (verdict == Verdict::Correct).then(|| "Better?".to_owned());
    let reason = (verdict == Verdict::Reject).then(|| "wrong".to_owned());
    desk.judge(who, id, &VerdictOnQuestion { number: 1, verdict, question, reason }, at(0))
}

#[test]
fn two_annotators_never_have_the_same_entry() {
    let files = TestDesk::new(3);
    let opened = files.open();
    let desk = &opened.desk;
    let entry = |id: &str| Some((id.to_owned(), TaskKind::Write));
    assert_eq!(take(desk, "ann", 0), entry("q1"));
    assert_eq!(take(desk, "bob", 0), entry("q2"));
    assert_eq!(take(desk, "ann", 10), entry("q1"), "the same entry until it is done");
    assert!(matches!(write(desk, "bob", "q1", "Which?"), Err(AnnotationError::Conflict(_))));
    let left = |second| desk.take("ann", &WantedTask::Any, at(second)).unwrap().unwrap().lease_seconds;
    assert_eq!((left(10), left(100)), (890, 800), "the rest of the lease");
    // After the lease another annotator gets the entry.
    assert_eq!(take(desk, "cee", 899), entry("q3"));
    assert_eq!(take(desk, "dan", 899), None);
    assert_eq!(take(desk, "dan", 900), entry("q1"));
    // A late answer counts if the entry is still free.
    write(desk, "bob", "q2", "Which?").unwrap();
    assert!(matches!(write(desk, "ann", "q2", "What?"), Err(AnnotationError::Conflict(_))));
}

#[test]
fn skipped_entries_return_after_the_others() {
    let files = TestDesk::new(3);
    let opened = files.open();
    let desk = &opened.desk;
    for expected in ["q1", "q2", "q3", "q1", "q2"] {
        assert_eq!(take(desk, "ann", 0).unwrap().0, expected);
        desk.skip("ann", expected, Some("unclear"), at(0)).unwrap();
        desk.skip("ann", expected, None, at(0)).unwrap();
    }
    assert_eq!(take(desk, "bob", 0).unwrap().0, "q1", "only who skipped it waits");
    let counts = desk.summary().annotators;
    assert_eq!(counts["ann"].skipped, 5, "a repeated request counts once");
}

#[test]
fn a_repeated_request_is_confirmed_again() {
    let files = TestDesk::new(1);
    let opened = files.open();
    let desk = &opened.desk;
    for _ in 0..2 {
        write(desk, "ann", "q1", " Which\n one? ").unwrap();
    }
    assert!(matches!(judge(desk, "ann", "q1", Verdict::Agree), Err(AnnotationError::OwnQuestion)));
    for _ in 0..2 {
        judge(desk, "bob", "q1", Verdict::Correct).unwrap();
    }
    assert!(matches!(judge(desk, "bob", "q1", Verdict::Agree), Err(AnnotationError::Conflict(_))));
    let mut out = Vec::new();
    desk.export(0, 10, &|_, _| true, &mut out).unwrap();
    let line: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!((line["rounds"][0]["question"].as_str(), line["nl"].as_str()), (Some("Which one?"), Some("Better?")));
    assert_eq!(line["rounds"].as_array().unwrap().len(), 2);
}

#[test]
fn everything_confirmed_is_there_after_a_restart() {
    let files = TestDesk::new(4);
    let opened = files.open();
    write(&opened.desk, "ann", "q1", "One?").unwrap();
    judge(&opened.desk, "bob", "q1", Verdict::Agree).unwrap();
    write(&opened.desk, "bob", "q2", "Two?").unwrap();
    take(&opened.desk, "ann", 0).unwrap();
    let before = (opened.desk.summary(), opened.desk.progress("ann", at(1)));
    drop(opened);
    // A line that a kill cut.
    let state = state_path(&files.folder.path().join("queue.jsonl"));
    let mut bytes = std::fs::read(&state).unwrap();
    bytes.extend(b"{\"entry\":\"q3\",\"query\":");
    std::fs::write(&state, bytes).unwrap();
    let opened = files.open();
    assert_eq!((opened.torn, opened.ignored), (22, 0));
    assert_eq!((opened.desk.summary(), opened.desk.progress("ann", at(1))), before);
    assert_eq!(take(&opened.desk, "bob", 1).unwrap().0, "q4", "ann still has q3");
    drop(opened);
    // Work on a query that changed does not count for the new one.
    let queue = files.folder.path().join("queue.jsonl");
    let text = std::fs::read_to_string(&queue).unwrap().replace("node(1)", "way(1)");
    std::fs::write(&queue, text).unwrap();
    let opened = files.open();
    assert_eq!((opened.ignored, opened.desk.summary().status.agreed), (2, 0));
}

#[test]
fn invalid_work_is_refused_with_its_field() {
    let files = TestDesk::new(1);
    let opened = files.open();
    let desk = &opened.desk;
    let invalid = |result: Result<(), AnnotationError>, says: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(says), "{says}: {message}");
    };
    invalid(write(desk, "ann", "q1", " \n "), "question: it is empty");
    invalid(write(desk, "ann", "q1", &"x".repeat(2001)), "at most 2000");
    invalid(write(desk, "ann", "q1", "a\u{7}b"), "control characters");
    invalid(write(desk, "ann", "q9", "Which?"), "no entry \"q9\"");
    let suggested = WrittenQuestion { question: "Which?".to_owned(), suggestion: Some(1) };
    invalid(desk.write("ann", "q1", &suggested, at(0)), "the entry has 1");
    write(desk, "ann", "q1", "Which?").unwrap();
    let verdict = |verdict, question: Option<&str>, reason: Option<&str>| {
        let (question, reason) = (question.map(str::to_owned), reason.map(str::to_owned));
        desk.judge("bob", "q1", &VerdictOnQuestion { number: 1, verdict, question, reason }, at(0))
    };
    invalid(verdict(Verdict::Correct, None, None), "needs the corrected question");
    invalid(verdict(Verdict::Correct, Some("Which?"), None), "agree with it instead");
    invalid(verdict(Verdict::Agree, Some("What?"), None), "only a correction");
    invalid(verdict(Verdict::Reject, None, Some(" ")), "needs a reason");
    assert_eq!(desk.summary().status.answered, 1);
}

#[test]
fn events_of_one_annotator_are_limited() {
    let files = TestDesk::new(1);
    let opened = files.open();
    let desk = &opened.desk;
    let round = |second| {
        desk.take("ann", &WantedTask::Any, at(second))?;
        desk.skip("ann", "q1", None, at(second))
    };
    for _ in 0..60 {
        round(0).unwrap();
    }
    assert!(matches!(round(0), Err(AnnotationError::TooFast(_))));
    round(1).unwrap();
    assert!(desk.take("bob", &WantedTask::Any, at(1)).is_ok());
}
