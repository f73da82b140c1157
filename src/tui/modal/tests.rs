//! Modals as a person meets them: keys in, requests and frames out.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::Modal;
use crate::core::testing::{end, row, snapshot, task};
use crate::core::{
    AgentId, AgentKind, Answer, BatchId, Command, CostStatus, ExitReason, Hold, KindTraits, Moment,
    NanoUsd, Outcome, Phase, Question, QuestionId, Refusal, Reply, Row, Snapshot, Status, Task,
    Tokens, Waits,
};
use crate::runtime::Gone;
use crate::tail::view;
use crate::tui::keymap::Place;
use crate::tui::layout::Focus;
use crate::tui::message::{Asked, Facts, Message, Request};
use crate::tui::model::Model;
use crate::tui::session::{Left, Link};
use crate::tui::testing::{NOW, frame, model, pane};
use crate::tui::wish::Wish;

/// Sizes at which every modal is looked at.
const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 12)];

fn queued(id: u32, goal: &str) -> Row {
    let mut row = row(id);
    row.status = Status::Queued;
    row.phase = Phase::Waits(Waits::Cap);
    row.started = None;
    row.task = task(goal);
    row
}

fn costing(mut row: Row, nanos: u64) -> Row {
    row.cost = Some(NanoUsd::from_nanos(nanos));
    row.cost_status = CostStatus::Reported;
    row
}

/// Two that run, one that is done, four that wait; $4.128 of $4 is spent.
fn at_the_cap() -> Snapshot {
    let rows = vec![
        costing(row(1), 1_000_000_000),
        costing(row(2), 1_000_000_000),
        costing(end(row(3), Outcome::Done, ""), 2_128_000_000),
        queued(4, "fix the parser"),
        queued(5, "日本語 in the \u{1b}[31mdocs\u{202e} 👩‍👩‍👧"),
        queued(6, "write tests"),
        queued(7, "and one more thing that is rather long for a single line of a small box"),
    ];
    let mut snapshot = snapshot(3, rows);
    snapshot.header.cap = Some(NanoUsd::from_dollars(4));
    snapshot.header.reserved = NanoUsd::from_nanos(1_500_000_000);
    snapshot.question = Some(Question {
        id: QuestionId(1),
        asked: NOW,
        cap: NanoUsd::from_dollars(4),
        committed: snapshot.header.spent,
        default: NanoUsd::from_nanos(5_130_000_000),
        queued: 4,
        queue_estimate: Some(NanoUsd::from_nanos(8_512_000_000)),
    });
    snapshot
}

fn press(model: &mut Model, code: KeyCode) -> Vec<Request> {
    press_at(model, NOW, code)
}

