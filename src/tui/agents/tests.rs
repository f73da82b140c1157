//! The table under keys, the mouse and changes of the fleet.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Rect;

use super::columns::{self, Column, Columns};
use super::decide::{self, Decision};
use super::*;
use crate::core::testing::{end, row, snapshot, task};
use crate::core::{
    BatchId, BatchStatus, Command, CostStatus, Direction, Hold, Moment, NanoUsd, Outcome, Phase,
    Question, QuestionId, Reply, Status, Tokens, Waits,
};
use crate::tui::draw::draw as draw_screen;
use crate::tui::layout::Focus;
use crate::tui::message::{Asked, Message, Request};
use crate::tui::model::Model;
use crate::tui::testing::{NOW, frame, model, pane, text, update};
use crate::tui::wish::Wish;
use crate::words::style::Style;

fn queued(id: u32, waits: Waits) -> Row {
    Row {
        status: Status::Queued,
        phase: Phase::Waits(waits),
        started: None,
        progress: None,
        ..row(id)
    }
}

fn with_text(mut row: Row, text: &str, kind: &str) -> Row {
    let mut task = (*task(text)).clone();
    task.kind.0 = kind.to_owned();
    row.task = Arc::new(task);
    row
}

fn spent(mut row: Row, cents: u64, steps: u64, tokens: u64) -> Row {
    row.cost = Some(NanoUsd::from_nanos(cents * 10_000_000));
    row.cost_status = CostStatus::Reported;
    row.steps = steps;
    row.tokens = Tokens { output: tokens, ..Tokens::default() };
    row
}

/// One agent in each state, with texts that try to break the table.
pub(in crate::tui) fn every_state() -> Vec<Row> {
    let tool = Phase::InTool {
        tool: "bash".into(),
        text: "cargo test --workspace".into(),
        since: Moment(9_000),
    };
    let mut rows = vec![
        spent(
            with_text(Row { phase: tool, ..row(1) }, "fix the failing parser test", "ygg"),
            42,
            17,
            12_345,
        ),
        with_text(row(2), "write docs for the 日本語 module 👩‍👩‍👧‍👦", "claude"),
        Row {
            stalled: true,
            ..with_text(row(3), "look into the flaky\n\u{1b}[31mnightly\u{1b}[0m run", "claude")
        },
        Row {
            status: Status::Stopping,
            phase: Phase::Stopping("stopped by the owner".into(), Moment(18_000)),
            ..row(4)
        },
        Row { status: Status::Ending, phase: Phase::LeftBehind(2), ..row(5) },
        Row { status: Status::Ending, phase: Phase::Reading(1_234_567_890), ..row(6) },
        Row { status: Status::Starting, ..row(7) },
    ];
    let ends = [
        (Outcome::Done, ""),
        (Outcome::Failed, "exit code 101: thread 'main' panicked at src/lib.rs:12:5"),
        (Outcome::Timeout, "ran longer than 10m (its timeout)"),
        (Outcome::Cancelled, "stopped by the owner"),
        (Outcome::Interrupted, "fleet was ended by SIGINT"),
        (Outcome::Stalled, "no progress for 7m"),
        (Outcome::OverBudget, "went past its budget of $1.00"),
        (Outcome::Lost, "its shim died without a record"),
        (Outcome::Dropped, "the cap was reached"),
    ];
    rows.extend((8..).zip(ends).map(|(id, (outcome, error))| end(row(id), outcome, error)));
    if let Some(done) = rows.get_mut(7) {
        *done = spent(done.clone(), 1234, 99, 1_234_567);
        done.validated = Some(true);
        done.files_changed = ["src/a.rs", "src/b.rs", "c", "d"].map(str::to_owned).to_vec();
    }
    if let Some(failed) = rows.get_mut(8) {
        failed.validated = Some(false);
        failed.cost = None;
        failed.cost_status = CostStatus::Unknown;
    }
    let waits = [
        Waits::Next,
        Waits::Slot,
        Waits::Reserved,
        Waits::Env(vec!["OPENAI_API_KEY".into()]),
        Waits::Kind("bad key".into()),
    ];
    rows.extend((17..).zip(waits).map(|(id, waits)| queued(id, waits)));
    rows
}

/// Three sets: one that has ended, one that runs, one that waits.
fn sets() -> Vec<Row> {
    let in_set = |mut row: Row, set: u32| {
        row.batch = BatchId::from_bits(set);
        row.tag = format!("set {set}");
        row
    };
    vec![
        in_set(end(row(1), Outcome::Done, ""), 1),
        in_set(spent(end(row(2), Outcome::Failed, "exit code 1"), 42, 1, 1), 1),
        in_set(row(3), 2),
        in_set(end(row(4), Outcome::Done, ""), 2),
        in_set(queued(5, Waits::Slot), 2),
        in_set(queued(6, Waits::Slot), 3),
    ]
}

pub(in crate::tui) fn grouped() -> Snapshot {
    let mut grouped = snapshot(1, sets());
    for (place, view) in grouped.batches.iter_mut().enumerate() {
        view.status = if place == 0 { BatchStatus::Completed } else { BatchStatus::Running };
        view.batch.origin = (place == 1).then(|| "nightly".to_owned());
    }
    grouped
}

/// The screen with the focus on the table.
fn at_table(snapshot: Snapshot, columns: u16, rows: u16) -> Model {
    let mut model = model(snapshot, columns, rows);
    model.world.focus = Focus::Agents;
    let _ = model.update(NOW, Message::Wake);
    model
}

