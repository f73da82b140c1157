//! Typing, dispatching and changing as a person meets them: keys in, requests and drafts out.

use std::fmt::Write as _;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Position;

use super::*;
use crate::core::testing::{row, snapshot, task};
use crate::core::{
    AgentId, BatchId, Command, NanoUsd, Phase, Refusal, Reply, Row, Snapshot, Status, Waits,
};
use crate::tui::draw::draw;
use crate::tui::layout::Focus;
use crate::tui::message::Asked;
use crate::tui::message::Message;
use crate::tui::model::Model;
use crate::tui::session::{KindInfo, Made, TaskMaker, TaskOptions};
use crate::tui::testing::{Lines, NOW, frame, model, text as cells_of, update};

mod frames;

/// A family that is one grapheme of five characters and more bytes.
const FAMILY: &str = "👨‍👩‍👧";

fn empty() -> Snapshot {
    let mut snapshot = snapshot(1, Vec::new());
    snapshot.header.max_parallel = Some(4);
    snapshot
}

/// The screen on an empty fleet, with the focus on the editor.
fn screen() -> Model {
    model(empty(), 80, 24)
}

fn press(model: &mut Model, code: KeyCode, modifiers: KeyModifiers) -> Vec<Request> {
    update(model, Message::Key(KeyEvent::new(code, modifiers)))
}

fn control(model: &mut Model, character: char) -> Vec<Request> {
    press(model, KeyCode::Char(character), KeyModifiers::CONTROL)
}

fn keys(model: &mut Model, codes: &[KeyCode]) {
    for code in codes {
        let requests = press(model, *code, KeyModifiers::NONE);
        assert!(requests.is_empty(), "{code:?}: {requests:?}");
    }
}

/// Types; a line break is Alt-Enter.
fn type_text(model: &mut Model, text: &str) {
    for character in text.chars() {
        let requests = match character {
            '\n' => press(model, KeyCode::Enter, KeyModifiers::ALT),
            other => press(model, KeyCode::Char(other), KeyModifiers::NONE),
        };
        assert!(requests.is_empty(), "{character:?}: {requests:?}");
    }
}

fn paste(model: &mut Model, text: &str) {
    let requests = update(model, Message::Paste(text.to_owned()));
    assert!(requests.is_empty(), "{requests:?}");
}

fn enter(model: &mut Model) -> Vec<Request> {
    press(model, KeyCode::Enter, KeyModifiers::NONE)
}

/// Presses Enter and returns the texts that are queued by that.
fn submitted(model: &mut Model) -> Vec<String> {
    match enter(model).as_slice() {
        [Request::Submit(submission, _, Asked::Dispatch(count))] => {
            assert_eq!(*count, submission.tasks.len());
            submission.tasks.iter().map(|task| task.text.clone()).collect()
        }
        other => panic!("not submitted: {other:?}"),
    }
}

fn reply(model: &mut Model, asked: Asked, reply: Reply) -> Vec<Request> {
    update(model, Message::Replied(asked, Ok(reply)))
}

fn queued(model: &mut Model) -> Vec<Request> {
    reply(model, Asked::Dispatch(1), Reply::Queued(BatchId::from_bits(1), vec![AgentId(1)]))
}

fn refused(model: &mut Model) {
    let requests =
        reply(model, Asked::Dispatch(1), Reply::Refused(Refusal("the fleet is closed".to_owned())));
    assert!(requests.is_empty(), "{requests:?}");
}

fn flashed(model: &Model) -> &str {
    model.flash.as_ref().map_or("", |flash| flash.text.as_str())
}

fn draft(model: &Model) -> String {
    model.editor.draft()
}

#[test]
fn enter_dispatches_and_the_draft_becomes_history_when_the_host_has_it() {
    let mut model = screen();
    type_text(&mut model, "fix the tests");
    assert_eq!(submitted(&mut model), ["fix the tests"]);
    assert_eq!(draft(&model), "fix the tests", "kept until the host has it");
    let requests = queued(&mut model);
    assert!(
        matches!(requests.as_slice(), [Request::AddHistory(draft)]
                if (draft.text.as_str(), draft.kind.as_str(), draft.folder.as_str())
                    == ("fix the tests", "sh", "/repo")),
        "{requests:?}"
    );
    assert_eq!(draft(&model), "");
    keys(&mut model, &[KeyCode::Up]);
    assert_eq!(draft(&model), "", "a recalled draft is not the one to keep");
    assert_eq!(model.editor.whole(), "fix the tests");
}

