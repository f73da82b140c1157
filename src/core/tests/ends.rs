//! Stories about ends: how exit code, signal and the agent's own word become one outcome.

use super::support::*;
use crate::core::*;

/// Plays one agent to its end; returns how it ended.
#[track_caller]
fn ended(task: Task, result: Option<AgentResult>, end: TreeEnd, tails: Tails) -> (Story, End) {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![task])]);
    story.does(Event::Started(A1));
    story.does(facts(A1, result.into_iter().map(Fact::Result).collect()));
    story.does(Event::TreeGone(A1, end));
    story.does(Event::Scanned(A1, tails));
    let end = story.end(A1);
    (story, end)
}

#[track_caller]
fn verdict(result: Option<AgentResult>, code: i32, tails: Tails) -> (Outcome, ExitReason, String) {
    let (_, end) = ended(free("task"), result, tree(ProcessEnd::Code(code)), tails);
    (end.outcome, end.reason.expect("it ran"), end.error)
}

fn tails(out: &str, err: &str) -> Tails {
    let line = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Tails { out_line: line(out), err_line: line(err), ..Tails::default() }
}

fn says(completed: Option<bool>, answer: &str) -> AgentResult {
    AgentResult { completed, answer: Some(answer.to_owned()), ..AgentResult::default() }
}

fn done() -> (Outcome, ExitReason, String) {
    (Outcome::Done, ExitReason::Completed, String::new())
}

fn failed(reason: ExitReason, error: &str) -> (Outcome, ExitReason, String) {
    (Outcome::Failed, reason, error.to_owned())
}

/// C-27
#[test]
fn an_absent_completed_is_done_and_a_false_one_is_failed() {
    assert_eq!(verdict(Some(says(None, "answer")), 0, tails("", "")), done());
    assert_eq!(verdict(Some(says(Some(true), "answer")), 0, tails("", "")), done());
    let told = failed(ExitReason::Error, "gave up");
    assert_eq!(verdict(Some(says(Some(false), "gave up")), 0, tails("", "")), told);
}

/// C-28
#[test]
fn a_bad_exit_code_fails_even_a_completed_agent_and_its_numbers_count() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("task")])]);
    let usage = Usage { input: 400, output: 80, cost: Some(cents(3)), ..Usage::default() };
    story.does(tool(A1, StepState::End));
    story.does(facts(A1, vec![Fact::Usage { id: None, usage }]));
    story.does(facts(A1, vec![Fact::Result(says(Some(true), "all good"))]));
    story.ends(A1, 1);
    let row = story.row(A1);
    assert_eq!(row.status, Status::Ended(Outcome::Failed));
    assert_eq!((row.steps, row.tokens.total(), row.cost), (1, 480, Some(cents(3))));
    let kpis = story.snapshot().header.kpis;
    assert_eq!((kpis.steps, kpis.tokens, kpis.cost), (1, 480, cents(3)));
}

/// C-29
#[test]
fn exit_0_without_a_structured_word_is_done_and_not_validated() {
    let (mut story, end) =
        ended(free("task"), None, tree(ProcessEnd::Code(0)), tails("hello", "a warning"));
    assert_eq!((end.outcome, end.error.as_str()), (Outcome::Done, ""));
    let row = story.row(A1);
    assert_eq!((row.validated, row.answer.as_str()), (None, ""));
}

#[test]
fn a_failure_always_has_a_reason() {
    let unfinished = Some(says(Some(false), "no engine"));
    assert_eq!(verdict(unfinished, 1, tails("noise", "")).2, "no engine");
    assert_eq!(verdict(None, 1, tails("last words", "")).2, "last words");
    assert_eq!(verdict(None, 7, tails("", "")).2, "exit code 7");
    let (_, end) =
        ended(free("t"), None, tree(ProcessEnd::Signal("SIGSEGV".to_owned())), tails("", ""));
    assert_eq!(end.error, "killed by signal SIGSEGV");
}

