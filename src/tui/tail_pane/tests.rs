//! The pane as a value: keys in, requests out, frames from pages made by hand.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;

use super::TailPane;
use super::text::Text;
use crate::core::testing::{end, row, snapshot};
use crate::core::{AgentId, AgentKind, Moment, Outcome, Row, Snapshot, Status};
use crate::tail::view::text::Line;
use crate::tail::view::{self, Copied, Move, NewLines, Page, SearchState, What};
use crate::tui::keymap::{Action, Place};
use crate::tui::layout::Focus;
use crate::tui::message::Request;
use crate::tui::testing::{self, THEME, text, world};
use crate::tui::theme::Theme;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::style::Style as Words;

const ID: AgentId = AgentId(1);

fn fleet(row: Row) -> Snapshot {
    snapshot(1, vec![row])
}

fn around(row: Row) -> World {
    world(fleet(row), 80, 24, Focus::Tail)
}

/// What the reader was asked for.
fn asked(wishes: Vec<Wish>) -> Vec<view::Request> {
    let request = |wish| match wish {
        Wish::Ask(Request::Tail(request)) => Some(request),
        _ => None,
    };
    wishes.into_iter().filter_map(request).collect()
}

fn flashes(wishes: &[Wish]) -> Vec<String> {
    let text = |wish: &Wish| match wish {
        Wish::Flash(text, _) => Some(text.clone()),
        _ => None,
    };
    wishes.iter().filter_map(text).collect()
}

/// A pane that shows an agent, with what it asked for on the way.
fn shown(world: &World) -> (TailPane, Vec<view::Request>) {
    let mut pane = TailPane::default();
    pane.show(Some(ID));
    let requests = asked(pane.refresh(world));
    (pane, requests)
}

/// A page of these raw lines, at the end of a file.
fn page(lines: &[&[u8]]) -> Page {
    let rows = lines.iter().zip(0..).map(|(raw, offset)| {
        let spans = Line::from_raw(raw).slice(0, 78);
        view::Row { spans, offset, is_first: true }
    });
    let size = lines.iter().map(|line| line.len() as u64 + 1).sum();
    Page {
        number: 1,
        rows: rows.collect(),
        wraps: true,
        size: Some(size),
        is_at_end: true,
        follows: true,
        percent: 100,
        ..Page::default()
    }
}

fn with(world: &World, page: Page) -> TailPane {
    let (mut pane, _) = shown(world);
    pane.page(Arc::new(page));
    let _ = pane.refresh(world);
    pane
}

fn frame(pane: &TailPane, world: &World) -> String {
    let area = world.panes.tail;
    let inside = Rect::new(0, 0, area.width, area.height);
    testing::pane(area.width, area.height, |_, buffer| {
        pane.draw(inside, buffer, world);
    })
}

fn title(pane: &TailPane, world: &World) -> String {
    frame(pane, world)
        .lines()
        .next()
        .unwrap()
        .trim_matches(['─', '═', '┌', '┐', '╔', '╗', ' '])
        .to_owned()
}

fn search(total: u64, is_done: bool, rank: Option<u64>) -> SearchState {
    SearchState {
        needle: "error".to_owned(),
        total,
        is_done,
        is_seeking: false,
        has_current: rank.is_some(),
        rank,
        problem: None,
    }
}

#[test]
fn the_selected_agents_output_is_opened_once_and_its_end_is_told() {
    let world = around(row(1));
    let (mut pane, requests) = shown(&world);
    let [
        view::Request::Layout(layout),
        view::Request::Open { number: 1, what: What::File(path), has_ended: false },
    ] = requests.as_slice()
    else {
        panic!("{requests:?}")
    };
    assert_eq!(layout.width, usize::from(world.panes.tail.width) - 2);
    assert_eq!(layout.height, usize::from(world.panes.tail.height) - 2);
    assert!(path.ends_with("agents/0001/out"), "{path:?}");
    assert_eq!(asked(pane.refresh(&world)), []);
    let ended = around(end(row(1), Outcome::Done, ""));
    assert_eq!(asked(pane.refresh(&ended)), [view::Request::Ended(1)]);
    assert_eq!(asked(pane.refresh(&ended)), []);
    pane.show(None);
    assert_eq!(asked(pane.refresh(&ended)), [view::Request::Close]);
}

/// The text that an agent is opened with, and then turned to.
#[track_caller]
fn opened(pane: &mut TailPane, world: &World) -> String {
    match asked(pane.refresh(world)).as_slice() {
        [.., view::Request::Open { what: What::File(path), .. }] => {
            path.file_name().unwrap().to_str().unwrap().to_owned()
        }
        other => panic!("{other:?}"),
    }
}