#[test]
fn a_second_enter_sends_nothing_and_what_is_typed_meanwhile_is_another_draft() {
    let mut model = screen();
    type_text(&mut model, "one");
    submitted(&mut model);
    assert!(enter(&mut model).is_empty());
    type_text(&mut model, "two");
    assert!(enter(&mut model).is_empty());
    assert_eq!(flashed(&model), "the draft before is still on its way");
    queued(&mut model);
    assert_eq!(submitted(&mut model), ["two"]);
}

#[test]
fn a_refused_draft_comes_back_with_what_was_typed_meanwhile_after_it() {
    let mut model = screen();
    type_text(&mut model, "one");
    submitted(&mut model);
    refused(&mut model);
    assert_eq!(draft(&model), "one");
    submitted(&mut model);
    type_text(&mut model, "two");
    refused(&mut model);
    assert_eq!(draft(&model), "one\n---\ntwo");
    assert_eq!(submitted(&mut model), ["one", "two"]);
}

#[test]
fn a_fleet_that_cannot_be_asked_leaves_the_draft_where_it_is() {
    let mut model = screen();
    let _ = model.update(NOW, Message::Link(crate::tui::Link::Failed("no host".to_owned())));
    type_text(&mut model, "one");
    assert!(enter(&mut model).is_empty());
    assert_eq!((draft(&model).as_str(), flashed(&model)), ("one", "not possible: no host"));
}

#[test]
fn nothing_typed_is_nothing_dispatched() {
    let mut model = screen();
    assert!(enter(&mut model).is_empty());
    type_text(&mut model, "  \n ");
    assert!(enter(&mut model).is_empty());
    assert_eq!(flashed(&model), "nothing is typed yet: type a task first");
}

#[test]
fn a_backslash_before_enter_and_alt_enter_and_ctrl_j_make_a_new_line() {
    let mut model = screen();
    type_text(&mut model, "a\\");
    assert!(enter(&mut model).is_empty());
    type_text(&mut model, "b\nc");
    control(&mut model, 'j');
    type_text(&mut model, "d");
    assert_eq!(draft(&model), "a\nb\nc\nd");
}

#[test]
fn undo_takes_words_back_and_redo_types_them_again() {
    let mut model = screen();
    type_text(&mut model, "fix the  tests");
    let mut seen = Vec::new();
    for _ in 0..3 {
        control(&mut model, 'z');
        seen.push(draft(&model));
    }
    assert_eq!(seen, ["fix the  ", "fix ", ""]);
    control(&mut model, 'z');
    assert_eq!(flashed(&model), "nothing to undo");
    for _ in 0..3 {
        control(&mut model, 'r');
    }
    assert_eq!(draft(&model), "fix the  tests");
}

#[test]
fn undo_of_a_run_of_deletions_is_one_step_and_typing_after_a_move_another() {
    let mut model = screen();
    type_text(&mut model, "abcdef");
    keys(&mut model, &[KeyCode::Backspace; 3]);
    keys(&mut model, &[KeyCode::Left]);
    type_text(&mut model, "X");
    assert_eq!(draft(&model), "abXc");
    control(&mut model, 'u');
    assert_eq!(draft(&model), "abc");
    control(&mut model, 'u');
    assert_eq!(draft(&model), "abcdef");
}

#[test]
fn one_backspace_takes_a_whole_grapheme_and_arrows_pass_it_at_once() {
    let mut model = screen();
    paste(&mut model, &format!("a{FAMILY}e\u{301}"));
    keys(&mut model, &[KeyCode::Left, KeyCode::Left]);
    type_text(&mut model, "|");
    assert_eq!(draft(&model), format!("a|{FAMILY}e\u{301}"));
    keys(&mut model, &[KeyCode::Delete]);
    assert_eq!(draft(&model), "a|e\u{301}");
    keys(&mut model, &[KeyCode::End, KeyCode::Backspace]);
    assert_eq!(draft(&model), "a|");
    control(&mut model, 'z');
    control(&mut model, 'z');
    assert_eq!(draft(&model), format!("a|{FAMILY}e\u{301}"));
}

#[test]
fn words_are_moved_over_and_deleted() {
    let mut model = screen();
    type_text(&mut model, "one two three");
    press(&mut model, KeyCode::Left, KeyModifiers::CONTROL);
    press(&mut model, KeyCode::Left, KeyModifiers::CONTROL);
    control(&mut model, 'w');
    assert_eq!(draft(&model), "two three");
    press(&mut model, KeyCode::Right, KeyModifiers::CONTROL);
    type_text(&mut model, "|");
    assert_eq!(draft(&model), "two |three");
    control(&mut model, 'a');
    type_text(&mut model, "<");
    control(&mut model, 'e');
    type_text(&mut model, ">");
    assert_eq!(draft(&model), "<two |three>");
}