fn press(model: &mut Model, code: KeyCode) -> Vec<Request> {
    update(model, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn type_keys(model: &mut Model, keys: &str) -> Vec<Request> {
    keys.chars().flat_map(|key| press(model, KeyCode::Char(key))).collect()
}

fn click(model: &mut Model, column: u16, row: u16) {
    let kind = MouseEventKind::Down(MouseButton::Left);
    let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    let _ = model.update(NOW, Message::Mouse(event));
}

fn show(model: &mut Model, snapshot: Snapshot) {
    let _ = model.update(NOW, Message::Snapshot(Arc::new(snapshot)));
}

fn selected(model: &Model) -> Option<u32> {
    model.agents.selected().map(|id| id.0)
}

/// Numbers of the agents that are shown, from the top.
fn shown(model: &Model) -> Vec<u32> {
    let place = |line: &Line| match line {
        Line::Agent(place) => Some(*place),
        Line::Batch { .. } => None,
    };
    let places = model.agents.order.lines.iter().filter_map(place);
    places.map(|place| model.world.snapshot.rows[place].id.0).collect()
}

fn flash(model: &Model) -> &str {
    model.flash.as_ref().map(|flash| flash.text.as_str()).unwrap_or_default()
}

/// The table alone, on a screen of this size.
fn table(model: &Model) -> String {
    let area = model.world.panes.agents;
    pane(area.width, area.height, |area, buffer| {
        let _ = model.agents.draw(area, buffer, &model.world);
    })
}

/// C-59.
#[test]
fn every_state_has_a_glyph_a_word_and_a_reason_at_120x40() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    insta::assert_snapshot!(table(&model));
    let _ = type_keys(&mut model, "z");
    insta::assert_snapshot!("zoomed", table(&model));
}

#[test]
fn at_80x24_columns_yield_and_states_keep_their_reason() {
    let mut model = at_table(snapshot(1, every_state()), 80, 24);
    let _ = press(&mut model, KeyCode::End);
    insta::assert_snapshot!(table(&model));
}

#[test]
fn at_40x12_number_glyph_task_and_state_are_left() {
    let model = at_table(snapshot(1, every_state()), 40, 12);
    insta::assert_snapshot!(table(&model));
}

/// What the row of an agent shows in a column. Only for rows without wide letters.
#[track_caller]
fn shown_in(model: &Model, id: &str, column: Column) -> String {
    let list = Parts::of(model.world.panes.agents).list;
    let columns = Columns::of(usize::from(list.width), &model.world.snapshot);
    let place = columns.0.iter().find(|(other, ..)| *other == column);
    let (_, from, wide) = *place.expect("there is room for the column");
    let table = table(model);
    let line = table.lines().find(|line| line.contains(&format!(" {id} "))).expect("a row");
    // The border stands before it.
    line.chars().skip(1 + from).take(wide).collect::<String>().trim().to_owned()
}

/// C-133. More of a reason than a row holds stands in the line below the table.
#[test]
fn a_row_shows_state_and_reason_checks_time_and_files() {
    let long = "a task whose text is longer than any column of this table has room for, by far";
    let mut done = end(row(2), Outcome::Done, "");
    done.validated = Some(true);
    done.files_changed = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    let reason = "exit code 101: no such file or directory (os error 2)";
    let mut failed = end(row(3), Outcome::Failed, reason);
    failed.validated = Some(false);
    let untested = end(row(4), Outcome::Interrupted, reason);
    let live = with_text(Row { validated: Some(true), ..row(1) }, long, "sh");
    let rows = vec![live, done, failed, untested, queued(5, Waits::Slot)];
    let mut model = at_table(snapshot(1, rows), 200, 30);
    let _ = type_keys(&mut model, "z");
    let cells = |model: &Model, column| {
        ["#1", "#2", "#3", "#4", "#5"].map(|id| shown_in(model, id, column))
    };
    assert_eq!(cells(&model, Column::Id), ["#1", "#2", "#3", "#4", "#5"]);
    assert_eq!(cells(&model, Column::Glyph), ["●", "✓", "✗", "■", "○"]);
    let task = shown_in(&model, "#1", Column::Task);
    assert!(long.starts_with(task.strip_suffix('…').unwrap()), "{task}");
    assert_eq!(
        cells(&model, Column::State),
        [
            "running",
            "done",
            "failed: exit code 101: no such file or directory (os…",
            "interrupted: exit code 101: no such file or director…",
            "queued · waits: slot",
        ]
        .map(str::to_owned)
    );
    assert_eq!(cells(&model, Column::Badge), ["", "✓test", "✗test", "untested", ""]);
    assert_eq!(cells(&model, Column::Elapsed), ["20s", "12.0s", "12.0s", "12.0s", ""]);
    assert_eq!(cells(&model, Column::Files), ["", "a b c +2 more", "", "", ""]);
    let _ = model.update(NOW.after(Duration::from_millis(1_900)), Message::Wake);
    assert_eq!(cells(&model, Column::Elapsed), ["21s", "12.0s", "12.0s", "12.0s", ""]);
}

/// C-100: since its last output or event, which is what the core counts as progress.
#[test]
fn a_row_shows_how_long_its_agent_has_been_quiet() {
    let heard = |seconds: u64| Row { progress: Some(Moment(seconds * 1_000)), ..row(1) };
    let mut model = at_table(snapshot(1, vec![heard(9)]), 120, 30);
    let quiet = |model: &Model| shown_in(model, "#1", Column::Quiet);
    assert_eq!(
        (quiet(&model), shown_in(&model, "#1", Column::Elapsed)),
        ("12s".into(), "20s".into())
    );
    let _ = model.update(NOW.after(Duration::from_secs(3)), Message::Wake);
    assert_eq!(quiet(&model), "15s");
    show(&mut model, snapshot(2, vec![heard(24)]));
    assert_eq!(quiet(&model), "0s");
    show(&mut model, snapshot(3, vec![end(heard(24), Outcome::Done, "")]));
    assert_eq!(quiet(&model), "");
}

#[test]
fn tasks_that_came_one_by_one_have_no_line_of_their_set() {
    let alone = |id: u32| Row {
        batch: BatchId::from_bits(id),
        tag: format!("set {id}"),
        index: 1,
        of: 1,
        ..row(id)
    };
    let model = at_table(snapshot(1, vec![alone(1), alone(2)]), 120, 40);
    assert!(!table(&model).contains("set "), "{}", table(&model));
    let several = |id: u32| Row { batch: BatchId::from_bits(3), tag: "set 3".into(), ..row(id) };
    let rows = vec![alone(1), several(2), several(3), Row { tag: "set 4".into(), ..alone(4) }];
    let model = at_table(snapshot(1, rows), 120, 40);
    let table = table(&model);
    assert!(!table.contains("set 1") && table.contains("set 3"), "{table}");
    assert!(table.contains("set 4"), "it is not of set 3: {table}");
}

#[test]
fn sets_are_grouped_and_ended_ones_fold() {
    let mut model = at_table(grouped(), 100, 30);
    insta::assert_snapshot!("unfolded", table(&model));
    let _ = type_keys(&mut model, "j-");
    insta::assert_snapshot!("folded", table(&model));
    assert_eq!(selected(&model), None);
    let _ = type_keys(&mut model, "x");
    assert_eq!(flash(&model), "no agent is selected");
    let _ = type_keys(&mut model, "-");
    assert_eq!((selected(&model), shown(&model)), (Some(1), vec![1, 2, 3, 4, 5, 6]));
    let _ = type_keys(&mut model, "Gk-");
    assert_eq!(flash(&model), "set 2 has not ended: only ended sets fold");
    let _ = type_keys(&mut model, "s-");
    assert!(flash(&model).contains("sorted by number"), "{}", flash(&model));
}

/// C-137, for sorting and filtering: each press goes to the next one and says its name.
#[test]
fn every_key_that_changes_the_table_says_what_it_did() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let mut said = |keys: &str| {
        let _ = type_keys(&mut model, keys);
        flash(&model).to_owned()
    };
    assert_eq!(said("ss"), "sorted by cost");
    assert_eq!(said("ssss"), "sorted by number");
    assert_eq!(said("fff"), "shows failed: 6 of 21");
    assert_eq!(said("fff"), "shows all 21");
    assert_eq!(said("g  "), "2 marked");
    assert_eq!(said("g  "), "nothing is marked any more");
    assert_eq!(said("z"), "agents alone: z again shows all");
    assert_eq!(said("z"), "all panes again");
    assert_eq!(said("GK"), "#21 moved up, now 4th of 5 queued");
    let mut model = at_table(grouped(), 100, 30);
    let _ = type_keys(&mut model, "j-");
    assert_eq!(flash(&model), "set 1 folded");
    let _ = type_keys(&mut model, "-");
    assert_eq!(flash(&model), "set 1 unfolded");
    assert_eq!(
        [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(decide::ordinal),
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"]
    );
}

/// What the host says of a move is no more than what was said of it already.
#[test]
fn a_move_that_was_taken_keeps_its_place_in_words() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let _ = type_keys(&mut model, "GK");
    let _ = model.update(NOW, Message::Replied(Asked::Move, Ok(Reply::Done(1))));
    assert_eq!(flash(&model), "#21 moved up, now 4th of 5 queued");
    let refused = crate::core::Refusal("#21 has started".into());
    let _ = model.update(NOW, Message::Replied(Asked::Move, Ok(Reply::Refused(refused))));
    assert_eq!(flash(&model), "#21 has started");
}