/// What a program with a model prints is for programs; its account is shown first, until another text is turned to.
#[test]
fn each_agent_shows_the_text_that_tells_most_until_one_is_chosen() {
    let of_kind = |id, kind: &str| {
        let mut row = row(id);
        Arc::make_mut(&mut row.task).kind = AgentKind(kind.to_owned());
        row
    };
    let rows = vec![of_kind(1, "sh"), of_kind(2, "claude"), of_kind(3, "command"), of_kind(4, "?")];
    let world = world(snapshot(1, rows), 80, 24, Focus::Tail);
    let mut pane = TailPane::default();
    for (id, text) in (1..).zip(["out", "transcript.log", "out", "out"]) {
        pane.show(Some(AgentId(id)));
        assert_eq!(opened(&mut pane, &world), text, "{id}");
    }
    let _ = pane.act(Action::NextText, &world);
    assert_eq!(opened(&mut pane, &world), "err");
    pane.show(Some(ID));
    assert_eq!(opened(&mut pane, &world), "err");
}

#[test]
fn why_there_is_no_transcript_is_said() {
    let mut agent = row(1);
    agent.transcript_trouble = Some("could not write /f/t: disk full".to_owned());
    let said = Text::Transcript.empty(&agent, false, &around(row(1)));
    assert_eq!(said, "#1 has no transcript: could not write /f/t: disk full");
}

#[test]
fn one_key_goes_through_all_texts_of_an_agent() {
    let mut agent = row(1);
    agent.answer = "forty-two".to_owned();
    agent.files_changed = vec!["a.rs".to_owned()];
    let mut other = row(2);
    other.files_changed = vec!["a.rs".to_owned()];
    // The same file by another path counts once, as in the results; one of that name elsewhere does not.
    let mut third = row(3);
    third.files_changed = vec!["./b/../a.rs".to_owned(), "a.rs".to_owned(), "b/a.rs".to_owned()];
    let mut elsewhere = row(4);
    elsewhere.files_changed = vec!["b/a.rs".to_owned(), "..".to_owned()];
    let rows = vec![agent, other, third, elsewhere];
    let world = world(snapshot(1, rows), 80, 24, Focus::Tail);
    let (mut pane, _) = shown(&world);
    let mut seen = Vec::new();
    for _ in Text::ALL {
        let _ = pane.act(Action::NextText, &world);
        for request in asked(pane.refresh(&world)) {
            let view::Request::Open { what, .. } = request else { panic!("{request:?}") };
            seen.push(match what {
                What::File(path) => path.file_name().unwrap().to_str().unwrap().to_owned(),
                What::Text(text) => text.to_string(),
            });
        }
    }
    let files = "a.rs   also changed by #2, #3\n";
    assert_eq!(seen, ["err", "transcript.log", "forty-two", files, "out"]);
}

#[test]
fn a_page_of_what_was_shown_before_is_not_taken_for_this_one() {
    let world = around(row(1));
    let mut pane = with(&world, page(&[b"old"]));
    let _ = pane.act(Action::NextText, &world);
    let _ = pane.refresh(&world);
    pane.page(Arc::new(page(&[b"late"])));
    assert!(!frame(&pane, &world).contains("late"));
}

#[test]
fn keys_move_what_is_visible() {
    let world = around(row(1));
    let mut pane = with(&world, page(&[b"x"]));
    let half = i32::from((world.panes.tail.height - 2) / 2);
    let moves = [
        (Action::Down, Move::Rows(1)),
        (Action::Up, Move::Rows(-1)),
        (Action::PageDown, Move::Pages(1)),
        (Action::PageUp, Move::Pages(-1)),
        (Action::HalfPageDown, Move::Rows(half)),
        (Action::HalfPageUp, Move::Rows(-half)),
        (Action::First, Move::Start),
        (Action::Follow, Move::End),
    ];
    for (action, way) in moves {
        assert_eq!(asked(pane.act(action, &world)), [view::Request::Move(way)], "{action:?}");
    }
    assert_eq!(asked(pane.act(Action::Right, &world)), [], "wrapped lines have no side");
    let _ = pane.act(Action::Wrap, &world);
    let requests = asked(pane.refresh(&world));
    assert!(matches!(requests.as_slice(), [view::Request::Layout(layout)] if !layout.wraps));
    let right = asked(pane.act(Action::Right, &world));
    assert_eq!(right, [view::Request::Move(Move::Columns(8))]);
}