#[test]
fn shift_selects_and_typing_replaces_what_is_selected() {
    let mut model = screen();
    type_text(&mut model, "one two");
    for _ in 0..3 {
        press(&mut model, KeyCode::Left, KeyModifiers::SHIFT);
    }
    type_text(&mut model, "2");
    assert_eq!(draft(&model), "one 2");
    control(&mut model, 'z');
    assert_eq!(draft(&model), "one two");
    press(&mut model, KeyCode::Home, KeyModifiers::SHIFT);
    keys(&mut model, &[KeyCode::Backspace]);
    assert_eq!(draft(&model), "");
}

#[test]
fn history_is_gone_through_without_losing_the_unsent_draft_or_an_edit() {
    let mut model = screen();
    for text in ["first", "second"] {
        type_text(&mut model, text);
        submitted(&mut model);
        queued(&mut model);
    }
    type_text(&mut model, "unsent");
    keys(&mut model, &[KeyCode::Up]);
    type_text(&mut model, "!");
    assert_eq!(model.editor.whole(), "second!");
    keys(&mut model, &[KeyCode::Up]);
    assert_eq!(model.editor.whole(), "first");
    control(&mut model, 'p');
    assert_eq!(model.editor.whole(), "first", "there is no earlier one");
    keys(&mut model, &[KeyCode::Down]);
    assert_eq!(model.editor.whole(), "second!");
    assert_eq!(submitted(&mut model), ["second!"]);
    queued(&mut model);
    assert_eq!(draft(&model), "unsent", "the draft before is back");
    control(&mut model, 'p');
    assert_eq!(model.editor.whole(), "second!");
    control(&mut model, 'n');
    assert_eq!(model.editor.whole(), "unsent");
}

fn dispatched(text: &str, kind: &str, folder: &str) -> Dispatched {
    Dispatched { text: text.to_owned(), kind: kind.to_owned(), folder: folder.to_owned() }
}

/// Goes back to the beginning of the history; returns what came, with the unsent draft first.
fn all_back(model: &mut Model) -> Vec<String> {
    let mut seen = vec![model.editor.whole()];
    loop {
        control(model, 'p');
        let whole = model.editor.whole();
        if seen.last() == Some(&whole) {
            return seen;
        }
        seen.push(whole);
    }
}

#[test]
fn drafts_of_this_kind_and_folder_are_recalled_before_others_and_each_text_once() {
    let mut model = screen();
    let _ = model.update(
        NOW,
        Message::History(Ok(vec![
            dispatched("of the first version", "", ""),
            dispatched("make", "sh", "/repo"),
            dispatched("make test", "sh", "/repo"),
            dispatched("ls", "sh", "/elsewhere"),
            dispatched("fix it", "ygg", "/elsewhere"),
            dispatched("mend it", "ygg", "/repo"),
            dispatched("make", "sh", "/elsewhere"),
        ])),
    );
    type_text(&mut model, "typed");
    let expected =
        ["typed", "make test", "make", "ls", "mend it", "fix it", "of the first version"];
    assert_eq!(all_back(&mut model), expected);
    for _ in 1..expected.len() {
        control(&mut model, 'n');
    }
    assert_eq!(model.editor.whole(), "typed");
    model.world.options.kind = "ygg".to_owned();
    let expected =
        ["typed", "mend it", "fix it", "make test", "make", "ls", "of the first version"];
    assert_eq!(all_back(&mut model), expected);
}

#[test]
fn a_history_that_comes_late_is_before_what_was_dispatched_meanwhile_and_moves_nothing() {
    let mut model = model_of_history();
    control(&mut model, 'p');
    assert_eq!(flashed(&model), "earlier drafts are still being read");
    for text in ["one", "two"] {
        type_text(&mut model, text);
        submitted(&mut model);
        queued(&mut model);
    }
    type_text(&mut model, "typed");
    control(&mut model, 'p');
    type_text(&mut model, "!");
    control(&mut model, 'p');
    let earlier = vec![dispatched("zero", "sh", "/repo"), dispatched("two", "sh", "/repo")];
    let _ = model.update(NOW, Message::History(Ok(earlier)));
    assert_eq!(model.editor.whole(), "one");
    control(&mut model, 'n');
    assert_eq!(model.editor.whole(), "two!");
    control(&mut model, 'n');
    assert_eq!(all_back(&mut model), ["typed", "two!", "one", "zero"]);
    assert_eq!(flashed(&model), "no earlier draft");
    let _ = model.update(NOW, Message::History(Err("it is torn".to_owned())));
    assert_eq!(flashed(&model), "could not read the history: it is torn");
}