#[test]
fn the_last_line_of_stderr_comes_before_that_of_stdout() {
    assert_eq!(verdict(None, 2, tails("usage", "no such file")).2, "no such file");
}

/// C-36
#[test]
fn a_done_agent_has_no_error_even_with_text_on_stderr() {
    assert_eq!(verdict(None, 0, tails("", "deprecated")), done());
}

/// C-37
#[test]
fn a_signal_that_fleet_did_not_send_fails_the_agent_and_is_named() {
    let killed = tree(ProcessEnd::Signal("SIGKILL".to_owned()));
    let (_, end) = ended(free("task"), None, killed, tails("", ""));
    assert_eq!((end.outcome, end.reason), (Outcome::Failed, Some(ExitReason::Signal)));
    assert!(end.error.contains("SIGKILL"), "{}", end.error);
    assert_eq!(end.process, Some(ProcessEnd::Signal("SIGKILL".to_owned())));
}

/// C-38
#[test]
fn an_error_wins_over_an_answer_and_a_blank_error_is_none() {
    let error = |text: &str| AgentResult { error: text.to_owned(), ..says(None, "summary") };
    let told = failed(ExitReason::Error, "quota gone");
    assert_eq!(verdict(Some(error("quota gone")), 0, tails("", "")), told);
    assert_eq!(verdict(Some(error("")), 0, tails("", "")), done());
    assert_eq!(verdict(Some(error(" \n")), 0, tails("", "")), done());
}

#[test]
fn only_an_agent_that_ends_badly_without_a_word_needs_a_diagnosis() {
    let needs =
        |task: Task, facts_of: Option<AgentResult>, end: TreeEnd, seen: &Tails, stops: bool| {
            let (mut story, _) =
                play(options(1, None), vec![submit(1, vec![task]), Event::Started(A1)]);
            story.does(facts(A1, facts_of.into_iter().map(Fact::Result).collect()));
            if stops {
                story.does(stop(A1));
            }
            story.does(Event::TreeGone(A1, end));
            story.fleet.ends_without_a_word(A1, seen)
        };
    let code = |code| tree(ProcessEnd::Code(code));
    let (silent, printed) = (Tails::default(), Tails { out_bytes: 1, ..Tails::default() });
    assert!(needs(free("t"), None, code(3), &silent, false));
    assert!(needs(free("t"), None, tree(ProcessEnd::Lost), &silent, false));
    assert!(!needs(free("t"), None, code(3), &printed, false));
    assert!(!needs(free("t"), None, code(0), &silent, false));
    assert!(!needs(free("t"), None, code(143), &silent, true), "its owner knows why");
    assert!(!needs(free("t"), Some(says(Some(false), "no")), code(1), &silent, false));
    let refused = tree(ProcessEnd::NotStarted("no such program".to_owned()));
    assert!(!needs(free("t"), None, refused, &silent, false));
    let mut question = paid("question");
    question.traits.must_answer = true;
    assert!(needs(question, None, code(0), &silent, false), "it had to answer");
}

/// C-32, in the row: what could not be read counts as nothing, and is flagged.
#[test]
fn a_result_that_could_not_be_read_counts_nothing_and_is_flagged() {
    let unread = AgentResult { unparsed: true, ..AgentResult::default() };
    let (mut story, end) =
        ended(free("task"), Some(unread), tree(ProcessEnd::Code(0)), tails("", ""));
    assert_eq!(end.outcome, Outcome::Done);
    let row = story.row(A1);
    assert!(row.unparsed);
    assert_eq!((row.steps, row.tokens.total(), row.validated), (0, 0, None));
    assert_eq!((row.answer.as_str(), row.files_changed.len()), ("", 0));
}