/// C-95, for the size and the warning.
#[test]
fn the_title_says_where_the_view_stands() {
    let mut agent = row(1);
    agent.progress = Some(Moment(20_000));
    let world = around(agent);
    let place = |change: &dyn Fn(&mut Page)| {
        let mut page = page(&[b"one"]);
        page.size = Some(1_234_567);
        change(&mut page);
        title(&with(&world, page), &world)
    };
    assert_eq!(place(&|_| {}), "#1 out · 1.2 MB · follow");
    let sized = |size| place(&|page: &mut Page| page.size = Some(size));
    assert_eq!(sized(999_999_999), "#1 out · 999 MB · follow");
    assert_eq!(sized(1_000_000_000), "#1 out · ⚠ large: 1.0 GB · follow");
    let new = |count, has_more| NewLines { count, has_more };
    let stopped =
        |page: &mut Page| (page.follows, page.is_at_end, page.percent) = (false, false, 37);
    assert_eq!(place(&stopped), "#1 out · 1.2 MB · 37%");
    let told = |lines| {
        place(&|page: &mut Page| {
            stopped(page);
            page.new_lines = lines;
        })
    };
    assert_eq!(told(new(12, false)), "#1 out · 1.2 MB · 12 new lines");
    assert_eq!(told(new(1, false)), "#1 out · 1.2 MB · 1 new line");
    assert_eq!(told(new(12_000, true)), "#1 out · 1.2 MB · over 12,000 new lines");
    let hits = |search| place(&|page: &mut Page| page.search = Some(SearchState::clone(&search)));
    assert_eq!(hits(search(17, true, Some(3))), "#1 out · 1.2 MB · follow · hit 3 of 17 · /error");
    assert_eq!(hits(search(0, true, None)), "#1 out · 1.2 MB · follow · no hits · /error");
    assert_eq!(hits(search(0, false, None)), "#1 out · 1.2 MB · follow · searching… · /error");
    assert_eq!(
        hits(search(12_000, false, None)),
        "#1 out · 1.2 MB · follow · 12,000+ hits · /error"
    );
    let wrong =
        SearchState { problem: Some("no regular expression".to_owned()), ..search(0, true, None) };
    assert_eq!(hits(wrong), "#1 out · 1.2 MB · follow · no regular expression · /error");
}

/// C-98, of an agent that prints nothing before its end.
#[test]
fn a_silent_agent_is_called_quiet_and_an_empty_text_is_a_sentence() {
    let world = around(row(1));
    let none = |mut page: Page, size| {
        page.rows.clear();
        page.size = size;
        page
    };
    let pane = with(&world, none(page(&[]), Some(0)));
    let drawn = frame(&pane, &world);
    assert!(
        drawn.contains("nothing written to out yet: quiet for 20s; some agents print only"),
        "{drawn}"
    );
    assert!(title(&pane, &world).ends_with("quiet for 20s"), "{drawn}");

    let sentences = [
        (Status::Queued, None, "#1 has not started: its out will be here"),
        (Status::Starting, None, "#1 is being started"),
        (Status::Ended(Outcome::Done), Some(0), "#1 wrote nothing to out"),
        (Status::Ended(Outcome::Done), None, "the file of out is gone: somebody removed it"),
    ];
    for (status, size, sentence) in sentences {
        let mut agent = row(1);
        agent.status = status;
        let world = around(agent);
        let drawn = frame(&with(&world, none(page(&[]), size)), &world);
        assert!(drawn.contains(sentence), "{sentence}:\n{drawn}");
    }
    let mut dropped = end(row(1), Outcome::Dropped, "");
    dropped.started = None;
    let world = around(dropped);
    let drawn = frame(&with(&world, none(page(&[]), None)), &world);
    assert!(drawn.contains("#1 never ran: there is no out"), "{drawn}");
}

