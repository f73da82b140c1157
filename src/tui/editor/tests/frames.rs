//! The editor as it looks, at three sizes.

use super::*;
use crate::tui::theme::Theme;
use crate::words::style::Style;

/// The rows of the editor on a screen.
fn shown(model: &Model, columns: u16, rows: u16) -> String {
    let area = model.world.panes.editor;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(model, frame)).unwrap();
    let text = cells_of(terminal.backend().buffer());
    let lines: Vec<&str> = text.lines().skip(usize::from(area.y)).collect();
    lines.into_iter().take(usize::from(area.height)).collect::<Vec<_>>().join("\n")
}

/// The editor at three sizes after the same has happened to each.
fn at_three_sizes(fleet: &dyn Fn() -> Snapshot, happen: &dyn Fn(&mut Model)) -> String {
    let mut all = String::new();
    for (columns, rows) in [(120, 40), (80, 24), (40, 12)] {
        let mut model = model(fleet(), columns, rows);
        happen(&mut model);
        let _ = write!(all, "{columns}x{rows}\n{}\n\n", shown(&model, columns, rows));
    }
    all
}

#[test]
fn an_empty_draft_on_an_empty_fleet_says_what_to_do() {
    insta::assert_snapshot!(at_three_sizes(&empty, &|model| {
        model.world.options.kind = "ygg".to_owned();
        let _ = model.update(NOW, Message::Wake);
    }));
}

#[test]
fn commands_are_told_from_prompts_before_anything_is_typed() {
    insta::assert_snapshot!(at_three_sizes(&empty, &|_| {}));
    insta::assert_snapshot!(at_three_sizes(&empty, &|model| {
        model.world.options.kind = "command".to_owned();
        let program = "/opt/\u{1b}[31mtools/fetch.sh".to_owned();
        model.world.options.command = Some(vec![program, "{task}".to_owned()]);
        let _ = model.update(NOW, Message::Wake);
    }));
}

#[test]
fn without_a_program_it_says_what_to_install() {
    insta::assert_snapshot!(at_three_sizes(&empty, &|model| {
        model.world.options.kind = String::new();
        let _ = model.update(NOW, Message::Wake);
    }));
}

#[test]
fn an_empty_draft_beside_agents_is_one_row() {
    insta::assert_snapshot!(at_three_sizes(&with_queued, &|_| {}));
}

#[test]
fn one_task_has_its_conditions_in_the_title() {
    let capped = || {
        let mut snapshot = empty();
        snapshot.header.cap = Some(NanoUsd::from_dollars(5));
        snapshot
    };
    insta::assert_snapshot!(at_three_sizes(&capped, &|model| {
        model.world.options.kind = "ygg".to_owned();
        model.world.options.model = Some("small".to_owned());
        model.world.options.budget = Some(NanoUsd::from_dollars(1));
        type_text(model, "find out why the tests of the parser fail on a slow disk, and mend them");
    }));
}

#[test]
fn many_tasks_are_counted_and_their_separators_stand_back() {
    insta::assert_snapshot!(at_three_sizes(&empty, &|model| {
        type_text(model, "one\n---\ntwo\n---\nthree");
    }));
}

#[test]
fn a_problem_stands_under_the_text_and_its_line_is_marked() {
    insta::assert_snapshot!(at_three_sizes(&empty, &|model| {
        type_text(model, "bad\n---\nfine");
        // The maker of these tests counts parts, of which the first is in the first line.
        let _ = enter(model);
    }));
}

#[test]
fn a_draft_on_its_way_stays_to_be_seen() {
    insta::assert_snapshot!(at_three_sizes(&empty, &|model| {
        type_text(model, "one\n---\ntwo");
        submitted(model);
    }));
}

#[test]
fn a_queued_task_that_is_changed_says_how_to_end_that() {
    insta::assert_snapshot!(at_three_sizes(&with_queued, &|model| {
        edit_queued(model);
        let _ = model.update(NOW, Message::Wake);
    }));
}

#[test]
fn a_fleet_that_is_only_looked_at_takes_no_text() {
    insta::assert_snapshot!(at_three_sizes(&with_queued, &|model| {
        model.world.is_read_only = true;
        type_text(model, "x");
        assert_eq!(draft(model), "");
    }));
}

#[test]
fn a_long_paste_is_one_line() {
    insta::assert_snapshot!(at_three_sizes(&empty, &|model| {
        type_text(model, "mend all that this says: ");
        paste(model, &"a line of a log that is long\n".repeat(40_000));
        type_text(model, " but nothing else");
    }));
}

#[test]
fn wide_combining_and_right_to_left_text_keeps_the_border_straight() {
    insta::assert_snapshot!(at_three_sizes(&empty, &|model| {
        paste(
            model,
            "日本語のテキストを直してください、それからテストも。\n👨‍👩‍👧 e\u{301} 🇩🇪 שלום עולם\n\tafter a tab",
        );
    }));
}

#[test]
fn a_long_draft_says_how_much_of_it_is_seen() {
    insta::assert_snapshot!(at_three_sizes(&empty, &|model| {
        let lines: Vec<String> = (1..40).map(|number| format!("line {number}")).collect();
        paste(model, &lines.join("\n"));
    }));
}

#[test]
fn without_unicode_everything_is_ascii() {
    let mut model = model(empty(), 80, 24);
    model.world.theme = Theme { words: Style::PLAIN };
    paste(&mut model, "日本 é · one\n---\ntwo");
    let text = shown(&model, 80, 24);
    assert!(text.is_ascii(), "{text}");
    assert!(text.contains("> ???? ? ? one"), "{text}");
}
