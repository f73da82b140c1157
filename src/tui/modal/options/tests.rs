//! The options box as a person meets it: keys in, options and frames out.

use std::fmt::Write as _;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::core::NanoUsd;
use crate::core::testing::snapshot;
use crate::tui::message::Message;
use crate::tui::model::Model;
use crate::tui::testing::{NOW, frame, model, pane};

fn press(model: &mut Model, code: KeyCode) {
    press_with(model, code, KeyModifiers::NONE);
}

fn press_with(model: &mut Model, code: KeyCode, modifiers: KeyModifiers) {
    let requests = model.update(NOW, Message::Key(KeyEvent::new(code, modifiers)));
    assert!(requests.is_empty(), "{code:?}: {requests:?}");
}

fn type_text(model: &mut Model, text: &str) {
    for character in text.chars() {
        press(model, KeyCode::Char(character));
    }
}

/// The screen with the options open.
fn opened(columns: u16, rows: u16) -> Model {
    let mut model = model(snapshot(1, Vec::new()), columns, rows);
    press_with(&mut model, KeyCode::Char('o'), KeyModifiers::CONTROL);
    assert!(model.modal.is_some());
    model
}

fn down(model: &mut Model, times: usize) {
    for _ in 0..times {
        press(model, KeyCode::Down);
    }
}

#[test]
fn every_field_is_taken_over_by_enter() {
    let mut model = opened(80, 24);
    press(&mut model, KeyCode::Right);
    for text in ["m", "e", "t"] {
        down(&mut model, 1);
        type_text(&mut model, text);
    }
    down(&mut model, 1);
    type_text(&mut model, "/src");
    for text in ["1.50", "5m", "90s", "8"] {
        down(&mut model, 1);
        type_text(&mut model, text);
    }
    down(&mut model, 1);
    press(&mut model, KeyCode::Char(' '));
    down(&mut model, 1);
    press(&mut model, KeyCode::Right);
    down(&mut model, 1);
    press(&mut model, KeyCode::Left);
    down(&mut model, 1);
    press(&mut model, KeyCode::Char(' '));
    for text in ["PATH 'A=b c'", "--flag 'two words'"] {
        down(&mut model, 1);
        type_text(&mut model, text);
    }
    down(&mut model, 1);
    let _ = model.update(NOW, Message::Paste("mind the\nstyle".to_owned()));
    press(&mut model, KeyCode::Enter);
    assert!(model.modal.is_none());
    let options = &model.world.options;
    assert_eq!(options.kind, "ygg");
    let names = [&options.model, &options.engine, &options.tier].map(|name| name.as_deref());
    assert_eq!(names, [Some("m"), Some("e"), Some("t")]);
    assert_eq!(options.root, std::path::Path::new("/repo/src"));
    assert_eq!(options.budget, Some(NanoUsd::from_nanos(1_500_000_000)));
    let spans = (options.timeout, options.idle_timeout);
    assert_eq!(spans, (Some(Duration::from_mins(5)), Some(Duration::from_secs(90))));
    assert_eq!(options.max_steps, Some(8));
    assert!(options.read_only && options.allow_shell && options.allow_web);
    assert!(options.keep_leftovers);
    let variables = [("PATH".to_owned(), None), ("A".to_owned(), Some("b c".to_owned()))];
    assert_eq!(options.env, variables);
    assert_eq!(options.extra, ["--flag", "two words"]);
    assert_eq!(options.context.as_deref(), Some("mind the\nstyle"));
}

#[test]
fn escape_gives_all_changes_up() {
    let mut model = opened(80, 24);
    let before = model.world.options.clone();
    press(&mut model, KeyCode::Left);
    press(&mut model, KeyCode::Up);
    type_text(&mut model, "text");
    press(&mut model, KeyCode::Esc);
    assert!(model.modal.is_none());
    assert_eq!(model.world.options, before);
}