#[test]
fn a_search_is_typed_in_a_line_of_its_own_and_ended_by_an_empty_one() {
    let world = around(row(1));
    let mut pane = with(&world, page(&[b"x"]));
    assert!(!flashes(&pane.act(Action::NextHit, &world)).is_empty(), "nothing to go to yet");
    let _ = pane.act(Action::Search, &world);
    assert_eq!(pane.place(), Place::Prompt);
    for character in "erx".chars() {
        pane.key(KeyEvent::from(KeyCode::Char(character)));
    }
    pane.key(KeyEvent::from(KeyCode::Backspace));
    pane.paste("ror\nq");
    assert!(frame(&pane, &world).contains("/error q"));
    let requests = asked(pane.act(Action::Accept, &world));
    assert_eq!(requests, [view::Request::Search("error q".to_owned())]);
    assert_eq!(pane.place(), Place::Tail);
    assert_eq!(asked(pane.act(Action::NextHit, &world)), [view::Request::NextHit]);
    assert_eq!(asked(pane.act(Action::PreviousHit, &world)), [view::Request::PreviousHit]);
    let _ = pane.act(Action::Search, &world);
    let _ = pane.act(Action::Close, &world);
    assert_eq!(asked(pane.act(Action::NextHit, &world)), [view::Request::NextHit], "given up");
    let _ = pane.act(Action::Search, &world);
    assert_eq!(asked(pane.act(Action::Accept, &world)), [view::Request::ClearSearch]);
    let _ = pane.act(Action::Search, &world);
    pane.key(KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE));
    assert_eq!(pane.place(), Place::Tail, "deleting nothing leaves the line");
}

#[test]
fn a_copied_line_is_put_on_the_clipboard_once() {
    let world = around(row(1));
    let mut pane = with(&world, page(&[b"x"]));
    assert_eq!(asked(pane.act(Action::CopyLine, &world)), [view::Request::Copy]);
    let copied = |number, text: &str| Some(Copied { number, text: text.to_owned() });
    pane.page(Arc::new(Page { copied: copied(1, "the line"), ..page(&[b"x"]) }));
    let wishes = pane.refresh(&world);
    let [Wish::Ask(Request::Copy(text, what))] = wishes.as_slice() else { panic!("{wishes:?}") };
    assert_eq!((text.as_str(), what.as_str()), ("the line", "line"));
    assert!(pane.refresh(&world).is_empty());
    pane.page(Arc::new(Page { copied: copied(2, "  "), ..page(&[b"x"]) }));
    assert_eq!(flashes(&pane.refresh(&world)), ["that line is empty: nothing copied"]);
}

#[test]
fn files_can_be_opened_and_their_path_copied_and_texts_without_a_file_say_so() {
    let world = around(row(1));
    let (mut pane, _) = shown(&world);
    let wishes = pane.act(Action::ShowFile, &world);
    let [Wish::Ask(Request::ShowFile(path))] = wishes.as_slice() else { panic!("{wishes:?}") };
    assert!(path.ends_with("agents/0001/out"));
    let wishes = pane.act(Action::EditFile, &world);
    let [Wish::Ask(Request::EditFile(path))] = wishes.as_slice() else { panic!("{wishes:?}") };
    assert!(path.ends_with("agents/0001/out"));
    let wishes = pane.act(Action::CopyPath, &world);
    let [Wish::Ask(Request::Copy(text, _))] = wishes.as_slice() else { panic!("{wishes:?}") };
    assert!(text.ends_with("agents/0001/out"));
    pane.chosen = Some(Text::Answer);
    let wishes = pane.act(Action::ShowFile, &world);
    assert_eq!(flashes(&wishes), ["answer is in no file: t turns to one, y copies a line"]);
    let mut queued = row(1);
    (queued.status, queued.started) = (Status::Queued, None);
    pane.chosen = Some(Text::Out);
    let wishes = pane.act(Action::ShowFile, &around(queued));
    assert_eq!(flashes(&wishes), ["#1 has not run: there is no file"]);
}

#[test]
fn the_wheel_scrolls_and_a_click_on_a_name_turns_to_that_text() {
    let world = around(row(1));
    let mut pane = with(&world, page(&[b"x"]));
    let area = world.panes.tail;
    let event = |kind, column, row| MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    let wheel = event(MouseEventKind::ScrollUp, area.x + 3, area.y + 2);
    assert_eq!(asked(pane.mouse(wheel, area, &world)), [view::Request::Move(Move::Rows(-3))]);
    let border = frame(&pane, &world).lines().last().unwrap().to_owned();
    let before = border.split("answer").next().unwrap();
    let column = area.x + u16::try_from(before.chars().count()).unwrap();
    let press = event(MouseEventKind::Down(MouseButton::Left), column, area.bottom() - 1);
    let _ = pane.mouse(press, area, &world);
    assert_eq!(pane.chosen, Some(Text::Answer));
    assert!(frame(&pane, &world).lines().last().unwrap().contains("[answer]"));
}