/// C-40, for kinds that must answer.
#[test]
fn a_kind_that_must_answer_fails_without_an_answer() {
    let mut task = paid("question");
    task.traits.must_answer = true;
    for result in [None, Some(says(Some(true), " \n")), Some(says(Some(true), "(empty)"))] {
        let (_, end) = ended(task.clone(), result, tree(ProcessEnd::Code(0)), tails("", ""));
        assert_eq!((end.outcome, end.reason), (Outcome::Failed, Some(ExitReason::NoOutput)));
        assert!(end.error.contains("no output"), "{}", end.error);
    }
    let result = Some(says(Some(true), "42"));
    let (_, end) = ended(task, result, tree(ProcessEnd::Code(0)), tails("", ""));
    assert_eq!(end.outcome, Outcome::Done);
}

/// C-41
#[test]
fn a_late_event_never_changes_an_end() {
    let (mut story, _) = play(options(2, None), vec![submit(1, vec![free("one"), free("two")])]);
    story.ends_costing(A1, cents(1));
    let row = story.row(A1);
    let late = [
        Event::Started(A1),
        Event::NeverBegan(A1),
        Event::Exited(A1, 3),
        Event::Progress(A1),
        Event::Behind(A1, 9),
        costs(A1, cents(900)),
        gone(A1, 1),
        scanned(A1),
        stop(A1),
        command(Command::Kill(Some(vec![A1]))),
        Event::Tick,
    ];
    for event in late {
        assert_eq!(story.does(event.clone()), [], "{event:?}");
        assert_eq!(story.row(A1), row, "{event:?}");
    }
    let ends = story.journal.iter().filter(|(_, record)| matches!(**record, Record::Ended(A1, ..)));
    assert_eq!(ends.count(), 1);
}

/// C-46
#[test]
fn validated_is_true_only_if_every_checkpoint_is_green() {
    let smoke = |ok| Fact::Smoke { ok, text: "pytest".to_owned() };
    let cases = [
        (vec![Some(true), Some(true)], Some(true)),
        (vec![Some(true), Some(false)], Some(false)),
        (vec![Some(false), Some(true)], Some(false)),
        (vec![None], None),
        (vec![None, Some(true)], Some(true)),
        (vec![], None),
    ];
    for (smokes, validated) in cases {
        let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("task")])]);
        story.does(facts(A1, smokes.iter().map(|ok| smoke(*ok)).collect()));
        story.ends(A1, 0);
        assert_eq!(story.row(A1).validated, validated, "{smokes:?}");
        let counted = u32::from(validated == Some(true));
        assert_eq!(story.snapshot().header.kpis.validated, counted, "{smokes:?}");
    }
}

#[test]
fn a_shim_that_died_without_a_record_makes_the_agent_lost_even_if_it_was_stopped() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![paid("task")]), stop(A1)]);
    story.does(Event::TreeGone(A1, tree(ProcessEnd::Lost)));
    story.does(scanned(A1));
    assert_eq!(story.end(A1).outcome, Outcome::Lost);
    assert_eq!(story.row(A1).cost, None, "what it cost is not known");
}

#[test]
fn a_program_that_could_not_be_started_is_told_with_its_reason_and_costs_nothing() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![paid("task")])]);
    for event in Event::not_started(A1, "no such program: claude".to_owned(), story.now) {
        story.does(event);
    }
    let end = story.end(A1);
    assert_eq!((end.outcome, end.reason), (Outcome::Failed, Some(ExitReason::Spawn)));
    assert_eq!(end.error, "no such program: claude");
    assert_eq!((story.row(A1).cost, story.row(A1).cost_status), {
        (Some(NanoUsd::ZERO), CostStatus::None)
    });
}

#[test]
fn what_the_shim_says_comes_before_what_the_agent_says() {
    let by_file = TreeEnd { owner_stop: true, signalled: true, ..tree(ProcessEnd::Code(0)) };
    let (_, end) = ended(free("t"), Some(says(Some(true), "ok")), by_file, tails("", ""));
    assert_eq!(end.outcome, Outcome::Cancelled);
    let by_nobody = TreeEnd { signalled: true, ..tree(ProcessEnd::Code(0)) };
    let (_, end) = ended(free("t"), None, by_nobody, tails("", ""));
    assert_eq!(end.outcome, Outcome::Interrupted);
    let orphaned = TreeEnd { orphaned: true, ..tree(ProcessEnd::Signal("SIGTERM".to_owned())) };
    let (_, end) = ended(free("t"), None, orphaned, tails("", ""));
    assert_eq!(end.outcome, Outcome::Interrupted);
    assert_eq!(end.error, "there was no host for longer than its --orphan-limit");
    let timed_out = TreeEnd { timed_out: true, signalled: true, ..tree(ProcessEnd::Code(0)) };
    let (_, end) = ended(free("t"), None, timed_out, tails("", ""));
    assert_eq!((end.outcome, end.error.is_empty()), (Outcome::Timeout, false));
}