#[test]
fn a_click_on_the_head_of_a_set_folds_it_and_one_on_a_row_selects() {
    let mut model = at_table(grouped(), 100, 30);
    let list = Parts::of(model.world.panes.agents).list;
    click(&mut model, list.x + 5, list.y);
    assert_eq!(shown(&model), [3, 4, 5, 6]);
    click(&mut model, list.x + 5, list.y + 2);
    assert_eq!(selected(&model), Some(3));
    click(&mut model, list.x + 5, list.y);
    assert_eq!((selected(&model), shown(&model).len()), (Some(3), 6));
}

#[test]
fn search_narrows_while_it_is_typed_and_is_given_up_or_ended() {
    let mut model = at_table(snapshot(1, every_state()), 100, 30);
    let _ = type_keys(&mut model, "/the");
    assert_eq!(model.place(), Place::Prompt);
    insta::assert_snapshot!(table(&model));
    let _ = press(&mut model, KeyCode::Backspace);
    let _ = type_keys(&mut model, "y");
    assert_eq!(shown(&model), [0; 0]);
    let _ = press(&mut model, KeyCode::Esc);
    assert_eq!((model.place(), shown(&model).len()), (Place::Agents, 21));
    let _ = type_keys(&mut model, "/FIX");
    assert_eq!(shown(&model), [0; 0], "a capital letter minds capitals");
    let _ = press(&mut model, KeyCode::Esc);
    let _ = type_keys(&mut model, "/claude");
    let _ = press(&mut model, KeyCode::Enter);
    assert_eq!((model.place(), shown(&model)), (Place::Agents, vec![2, 3]));
    assert!(table(&model).contains("agents 2 of 21 · /claude"), "{}", table(&model));
    let _ = press(&mut model, KeyCode::Esc);
    assert_eq!(shown(&model).len(), 21);
}