#[test]
fn earlier_drafts_are_kept_as_far_as_there_is_room_for_them() {
    let mut model = model_of_history();
    type_text(&mut model, "new");
    submitted(&mut model);
    queued(&mut model);
    let many = (0..600).map(|number| dispatched(&number.to_string(), "sh", "/repo")).collect();
    let _ = model.update(NOW, Message::History(Ok(many)));
    let seen = all_back(&mut model);
    assert_eq!((seen[1].as_str(), seen[2].as_str(), seen.len()), ("new", "599", 501));
    assert_eq!(seen[500], "101");
}

/// The screen whose history is still being read.
fn model_of_history() -> Model {
    let mut model = screen();
    model.editor.history = History::new(true);
    model
}

#[test]
fn up_and_down_move_by_rows_of_the_screen_and_keep_their_column() {
    let mut model = model(empty(), 40, 12);
    type_text(&mut model, &format!("{}\nab\n{}", "word ".repeat(12), "x".repeat(20)));
    keys(&mut model, &[KeyCode::Up, KeyCode::Up]);
    type_text(&mut model, "|");
    assert_eq!(draft(&model).lines().next().unwrap().find('|'), Some(55));
    keys(&mut model, &[KeyCode::Down, KeyCode::Down]);
    type_text(&mut model, "|");
    assert_eq!(draft(&model).lines().nth(2).unwrap().find('|'), Some(20));
}

#[test]
fn a_pasted_mebibyte_is_one_line_counts_as_its_text_and_goes_with_one_backspace() {
    let mut model = screen();
    let long = "fix the tests of one more crate\n".repeat(32_768);
    type_text(&mut model, "a ");
    paste(&mut model, &long);
    type_text(&mut model, " b");
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("› a [pasted: 32,769 lines, 1.0 MB] b"), "{shown}");
    assert_eq!(draft(&model), format!("a {long} b"));
    keys(&mut model, &[KeyCode::Left, KeyCode::Left, KeyCode::Backspace]);
    assert_eq!(draft(&model), "a  b");
    control(&mut model, 'z');
    assert_eq!(submitted(&mut model), [format!("a {long} b")]);
    refused(&mut model);
    assert_eq!(draft(&model), format!("a {long} b"));
    submitted(&mut model);
    queued(&mut model);
    keys(&mut model, &[KeyCode::Up]);
    assert_eq!(model.editor.whole(), format!("a {long} b"));
}

#[test]
fn many_small_pastes_never_make_the_edited_text_long() {
    let mut model = screen();
    let part = "0123456789".repeat(3_000);
    for _ in 0..4 {
        paste(&mut model, &part);
    }
    assert_eq!(draft(&model), part.repeat(4));
    assert!(model.editor.text.bytes() <= text::MOST_BYTES);
}

#[test]
fn what_steers_terminals_is_left_out_and_tabs_are_kept() {
    let mut model = screen();
    paste(&mut model, "\u{1b}[31mred\u{1b}[0m\tx\u{202e}y\u{7}\n\u{9b}2Jz");
    assert_eq!(draft(&model), "red\txy\nz");
    paste(&mut model, "\u{100003}");
    assert_eq!(draft(&model), "red\txy\nz\u{100003}");
}

#[test]
fn the_count_is_that_of_the_task_maker_and_more_than_twenty_are_confirmed() {
    let mut model = screen();
    type_text(&mut model, "one\n---\ntwo\n---\n");
    assert_eq!(model.editor.check.count, 2);
    let many: Vec<String> = (0..21).map(|number| format!("task {number}")).collect();
    let mut model = screen();
    paste(&mut model, &many.join("\n---\n"));
    assert_eq!(model.editor.check.count, 21);
    assert!(enter(&mut model).is_empty());
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("dispatch 21 tasks to sh?"), "{shown}");
    keys(&mut model, &[KeyCode::Char('n')]);
    assert_eq!(draft(&model), many.join("\n---\n"), "no leaves all as it is");
    assert!(enter(&mut model).is_empty());
    let requests = press(&mut model, KeyCode::Char('y'), KeyModifiers::NONE);
    assert!(
        matches!(requests.as_slice(), [Request::Submit(.., Asked::Dispatch(21))]),
        "{requests:?}"
    );
}