#[test]
fn a_wrong_value_keeps_the_box_open_and_says_why_beside_it() {
    let mut model = opened(80, 24);
    down(&mut model, 5);
    type_text(&mut model, "ten");
    down(&mut model, 3);
    press(&mut model, KeyCode::Enter);
    assert!(model.modal.is_some());
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("'ten' is not an amount of dollars"), "{shown}");
    // The wrong field is the selected one now.
    for _ in 0..3 {
        press(&mut model, KeyCode::Backspace);
    }
    press(&mut model, KeyCode::Enter);
    assert!(model.modal.is_none());
    assert_eq!(model.world.options.budget, None);
}

#[test]
fn values_of_variables_are_shown_only_where_they_are_typed_and_stay_as_they_were() {
    let mut model = model(snapshot(1, Vec::new()), 120, 40);
    let env =
        vec![("KEY".to_owned(), Some("s3cret \u{1b}[2J".to_owned())), ("PATH".to_owned(), None)];
    model.world.options.env.clone_from(&env);
    model.world.options.extra = vec!["-v".to_owned()];
    press_with(&mut model, KeyCode::Char('o'), KeyModifiers::CONTROL);
    let shown = frame(&model, 120, 40);
    assert!(shown.contains("KEY=… PATH") && !shown.contains("s3cret"), "{shown}");
    assert!(shown.contains("arguments    -v"), "{shown}");
    down(&mut model, 13);
    assert!(frame(&model, 120, 40).contains("'KEY=s3cret"));
    press(&mut model, KeyCode::Enter);
    assert_eq!(model.world.options.env, env);
}

#[test]
fn wrong_words_are_refused_in_place_and_a_command_takes_no_more_arguments() {
    let mut model = opened(120, 40);
    down(&mut model, 13);
    type_text(&mut model, "=s3cret");
    down(&mut model, 1);
    type_text(&mut model, "'open");
    press(&mut model, KeyCode::Enter);
    assert!(model.modal.is_some());
    let shown = frame(&model, 120, 40);
    assert!(shown.contains("! '' has no name"), "{shown}");
    assert!(shown.contains("! this ends within a quotation: close it"), "{shown}");
    press(&mut model, KeyCode::Esc);
    model.world.options.kind = "command".to_owned();
    press_with(&mut model, KeyCode::Char('o'), KeyModifiers::CONTROL);
    down(&mut model, 14);
    type_text(&mut model, "-v");
    press(&mut model, KeyCode::Enter);
    let shown = frame(&model, 120, 40);
    assert!(shown.contains("! a command has its arguments in its own line"), "{shown}");
    press_with(&mut model, KeyCode::Char('u'), KeyModifiers::CONTROL);
    press(&mut model, KeyCode::Enter);
    assert!(model.modal.is_none());
}

#[test]
fn a_kind_that_is_not_there_is_shown_as_that() {
    let mut model = opened(80, 24);
    press(&mut model, KeyCode::Left);
    let shown = frame(&model, 80, 24);
    assert!(shown.contains("< claude >  not installed"), "{shown}");
}

#[test]
fn the_box_at_three_sizes() {
    let mut all = String::new();
    for (columns, rows) in [(120, 40), (80, 24), (40, 12)] {
        let mut model = opened(columns, rows);
        press(&mut model, KeyCode::Right);
        down(&mut model, 6);
        type_text(&mut model, "30");
        down(&mut model, 1);
        // The box alone: what lies under it is looked at elsewhere.
        let shown = pane(columns, rows, |_, buffer| {
            let modal = model.modal.as_ref().expect("it was opened");
            let caret = modal.draw(buffer, &model.world).expect("a value is typed");
            let field = &buffer[(caret.x, caret.y)];
            assert_eq!(field.symbol(), "(", "the caret is at the head of an empty value");
        });
        let lines: Vec<&str> = shown.lines().filter(|line| !line.is_empty()).collect();
        let _ = write!(all, "{columns}x{rows}\n{}\n\n", lines.join("\n"));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn it_draws_at_every_size() {
    for columns in 1..=60 {
        for rows in 1..=20 {
            let mut model = opened(columns, rows);
            press(&mut model, KeyCode::Up);
            let long = "日本語 👨‍👩‍👧 and a long context that does not fit".to_owned();
            let _ = model.update(NOW, Message::Paste(long));
            let _ = frame(&model, columns, rows);
        }
    }
}