#[test]
fn each_tool_call_is_one_step() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("task")])]);
    for state in [StepState::Start, StepState::End, StepState::Error, StepState::Start] {
        story.does(tool(A1, state));
    }
    assert_eq!(story.row(A1).steps, 3);
    assert!(matches!(story.row(A1).phase, Phase::InTool { .. }));
}

/// C-43
#[test]
fn an_error_is_one_line_and_capped() {
    let error = |text: &str| {
        let result = AgentResult { error: text.to_owned(), ..AgentResult::default() };
        verdict(Some(result), 1, tails("", "")).2
    };
    assert_eq!(error("\n  first \nsecond"), "first");
    let trace = "Traceback (most recent call last):\n  File \"a.py\"\nValueError: bad\n";
    assert_eq!(error(trace), "ValueError: bad");
    let long = error(&"é".repeat(5_000));
    assert!(long.ends_with("...") && long.chars().count() <= 400, "{}", long.chars().count());
}

/// C-39
#[test]
fn a_limit_is_told_apart_from_a_crash_and_marked_truncated() {
    for reason in [ExitReason::MaxSteps, ExitReason::MaxTokens, ExitReason::Budget] {
        for (completed, outcome) in [(Some(false), Outcome::Failed), (None, Outcome::Done)] {
            let result =
                AgentResult { reason: Some(reason), truncated: true, ..says(completed, "so far") };
            let (_, end) = ended(free("t"), Some(result), tree(ProcessEnd::Code(0)), tails("", ""));
            assert_eq!((end.outcome, end.reason, end.truncated), (outcome, Some(reason), true));
        }
    }
    let (_, end) = ended(free("t"), None, tree(ProcessEnd::Code(1)), tails("", ""));
    assert_eq!((end.reason, end.truncated), (Some(ExitReason::Error), false));
}

#[test]
fn an_agent_that_keeps_to_the_budget_of_its_task_by_itself_is_over_budget() {
    let says = |reason| AgentResult { reason: Some(reason), ..says(Some(false), "used up") };
    let mut task = free("t");
    let (_, end) = ended(
        task.clone(),
        Some(says(ExitReason::Budget)),
        tree(ProcessEnd::Code(1)),
        tails("", ""),
    );
    let plain = (Outcome::Failed, Some(ExitReason::Budget));
    assert_eq!((end.outcome, end.reason), plain, "nobody gave it a budget");
    task.budget = Some(cents(900));
    for code in [0, 1] {
        let code = ProcessEnd::Code(code);
        let (_, end) =
            ended(task.clone(), Some(says(ExitReason::Budget)), tree(code), tails("", ""));
        assert_eq!((end.outcome, end.reason), (Outcome::OverBudget, Some(ExitReason::Budget)));
        assert_eq!(end.error, "used up");
    }
    // It has a budget, and another limit ended it.
    for reason in [ExitReason::MaxSteps, ExitReason::MaxTokens, ExitReason::Quota] {
        let (_, end) =
            ended(task.clone(), Some(says(reason)), tree(ProcessEnd::Code(1)), tails("", ""));
        assert_eq!((end.outcome, end.reason), (Outcome::Failed, Some(reason)));
    }
    // What it has done within its budget was enough, by its own word.
    let enough = AgentResult { completed: Some(true), ..says(ExitReason::Budget) };
    let (_, end) = ended(task, Some(enough), tree(ProcessEnd::Code(0)), tails("", ""));
    assert_eq!((end.outcome, end.reason), (Outcome::Done, Some(ExitReason::Budget)));
}