/// The screen on an empty fleet with a kind that costs.
fn paying() -> Model {
    let mut model = screen();
    model.world.options.kind = "ygg".to_owned();
    type_text(&mut model, "one");
    model
}

#[test]
fn the_first_task_that_costs_asks_for_a_cap_and_goes_on_without_one_only_when_told() {
    let mut model = paying();
    assert!(enter(&mut model).is_empty());
    assert!(frame(&model, 80, 24).contains("this fleet has no cap"));
    keys(&mut model, &[KeyCode::Esc]);
    assert!(enter(&mut model).is_empty(), "not answered is asked again");
    let requests = press(&mut model, KeyCode::Char('n'), KeyModifiers::NONE);
    assert!(matches!(requests.as_slice(), [Request::Submit(..)]), "{requests:?}");
    queued(&mut model);
    type_text(&mut model, "two");
    assert_eq!(submitted(&mut model), ["two"], "asked once only");
}

/// Splits lines, for one kind that never says what it has cost.
struct Silent;

impl TaskMaker for Silent {
    fn kinds(&self) -> Vec<KindInfo> {
        let counts_as = Some(NanoUsd::from_nanos(500_000_000));
        let name = "copilot".to_owned();
        vec![KindInfo { name, is_installed: true, is_prompt: true, pays: true, counts_as }]
    }

    fn count(&self, draft: &str, options: &TaskOptions) -> usize {
        Lines.count(draft, options)
    }

    fn make(&self, draft: &str, options: &TaskOptions) -> Made {
        Lines.make(draft, options)
    }
}

#[test]
fn a_kind_that_does_not_tell_its_cost_is_said_to_before_the_first_task_starts() {
    let mut model = screen();
    model.editor.kinds = Silent.kinds();
    model.world.maker = Box::new(Silent);
    model.world.options.kind = "copilot".to_owned();
    type_text(&mut model, "one");
    let title = "1 task · copilot · no cap · cost not told: counts as $0.50 each";
    assert!(frame(&model, 80, 24).contains(title), "{}", frame(&model, 80, 24));
    assert!(enter(&mut model).is_empty());
    let asked = frame(&model, 80, 24);
    assert!(asked.contains("It does not say what it costs: each agent counts as"), "{asked}");
    let mut model = paying();
    assert!(enter(&mut model).is_empty());
    assert!(!frame(&model, 80, 24).contains("does not say what it costs"), "ygg does");
}

#[test]
fn a_cap_that_is_given_is_set_before_the_draft_goes() {
    let mut model = paying();
    assert!(enter(&mut model).is_empty());
    let requests = enter(&mut model);
    let five = NanoUsd::from_dollars(5);
    assert!(
        matches!(requests.as_slice(), [Request::Send(Command::SetCap(Some(cap)), Asked::Cap)]
            if *cap == five),
        "{requests:?}"
    );
    let requests = reply(&mut model, Asked::Cap, Reply::Done(1));
    assert!(matches!(requests.as_slice(), [Request::Submit(..)]), "{requests:?}");
}

#[test]
fn a_fleet_with_a_cap_or_with_agents_that_cost_is_not_asked_for_one() {
    let mut model = paying();
    let mut capped = empty();
    capped.header.cap = Some(NanoUsd::from_dollars(1));
    let _ = model.update(NOW, Message::Snapshot(Arc::new(capped)));
    assert_eq!(submitted(&mut model), ["one"]);
    let mut model = paying();
    let mut running = row(1);
    let mut costs = (*task("before")).clone();
    costs.traits.pays = true;
    running.task = Arc::new(costs);
    let _ = model.update(NOW, Message::Snapshot(Arc::new(snapshot(2, vec![running]))));
    assert_eq!(submitted(&mut model), ["one"]);
}

#[test]
fn a_problem_is_shown_in_its_line_when_the_typist_rests_and_goes_when_it_is_mended() {
    let mut model = screen();
    type_text(&mut model, "bad");
    assert_eq!(model.editor.check.problems, []);
    let due = model.wake_at().expect("the draft is to be checked");
    let _ = model.update(due, Message::Wake);
    assert_eq!(model.editor.check.problems.len(), 1);
    assert_eq!(model.editor.wake_at(), None, "an idle screen does not wake up");
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("! bad") && shown.contains("this is a placeholder"), "{shown}");
    assert!(enter(&mut model).is_empty());
    assert!(flashed(&model).starts_with("this is a placeholder"));
    type_text(&mut model, "ly");
    assert_eq!(model.editor.check.problems, []);
    assert_eq!(submitted(&mut model), ["badly"]);
}