#[test]
fn keys_of_a_search_are_text_and_do_nothing_else() {
    let mut model = at_table(snapshot(1, every_state()), 100, 30);
    let requests = type_keys(&mut model, "/xXrpq");
    assert!(requests.is_empty(), "{requests:?}");
    let _ = model.update(NOW, Message::Paste("a\u{1b}[2J\nb".to_owned()));
    assert_eq!(model.agents.settings.search, "xXrpqa b");
}

/// C-138.
#[test]
fn failed_ones_come_first_by_status_and_filters_take_what_their_name_says() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let _ = type_keys(&mut model, "s");
    assert!(table(&model).contains("by status"));
    assert_eq!(
        shown(&model),
        // Failed, stalled, over budget, lost; timeout, interrupted; running; queued; cancelled, dropped; done.
        [9, 13, 14, 15, 10, 12, 3, 1, 2, 4, 5, 6, 7, 17, 18, 19, 20, 21, 11, 16, 8]
    );
    let _ = type_keys(&mut model, "f");
    assert_eq!(shown(&model).len(), 12, "running and queued: {:?}", shown(&model));
    let _ = type_keys(&mut model, "f");
    assert_eq!(shown(&model), [9, 13, 14, 15, 10, 3, 20]);
    let _ = type_keys(&mut model, "f");
    assert_eq!(shown(&model), [9, 13, 14, 15, 10, 12]);
    assert!(table(&model).contains("agents 6 of 21 · failed"), "{}", table(&model));
    let _ = type_keys(&mut model, "f");
    assert_eq!(shown(&model), [8]);
    let _ = type_keys(&mut model, "f");
    assert_eq!(shown(&model), [17, 18, 19, 20, 21]);
    let _ = type_keys(&mut model, "f");
    assert_eq!(shown(&model).len(), 21);
}

#[test]
fn every_order_has_its_name_and_a_click_on_a_head_gives_it() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let _ = type_keys(&mut model, "ss");
    assert_eq!((model.agents.settings.sort.name(), shown(&model)[0]), ("by cost", 8));
    let _ = type_keys(&mut model, "s");
    assert_eq!((model.agents.settings.sort.name(), shown(&model)[0]), ("by tokens", 8));
    let _ = type_keys(&mut model, "s");
    assert_eq!(model.agents.settings.sort.name(), "by quiet");
    let _ = type_keys(&mut model, "s");
    assert_eq!(model.agents.settings.sort.name(), "by time");
    let head = Parts::of(model.world.panes.agents).head;
    let columns = Columns::of(usize::from(head.width), &model.world.snapshot);
    for (column, name) in [(Column::Cost, "by cost"), (Column::Id, "by number")] {
        let (_, from, _) = columns.0.iter().find(|(other, ..)| *other == column).unwrap();
        click(&mut model, head.x + u16::try_from(*from).unwrap(), head.y);
        assert_eq!(model.agents.settings.sort.name(), name);
    }
}

#[test]
fn queued_ones_stand_in_the_order_in_which_they_would_start() {
    let mut moved = snapshot(1, every_state());
    moved.queue.reverse();
    let model = at_table(moved, 120, 46);
    assert_eq!(shown(&model)[16..], [21, 20, 19, 18, 17]);
}

/// C-139.
#[test]
fn selection_stays_on_the_agent_when_rows_are_sorted_added_or_end() {
    let mut model = at_table(snapshot(1, every_state()), 120, 30);
    let _ = type_keys(&mut model, "jj");
    assert_eq!(selected(&model), Some(3));
    let _ = type_keys(&mut model, "s");
    assert_eq!(selected(&model), Some(3));
    let mut rows = every_state();
    rows[2] = end(rows[2].clone(), Outcome::Done, "");
    rows.extend((22..60).map(|id| queued(id, Waits::Slot)));
    show(&mut model, snapshot(2, rows));
    assert_eq!(selected(&model), Some(3));
    assert!(table(&model).lines().any(|line| line.contains("▌  #3")), "{}", table(&model));
}

#[test]
fn new_rows_do_not_move_the_view_unless_its_end_is_in_sight() {
    let rows = |number: u32| (1..=number).map(row).collect::<Vec<Row>>();
    let mut model = at_table(snapshot(1, rows(50)), 100, 24);
    let _ = type_keys(&mut model, "jjj");
    show(&mut model, snapshot(2, rows(80)));
    assert_eq!((selected(&model), model.agents.offset), (Some(4), 0));
    let _ = type_keys(&mut model, "G");
    let height = usize::from(Parts::of(model.world.panes.agents).list.height);
    assert_eq!(model.agents.offset, 80 - height);
    let _ = type_keys(&mut model, "k");
    show(&mut model, snapshot(3, rows(82)));
    assert_eq!((selected(&model), model.agents.offset), (Some(79), 82 - height));
}