/// Presses a key, as somebody does who has seen the last frame.
fn press_at(model: &mut Model, now: Moment, code: KeyCode) -> Vec<Request> {
    model.drawn();
    model.update(now, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn type_in(model: &mut Model, text: &str) -> Vec<Request> {
    text.chars().flat_map(|character| press(model, KeyCode::Char(character))).collect()
}

/// The screen at the cap with the question opened by F4.
fn asked(columns: u16, rows: u16) -> Model {
    let mut model = model(at_the_cap(), columns, rows);
    assert!(press(&mut model, KeyCode::F(4)).is_empty());
    model
}

fn is_open(model: &Model) -> bool {
    model.modal.is_some()
}

/// The modal without the panes below it.
fn alone(model: &Model, columns: u16, rows: u16) -> String {
    let modal = model.modal.as_ref().unwrap();
    pane(columns, rows, |_, buffer| {
        modal.draw(buffer, &model.world);
    })
}

fn flash(model: &Model) -> String {
    model.flash.as_ref().map(|flash| flash.text.clone()).unwrap_or_default()
}

#[track_caller]
fn answer(requests: &[Request]) -> Answer {
    match requests {
        [Request::Send(Command::Answer(QuestionId(1), answer), Asked::Answer)] => *answer,
        other => panic!("no answer: {other:?}"),
    }
}

fn dollars(text: &str) -> NanoUsd {
    text.parse().unwrap()
}

#[test]
fn enter_raises_the_cap_to_what_is_proposed_and_closes_when_the_host_has_taken_it() {
    let mut model = asked(80, 24);
    let requests = press(&mut model, KeyCode::Enter);
    assert_eq!(answer(&requests), Answer::Raise(dollars("5.13")));
    assert!(is_open(&model), "the host may still refuse");
    assert!(press(&mut model, KeyCode::Enter).is_empty(), "an answer is given once");
    model.update(NOW, Message::Replied(Asked::Answer, Ok(Reply::Done(0))));
    assert!(!is_open(&model));
    assert_eq!(flash(&model), "the cap is raised to $5.13");
}

/// C-65, on the screen.
#[test]
fn an_amount_enter_s_d_and_escape_answer_the_question() {
    let open = || {
        let mut snapshot = snapshot(1, vec![costing(row(1), 1_000_000_000), queued(2, "x")]);
        snapshot.header.cap = Some(NanoUsd::from_dollars(1));
        snapshot.question = Some(Question {
            id: QuestionId(1),
            asked: NOW,
            cap: NanoUsd::from_dollars(1),
            committed: NanoUsd::from_dollars(1),
            default: NanoUsd::from_dollars(2),
            queued: 1,
            queue_estimate: None,
        });
        let mut model = model(snapshot, 80, 24);
        press(&mut model, KeyCode::F(4));
        model
    };
    for (text, amount) in [("$2", "2"), ("2", "2"), ("1.50", "1.5"), (" 12 ", "12")] {
        let mut model = open();
        assert!(type_in(&mut model, text).is_empty());
        let requests = press(&mut model, KeyCode::Enter);
        assert_eq!(answer(&requests), Answer::Raise(dollars(amount)), "{text:?}");
    }
    let mut model = open();
    assert!(frame(&model, 80, 24).contains("$2.00"));
    assert_eq!(answer(&press(&mut model, KeyCode::Enter)), Answer::Raise(dollars("2")));
    assert_eq!(answer(&type_in(&mut open(), "ss")), Answer::Stop);
    assert_eq!(answer(&type_in(&mut open(), "d")), Answer::Drop);
    assert_eq!(answer(&press(&mut open(), KeyCode::Esc)), Answer::Hold);
}

#[test]
fn quick_keys_change_the_amount_that_enter_confirms() {
    for (keys, amount) in [
        ("+", "6.13"),
        ("++", "7.13"),
        ("f", "10.13"),
        ("x", "8"),
        ("xx", "8"),
        ("xf", "13"),
        ("9+", "10"),
    ] {
        let mut model = asked(80, 24);
        assert!(type_in(&mut model, keys).is_empty());
        let requests = press(&mut model, KeyCode::Enter);
        assert_eq!(answer(&requests), Answer::Raise(dollars(amount)), "{keys:?}");
    }
}

/// C-64, on the screen.
#[test]
fn wrong_amounts_are_refused_in_place_and_nothing_is_sent() {
    for (text, why) in [
        ("ten", "'ten' is not an amount of dollars"),
        ("4", "$4.00 would let nothing start: $4.128 is spent"),
        ("4.128", "$4.128 would let nothing start"),
        ("-1", "'-1' is below zero"),
        ("99999999999999999", "is more than Fleet can count"),
    ] {
        let mut model = asked(80, 24);
        type_in(&mut model, text);
        assert!(press(&mut model, KeyCode::Enter).is_empty(), "{text:?}");
        assert!(is_open(&model));
        let shown = frame(&model, 80, 24);
        assert!(shown.contains(why), "{text:?}: {shown}");
        // The next amount is not held up by the last one.
        press(&mut model, KeyCode::Backspace);
        for _ in 0..30 {
            press(&mut model, KeyCode::Backspace);
        }
        type_in(&mut model, "6");
        assert_eq!(answer(&press(&mut model, KeyCode::Enter)), Answer::Raise(dollars("6")));
    }
}

#[test]
fn what_the_host_refuses_is_told_in_place() {
    let mut model = asked(80, 24);
    press(&mut model, KeyCode::Enter);
    let refusal = Refusal("$5.13 would let nothing start: $6.00 is spent".to_owned());
    model.update(NOW, Message::Replied(Asked::Answer, Ok(Reply::Refused(refusal))));
    assert!(frame(&model, 80, 24).contains("would let nothing start: $6.00"));
    type_in(&mut model, "8");
    assert_eq!(answer(&press(&mut model, KeyCode::Enter)), Answer::Raise(dollars("8")));
    model.update(NOW, Message::Replied(Asked::Answer, Err(Gone)));
    assert!(frame(&model, 80, 24).contains("not done, as far as is known"));
}

#[test]
fn the_queue_is_dropped_or_stays_held() {
    let mut model = asked(80, 24);
    assert_eq!(answer(&type_in(&mut model, "d")), Answer::Drop);
    let mut model = asked(80, 24);
    assert_eq!(answer(&press(&mut model, KeyCode::Esc)), Answer::Hold);
    model.update(NOW, Message::Replied(Asked::Answer, Ok(Reply::Done(0))));
    // The snapshot is older than the reply: the question that was answered is not asked again.
    assert!(!is_open(&model));
    assert_eq!(flash(&model), "the queue stays held: F4 changes the cap");
}

#[test]
fn a_letter_that_slips_into_an_amount_drops_nothing_by_itself() {
    let mut model = asked(80, 24);
    assert!(type_in(&mut model, "21d").is_empty());
    assert!(frame(&model, 80, 24).contains("press d again: 4 queued tasks will not run"));
    assert!(type_in(&mut model, "0").is_empty());
    assert!(type_in(&mut model, "d").is_empty(), "another key came between");
    assert_eq!(answer(&type_in(&mut model, "d")), Answer::Drop);
}

/// Ctrl-C is the quit question everywhere: it answers nothing for the others who look at the fleet.
#[test]
fn control_c_at_the_cap_question_asks_about_quitting_and_answers_nothing() {
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    let mut model = asked(80, 24);
    assert!(model.update(NOW, Message::Key(control_c)).is_empty());
    assert!(frame(&model, 80, 24).contains("fleet attach k3f"));
    let requests = model.update(NOW, Message::Key(control_c));
    assert!(matches!(requests.last(), Some(Request::Leave(Left::Detached))), "{requests:?}");
}

#[test]
fn what_is_reserved_is_said_to_be_for_those_it_is_for() {
    let reserved = |rows: Vec<Row>| {
        let mut snapshot = snapshot(1, rows);
        snapshot.header.cap = Some(dollars("9"));
        snapshot.header.reserved = dollars("1");
        snapshot.header.without_budget = 1;
        let mut model = model(snapshot, 120, 40);
        press(&mut model, KeyCode::F(4));
        frame(&model, 120, 40)
    };
    let unknown =
        Row { cost_status: CostStatus::Unknown, cost: None, ..end(row(1), Outcome::Done, "") };
    let over = reserved(vec![unknown.clone(), queued(2, "x")]);
    assert!(over.contains("$1.0000 for agents of unknown cost"), "{over}");
    assert!(!over.contains("overshoot"), "{over}");
    assert!(reserved(vec![row(2)]).contains("$1.0000 for what runs "));
    assert!(reserved(vec![unknown, row(2)]).contains("for what runs and agents of unknown cost"));
}

/// The proposal may be all reserved by what runs; then Enter would seem to do nothing.
#[test]
fn a_cap_that_lets_nothing_start_at_once_says_so_before_it_is_given() {
    let mut model = asked(80, 24);
    let said = "what runs may use that up: more than $5.6280";
    assert!(frame(&model, 80, 24).contains(said), "{}", frame(&model, 80, 24));
    type_in(&mut model, "5.7");
    assert!(!frame(&model, 80, 24).contains("may use that up"));
}

#[test]
fn stopping_everything_takes_the_key_twice_in_a_row() {
    let mut model = asked(80, 24);
    assert!(type_in(&mut model, "s").is_empty());
    assert!(frame(&model, 80, 24).contains("press s again: 2 agents will be ended and 4 queued"));
    assert!(type_in(&mut model, "1s").is_empty(), "another key came between");
    assert_eq!(answer(&type_in(&mut model, "s")), Answer::Stop);
}

#[test]
fn a_question_that_opens_by_itself_ignores_keys_for_half_a_second_and_says_so() {
    let mut model = model(Snapshot::empty(at_the_cap().header.fleet, NOW), 80, 24);
    model.world.focus = Focus::Agents;
    model.update(NOW, Message::Snapshot(Arc::new(at_the_cap())));
    assert!(is_open(&model));
    assert!(frame(&model, 80, 24).contains("keys work in 0.5 s"));
    let early = Moment(NOW.0 + 499);
    assert!(press_at(&mut model, early, KeyCode::Char('d')).is_empty());
    assert!(press_at(&mut model, early, KeyCode::Enter).is_empty());
    assert!(frame(&model, 80, 24).contains("keys work in 0.1 s"));
    assert_eq!(model.wake_at(), Some(Moment(NOW.0 + 500)));
    let then = Moment(NOW.0 + 500);
    model.update(then, Message::Wake);
    assert!(!frame(&model, 80, 24).contains("keys work in"));
    assert!(model.wake_at() > Some(then), "nothing wakes for what is over");
    assert_eq!(answer(&press_at(&mut model, then, KeyCode::Char('d'))), Answer::Drop);
}

#[test]
fn an_invited_question_takes_keys_at_once() {
    let mut model = asked(80, 24);
    assert!(!frame(&model, 80, 24).contains("keys work in"));
    assert_eq!(answer(&type_in(&mut model, "d")), Answer::Drop);
}

#[test]
fn after_keep_holding_the_cap_by_hand_still_drops_the_queue_when_asked_twice() {
    let mut held = at_the_cap();
    held.question = None;
    let mut model = model(held.clone(), 80, 24);
    press(&mut model, KeyCode::F(4));
    assert!(!alone(&model, 80, 24).contains("drop the held queue"), "nothing is held");
    assert!(type_in(&mut model, "dd").is_empty());
    held.header.hold = Some(Hold::Cap);
    model.update(NOW, Message::Snapshot(Arc::new(held)));
    insta::assert_snapshot!("held_at_the_cap_80x24", alone(&model, 80, 24));
    assert!(type_in(&mut model, "d").is_empty());
    assert!(alone(&model, 80, 24).contains("press d again: 4 queued tasks will not run"));
    assert!(type_in(&mut model, "+d").is_empty(), "another key came between");
    let requests = type_in(&mut model, "d");
    let queue = [4, 5, 6, 7].map(AgentId).to_vec();
    assert!(
        matches!(&requests[..], [Request::Send(Command::Stop(Some(ids)), Asked::Cap)] if *ids == queue),
        "{requests:?}"
    );
    model.update(NOW, Message::Replied(Asked::Cap, Ok(Reply::Done(4))));
    assert!(!is_open(&model));
    assert_eq!(flash(&model), "the queue is dropped");
}

/// A page of the output that is shown, with one line.
fn page(line: &str) -> Message {
    let spans = view::text::Line::from_raw(line.as_bytes()).slice(0, 78);
    let rows = vec![view::Row { spans, offset: 0, is_first: true }];
    Message::Page(Arc::new(view::Page { number: 1, rows, size: Some(9), ..view::Page::default() }))
}

#[test]
fn what_is_held_by_itself_is_not_named_as_next_after_the_cap() {
    let mut snapshot = at_the_cap();
    let rows = snapshot.rows.iter().map(|row| row.as_ref().clone()).map(|mut row| {
        row.held = row.id == AgentId(4) || row.id == AgentId(7);
        Arc::new(row)
    });
    snapshot.rows = rows.collect();
    let mut model = model(snapshot, 120, 40);
    let _ = press(&mut model, KeyCode::F(4));
    let shown = alone(&model, 120, 40);
    assert!(shown.contains("#5 ") && shown.contains("#6 write tests"), "{shown}");
    assert!(!shown.contains("#4 ") && !shown.contains("and 1 more"), "{shown}");
}

/// C-66
#[test]
fn the_screen_lives_on_below_the_question() {
    let mut model = asked(120, 40);
    model.update(NOW, page("compiling"));
    assert!(frame(&model, 120, 40).contains("compiling"));
    model.update(NOW, page("linking"));
    let shown = frame(&model, 120, 40);
    assert!(shown.contains("linking") && !shown.contains("compiling"), "{shown}");
    assert!(shown.contains("raise to"), "the question is open: {shown}");
    let mut later = at_the_cap();
    let mut rows: Vec<Row> = later.rows.iter().map(|row| row.as_ref().clone()).collect();
    rows[0] = costing(end(row(1), Outcome::Done, ""), 1_500_000_000);
    let question = later.question.clone();
    let cap = later.header.cap;
    later = snapshot(4, rows);
    later.header.cap = cap;
    later.question = question.map(|it| Question { committed: dollars("4.628"), ..it });
    model.update(NOW, Message::Snapshot(Arc::new(later)));
    let shown = frame(&model, 120, 40);
    assert!(shown.contains("$4.6280 / $4.00"), "{shown}");
    assert!(shown.contains("1 agent goes on meanwhile"), "{shown}");
    assert!(shown.contains("#1") && shown.contains("2 done"), "{shown}");
    assert!(model.world.snapshot.rows[0].status.is_ended());
}

#[test]
fn an_amount_that_nobody_typed_follows_what_is_spent_and_a_typed_one_does_not() {
    let mut later = at_the_cap();
    if let Some(question) = &mut later.question {
        question.committed = dollars("5.50");
        question.default = dollars("6.50");
    }
    let mut model = asked(80, 24);
    model.update(NOW, Message::Snapshot(Arc::new(later.clone())));
    assert!(press(&mut model, KeyCode::Enter).is_empty(), "it changed just now");
    let then = Moment(NOW.0 + 500);
    let requests = press_at(&mut model, then, KeyCode::Enter);
    assert_eq!(answer(&requests), Answer::Raise(dollars("6.50")));
    let mut model = asked(80, 24);
    type_in(&mut model, "5");
    model.update(NOW, Message::Snapshot(Arc::new(later)));
    assert!(press(&mut model, KeyCode::Enter).is_empty());
    assert!(frame(&model, 80, 24).contains("$5.00 would let nothing start: $5.50 is spent"));
}

#[test]
fn a_question_that_was_answered_elsewhere_closes_and_says_how() {
    type Change = fn(&mut Snapshot);
    let cases: [(Change, &str); 5] = [
        (
            |it| it.header.cap = Some(NanoUsd::from_dollars(12)),
            "answered elsewhere: raised to $12.00",
        ),
        (|it| it.header.cap = None, "answered elsewhere: the cap is gone"),
        (|it| it.header.hold = Some(Hold::Cap), "answered elsewhere: the queue stays held"),
        (
            |it| {
                it.header.kpis.queued = 0;
                it.header.left_by_cap = true;
            },
            "answered elsewhere: the queue is dropped",
        ),
        (
            |it| it.header.interrupted = Some("SIGTERM".into()),
            "the cap question is closed: SIGTERM",
        ),
    ];
    for (change, said) in cases {
        let mut model = asked(80, 24);
        let mut later = at_the_cap();
        later.question = None;
        change(&mut later);
        model.update(NOW, Message::Snapshot(Arc::new(later)));
        assert!(!is_open(&model), "{said}");
        assert_eq!(flash(&model), said);
    }
    let mut model = asked(80, 24);
    press(&mut model, KeyCode::Enter);
    let reply = Reply::AlreadyAnswered("raised to $12.00".into());
    model.update(NOW, Message::Replied(Asked::Answer, Ok(reply)));
    assert!(!is_open(&model));
    assert_eq!(flash(&model), "already answered: raised to $12.00");
}

#[test]
fn without_a_host_the_question_says_so_and_sends_nothing() {
    let mut model = asked(80, 24);
    model.update(NOW, Message::Link(Link::Waiting("starting another host".into())));
    assert!(press(&mut model, KeyCode::Enter).is_empty());
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("not live, as last seen: starting another host"), "{shown}");
    assert!(shown.contains("nobody can be asked now"), "{shown}");
    assert!(press(&mut model, KeyCode::Esc).is_empty());
    assert!(!is_open(&model));
}

/// What runs without a cap question, with this cap.
fn by_hand(cap: Option<&str>) -> Model {
    let mut now = snapshot(1, vec![costing(row(1), 1_000_000_000), row(2)]);
    now.header.cap = cap.map(dollars);
    let mut model = model(now, 80, 24);
    press(&mut model, KeyCode::F(4));
    model
}

/// What the question tells is told by hand as well, at any time; what is not known is said to be so.
#[test]
fn the_cap_by_hand_tells_what_the_question_would() {
    let mut calm = at_the_cap();
    calm.question = None;
    calm.header.cap = Some(NanoUsd::from_dollars(10));
    let mut model = model(calm, 80, 24);
    press(&mut model, KeyCode::F(4));
    let shown = alone(&model, 80, 24);
    for told in [
        "spent      $4.1280 / $10.00",
        "reserved   $1.5000 for what runs",
        "rate       $12.39 a minute",
        "forecast   cap in ~1 min",
        "queued     4 tasks, about $8.52 at the average so far",
        "running    2 agents",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let mut unknown = snapshot(1, vec![row(1)]);
    unknown.header.cap = Some(NanoUsd::from_dollars(10));
    let facts = ["reserved   nothing", "rate       not known yet"];
    let fresh = |snapshot: &Snapshot| {
        let mut model = crate::tui::testing::model(snapshot.clone(), 80, 24);
        press(&mut model, KeyCode::F(4));
        alone(&model, 80, 24)
    };
    let shown = fresh(&unknown);
    for told in facts.iter().chain(&["forecast   not known yet", "queued     nothing"]) {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    unknown.header.kpis.running = 0;
    let shown = fresh(&unknown);
    assert!(shown.contains("forecast   nothing runs that would reach the cap"), "{shown}");
    unknown.question = at_the_cap().question;
    let shown = fresh(&unknown);
    assert!(facts.iter().all(|told| shown.contains(told)), "{shown}");
}

#[test]
fn the_cap_is_set_changed_and_taken_away_by_hand() {
    let sent = |requests: Vec<Request>| match requests.as_slice() {
        [Request::Send(Command::SetCap(cap), Asked::Cap)] => *cap,
        other => panic!("{other:?}"),
    };
    let mut model = by_hand(None);
    assert!(frame(&model, 80, 24).contains("there is no cap: nothing limits what is spent"));
    type_in(&mut model, "3");
    assert!(frame(&model, 80, 24).contains("Enter sets the cap to $3.00"));
    assert_eq!(sent(press(&mut model, KeyCode::Enter)), Some(dollars("3")));
    let mut model = by_hand(Some("3"));
    type_in(&mut model, "+");
    assert_eq!(sent(press(&mut model, KeyCode::Enter)), Some(dollars("4")));
    let mut model = by_hand(Some("3"));
    press(&mut model, KeyCode::Backspace);
    assert!(frame(&model, 80, 24).contains("Enter takes the cap away"));
    assert!(press(&mut model, KeyCode::Enter).is_empty(), "it is asked twice");
    assert!(frame(&model, 80, 24).contains("press Enter again: nothing limits what is spent"));
    assert_eq!(sent(press(&mut model, KeyCode::Enter)), None);
    let mut model = by_hand(None);
    type_in(&mut model, "x");
    assert!(frame(&model, 80, 24).contains("there is no cap to double: type an amount"));
    let mut model = by_hand(Some("3"));
    type_in(&mut model, "0.5");
    assert!(!frame(&model, 80, 24).contains("Enter sets the cap"), "it would be refused");
    let mut model = by_hand(Some("3"));
    type_in(&mut model, "1");
    assert!(press(&mut model, KeyCode::Enter).is_empty());
    assert!(frame(&model, 80, 24).contains("$1.00 would let nothing start: $1.00 is spent"));
    assert!(press(&mut model, KeyCode::Esc).is_empty());
    assert!(!is_open(&model));
    let mut model = by_hand(None);
    assert!(press(&mut model, KeyCode::Enter).is_empty());
    assert!(!is_open(&model), "nothing was changed");
}

#[test]
fn the_first_cap_is_set_before_the_draft_is_dispatched() {
    let mut model = model(snapshot(1, Vec::new()), 80, 24);
    model.modal = Some(Modal::first_cap("ygg", &model.world, None));
    let requests = press(&mut model, KeyCode::Enter);
    assert!(
        matches!(
            requests.as_slice(),
            [Request::Send(Command::SetCap(Some(cap)), Asked::Cap)] if *cap == NanoUsd::from_dollars(5)
        ),
        "{requests:?}"
    );
    assert!(is_open(&model), "the draft waits for the cap");
    model.update(NOW, Message::Replied(Asked::Cap, Ok(Reply::Done(0))));
    assert!(!is_open(&model));
    let wishes = |code| {
        let mut modal = Modal::first_cap("ygg", &model.world, None);
        modal.drawn();
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        let action = crate::tui::keymap::action(modal.place(), key).unwrap();
        modal.act(action, &model.world)
    };
    assert!(matches!(wishes(KeyCode::Char('n')).as_slice(), [Wish::Close, Wish::Dispatch]));
    assert!(matches!(wishes(KeyCode::Esc).as_slice(), [Wish::Close]));
}

#[test]
fn leaving_promises_nothing_that_a_hold_keeps_from_happening() {
    let shown = |running: u32, queued: u32, change: fn(&mut Snapshot)| {
        let mut held = snapshot(1, vec![row(1), row(2)]);
        held.header.kpis.running = running;
        held.header.kpis.queued = queued;
        held.header.all_done = false;
        held.header.idle = false;
        change(&mut held);
        let mut model = model(held, 80, 24);
        model.modal = Some(Modal::quit(&model.world));
        frame(&model, 80, 24)
    };
    let hold = |held: &mut Snapshot| held.header.hold = Some(Hold::Owner);
    for (running, queued, words) in [
        (0, 1, "it stays queued: nothing starts until you decide"),
        (0, 2, "they stay queued: nothing starts until you decide"),
        (1, 2, "what runs goes on; what waits stays queued, held"),
        (1, 0, "all go on without this screen"),
    ] {
        let seen = shown(running, queued, hold);
        assert!(seen.contains(words), "{seen}");
    }
    let kind = shown(0, 2, |held| held.header.idle = true);
    assert!(kind.contains("nothing starts until you decide"), "{kind}");
    let free = shown(1, 2, |_| ());
    assert!(free.contains("all go on without this screen"), "{free}");
}

#[test]
fn quitting_leaves_agents_running_unless_told_otherwise() {
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    for again in [control_c, KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)] {
        let mut model = model(at_the_cap(), 80, 24);
        assert!(model.update(NOW, Message::Key(control_c)).is_empty());
        assert!(frame(&model, 80, 24).contains("fleet attach k3f"));
        let requests = model.update(NOW, Message::Key(again));
        assert!(matches!(requests.last(), Some(Request::Leave(Left::Detached))), "{requests:?}");
    }
    let mut model = model(at_the_cap(), 80, 24);
    model.update(NOW, Message::Key(control_c));
    assert!(press(&mut model, KeyCode::Esc).is_empty());
    assert!(!is_open(&model));
}

#[test]
fn stop_all_leaves_only_when_nothing_is_seen_to_live() {
    let mut model = model(at_the_cap(), 80, 24);
    model.update(NOW, Message::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
    let requests = type_in(&mut model, "s");
    assert!(
        matches!(requests.as_slice(), [Request::Send(Command::Interrupt(_), Asked::StopAll)]),
        "{requests:?}"
    );
    assert!(frame(&model, 80, 24).contains("stopping 2 agents"));
    let mut later = at_the_cap();
    later.question = None;
    later.header.interrupted = Some("quit".into());
    let mut stopping = row(1);
    stopping.status = Status::Stopping;
    stopping.phase = Phase::Stopping("quit".into(), Moment(NOW.0 - 3_000));
    later.rows[0] = Arc::new(stopping);
    later.rows[1] = Arc::new(end(row(2), Outcome::Interrupted, ""));
    assert!(model.update(NOW, Message::Snapshot(Arc::new(later.clone()))).is_empty());
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("stopping 1 agent") && shown.contains("asked 3s ago"), "{shown}");
    later.rows[0] = Arc::new(end(row(1), Outcome::Interrupted, ""));
    let requests = model.update(NOW, Message::Snapshot(Arc::new(later)));
    assert!(matches!(requests.last(), Some(Request::Leave(Left::StoppedAll))), "{requests:?}");
}

#[test]
fn a_held_key_stops_gently_and_another_one_kills() {
    let mut model = model(at_the_cap(), 80, 24);
    model.update(NOW, Message::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
    assert_eq!(type_in(&mut model, "ssss").len(), 1);
    let requests = type_in(&mut model, "k");
    assert!(
        matches!(requests.as_slice(), [Request::Send(Command::Interrupt(_), Asked::StopAll)]),
        "{requests:?}"
    );
    model.update(NOW, Message::Replied(Asked::StopAll, Err(Gone)));
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("stop all and quit") && shown.contains("not done, as far"), "{shown}");
}

#[test]
fn what_only_waits_is_not_left_before_the_host_has_taken_the_stop() {
    let mut model = model(snapshot(1, vec![queued(1, "x")]), 80, 24);
    model.update(NOW, Message::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
    let requests = type_in(&mut model, "s");
    assert!(matches!(requests.as_slice(), [Request::Send(..)]), "{requests:?}");
}

#[test]
fn escape_while_everything_stops_stays_here() {
    let mut model = model(at_the_cap(), 80, 24);
    model.update(NOW, Message::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
    type_in(&mut model, "s");
    press(&mut model, KeyCode::Esc);
    assert!(!is_open(&model));
    let mut later = snapshot(9, vec![end(row(1), Outcome::Interrupted, "")]);
    later.header.interrupted = Some("quit".into());
    let requests = model.update(NOW, Message::Snapshot(Arc::new(later)));
    assert!(!requests.iter().any(|it| matches!(it, Request::Leave(_))), "{requests:?}");
}

#[test]
fn the_demonstration_says_that_leaving_ends_it() {
    let mut model = model(at_the_cap(), 80, 24);
    model.world.is_demo = true;
    model.update(NOW, Message::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("Leaving ends the demonstration"), "{shown}");
    assert!(!shown.contains("stop all and quit"), "{shown}");
}

#[test]
fn a_confirmation_grants_on_yes_only() {
    let open = |model: &mut Model| {
        let request = Request::Send(Command::Stop(None), Asked::Stop(2));
        model.modal = Some(Modal::confirm("stop 2 agents?".into(), vec![Wish::Ask(request)], None));
        model.update(NOW, Message::Wake);
    };
    let mut model = model(at_the_cap(), 80, 24);
    for code in [KeyCode::Char('n'), KeyCode::Esc] {
        open(&mut model);
        assert!(press(&mut model, code).is_empty());
        assert!(!is_open(&model));
    }
    open(&mut model);
    // Enter may still be on its way for the pane below.
    assert!(press(&mut model, KeyCode::Enter).is_empty());
    assert!(is_open(&model));
    assert!(frame(&model, 80, 24).contains("stop 2 agents?"));
    let requests = type_in(&mut model, "y");
    assert!(matches!(requests.as_slice(), [Request::Send(Command::Stop(None), _)]));
    assert!(!is_open(&model));
}

/// Presses keys that come at once: nobody sees what the first of them opens before the last one is there.
fn press_at_once(model: &mut Model, codes: &[KeyCode]) -> Vec<Request> {
    let keys = codes.iter().map(|code| Message::Key(KeyEvent::new(*code, KeyModifiers::NONE)));
    keys.flat_map(|key| model.update(NOW, key)).collect()
}

#[test]
fn keys_that_come_with_the_one_that_opens_a_question_answer_nothing_that_cannot_be_taken_back() {
    let among_agents = || {
        let mut model = model(at_the_cap(), 80, 24);
        press(&mut model, KeyCode::F(4));
        // The cap question is put off, so that it does not open by itself.
        model.modal = None;
        model.world.focus = Focus::Agents;
        model
    };
    let letter = KeyCode::Char;
    for codes in [
        // Stop all shown ones, the cap question with each of its answers, the end of everything.
        &[letter('X'), letter('y')][..],
        &[letter('X'), letter('y'), letter('y')],
        &[letter('c'), KeyCode::Enter],
        &[letter('c'), letter('d')],
        &[letter('c'), letter('s'), letter('s')],
        &[letter('c'), KeyCode::Esc],
        &[letter('c'), letter('9'), KeyCode::Enter],
        &[letter('q'), letter('s')],
    ] {
        let mut model = among_agents();
        let requests = press_at_once(&mut model, codes);
        let sent = requests.iter().any(|it| matches!(it, Request::Send(..) | Request::Leave(_)));
        assert!(!sent && is_open(&model), "{codes:?}: {requests:?}");
    }
    // Seen, the same keys answer.
    let mut model = among_agents();
    press_at_once(&mut model, &[letter('X'), letter('y')]);
    let requests = press(&mut model, letter('y'));
    assert!(matches!(requests.as_slice(), [Request::Send(Command::Stop(Some(_)), _)]));
    // What does no harm is heard at once.
    for codes in [[letter('X'), letter('n')], [letter('q'), KeyCode::Esc]] {
        let mut model = among_agents();
        assert!(press_at_once(&mut model, &codes).is_empty());
        assert!(!is_open(&model), "{codes:?}");
    }
    let requests = press_at_once(&mut among_agents(), &[letter('q'), letter('l')]);
    assert!(requests.iter().any(|it| matches!(it, Request::Leave(_))), "{requests:?}");
}

#[test]
fn a_paste_or_a_second_enter_that_comes_with_the_first_does_not_dispatch_without_a_cap() {
    let first = || {
        let mut model = model(snapshot(1, Vec::new()), 80, 24);
        model.world.options.kind = "ygg".to_owned();
        type_in(&mut model, "fix it");
        model
    };
    for code in [KeyCode::Enter, KeyCode::Char('n')] {
        let mut model = first();
        let requests = press_at_once(&mut model, &[KeyCode::Enter, code]);
        assert!(requests.is_empty() && is_open(&model), "{code:?}: {requests:?}");
    }
    let mut model = first();
    press_at_once(&mut model, &[KeyCode::Enter]);
    model.update(NOW, Message::Paste("99".to_owned()));
    let requests = press(&mut model, KeyCode::Enter);
    let cap = Some(NanoUsd::from_dollars(5));
    assert!(matches!(requests.as_slice(), [Request::Send(Command::SetCap(set), _)] if *set == cap));
}

#[test]
fn no_key_reaches_a_pane_while_a_modal_is_open() {
    let mut model = model(at_the_cap(), 80, 24);
    model.modal = Some(Modal::confirm("sure?".into(), Vec::new(), None));
    model.update(NOW, Message::Wake);
    for character in (' '..='~').filter(|character| !matches!(character, 'y' | 'n')) {
        assert!(press(&mut model, KeyCode::Char(character)).is_empty());
    }
    for code in [KeyCode::Tab, KeyCode::F(4), KeyCode::F(1), KeyCode::Up] {
        assert!(press(&mut model, code).is_empty());
    }
    assert!(model.modal.as_ref().is_some_and(|modal| modal.place() == Place::Confirm));
    assert_eq!(model.world.focus, Focus::Editor);
}

#[test]
fn a_click_on_the_name_of_a_key_presses_it_and_the_wheel_scrolls() {
    let mut model = asked(80, 24);
    let shown = frame(&model, 80, 24);
    let (row, line) =
        (0..).zip(shown.lines()).find(|(_, it)| it.contains("drop the queue")).unwrap();
    let before = line.split_once("drop the queue").unwrap().0;
    let column = u16::try_from(crate::words::plain_text::cells(before)).unwrap();
    let mouse = |kind, column, row| {
        Message::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
    };
    let press = MouseEventKind::Down(MouseButton::Left);
    assert!(model.update(NOW, mouse(press, 0, 0)).is_empty());
    model.drawn();
    let requests = model.update(NOW, mouse(press, column, row));
    assert_eq!(answer(&requests), Answer::Drop);
    let mut model = asked(40, 12);
    assert!(frame(&model, 40, 12).contains("more below"));
    model.update(NOW, mouse(MouseEventKind::ScrollDown, 5, 5));
    assert!(frame(&model, 40, 12).contains("more above"));
}

#[test]
fn help_begins_with_the_pane_it_was_asked_in_and_is_searched_while_typing() {
    let mut model = model(snapshot(1, vec![row(1)]), 80, 24);
    model.world.focus = Focus::Agents;
    type_in(&mut model, "?");
    let shown = frame(&model, 80, 24);
    let place = |text: &str| shown.find(text).unwrap_or(usize::MAX);
    assert!(place(" agents ") < place(" everywhere "), "{shown}");
    type_in(&mut model, "zoom");
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("zoom") && !shown.contains("next pane"), "{shown}");
    type_in(&mut model, "qqq");
    assert!(frame(&model, 80, 24).contains("No key does that"));
    press(&mut model, KeyCode::F(1));
    assert!(!is_open(&model));
}

/// An agent about which there is everything to know.
fn known() -> Row {
    let mut one = costing(end(row(7), Outcome::Failed, "exit code 3: tests\nfailed"), 420_000_000);
    let mut task = Task::new(
        "Write tests for the 日本語 parser\u{1b}[2J and run them.\nThen say what is left to do.",
        AgentKind("ygg".into()),
        KindTraits { prompt: true, pays: true, must_answer: true },
        "/repo".into(),
    );
    task.model = Some("opus".into());
    task.engine = Some("ollama".into());
    task.allow_shell = true;
    task.budget = Some(NanoUsd::from_dollars(1));
    task.timeout = Some(Duration::from_mins(10));
    one.task = Arc::new(task);
    (one.index, one.of) = (1, 2);
    one.steps = 1_234;
    one.tokens = Tokens { input: 900, cache_read: 200, cache_write: 34, output: 100 };
    one.validated = Some(false);
    one.answer = "Half of it works.\n\n- the lexer is done\n- the parser is not".into();
    one.files_changed = vec!["src/parser.rs".into(), "tests/parser.rs".into()];
    one.session = Some("5e551011".into());
    one.anomalies = 2;
    one.retried_by = Some(AgentId(9));
    if let Some(end) = &mut one.end {
        end.reason = Some(ExitReason::Error);
        end.swept = vec!["sleep[12]".into()];
        end.tails.out_bytes = 1_234_567;
    }
    one
}

/// The fleet with that agent, and another one that changed one of its files.
fn known_fleet() -> Snapshot {
    let mut other = end(row(8), Outcome::Done, "");
    (other.index, other.of) = (2, 2);
    other.answer = "All done.".into();
    other.validated = Some(true);
    other.files_changed = vec!["./src/parser.rs".into()];
    let mut lone = row(9);
    lone.batch = BatchId::from_bits(2);
    lone.tag = "set 2".into();
    (lone.index, lone.of, lone.retry_of) = (1, 1, Some(AgentId(7)));
    lone.task = known().task;
    let mut fleet = snapshot(4, vec![known(), other, lone]);
    fleet.header.kpis.steps = 1_234;
    fleet.header.kpis.tokens = 1_234;
    fleet
}

fn facts() -> Facts {
    Facts {
        argv: ["ygg", "loki", "do", "it's a task"].map(str::to_owned).to_vec(),
        shim_pid: Some(4711),
        agent_pid: Some(4712),
        cpu_ms: Some(1_234),
        max_rss_kb: Some(34_567),
        sizes: (1_234_567, 12),
        has_account: true,
    }
}

fn details(id: u32, columns: u16, rows: u16) -> Model {
    let mut model = model(known_fleet(), columns, rows);
    model.modal = Modal::details(AgentId(id), &model.world);
    let requests = model.update(NOW, Message::Wake);
    assert!(matches!(requests.as_slice(), [Request::ReadFacts(AgentId(asked))] if *asked == id));
    model.update(NOW, Message::Details(AgentId(id), Box::new(facts())));
    model
}

fn results(columns: u16, rows: u16) -> Model {
    let mut model = model(known_fleet(), columns, rows);
    model.modal = Some(Modal::results());
    model.update(NOW, Message::Wake);
    model
}

#[test]
fn details_of_a_queued_task_tell_nothing_of_a_run_that_was_not() {
    let mut model = model(at_the_cap(), 100, 40);
    model.modal = Modal::details(AgentId(4), &model.world);
    model.update(NOW, Message::Wake);
    let shown = alone(&model, 100, 40);
    for text in ["fix the parser", "queued"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    for text in ["steps", "tests", "cost", "account", "run time"] {
        assert!(!shown.contains(&format!("{text} ")), "{text}: {shown}");
    }
}

/// C-140.
#[test]
fn details_tell_everything_known_of_an_agent() {
    let mut model = details(7, 140, 70);
    let shown = frame(&model, 140, 70);
    for text in [
        "#7 · failed",
        "failed: exit code 3: tests failed",
        "Write tests for the 日本語 parser and run them.",
        "Then say what is left to do.",
        "ygg · model opus · engine ollama",
        "set 1 · 1 of 2 · deleg_00000001",
        "/repo",
        "read and write · shell",
        "budget $1.00 · 10m at most",
        "1970-01-01 00:00:01 (20s ago)",
        "12s",
        "1.23 s of CPU · 35 MB of memory",
        r"ygg loki do 'it'\''s a task'",
        "agent 4712 · shim 4711",
        "code 1 · error",
        "sleep[12]",
        "1,234",
        "1,234: 900 input · 200 cache read · 34 cache write · 100 output",
        "$0.4200 of $1.00, as it reports",
        "a check of its own is red",
        "5e551011",
        "tried again as #9",
        "2 lines of output not understood",
        "- the parser is not",
        "src/parser.rs  ⚠ also by #8",
        "tests/parser.rs",
        "/state/fleets/k3f/agents/0007/out (1.2 MB)",
        "/state/fleets/k3f/agents/0007/err (12 bytes)",
        "/state/fleets/k3f/agents/0007/transcript.log",
    ] {
        assert!(shown.contains(text), "{text:?} in {shown}");
    }
    let requests = type_in(&mut model, "y");
    assert!(
        matches!(
            requests.as_slice(),
            [Request::Copy(path, what)]
                if path == "/state/fleets/k3f/agents/0007/out" && what == "the path of #7's output"
        ),
        "{requests:?}"
    );
    press(&mut model, KeyCode::Enter);
    assert!(!is_open(&model));
}

/// C-19 and C-32 in the details, and a size that is worth a word.
#[test]
fn details_say_what_is_odd_about_an_agent() {
    let mut odd = known();
    let mut task = (*odd.task).clone();
    task.engine = Some("auto".into());
    odd.task = Arc::new(task);
    odd.unparsed = true;
    let tails = &mut odd.end.as_mut().unwrap().tails;
    tails.out_bytes = 1_200_000_000;
    tails.unseen = Some(vec!["tests/parser.rs".into()]);
    let mut model = model(snapshot(1, vec![odd]), 140, 70);
    model.modal = Modal::details(AgentId(7), &model.world);
    model.update(NOW, Message::Wake);
    let shown = frame(&model, 140, 70);
    for text in [
        "engine auto (not counted as local)",
        "failed, unparsed: exit code 3",
        "its result is not as it should be",
        "(1.2 GB, large)",
        "not there, or older than the agent: tests/parser.rs",
    ] {
        assert!(shown.contains(text), "{text:?} in {shown}");
    }
}

/// That looks at what every agent of the fleet changed.
#[test]
fn details_look_a_few_times_a_second_for_others_that_changed_a_file() {
    let mut first = end(row(1), Outcome::Done, "");
    first.files_changed = vec!["a.rs".to_owned()];
    let mut model = model(snapshot(1, vec![first.clone(), row(2)]), 80, 40);
    model.modal = Modal::details(AgentId(1), &model.world);
    model.update(NOW, Message::Wake);
    let mut second = row(2);
    second.files_changed = vec!["./a.rs".to_owned()];
    let changed = Arc::new(snapshot(2, vec![first, second]));
    let after = |milliseconds| NOW.after(Duration::from_millis(milliseconds));
    model.update(after(249), Message::Snapshot(changed));
    assert!(!frame(&model, 80, 40).contains("also by"), "{}", frame(&model, 80, 40));
    model.update(after(250), Message::Wake);
    assert!(frame(&model, 80, 40).contains("also by #2"), "{}", frame(&model, 80, 40));
}

#[test]
fn details_of_a_queued_agent_follow_its_place_at_once() {
    let waits = |id| {
        let mut queued = row(id);
        (queued.status, queued.started) = (Status::Queued, None);
        queued
    };
    let mut model = model(snapshot(1, vec![row(1), waits(2), waits(3)]), 80, 40);
    model.modal = Modal::details(AgentId(3), &model.world);
    model.update(NOW, Message::Wake);
    assert!(frame(&model, 80, 40).contains("2nd of 2"), "{}", frame(&model, 80, 40));
    let next = snapshot(2, vec![row(1), row(2), waits(3)]);
    model.update(NOW, Message::Snapshot(Arc::new(next)));
    assert!(frame(&model, 80, 40).contains("1st of 1"), "{}", frame(&model, 80, 40));
}

#[test]
fn details_of_a_running_agent_stay_live_and_look_at_its_folder_again() {
    let mut model = details(9, 120, 40);
    assert!(frame(&model, 120, 40).contains("running for 20s"));
    let later = Moment(NOW.0 + 1_000);
    assert!(model.update(later, Message::Wake).is_empty());
    assert!(frame(&model, 120, 40).contains("running for 21s"));
    let later = Moment(NOW.0 + 2_000);
    let requests = model.update(later, Message::Wake);
    assert!(matches!(requests.as_slice(), [Request::ReadFacts(AgentId(9))]), "{requests:?}");
    let mut gone = snapshot(9, Vec::new());
    gone.header.all_done = false;
    model.update(later, Message::Snapshot(Arc::new(gone)));
    assert!(frame(&model, 120, 40).contains("#9 is not in this fleet (any more)"));
}

/// C-80 and C-81, on the screen.
/// A busy fleet changes many times a second, and laying a thousand rows out again each time would slow every key.
#[test]
fn results_follow_a_running_fleet_a_few_times_a_second_and_its_end_at_once() {
    let mut model = model(snapshot(1, vec![row(1), row(2)]), 80, 24);
    model.modal = Some(Modal::results());
    model.update(NOW, Message::Wake);
    let spent = |revision: u64, cents: u64, has_ended: bool| {
        let last = if has_ended { end(row(2), Outcome::Done, "") } else { row(2) };
        let first = costing(end(row(1), Outcome::Done, ""), cents * 10_000_000);
        Message::Snapshot(Arc::new(snapshot(revision, vec![first, last])))
    };
    let soon = NOW.after(Duration::from_millis(100));
    model.update(soon, spent(2, 101, false));
    assert!(!alone(&model, 80, 24).contains("$1.01"), "too early");
    let later = NOW.after(Duration::from_millis(300));
    model.update(later, Message::Wake);
    assert!(alone(&model, 80, 24).contains("$1.01"), "{}", alone(&model, 80, 24));
    model.update(later, spent(3, 102, true));
    assert!(alone(&model, 80, 24).contains("$1.02"), "the last one is never put off");
}

#[test]
fn results_list_changed_files_once_and_flag_those_of_two_agents() {
    let mut model = results(120, 60);
    let shown = frame(&model, 120, 60);
    for text in [
        "2 files changed",
        "src/parser.rs  ⚠ changed by 2 agents: #7 #8",
        "tests/parser.rs  #7",
        "set 1 · 2 tasks",
        "set 2 · 1 task · running",
        "✓ #8 goal 8",
        "done · 12s · tested",
        "exit code 3: tests failed",
        "$0.4200",
    ] {
        assert!(shown.contains(text), "{text:?} in {shown}");
    }
    let first = shown.find("src/parser.rs  ⚠").unwrap();
    assert!(first < shown.find("tests/parser.rs  #7").unwrap());
    let requests = type_in(&mut model, "y");
    assert!(
        matches!(requests.as_slice(), [Request::Copy(text, _)] if text.contains("All done.")),
        "{requests:?}"
    );
}

#[test]
fn results_follow_the_fleet_and_keep_long_answers_short() {
    let mut model = results(120, 60);
    let mut rows: Vec<Row> = known_fleet().rows.iter().map(|row| row.as_ref().clone()).collect();
    rows[2] = end(rows[2].clone(), Outcome::Done, "");
    rows[2].revision = 5;
    rows[2].answer = (1..=50).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
    model.update(NOW, Message::Snapshot(Arc::new(snapshot(5, rows))));
    let shown = frame(&model, 120, 60);
    assert!(shown.contains("line 6") && !shown.contains("line 7"), "{shown}");
    assert!(shown.contains("[there is more: d on its row shows all of it]"), "{shown}");
    let rows =
        vec![end(row(1), Outcome::Failed, "bad key"), end(row(2), Outcome::Failed, "bad key")];
    model.update(NOW, Message::Snapshot(Arc::new(snapshot(6, rows))));
    let shown = frame(&model, 120, 60);
    assert_eq!(shown.matches("bad key").count(), 1, "{shown}");
    assert!(shown.contains("All 2 tasks failed for one reason: bad key"), "{shown}");
}

#[test]
fn a_failure_that_the_footer_would_cut_is_told_in_a_box_unless_somebody_types() {
    let long = format!("could not open the pager: {}", "it is not there ".repeat(8));
    let mut model = model(snapshot(1, vec![row(1)]), 80, 24);
    model.update(NOW, Message::Told(long.clone(), false));
    assert!(!is_open(&model), "the editor has the focus");
    model.world.focus = Focus::Agents;
    model.update(NOW, Message::Told("short".into(), false));
    assert!(!is_open(&model));
    model.update(NOW, Message::Told(long, false));
    assert!(press(&mut model, KeyCode::Enter).is_empty());
    assert!(is_open(&model), "a key that was meant for the table closes nothing");
    assert!(frame(&model, 80, 24).contains("keys work in 0.5 s"));
    press_at(&mut model, Moment(NOW.0 + 500), KeyCode::Enter);
    assert!(!is_open(&model));
}

#[test]
fn a_long_text_scrolls_by_keys_to_both_ends() {
    let mut model = details(7, 40, 12);
    let top = frame(&model, 40, 12);
    assert!(top.contains("more below") && !top.contains("more above"), "{top}");
    type_in(&mut model, "G");
    let bottom = frame(&model, 40, 12);
    assert!(bottom.contains("more above") && !bottom.contains("below"), "{bottom}");
    assert!(bottom.contains("transcript"), "{bottom}");
    press(&mut model, KeyCode::PageUp);
    type_in(&mut model, "g");
    assert_eq!(frame(&model, 40, 12), top);
}

#[test]
fn nothing_but_ascii_is_drawn_where_nothing_else_can_be_shown() {
    for (name, mut model) in every_at(80, 24) {
        model.world.theme.words.unicode = false;
        model.update(NOW, Message::Resize(79, 23));
        model.update(NOW, Message::Resize(80, 24));
        let shown = alone(&model, 80, 24);
        assert!(shown.is_ascii(), "{name}: {shown}");
    }
}

/// An agent of claude whose task and messages hold what must never reach a terminal.
fn talking(id: u32) -> Row {
    let mut row = row(id);
    row.task = Arc::new(Task {
        kind: AgentKind("claude".to_owned()),
        ..task("日本語 in the \u{1b}[31mdocs\u{202e} 👩‍👩‍👧 and more than fits on a line")
            .as_ref()
            .clone()
    });
    row
}

/// The message box of an agent that runs, of one that waits because it was interrupted, and of one that has ended.
fn telling(columns: u16, rows: u16) -> [(&'static str, Model); 3] {
    let mut unheard = talking(1);
    unheard.unheard = vec!["first\u{1b}[2J this".to_owned(), "then that".to_owned()];
    unheard.told = 3;
    let waits = Row { phase: Phase::Interrupted(Moment(30_000)), ..talking(1) };
    let mut over = end(talking(1), Outcome::Done, "");
    over.session = Some("s-1".to_owned());
    let open = |row: Row, text: &str| {
        let mut model = model(snapshot(2, vec![row]), columns, rows);
        model.modal = Some(Modal::tell(AgentId(1), &model.world));
        model.drawn();
        model.update(NOW, Message::Paste(text.to_owned()));
        model
    };
    [
        (
            "tell",
            open(
                unheard,
                "leave 日本語 alone\u{202e}\nand \u{1b}[31mthe 👩‍👩‍👧 of the whole of the team",
            ),
        ),
        ("tell_interrupted", open(waits, "")),
        ("tell_ended", open(over, "and now the tests")),
    ]
}

#[test]
fn an_interrupt_is_sent_with_what_is_typed_and_without_anything() {
    for (typed, sent) in [("", None), ("go on\n ", Some("go on"))] {
        let mut model = model(snapshot(2, vec![talking(1)]), 80, 24);
        model.modal = Some(Modal::tell(AgentId(1), &model.world));
        model.drawn();
        model.update(NOW, Message::Paste(typed.to_owned()));
        let key = KeyEvent::new(KeyCode::Char('x'), KeyModifiers::CONTROL);
        model.drawn();
        let requests = model.update(NOW, Message::Key(key));
        let command = Command::InterruptTurn(AgentId(1), sent.map(str::to_owned));
        let asked = Asked::Tell(AgentId(1));
        let is_sent = |request: &Request| match request {
            Request::Send(told, to) => (told, to) == (&command, &asked),
            _ => false,
        };
        assert!(requests.iter().any(is_sent), "{requests:?}");
        model.update(NOW, Message::Replied(asked, Ok(Reply::TurnInterrupted(AgentId(1)))));
        assert!(!is_open(&model));
        assert_eq!(flash(&model), "the turn of #1 is interrupted");
    }
}

/// Every modal with something to show.
fn every_at(columns: u16, rows: u16) -> Vec<(&'static str, Model)> {
    let with = |open: &dyn Fn(&Model) -> Option<Modal>| {
        let mut model = model(at_the_cap(), columns, rows);
        model.modal = open(&model);
        model.update(NOW, Message::Wake);
        model
    };
    let mut stopping = model(at_the_cap(), columns, rows);
    stopping.modal = Some(Modal::quit(&stopping.world));
    type_in(&mut stopping, "s");
    let mut hand = with(&|model| Some(Modal::cap(&model.world, None)));
    let mut now = at_the_cap();
    now.question = None;
    now.header.without_budget = 2;
    now.header.cap = Some(NanoUsd::from_dollars(10));
    hand.modal = None;
    hand.update(NOW, Message::Snapshot(Arc::new(now)));
    press(&mut hand, KeyCode::F(4));
    let mut searching = with(&|_| Some(Modal::help(Place::Agents)));
    type_in(&mut searching, "queue");
    let long = "A sentence that is long enough to be wrapped. ".repeat(20);
    let others = vec![
        ("cap_question", with(&|model| Some(Modal::cap(&model.world, None)))),
        ("cap_by_hand", hand),
        ("first_cap", with(&|model| Some(Modal::first_cap("ygg", &model.world, None)))),
        ("quit", with(&|model| Some(Modal::quit(&model.world)))),
        ("stopping", stopping),
        (
            "confirm",
            with(&|_| {
                Some(Modal::confirm("stop 3 running and remove 2 queued?".into(), Vec::new(), None))
            }),
        ),
        ("message", with(&|_| Some(Modal::message("what happened", long.clone(), None)))),
        ("help", with(&|_| Some(Modal::help(Place::Agents)))),
        ("help_search", searching),
        ("details", details(7, columns, rows)),
        ("results", results(columns, rows)),
    ];
    others.into_iter().chain(telling(columns, rows)).collect()
}

#[test]
fn modals_look_right_at_three_sizes() {
    for (columns, rows) in SIZES {
        for (name, model) in every_at(columns, rows) {
            let shown = alone(&model, columns, rows);
            insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), shown);
        }
    }
}

#[test]
fn a_modal_can_be_drawn_at_every_size() {
    for (name, mut model) in every_at(80, 24) {
        for columns in 1..=60 {
            for rows in 1..=20 {
                model.update(NOW, Message::Resize(columns, rows));
                let shown = frame(&model, columns, rows);
                let widest = shown.lines().map(crate::words::plain_text::cells).max();
                assert!(widest <= Some(usize::from(columns)), "{name} {columns}x{rows}: {shown}");
            }
        }
    }
}