#[test]
fn the_marked_line_is_found_behind_a_long_paste() {
    let mut attachments = Attachments::default();
    let mark = attachments.keep("x\n".repeat(3_000), usize::MAX).unwrap();
    let lines = ["a".to_owned(), format!("b{mark}"), "bad".to_owned()];
    let line = |wanted| check::shown_line(&lines, &attachments, wanted);
    assert_eq!([1, 2, 3_002, 3_003, 9_999].map(line), [0, 1, 1, 2, 2]);
}

fn with_queued() -> Snapshot {
    let mut waiting = row(1);
    waiting.status = Status::Queued;
    waiting.phase = Phase::Waits(Waits::Slot);
    waiting.started = None;
    waiting.task = task("old text");
    snapshot(2, vec![waiting])
}

fn edit_queued(model: &mut Model) {
    model.editor.edit_queued(AgentId(1), &model.world).unwrap();
    let _ = model.update(NOW, Message::Wake);
}

#[test]
fn a_queued_task_is_changed_and_the_draft_comes_back_after_that() {
    let mut model = model(with_queued(), 80, 24);
    type_text(&mut model, "my draft");
    edit_queued(&mut model);
    assert_eq!(model.editor.whole(), "old text");
    assert_eq!(draft(&model), "my draft", "that is the one to keep");
    type_text(&mut model, " made new");
    let requests = enter(&mut model);
    let [Request::Send(Command::Edit(id, changed), asked)] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    assert_eq!((*id, changed.text.as_str()), (AgentId(1), "old text made new"));
    assert_eq!(*asked, Asked::Edit(AgentId(1)));
    let refusal = Reply::Refused(Refusal("#1 runs already".to_owned()));
    reply(&mut model, Asked::Edit(AgentId(1)), refusal);
    assert_eq!(model.editor.whole(), "old text made new", "nothing typed is lost");
    assert_eq!(enter(&mut model).len(), 1);
    let requests = reply(&mut model, Asked::Edit(AgentId(1)), Reply::Done(1));
    assert!(requests.is_empty(), "{requests:?}");
    assert_eq!((model.editor.mode, model.editor.whole().as_str()), (Mode::New, "my draft"));
}

#[test]
fn a_change_that_is_given_up_changes_nothing() {
    let mut model = model(with_queued(), 80, 24);
    edit_queued(&mut model);
    type_text(&mut model, "!");
    keys(&mut model, &[KeyCode::Esc]);
    assert_eq!((model.editor.mode, model.editor.whole().as_str()), (Mode::New, ""));
    assert_eq!(model.world.focus, Focus::Agents);
}

/// Presses `e` on the agent that is selected among the agents.
fn edit_selected(model: &mut Model) {
    model.world.focus = Focus::Agents;
    keys(model, &[KeyCode::Char('e')]);
}

#[test]
fn a_queued_task_that_cannot_be_edited_now_says_why_and_keys_stay_where_they_are() {
    let mut model = model(with_queued(), 80, 24);
    type_text(&mut model, "mine");
    submitted(&mut model);
    edit_selected(&mut model);
    assert_eq!(flashed(&model), "what was sent last is still on its way: try again");
    assert_eq!((model.world.focus, draft(&model).as_str()), (Focus::Agents, "mine"));
    queued(&mut model);
    model.world.focus = Focus::Editor;
    let half = "x".repeat(MOST_DRAFT / 2 + 1);
    paste(&mut model, &half);
    let mut long = Snapshot::clone(&with_queued());
    Arc::make_mut(&mut long.rows[0]).task = task(&half);
    let _ = model.update(NOW, Message::Snapshot(Arc::new(long)));
    edit_selected(&mut model);
    assert_eq!(flashed(&model), attachments::FULL);
    assert_eq!(model.world.focus, Focus::Agents);
    assert!(draft(&model) == half);
    let gone = model.editor.edit_queued(AgentId(9), &model.world).unwrap_err();
    assert_eq!(gone, "#9 is not queued any more: only queued tasks can be edited");
}

