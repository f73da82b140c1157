//! The header: what is said, what yields, what is never hidden.

use super::*;
use crate::core::testing::{end, row, snapshot};
use crate::core::{Header, Hold, Moment, NanoUsd, Question, QuestionId, Row, Snapshot};
use crate::tui::layout::Focus;
use crate::tui::testing::{self, NOW, pane};
use crate::words::style::Style;

fn dollars(cents: u64) -> NanoUsd {
    NanoUsd::from_nanos(cents * 10_000_000)
}

/// A fleet with something of everything.
fn busy() -> Snapshot {
    let mut rows: Vec<Row> = (1..=6).map(row).collect();
    for (row, outcome) in
        rows.iter_mut().skip(3).zip([Outcome::Done, Outcome::Failed, Outcome::Timeout])
    {
        *row = end(row.clone(), outcome, "");
    }
    rows.extend((7..=8).map(|id| Row { status: Status::Queued, ..row(id) }));
    if let Some(row) = rows.first_mut() {
        row.stalled = true;
    }
    let mut busy = snapshot(3, rows);
    busy.header.kpis.tokens = 1_234_567;
    busy.header.kpis.steps = 42;
    busy.header.spent = dollars(413);
    busy.header.cap = Some(dollars(1000));
    busy.header.reserved = dollars(50);
    busy.header.without_budget = 3;
    busy
}

fn header(world: &World, columns: u16, rows: u16) -> String {
    pane(columns, rows, |area, buffer| draw(area, buffer, world))
}

fn world(snapshot: Snapshot) -> World {
    testing::world(snapshot, 120, 40, Focus::Editor)
}

#[test]
fn a_busy_fleet_is_told_in_two_rows_and_what_matters_least_yields() {
    let world = world(busy());
    insta::assert_snapshot!(
        [
            "",
            &header(&world, 160, 2),
            "",
            &header(&world, 120, 2),
            "",
            &header(&world, 80, 2),
            "",
            &header(&world, 40, 1),
            ""
        ]
        .join("\n"),
    );
}

/// The header in each of its states, on the terminals that it has a form for.
#[test]
fn every_state_of_the_header_has_its_words_at_three_sizes() {
    let question = Question {
        id: QuestionId(1),
        asked: NOW,
        cap: dollars(1000),
        committed: dollars(1001),
        default: dollars(1101),
        queued: 2,
        queue_estimate: None,
    };
    let calm = || snapshot(1, vec![row(1), end(row(2), Outcome::Done, "")]);
    let capped = |spent| {
        let mut snapshot = calm();
        (snapshot.header.cap, snapshot.header.spent) = (Some(dollars(1000)), dollars(spent));
        snapshot
    };
    let asks = Snapshot { question: Some(question), ..capped(1001) };
    let held = |hold: Hold| {
        let mut snapshot = busy();
        snapshot.header.hold = Some(hold);
        world(snapshot)
    };
    let mut unknown = calm();
    unknown.header.cost_unknown = 2;
    let mut named = calm();
    named.header.name = Some("nightly \u{1b}[31mrun 日本".to_owned());
    named.header.max_parallel = None;
    let mut shared = busy();
    shared.header.kinds_held = vec![("ygg".into(), "bad key".into())];
    (shared.header.kpis.validated, shared.header.kpis.mesh) = (2, 5);
    let gone = |connection| World { connection, ..world(busy()) };
    let never = World {
        connection: Connection::Waiting("starting the host".to_owned()),
        ..world(snapshot(0, Vec::new()))
    };
    let ended = snapshot(1, vec![end(row(1), Outcome::Done, ""), end(row(2), Outcome::Lost, "")]);
    let states = [
        ("never seen", never),
        ("empty", world(snapshot(0, Vec::new()))),
        ("calm", world(calm())),
        ("named, all at once", world(named)),
        ("demo", World { is_demo: true, ..world(calm()) }),
        ("read-only", World { is_read_only: true, ..world(ended.clone()) }),
        ("all ended", world(ended)),
        ("busy", world(busy())),
        ("unknown costs", world(unknown)),
        ("below the cap", world(capped(799))),
        ("near the cap", world(capped(950))),
        ("past the cap", world(capped(1001))),
        ("asks", world(asks)),
        ("held", held(Hold::Owner)),
        ("held at the cap", held(Hold::Cap)),
        ("held by a signal", held(Hold::Interrupted("SIGTERM".into()))),
        ("not saved", held(Hold::NotSaved("No space left on device (os error 28)".into()))),
        ("a kind held, shared", world(shared)),
        ("read on", world(Snapshot { header: Header { unread: 2, ..busy().header }, ..busy() })),
        ("host gone", gone(Connection::Waiting("host gone: starting another".into()))),
        ("no host to be had", gone(Connection::Failed("the host has another version".into()))),
    ];
    let mut all = String::new();
    for (name, world) in states {
        all.push_str(name);
        for (columns, rows) in [(120, 2), (80, 2), (40, 1)] {
            all.push('\n');
            all.push_str(&header(&world, columns, rows));
        }
        all.push_str("\n\n");
    }
    insta::assert_snapshot!(all);
}