#[test]
fn the_wheel_moves_the_view_and_not_the_selection() {
    let mut model = at_table(snapshot(1, (1..=50).map(row).collect()), 100, 24);
    let area = model.world.panes.agents;
    for _ in 0..3 {
        let event = MouseEvent {
            kind: MouseEventKind::ScrollDown,
            column: area.x + 2,
            row: area.y + 2,
            modifiers: KeyModifiers::NONE,
        };
        let _ = model.update(NOW, Message::Mouse(event));
    }
    assert_eq!((selected(&model), model.agents.offset), (Some(1), 9));
    show(&mut model, snapshot(2, (1..=51).map(row).collect()));
    assert_eq!(model.agents.offset, 9);
    let _ = type_keys(&mut model, "j");
    assert_eq!((selected(&model), model.agents.offset), (Some(2), 1));
}

/// C-143.
#[test]
fn ended_rows_stay_when_the_last_agent_has_ended() {
    let mut model = at_table(snapshot(1, vec![row(1), row(2)]), 100, 30);
    let ended = (1..=2).map(|id| end(row(id), Outcome::Done, "")).collect();
    show(&mut model, snapshot(2, ended));
    assert_eq!(shown(&model), [1, 2]);
    let text = table(&model);
    assert!(text.contains("goal 1") && text.contains("goal 2"), "{text}");
}

/// C-145.
#[test]
fn header_and_table_agree_in_every_frame() {
    let mut model = at_table(snapshot(1, every_state()), 160, 46);
    let _ = type_keys(&mut model, "z");
    for revision in 2..20 {
        let mut rows = every_state();
        rows.truncate(usize::try_from(revision).unwrap());
        show(&mut model, snapshot(revision, rows));
        let text = frame(&model, 160, 46);
        for (glyph, word) in [("✓", "done"), ("✗", "failed"), ("○", "queued")] {
            let rows =
                text.lines().skip(2).filter(|line| line.contains(&format!(" {glyph} "))).count();
            let said = text.lines().next().unwrap();
            let expected = format!("{rows} {word}");
            assert!(
                said.contains(&expected) || (rows == 0 && !said.contains(word)),
                "{expected}: {text}"
            );
        }
    }
}

#[test]
fn x_stops_one_at_once_and_says_that_it_kills_the_second_time() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let sent = type_keys(&mut model, "x");
    assert!(
        matches!(&sent[..], [Request::Send(Command::Stop(Some(ids)), Asked::Stop(1))] if ids[..] == [AgentId(1)]),
        "{sent:?}"
    );
    assert_eq!(flash(&model), "stopping #1 · x again kills it");
    let _ = type_keys(&mut model, "jjj");
    let sent = type_keys(&mut model, "x");
    assert!(
        matches!(&sent[..], [Request::Send(Command::Kill(Some(ids)), Asked::Kill(1))] if ids[..] == [AgentId(4)]),
        "{sent:?}"
    );
    let _ = type_keys(&mut model, "jj");
    assert!(type_keys(&mut model, "x").is_empty());
    assert_eq!(flash(&model), "#6 has ended already: its output is still being read");
    let _ = type_keys(&mut model, "jj");
    assert!(type_keys(&mut model, "x").is_empty());
    assert_eq!(flash(&model), "#8 has already ended");
    let sent = type_keys(&mut model, "Gx");
    assert!(
        matches!(&sent[..], [Request::Send(Command::Remove(AgentId(21)), Asked::Remove(1))]),
        "{sent:?}"
    );
}

#[test]
fn several_are_stopped_only_after_a_question_with_their_counts() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let all: Vec<AgentId> = (1..=21).map(AgentId).collect();
    let decision = decide::stop_many(&all, &model.world);
    let Decision::Ask(question, yes) = decision else { panic!("{decision:?}") };
    assert_eq!(question, "stop 4 running, kill 2 that are stopping and remove 5 queued?");
    assert!(
        matches!(&yes[..], [Wish::Flash(..), Wish::Ask(Request::Send(Command::Stop(Some(ids)), Asked::Stop(11)))] if ids.len() == 11),
        "{yes:?}"
    );
    let _ = type_keys(&mut model, "  ");
    assert!(table(&model).contains("2 marked"));
    assert!(type_keys(&mut model, "x").is_empty(), "nothing is sent before the yes");
    assert!(frame(&model, 120, 46).contains("stop 2 running?"), "{}", frame(&model, 120, 46));
    let sent = type_keys(&mut model, "y");
    assert!(
        matches!(&sent[..], [Request::Send(Command::Stop(Some(ids)), Asked::Stop(2))] if ids[..] == [AgentId(1), AgentId(2)]),
        "{sent:?}"
    );
    let _ = press(&mut model, KeyCode::Esc);
    let _ = type_keys(&mut model, "X");
    assert!(frame(&model, 120, 46).contains("stop 4 running, kill 2 that are stopping"));
    assert!(type_keys(&mut model, "n").is_empty());
    assert!(model.modal.is_none());
    let ended: Vec<AgentId> = (8..=16).map(AgentId).collect();
    assert!(matches!(decide::stop_many(&ended, &model.world), Decision::No(_)));
    let one = decide::stop(&[AgentId(1), AgentId(8)], &model.world);
    assert!(matches!(one, Decision::Now(_)), "only one of them can be stopped: {one:?}");
}

#[test]
fn marks_go_with_what_they_were_for_and_with_esc() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let _ = type_keys(&mut model, "   ");
    assert_eq!(model.agents.marks.len(), 3);
    let mut rows = every_state();
    rows[0] = end(rows[0].clone(), Outcome::Done, "");
    show(&mut model, snapshot(2, rows));
    assert_eq!(model.agents.targets(), [AgentId(2), AgentId(3)]);
    let _ = press(&mut model, KeyCode::Esc);
    assert!(model.agents.marks.is_empty());
}