#[test]
fn a_change_that_was_begun_is_not_given_up_for_another_one() {
    let rows = [1, 2].map(|id| {
        let (status, phase) = (Status::Queued, Phase::Waits(Waits::Slot));
        Row { status, phase, task: task(&format!("task {id}")), ..row(id) }
    });
    let mut model = model(snapshot(2, rows.into()), 80, 24);
    model.editor.edit_queued(AgentId(1), &model.world).unwrap();
    model.editor.edit_queued(AgentId(2), &model.world).unwrap();
    type_text(&mut model, "!");
    model.editor.edit_queued(AgentId(2), &model.world).unwrap();
    assert_eq!(model.editor.whole(), "task 2!", "it goes on");
    let why = model.editor.edit_queued(AgentId(1), &model.world).unwrap_err();
    assert_eq!(why, "#2 is being changed in the editor: Enter there changes it, Esc gives up");
    assert_eq!(model.editor.whole(), "task 2!");
}

#[test]
fn a_kind_that_is_not_installed_is_refused_at_enter_and_the_draft_stays() {
    let mut model = screen();
    model.world.options.kind = "claude".to_owned();
    type_text(&mut model, "fix it");
    assert!(enter(&mut model).is_empty());
    let why = "\"claude\" was not found on PATH: install it";
    assert_eq!(flashed(&model), why);
    assert!(model.modal.is_none(), "no cap is asked for what cannot run");
    assert_eq!(draft(&model), "fix it");
    let shown = frame(&model, 80, 24);
    assert_eq!(shown.matches(why).count(), 2, "in place and below: {shown}");
    model.world.options.kind = "sh".to_owned();
    assert_eq!(submitted(&mut model), ["fix it"]);
}

#[test]
fn a_change_is_checked_like_a_new_task() {
    let mut model = model(with_queued(), 80, 24);
    edit_queued(&mut model);
    press(&mut model, KeyCode::Home, KeyModifiers::SHIFT);
    type_text(&mut model, "bad");
    assert!(enter(&mut model).is_empty());
    assert!(flashed(&model).starts_with("this is a placeholder"));
    keys(&mut model, &[KeyCode::Backspace; 3]);
    assert!(enter(&mut model).is_empty());
    assert!(flashed(&model).starts_with("a task needs a text"));
}

/// What is no longer needed for undo makes room, then undo itself; the text of the editor is taken in any case.
#[test]
fn a_large_draft_can_be_edited_outside_as_often_as_one_likes() {
    let mut model = screen();
    let large = |letter: &str| letter.repeat(20 * 1024 * 1024);
    for letter in ["a", "b", "c", "d", "e"] {
        let _ = model.update(NOW, Message::Draft(large(letter)));
        assert!(model.editor.whole() == large(letter), "{letter}");
        assert!(model.flash.is_none(), "{letter}: {}", flashed(&model));
    }
    let longest = "x".repeat(MOST_DRAFT);
    let _ = model.update(NOW, Message::Draft(longest.clone()));
    assert!(model.editor.whole() == longest);
    type_text(&mut model, "y");
    assert_eq!(flashed(&model), TOO_LONG);
    let _ = model.update(NOW, Message::Draft(longest.clone() + "y"));
    assert_eq!(flashed(&model), attachments::FULL);
    assert!(model.editor.whole() == longest, "the draft stays as it was");
}

#[test]
fn undo_brings_a_large_draft_back_while_there_is_room_for_both() {
    let mut model = screen();
    let large = |letter: &str| letter.repeat(20 * 1024 * 1024);
    paste(&mut model, &large("a"));
    let _ = model.update(NOW, Message::Draft(large("b")));
    paste(&mut model, &large("c"));
    control(&mut model, 'u');
    control(&mut model, 'u');
    assert!(model.editor.whole() == large("a"));
}

#[test]
fn a_draft_that_comes_back_as_it_was_is_no_change() {
    let mut model = screen();
    paste(&mut model, &"line\n".repeat(20_000));
    let (revision, whole) = (model.editor.revision(), model.editor.whole());
    let _ = model.update(NOW, Message::Draft(whole.clone()));
    assert_eq!(model.editor.revision(), revision);
    control(&mut model, 'u');
    assert_eq!(draft(&model), "", "there was one step");
    let _ = model.update(NOW, Message::Draft("a\n".to_owned()));
    assert_eq!(draft(&model), "a\n", "the line break that an editor adds is gone already");
}