/// Its cause is as long as the system's errors are, and the counts are as important.
#[test]
fn a_hold_is_seen_beside_the_counts_at_every_size() {
    for hold in [
        Hold::NotSaved("No space left on device (os error 28)".into()),
        Hold::Interrupted("SIGTERM".into()),
        Hold::Back(Moment(0)),
        Hold::Owner,
        Hold::Cap,
    ] {
        let mut busy = busy();
        let word = if matches!(hold, Hold::NotSaved(_)) { "not saved" } else { "held" };
        busy.header.hold = Some(hold);
        let world = world(busy);
        for columns in 27..170 {
            for rows in 1..=2 {
                let text = header(&world, columns, rows);
                assert!(text.contains(word), "{columns}x{rows}: {text}");
                if columns >= 80 || (columns >= 40 && rows == 1) {
                    let is_counted =
                        text.contains("3 running · 2 queued") || text.contains("●3 ○2");
                    assert!(is_counted, "{columns}x{rows}: {text}");
                }
            }
        }
    }
}

#[test]
fn an_open_cap_question_is_seen_at_every_size() {
    let mut busy = busy();
    busy.header.spent = dollars(1001);
    busy.question = Some(Question {
        id: QuestionId(1),
        asked: NOW,
        cap: dollars(1000),
        committed: dollars(1001),
        default: dollars(1101),
        queued: 2,
        queue_estimate: None,
    });
    let world = world(busy);
    for columns in 27..170 {
        for rows in 1..=2 {
            let text = header(&world, columns, rows);
            let words = if columns < 62 { "F4: cap hit" } else { "cap reached · F4 answers" };
            assert!(text.contains(words), "{columns}x{rows}: {text}");
            assert!(columns < 40 || text.contains("$10.0100"), "{columns}x{rows}: {text}");
            if columns >= 80 {
                let wordy = text.contains("3 running · 2 queued · 1 done · 1 failed · 1 timeout");
                assert!(wordy || text.contains("●3 ○2 ✓1 ✗1 ⏱1"), "{columns}x{rows}: {text}");
            }
        }
    }
}

#[test]
fn numbers_without_a_host_are_marked_with_their_time_and_do_not_grow() {
    let mut world = world(busy());
    let before = header(&world, 160, 2);
    assert!(before.contains("20s"), "{before}");
    world.connection = Connection::Waiting("host gone: starting another".to_owned());
    world.now = Moment(3_600_000);
    let after = header(&world, 160, 2);
    assert!(after.contains("host gone: starting another · as of 00:00:21"), "{after}");
    assert!(after.contains("20s") && !after.contains("1h"), "{after}");
    world.now = Moment(2 * 86_400_000);
    let later = header(&world, 160, 2);
    assert!(later.contains("as of 1970-01-01 00:00:21"), "{later}");
}