#[test]
fn what_cannot_be_tried_again_is_refused_with_its_reason() {
    let mut rows = every_state();
    rows[8].retried_by = Some(AgentId(30));
    let mut task = (*rows[9].task).clone();
    task.env_stored = vec!["TOKEN".into()];
    rows[9].task = Arc::new(task);
    let mut model = at_table(snapshot(1, rows), 120, 46);
    for (id, reason) in [
        (1, "#1 has not ended: there is nothing to try again"),
        (9, "#9 is already tried again as #30"),
        (10, "the values of TOKEN for #10 are not kept: submit it again"),
    ] {
        model.agents.select(AgentId(id), &model.world);
        assert!(type_keys(&mut model, "r").is_empty());
        assert_eq!(flash(&model), reason);
    }
    model.agents.select(AgentId(13), &model.world);
    let sent = type_keys(&mut model, "r");
    assert!(
        matches!(&sent[..], [Request::Send(Command::Retry(_, ids), Asked::Retry(1))] if ids[..] == [AgentId(13)]),
        "{sent:?}"
    );
    let ids: Vec<AgentId> = [1, 9, 11, 12].map(AgentId).to_vec();
    let decision = decide::retry(&ids, &model.world);
    let Decision::Ask(question, _) = decision else { panic!("{decision:?}") };
    assert_eq!(question, "try 2 agents again? (2 more cannot be: live, or tried already)");
}

#[test]
fn only_queued_tasks_are_moved_and_edited() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    assert!(type_keys(&mut model, "J").is_empty());
    assert_eq!(flash(&model), "#1 has started: only queued tasks can be moved");
    let _ = type_keys(&mut model, "e");
    assert_eq!(flash(&model), "#1 has started: only queued tasks can be edited");
    let _ = type_keys(&mut model, "GJ");
    assert_eq!(flash(&model), "#21 is last already");
    let sent = type_keys(&mut model, "K");
    assert!(
        matches!(
            &sent[..],
            [Request::Send(Command::Move(AgentId(21), Direction::Up), Asked::Move)]
        ),
        "{sent:?}"
    );
    let _ = type_keys(&mut model, "e");
    assert_eq!(model.world.focus, Focus::Editor);
}

#[test]
fn p_holds_and_releases_also_when_only_a_kind_is_held() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let sent = type_keys(&mut model, "p");
    assert!(matches!(&sent[..], [Request::Send(Command::Hold, Asked::Hold)]), "{sent:?}");
    let mut held = snapshot(2, every_state());
    held.header.kinds_held = vec![("ygg".into(), "bad key".into())];
    show(&mut model, held);
    let sent = type_keys(&mut model, "p");
    assert!(matches!(&sent[..], [Request::Send(Command::Release, Asked::Release)]), "{sent:?}");
}

#[test]
fn p_is_about_those_that_are_marked_if_any_are() {
    let queued =
        |id, held| Row { held, ..queued(id, if held { Waits::Held } else { Waits::Slot }) };
    let mut model = at_table(snapshot(1, vec![row(1), queued(2, false), queued(3, true)]), 120, 46);
    let text = frame(&model, 120, 46);
    assert!(text.contains("waits: held"), "{text}");
    let _ = type_keys(&mut model, "gj  ");
    let sent = type_keys(&mut model, "p");
    assert!(
        matches!(&sent[..], [Request::Send(Command::HoldAgents(ids), Asked::HoldAgents(1))] if ids[..] == [AgentId(2)]),
        "only what is not held yet: {sent:?}"
    );
    show(&mut model, snapshot(2, vec![row(1), queued(2, true), queued(3, true)]));
    let sent = type_keys(&mut model, "p");
    assert!(
        matches!(&sent[..], [Request::Send(Command::ReleaseAgents(ids), Asked::ReleaseAgents(2))] if ids[..] == [AgentId(2), AgentId(3)]),
        "{sent:?}"
    );
    show(&mut model, snapshot(3, vec![row(1), row(2), row(3)]));
    assert!(type_keys(&mut model, "p").is_empty());
    assert!(
        flash(&model).starts_with("none of those that are marked is queued"),
        "{}",
        flash(&model)
    );
}

/// The second press of a key that kills is never for another agent than the first one.
#[test]
fn x_again_is_for_the_agent_of_the_first_press() {
    let mut model = at_table(snapshot(1, vec![row(1), row(2), row(3)]), 120, 46);
    let _ = type_keys(&mut model, "f");
    let sent = type_keys(&mut model, "x");
    assert!(
        matches!(&sent[..], [Request::Send(Command::Stop(Some(ids)), _)] if ids[..] == [AgentId(1)]),
        "{sent:?}"
    );
    let _ = update(&mut model, Message::Replied(Asked::Stop(1), Ok(Reply::Done(1))));
    assert_eq!(flash(&model), "stopping #1 · x again kills it");
    show(&mut model, snapshot(2, vec![end(row(1), Outcome::Cancelled, ""), row(2), row(3)]));
    assert_eq!(selected(&model), Some(2), "the filter has taken it away");
    assert!(type_keys(&mut model, "x").is_empty());
    assert_eq!(flash(&model), "#1 was told to stop and is not here now: x stops #2");
    assert_eq!(type_keys(&mut model, "x").len(), 1, "now it is meant");
    assert_eq!(type_keys(&mut model, "jx").len(), 1, "another key came between");
}