#[test]
fn a_pane_that_nobody_sees_reads_nothing() {
    let mut world = around(row(1));
    let (mut pane, _) = shown(&world);
    let area = std::mem::take(&mut world.panes.tail);
    assert_eq!(asked(pane.refresh(&world)), [view::Request::Hide(true)]);
    world.panes.tail = area;
    assert_eq!(asked(pane.refresh(&world)), [view::Request::Hide(false)]);
}

/// C-96, for what is drawn.
#[test]
fn nothing_that_an_agent_prints_moves_a_border_at_any_size() {
    let raw: [&[u8]; 5] = [
        "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} \u{4E2D}\u{6587}\u{4E2D}\u{6587} e\u{301}\u{301}".repeat(9).as_bytes().to_vec().leak(),
        b"\x1b[2J\x1b[1;1Hgotcha\x1b]0;title\x07\x1b[31mred",
        "\u{202E}\u{5E9}\u{5DC}\u{5D5}\u{5DD}\u{200F} tab\tend".as_bytes(),
        b"\xff\xfe\0\0bad",
        &[b'x'; 300],
    ];
    for columns in 1..60 {
        for rows in 1..20 {
            let mut world = around(row(1));
            let area = Rect::new(0, 0, columns, rows);
            world.panes.tail = area;
            let mut page = page(&raw);
            page.note = Some("cut\u{1b}[2J".to_owned());
            page.search = Some(search(17, true, Some(3)));
            let mut pane = with(&world, page);
            pane.typing = (rows % 2 == 0).then(|| "\u{4E2D}".repeat(40));
            let mut buffer = Buffer::empty(area);
            pane.draw(area, &mut buffer, &world);
            if columns > 1 && rows > 2 {
                for y in 1..rows - 1 {
                    assert_eq!(
                        buffer[(columns - 1, y)].symbol(),
                        "║",
                        "{columns}x{rows}\n{}",
                        text(&buffer)
                    );
                    assert_eq!(buffer[(0, y)].symbol(), "║");
                }
            }
            let all: String = buffer.content().iter().map(ratatui::buffer::Cell::symbol).collect();
            assert!(
                !all.chars().any(|character| character.is_control() || character == '\u{202E}')
            );
        }
    }
}

#[test]
fn colours_of_agents_are_shown_but_for_black_and_white_text_and_for_none_at_all() {
    let drawn = |theme: Theme, raw: &[u8]| {
        let mut world = around(row(1));
        world.theme = theme;
        let area = world.panes.tail;
        let mut buffer = Buffer::empty(area);
        with(&world, page(&[raw])).draw(area, &mut buffer, &world);
        buffer[(area.x + 1, area.y + 1)].style()
    };
    assert_eq!(drawn(THEME, b"\x1b[31mx").fg, Some(Color::Indexed(1)));
    assert_eq!(drawn(THEME, b"\x1b[30mx").fg, Some(Color::Reset));
    assert_eq!(drawn(THEME, b"\x1b[97mx").fg, Some(Color::Reset));
    let plain = Theme { words: Words { colour: false, ..THEME.words } };
    let style = drawn(plain, b"\x1b[1;31;44mx");
    assert_eq!((style.fg, style.bg), (Some(Color::Reset), Some(Color::Reset)));
    assert!(style.add_modifier.contains(ratatui::style::Modifier::BOLD));
}

#[test]
fn it_looks_as_it_should() {
    let lines: [&[u8]; 6] = [
        b"Compiling fleet v0.1.0",
        b"\x1b[1;32mFinished\x1b[0m dev profile in 12.4s",
        b"running 3 tests",
        b"test queue::holds ... \x1b[32mok\x1b[0m",
        "test \u{4E2D}\u{6587} ... \u{1B}[31mFAILED\u{1B}[0m".as_bytes(),
        b" 10%\r 50%\r100% done",
    ];
    for (columns, rows) in [(120, 40), (80, 24), (40, 12)] {
        let mut agent = row(1);
        agent.files_changed = vec!["a.rs".to_owned(), "b.rs".to_owned()];
        let world = world(fleet(agent), columns, rows, Focus::Tail);
        let mut page = page(&lines);
        page.search = Some(search(17, true, Some(3)));
        let pane = with(&world, page);
        insta::assert_snapshot!(format!("tail_{columns}x{rows}"), frame(&pane, &world));
    }
    let world = world(snapshot(1, Vec::new()), 80, 24, Focus::Editor);
    insta::assert_snapshot!("tail_without_agents", frame(&TailPane::default(), &world));
}