#[test]
fn a_fleet_that_was_never_seen_has_no_numbers() {
    let mut world = world(snapshot(0, Vec::new()));
    world.connection = Connection::Waiting("starting the host".to_owned());
    let text = header(&world, 80, 2);
    assert!(text.contains("starting the host"), "{text}");
    assert!(!text.contains("done") && !text.contains('$'), "{text}");
}

/// C-71: an unknown cost is said to be unknown. Without a cap the cost stands alone.
#[test]
fn money_says_what_it_knows() {
    let mut busy = busy();
    busy.header.cap = None;
    let text = header(&world(busy.clone()), 120, 2);
    assert!(text.contains(" $4.1300 · "), "{text}");
    busy.header.cost_unknown = 3;
    busy.header.cap = Some(dollars(1000));
    let text = header(&world(busy.clone()), 120, 2);
    assert!(text.contains("≥ $4.1300 / $10.00 (3 ?)"), "{text}");
    busy.header.spent = dollars(800);
    busy.header.reserved = dollars(0);
    let text = header(&world(busy.clone()), 120, 2);
    assert!(text.contains("████████░░ 80% of the cap"), "{text}");
    busy.header.spent = dollars(799);
    assert!(header(&world(busy), 120, 2).contains("███████░░░ 79% ·"));
}

#[test]
fn the_cap_is_forecast_from_the_pace_of_the_last_minutes() {
    let mut busy = busy();
    busy.at = Moment(300_000);
    busy.header.first_start = Some(Moment(0));
    let first = std::sync::Arc::make_mut(&mut busy.rows[0]);
    (first.started, first.cost) = (Some(Moment(0)), Some(dollars(210)));
    let mut world = world(busy);
    world.now = Moment(300_000);
    let text = header(&world, 120, 2);
    assert!(text.contains("cap in ~14 min at $0.42/min"), "{text}");
    // A screen that was opened just now, or that looks a little later, says the same.
    world.now = Moment(300_900);
    assert_eq!(header(&world, 120, 2), text);
    let mut idle = (*world.snapshot).clone();
    idle.header.kpis.running = 0;
    world.snapshot = std::sync::Arc::new(idle);
    assert!(!header(&world, 120, 2).contains("cap in"));
}

/// A fleet near its cap whose spending is known for two seconds.
fn near(spent: u64) -> Snapshot {
    let mut near = busy();
    near.at = Moment(2_000);
    near.header.first_start = Some(Moment(0));
    near.header.spent = dollars(spent);
    near.header.reserved = dollars(0);
    let first = std::sync::Arc::make_mut(&mut near.rows[0]);
    (first.started, first.cost) = (Some(Moment(0)), Some(dollars(10)));
    near
}

#[test]
fn the_warning_comes_with_the_forecast_after_two_seconds_already() {
    let mut world = world(near(820));
    world.now = Moment(2_000);
    let text = header(&world, 120, 2);
    let told = "$8.2000 / $10.00 · ████████░░ 82% of the cap · cap in ~1 min at $3.00/min";
    assert!(text.contains(told), "{text}");
    world.snapshot = std::sync::Arc::new(near(1_010));
    let text = header(&world, 120, 2);
    assert!(text.contains("██████████ cap reached"), "{text}");
    assert!(!text.contains("cap in"), "{text}");
}

/// What agents may still spend is as good as gone until they have ended.
#[test]
fn the_warning_counts_what_is_reserved_and_says_when_no_pace_is_known() {
    let mut taken = near(100);
    taken.header.reserved = dollars(700);
    let mut world = world(taken.clone());
    world.now = Moment(2_000);
    let text = header(&world, 120, 2);
    let told = "█░░░░░░░░░ 10%, 80% with what is reserved · cap in ~3 min at $3.00/min";
    assert!(text.contains(told), "{text}");
    assert!(header(&world, 40, 1).contains("80%!"), "{}", header(&world, 40, 1));
    for row in &mut taken.rows {
        std::sync::Arc::make_mut(row).cost = None;
    }
    taken.header.spent = dollars(0);
    taken.header.reserved = dollars(900);
    world.snapshot = std::sync::Arc::new(taken);
    let text = header(&world, 120, 2);
    assert!(text.contains("0%, 90% with what is reserved · pace not known yet"), "{text}");
}