#[test]
fn one_mark_on_another_row_is_asked_about_by_its_number() {
    let mut model = at_table(snapshot(1, vec![row(1), row(2), row(3)]), 120, 46);
    assert!(type_keys(&mut model, " x").is_empty());
    let text = frame(&model, 120, 46);
    assert!(text.contains("#1 is marked: stop 1 running?"), "{text}");
    let sent = type_keys(&mut model, "y");
    assert!(
        matches!(&sent[..], [Request::Send(Command::Stop(Some(ids)), _)] if ids[..] == [AgentId(1)]),
        "{sent:?}"
    );
}

/// A release that would set nothing going is not claimed.
#[test]
fn p_says_what_to_do_where_a_release_would_start_nothing() {
    let at_cap = |hold: Option<Hold>, is_asked: bool| {
        let mut at_cap = snapshot(1, every_state());
        at_cap.header.hold = hold;
        at_cap.question = is_asked.then(|| Question {
            id: QuestionId(1),
            asked: NOW,
            cap: NanoUsd::from_dollars(1),
            committed: NanoUsd::from_dollars(1),
            default: NanoUsd::from_dollars(2),
            queued: 1,
            queue_estimate: None,
        });
        at_cap
    };
    for (hold, is_asked, said) in [
        (Some(Hold::Cap), false, "held at the cap: F4 raises it, or drops the queue"),
        (None, true, "the cap is reached: F4 raises it, drops the queue or keeps holding"),
        (
            Some(Hold::NotSaved("disk full".into())),
            false,
            "nothing can be saved: when the disk takes it, the queue goes on by itself",
        ),
    ] {
        let mut model = at_table(at_cap(hold, is_asked), 120, 46);
        model.modal = None;
        assert!(type_keys(&mut model, "p").is_empty(), "{said}");
        assert_eq!(flash(&model), said);
    }
    let mut model = at_table(at_cap(Some(Hold::Owner), false), 120, 46);
    let sent = type_keys(&mut model, "p");
    assert!(matches!(&sent[..], [Request::Send(Command::Release, Asked::Release)]), "{sent:?}");
}

#[test]
fn n_goes_round_what_needs_its_owner() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let mut seen = Vec::new();
    for _ in 0..8 {
        let _ = type_keys(&mut model, "n");
        seen.extend(selected(&model));
    }
    assert_eq!(seen, [3, 9, 10, 13, 14, 15, 20, 3]);
    assert_eq!(flash(&model), "#3 running · stalled? quiet for 20s");
    show(&mut model, snapshot(2, vec![row(1)]));
    let _ = type_keys(&mut model, "n");
    assert_eq!(flash(&model), "nothing needs you");
}

#[test]
fn n_shows_what_a_fold_or_a_filter_hides() {
    let mut model = at_table(grouped(), 100, 30);
    let _ = type_keys(&mut model, "-n");
    assert_eq!(selected(&model), Some(2));
    let _ = type_keys(&mut model, "fffffn");
    assert_eq!((selected(&model), shown(&model).len()), (Some(2), 6));
}

#[test]
fn files_of_an_agent_are_opened_and_named_once_it_has_run() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let sent = type_keys(&mut model, "o");
    assert!(
        matches!(&sent[..], [Request::ShowFile(path)] if path.ends_with("agents/0001/out")),
        "{sent:?}"
    );
    let sent = type_keys(&mut model, "y");
    assert!(
        matches!(&sent[..], [Request::Copy(path, what)] if path.ends_with("/agents/0001/out") && what.contains("#1")),
        "{sent:?}"
    );
    assert!(type_keys(&mut model, "Go").is_empty());
    assert_eq!(flash(&model), "#21 has not run: there is no output");
    let _ = type_keys(&mut model, "m");
    assert_eq!(flash(&model), "#21 has not started: e edits its task");
    let _ = type_keys(&mut model, "gm");
    let text = frame(&model, 120, 46);
    assert!(text.contains("ygg takes no messages while it works"), "{text}");
}

#[test]
fn without_a_host_nothing_is_sent_and_nothing_grows() {
    let mut model = at_table(snapshot(1, every_state()), 120, 46);
    let link = crate::tui::Link::Waiting("host gone: starting another".to_owned());
    let _ = model.update(NOW, Message::Link(link));
    let before = table(&model);
    let mut sent = model.update(
        Moment(90_000),
        Message::Key(KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE)),
    );
    sent.retain(|request| !matches!(request, Request::Tail(_)));
    assert!(sent.is_empty(), "{sent:?}");
    assert_eq!(flash(&model), "not yet: host gone: starting another");
    assert_eq!(table(&model), before);
}

#[test]
fn an_empty_table_says_what_to_do() {
    let mut model = at_table(snapshot(1, Vec::new()), 80, 24);
    let text = table(&model);
    assert!(text.contains("no agents yet: type a task above and press Enter"), "{text}");
    let _ = type_keys(&mut model, "z");
    let text = table(&model);
    assert!(text.contains("no agents yet: press i, type a task, press Enter"), "{text}");
    show(&mut model, snapshot(2, vec![row(1)]));
    let _ = type_keys(&mut model, "ffff");
    let text = table(&model);
    assert!(text.contains("no agent to show with the filter \"done\" (f for another)"), "{text}");
}