#[test]
fn text_from_an_outside_editor_replaces_the_draft_and_undo_brings_it_back() {
    let mut model = screen();
    type_text(&mut model, "mine");
    let requests = control(&mut model, 'x');
    assert!(matches!(requests.as_slice(), [Request::EditDraft(text)] if text == "mine"));
    let _ = model.update(NOW, Message::Draft("theirs\nlonger".to_owned()));
    assert_eq!(draft(&model), "theirs\nlonger");
    let _ = model.update(NOW, Message::Draft(String::new()));
    assert_eq!(draft(&model), "");
    control(&mut model, 'z');
    control(&mut model, 'z');
    assert_eq!(draft(&model), "mine");
}

fn mouse(model: &mut Model, kind: MouseEventKind, column: u16, row: u16) {
    let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    let _ = model.update(NOW, Message::Mouse(event));
}

#[test]
fn a_click_sets_the_caret_and_a_drag_selects() {
    let mut model = screen();
    type_text(&mut model, "one two\nthree");
    let area = model.world.panes.editor;
    let (x, y) = (area.x + 3, area.y + 1);
    mouse(&mut model, MouseEventKind::Down(MouseButton::Left), x + 4, y);
    mouse(&mut model, MouseEventKind::Drag(MouseButton::Left), x + 7, y);
    type_text(&mut model, "2");
    assert_eq!(draft(&model), "one 2\nthree");
    mouse(&mut model, MouseEventKind::Down(MouseButton::Left), x + 70, y + 1);
    type_text(&mut model, "!");
    assert_eq!(draft(&model), "one 2\nthree!");
}

#[test]
fn the_wheel_scrolls_and_the_next_key_goes_back_to_the_caret() {
    let mut model = screen();
    let lines: Vec<String> = (1..40).map(|number| format!("line {number}")).collect();
    paste(&mut model, &lines.join("\n"));
    let area = model.world.panes.editor;
    assert!(frame(&model, 80, 24).contains("line 39"));
    for _ in 0..20 {
        mouse(&mut model, MouseEventKind::ScrollUp, area.x + 5, area.y + 2);
    }
    assert!(
        frame(&model, 80, 24).contains("› line 1\n") || frame(&model, 80, 24).contains("› line 1 ")
    );
    type_text(&mut model, "!");
    assert!(frame(&model, 80, 24).contains("line 39!"));
}

/// Draws and returns the cell of the caret.
fn caret(model: &Model, columns: u16, rows: u16) -> Option<Position> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let mut at = None;
    terminal
        .draw(|frame| {
            at = model.editor.draw(model.world.panes.editor, frame.buffer_mut(), &model.world);
        })
        .unwrap();
    at
}

#[test]
fn the_caret_stands_behind_what_was_typed_however_wide_it_is() {
    let mut model = screen();
    let area = model.world.panes.editor;
    let start = Position::new(area.x + 3, area.y + 1);
    assert_eq!(caret(&model, 80, 24), Some(start));
    paste(&mut model, &format!("日本{FAMILY}e\u{301}"));
    assert_eq!(caret(&model, 80, 24), Some(Position::new(start.x + 7, start.y)));
    paste(&mut model, &"x".repeat(200));
    let at = caret(&model, 80, 24).unwrap();
    assert!(area.contains(at) && at.x < area.right() - 1, "{at:?}");
}

#[test]
fn it_draws_at_every_size_without_leaving_its_place() {
    let text = "one\n---\nbad\n---\n日本語 wide 👨‍👩‍👧 שלום tab\tend";
    for columns in 1..=60 {
        for rows in 1..=20 {
            let mut model = model(empty(), columns, rows);
            paste(&mut model, text);
            let _ = enter(&mut model);
            let shown = frame(&model, columns, rows);
            let area = model.world.panes.editor;
            let (top, bottom) = (usize::from(area.y), usize::from(area.bottom()));
            for line in shown.lines().take(bottom).skip(top) {
                let edge = line.ends_with(['║', '╗', '╝']);
                let cells = plain_text::cells(line);
                assert!(edge && cells == usize::from(area.width), "{columns}x{rows}: {line}");
            }
        }
    }
}

#[test]
fn undo_leads_back_from_an_earlier_draft_to_the_one_that_was_typed() {
    let mut model = screen();
    type_text(&mut model, "first");
    assert_eq!(submitted(&mut model), ["first"]);
    let reply = Reply::Queued(BatchId::from_bits(1), vec![AgentId(1)]);
    update(&mut model, Message::Replied(Asked::Dispatch(1), Ok(reply)));
    type_text(&mut model, "half");
    control(&mut model, 'p');
    assert_eq!(model.editor.whole(), "first");
    control(&mut model, 'u');
    assert_eq!(model.editor.whole(), "half");
}