#[test]
fn the_warning_is_never_left_to_the_colour() {
    for (spent, short, long) in [(820, "82%!", "82% of the cap"), (1_010, "101%!", "cap reached")] {
        let mut world = world(near(spent));
        world.now = Moment(2_000);
        assert!(header(&world, 40, 1).contains(short), "{}", header(&world, 40, 1));
        for columns in 16..170 {
            for rows in 1..=2 {
                let text = header(&world, columns, rows);
                assert!(text.contains(short) || text.contains(long), "{columns}x{rows}: {text}");
            }
        }
    }
    let calm = world(near(790));
    for columns in 1..170 {
        assert!(!header(&calm, columns, 1).contains('!'), "{columns}");
    }
}

#[test]
fn holds_are_named_with_their_cause() {
    let mut busy = busy();
    busy.header.hold = Some(Hold::NotSaved("disk\u{1b}[31m full".into()));
    busy.header.kinds_held = vec![("ygg".into(), "bad key".into())];
    let text = header(&world(busy), 160, 2);
    assert!(text.contains("not saved, nothing starts: disk full"), "{text}");
    assert!(text.contains("ygg held: bad key"), "{text}");
}

#[test]
fn agents_that_may_write_in_one_folder_at_once_are_counted() {
    let mut busy = busy();
    let text = header(&world(busy.clone()), 160, 2);
    assert!(text.contains("3 agents share repo/"), "{text}");
    for row in &mut busy.rows {
        let mut changed = (**row).clone();
        let mut task = (*changed.task).clone();
        task.read_only = true;
        changed.task = std::sync::Arc::new(task);
        *row = std::sync::Arc::new(changed);
    }
    assert!(!header(&world(busy), 160, 2).contains("share"));
}

/// The time since the first start, which stands still once all has ended.
#[test]
fn the_time_is_that_of_the_whole_fleet() {
    let mut world = world(snapshot(1, vec![row(1)]));
    world.now = Moment(66_000);
    assert!(header(&world, 120, 2).contains("1m 5s"));
    let mut world =
        testing::world(snapshot(1, vec![end(row(1), Outcome::Done, "")]), 120, 40, Focus::Editor);
    world.now = Moment(66_000);
    assert!(header(&world, 120, 2).contains("12s"));
    // While a queue is held nothing runs, so the time stands still on every screen.
    let queued = Row { status: Status::Queued, started: None, ..row(2) };
    let held = snapshot(1, vec![end(row(1), Outcome::Done, ""), queued]);
    let mut world = testing::world(held, 120, 40, Focus::Editor);
    world.now = Moment(66_000);
    assert!(header(&world, 120, 2).contains("12s"), "{}", header(&world, 120, 2));
}

#[test]
fn it_draws_at_any_size_and_in_ascii() {
    let mut world = world(busy());
    for columns in 0..90 {
        for rows in 0..4 {
            let _ = header(&world, columns, rows);
        }
    }
    world.theme.words = Style { unicode: false, ..world.theme.words };
    assert!(header(&world, 160, 2).is_ascii());
}

/// A notice that nobody hears is worse than none.
#[test]
fn a_notice_that_could_not_be_told_is_said_for_as_long_as_that_is_so() {
    let mut fleet = snapshot(1, vec![row(1)]);
    fleet.header.notice_trouble = Some("say: it ended with\u{1b}[2J exit code 1".to_owned());
    let shown = header(&world(fleet.clone()), 120, 2);
    assert!(shown.contains("notices fail: say: it ended with exit code"), "{shown}");
    fleet.header.notice_trouble = None;
    assert!(!header(&world(fleet), 120, 2).contains("notices"));
}