/// C-135.
#[test]
fn a_thousand_frames_and_resizes_leave_no_trace() {
    let mut model = at_table(snapshot(1, every_state()), 80, 24);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let mut paint = |model: &Model, columns, rows| {
        terminal.backend_mut().resize(columns, rows);
        terminal.draw(|frame| draw_screen(model, frame)).unwrap();
        text(terminal.backend().buffer())
    };
    let first = paint(&model, 80, 24);
    for round in 0..1000_u16 {
        let (columns, rows) =
            if round % 4 == 0 { (40 + round % 90, 10 + round % 40) } else { (80, 24) };
        let _ = model.update(NOW, Message::Resize(columns, rows));
        let painted = paint(&model, columns, rows);
        assert!(round % 4 != 3 || painted == first, "{round}: {painted}");
    }
}

#[test]
fn it_draws_at_every_size_and_in_ascii() {
    let mut model = at_table(snapshot(1, every_state()), 80, 24);
    let _ = type_keys(&mut model, "/e");
    for style in [Style { unicode: false, ..model.world.theme.words }, model.world.theme.words] {
        model.world.theme.words = style;
        for columns in 0..70 {
            for rows in 0..22 {
                let text = pane(columns, rows, |area, buffer| {
                    let _ = model.agents.draw(area, buffer, &model.world);
                });
                assert!(style.unicode || text.is_ascii(), "{text}");
            }
        }
    }
}

#[test]
fn columns_yield_in_their_order_and_never_overlap() {
    let snapshot = snapshot(1, every_state());
    let mut gone = Vec::new();
    let mut before = Columns::of(200, &snapshot);
    for width in (0..200).rev() {
        let columns = Columns::of(width, &snapshot);
        gone.extend(before.0.iter().map(|(column, ..)| *column).filter(|it| !columns.has(*it)));
        for pair in columns.0.windows(2) {
            let [(_, from, wide), (_, next, _)] = pair else { continue };
            assert_eq!(from + wide + 1, *next, "{width}: {columns:?}");
        }
        if width >= 40 {
            let (_, from, wide) = columns.0.last().unwrap();
            assert!(from + wide <= width, "{width}: {columns:?}");
        }
        before = columns;
    }
    assert_eq!(gone, columns::YIELDS);
}

#[test]
fn wide_and_hostile_texts_never_move_the_border() {
    let hostile = ["👩‍👩‍👧‍👦".repeat(30), "\u{202e}abc\u{1b}]0;x\u{7}".repeat(20), "日本語".repeat(40)];
    let rows = (1..).zip(hostile).map(|(id, text)| with_text(row(id), &text, "日本語日本語日本語"));
    let rows: Vec<Row> = rows.collect();
    for columns in [40_u16, 61, 80, 120, 121] {
        let model = at_table(snapshot(1, rows.clone()), columns, 24);
        let area = model.world.panes.agents;
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, 24));
        let _ = model.agents.draw(area, &mut buffer, &model.world);
        for y in area.y + 1..area.bottom() - 1 {
            for x in [area.x, area.right() - 1] {
                assert_eq!(buffer[(x, y)].symbol(), "║", "{columns}: {}", table(&model));
            }
        }
    }
}

#[test]
fn of_ten_thousand_rows_those_around_the_selection_are_drawn() {
    let mut model = at_table(snapshot(1, (1..=10_000).map(row).collect()), 120, 40);
    let _ = type_keys(&mut model, "G");
    assert_eq!(selected(&model), Some(10_000));
    assert!(table(&model).contains("of 10000"), "{}", table(&model));
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
    terminal.draw(|frame| draw_screen(&model, frame)).unwrap();
    let text = text(terminal.backend().buffer());
    assert!(text.contains("goal 10000") && text.contains("goal 9990"), "{text}");
    assert!(!text.contains("goal 1 "), "{text}");
}

#[test]
fn a_message_is_typed_sent_and_kept_until_it_was_told() {
    let runs = with_text(row(1), "fix the parser", "claude");
    let mut model = at_table(snapshot(1, vec![runs.clone()]), 120, 46);
    assert!(type_keys(&mut model, "gm").is_empty());
    let text = frame(&model, 120, 46);
    assert!(text.contains("tell #1") && text.contains("It is told now"), "{text}");
    assert!(type_keys(&mut model, "also q").is_empty());
    let mut sent =
        update(&mut model, Message::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)));
    sent.retain(|request| !matches!(request, Request::Tail(_)));
    assert!(
        matches!(
            &sent[..],
            [Request::Send(Command::Steer(AgentId(1), text, _), Asked::Tell(AgentId(1)))] if text == "also q"
        ),
        "{sent:?}"
    );
    let asked = Asked::Tell(AgentId(1));
    let refusal = Reply::Refused(crate::core::Refusal("it is full".to_owned()));
    let _ = update(&mut model, Message::Replied(asked.clone(), Ok(refusal)));
    let text = frame(&model, 120, 46);
    assert!(text.contains("it is full") && text.contains("also q"), "{text}");
    // It ends meanwhile: what comes of the message is said anew.
    let mut over = end(runs, Outcome::Done, "");
    over.session = Some("s-1".to_owned());
    let _ = update(&mut model, Message::Snapshot(Arc::new(snapshot(2, vec![over]))));
    let text = frame(&model, 120, 46);
    assert!(text.contains("a new claude agent goes on in its session"), "{text}");
    let _ = update(&mut model, Message::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)));
    let reply = Reply::Queued(BatchId::from_bits(9), vec![AgentId(2)]);
    let _ = update(&mut model, Message::Replied(asked, Ok(reply)));
    assert!(model.modal.is_none());
    assert_eq!(flash(&model), "#2 goes on in the session of #1");
}