#[test]
fn calls_with_ids_end_by_them_whatever_the_order() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("task")])]);
    story.does(Event::Started(A1));
    let call = |id: &str, text: &str, state| Fact::Step {
        id: Some(id.to_owned()),
        tool: "bash".to_owned(),
        text: text.to_owned(),
        state,
    };
    let start = StepState::Start;
    story.does(facts(A1, vec![call("c1", "one", start), call("c2", "two", start)]));
    // Told again with more of its input: the same call.
    story.does(facts(A1, vec![call("c2", "two and more", start)]));
    story.does(facts(A1, vec![call("c1", "", StepState::Error)]));
    let row = story.row(A1);
    assert_eq!(row.steps, 2);
    let Phase::InTool { text, .. } = &row.phase else { panic!("{:?}", row.phase) };
    assert_eq!(text, "two and more");
    story.does(facts(A1, vec![call("c2", "", StepState::End), call("c3", "", StepState::End)]));
    let row = story.row(A1);
    assert_eq!((row.steps, &row.phase), (3, &Phase::Works));
}

#[test]
fn an_agent_that_tries_again_says_so_until_it_goes_on() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("task")])]);
    story.does(Event::Started(A1));
    let retry = |attempt| Retry { attempt: Some(attempt), most: Some(10), cause: "401".to_owned() };
    story.does(facts(A1, vec![Fact::Retry(retry(1))]));
    let Phase::Retries(_, first) = story.row(A1).phase.clone() else { panic!("no retry") };
    story.does(Event::Tick);
    story.does(facts(A1, vec![Fact::Retry(retry(2))]));
    assert_eq!(story.row(A1).phase, Phase::Retries(retry(2), first), "since the first failure");
    story.does(facts(A1, vec![Fact::Usage { id: None, usage: Usage::default() }]));
    assert_eq!(story.row(A1).phase, Phase::Works);
}

#[test]
fn calls_that_were_not_permitted_are_counted() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("task")])]);
    story.does(Event::Started(A1));
    let denied = Fact::Denied { tool: "Write".to_owned(), text: "out.txt".to_owned() };
    story.does(facts(A1, vec![denied.clone(), denied, Fact::Model("m".to_owned())]));
    let row = story.row(A1);
    assert_eq!((row.denied, row.steps, row.model.as_deref()), (2, 0, Some("m")));
}

#[test]
fn files_that_the_agent_tells_of_go_before_those_that_changed_in_its_folder() {
    let seen = |is_shared| ChangedFiles { files: vec!["seen".to_owned()], is_shared };
    let told = |files: &[&str]| {
        let files_changed = files.iter().map(|file| (*file).to_owned()).collect();
        Fact::Result(AgentResult { files_changed, ..says(Some(true), "done") })
    };
    let cases = [
        (vec![], true, vec!["seen"], FilesFrom::GitShared),
        (vec![], false, vec!["seen"], FilesFrom::Git),
        (vec!["told"], true, vec!["told"], FilesFrom::Told),
    ];
    for (files, is_shared, expected, from) in cases {
        let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("task")])]);
        assert_eq!(story.does(Event::Changed(A1, seen(false))), [], "it has not started");
        assert!(story.row(A1).files_changed.is_empty());
        story.does(Event::Started(A1));
        story.does(Event::TreeGone(A1, tree(ProcessEnd::Code(0))));
        story.does(Event::Changed(A1, seen(is_shared)));
        story.does(facts(A1, vec![told(&files)]));
        story.does(scanned(A1));
        let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
        for row in [story.row(A1), story.restored().row(A1)] {
            assert_eq!((row.files_changed, row.files_from), (expected.clone(), from));
        }
        story.does(Event::Changed(A1, ChangedFiles::default()));
        assert_eq!(story.row(A1).files_changed, expected, "it has ended");
    }
}
