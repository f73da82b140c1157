//! The view as a screen uses it, on files that grow, are cut and replaced.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::super::mailbox::{Mailbox, Opening};
use super::super::page::{NewLines, Page, Request, What};
use super::super::text::Emphasis;
use super::super::window::{Layout, Move, Row};
use super::viewed::Viewed;
use super::{TailView, Worker};

struct Seen {
    view: TailView,
    folder: tempfile::TempDir,
}

impl Seen {
    fn new() -> Self {
        let view = TailView::start().unwrap();
        view.ask(Request::Layout(Layout { width: 40, height: 4, wraps: true }));
        Self { view, folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn open(&self) {
        self.view.ask(Request::Open { number: 1, what: What::File(self.path()), has_ended: false });
    }

    /// Waits for a page that is as it should be.
    fn until(&self, what: &str, is_it: impl Fn(&Page) -> bool) -> Arc<Page> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut pages = self.view.pages();
            let long = Duration::from_secs(30);
            let found = tokio::time::timeout(long, pages.wait_for(|page| is_it(page))).await;
            let found = found.map(|page| Arc::clone(&page.expect("the view's thread lives")));
            found.unwrap_or_else(|_| panic!("no page with {what} but {:#?}", self.view.page()))
        })
    }
}

fn append(path: &Path, text: &str) {
    append_bytes(path, text.as_bytes());
}

fn append_bytes(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

fn rows(page: &Page) -> Vec<String> {
    let text = |row: &Row| row.spans.iter().map(|span| span.text.as_str()).collect();
    page.rows.iter().map(text).collect()
}

/// C-97, with the next two and that of files which are cut. How soon growth is seen is measured by the bench.
#[test]
fn a_file_that_appears_and_grows_is_followed() {
    let seen = Seen::new();
    seen.open();
    seen.until("no file", |page| page.number == 1 && page.size.is_none());
    append(&seen.path(), "one\n");
    seen.until("its first line", |page| rows(page) == ["one"]);
    append(&seen.path(), "two\nthr");
    seen.until("an unfinished line", |page| rows(page) == ["one", "two", "thr"]);
    let letter = "\u{E4}".as_bytes();
    append(&seen.path(), "ee ");
    append_bytes(&seen.path(), &letter[..1]);
    seen.until("half a letter", |page| rows(page) == ["one", "two", "three \u{FFFD}"]);
    append_bytes(&seen.path(), &letter[1..]);
    seen.until("the letter", |page| rows(page) == ["one", "two", "three \u{E4}"]);
    append(&seen.path(), "\nfour\nfive\n");
    let page = seen.until("the end", |page| rows(page).last().is_some_and(|row| row == "five"));
    assert!(page.follows && page.is_at_end && page.percent == 100, "{page:#?}");
}

/// A file event wakes the view, which does not wait for the time of the next look. On a busy machine the event may be
/// late, so that the timer is first: then the file grows once more.
#[test]
fn growth_is_seen_by_its_event_before_the_timer_comes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    append(&path, "0\n");
    let mailbox = Arc::new(Mailbox::default());
    let (sender, pages) = tokio::sync::watch::channel(Arc::new(Page::default()));
    let mut worker = Worker::new(Arc::clone(&mailbox), sender);
    mailbox.put(Request::Open { number: 1, what: What::File(path.clone()), has_ended: false });
    let (orders, is_time) = worker.wait();
    worker.turn(orders, is_time);
    for line in 1..=60 {
        append(&path, &format!("{line}\n"));
        let (orders, is_time) = worker.wait();
        let was_woken = orders.hint && !is_time;
        worker.turn(orders, is_time);
        let shown = rows(&pages.borrow()).last() == Some(&line.to_string());
        if was_woken && shown {
            return;
        }
    }
    panic!("only the timer showed what was written: {:#?}", pages.borrow());
}

/// Events are told of the name that was written to. What comes by another name in another folder comes without any.
#[test]
fn growth_without_an_event_is_found_by_the_timer() {
    let seen = Seen::new();
    let other = tempfile::tempdir_in(seen.folder.path()).unwrap();
    let other = other.path().join("same file");
    append(&seen.path(), "one\n");
    fs::hard_link(seen.path(), &other).unwrap();
    seen.open();
    seen.until("the first line", |page| rows(page) == ["one"]);
    append(&other, "two\n");
    seen.until("the second line", |page| rows(page) == ["one", "two"]);
    append(&other, "three\n");
    seen.until("the third line", |page| rows(page) == ["one", "two", "three"]);
}

/// C-99
#[test]
fn scrolling_up_stops_following_counts_new_lines_and_end_resumes() {
    let seen = Seen::new();
    append(&seen.path(), "1\n2\n3\n4\n5\n6\n");
    seen.open();
    seen.until("the end", |page| rows(page) == ["3", "4", "5", "6"]);
    seen.view.ask(Request::Move(Move::Rows(-1)));
    seen.until("one row up", |page| !page.follows && rows(page) == ["2", "3", "4", "5"]);
    append(&seen.path(), "7\n8\n");
    let page = seen.until("two new lines", |page| page.new_lines.count == 2);
    assert_eq!(rows(&page), ["2", "3", "4", "5"], "growth moves nothing");
    seen.view.ask(Request::Move(Move::End));
    let page = seen.until("the new end", |page| rows(page) == ["5", "6", "7", "8"]);
    assert!(page.follows && page.new_lines.count == 0);
}

#[test]
fn a_file_that_is_cut_or_replaced_is_shown_anew_and_said_so() {
    let seen = Seen::new();
    append(&seen.path(), "old 1\nold 2\n");
    seen.open();
    seen.until("the old text", |page| rows(page) == ["old 1", "old 2"]);
    fs::write(seen.path(), "new\n").unwrap();
    let page = seen.until("the new text", |page| rows(page) == ["new"]);
    assert!(page.note.as_ref().is_some_and(|note| note.contains("cut")), "{page:#?}");
    append(&seen.folder.path().join("next"), "other\n");
    fs::rename(seen.folder.path().join("next"), seen.path()).unwrap();
    let page = seen.until("the other file", |page| rows(page) == ["other"]);
    assert!(page.note.as_ref().is_some_and(|note| note.contains("another file")), "{page:#?}");
    assert_eq!(page.generation, 2);
}

#[test]
fn a_search_goes_to_hits_counts_them_and_survives_another_text() {
    let seen = Seen::new();
    let lines: Vec<String> = (0..100).map(|number| format!("line {number}\n")).collect();
    fs::write(seen.path(), lines.concat()).unwrap();
    seen.open();
    seen.until("the end", |page| page.is_at_end);
    seen.view.ask(Request::Search("line 1".to_owned()));
    let page = seen.until("the nearest hit", |page| {
        page.search.as_ref().is_some_and(|search| search.is_done && search.rank == Some(11))
    });
    assert_eq!(page.search.as_ref().map(|search| search.total), Some(11));
    assert!(rows(&page).iter().any(|row| row == "line 19"), "{page:#?}");
    seen.view.ask(Request::NextHit);
    seen.until("the first hit", |page| {
        page.search.as_ref().is_some_and(|search| search.rank == Some(1))
    });
    seen.view.ask(Request::PreviousHit);
    seen.until("the last hit", |page| {
        page.search.as_ref().is_some_and(|search| search.rank == Some(11))
    });
    seen.view.ask(Request::Copy);
    let page = seen.until("the line", |page| page.copied.is_some());
    assert_eq!(page.copied.as_ref().map(|copied| copied.text.as_str()), Some("line 19"));
    let what = What::Text(Arc::from("an answer on line 1\n"));
    seen.view.ask(Request::Open { number: 2, what, has_ended: true });
    let page = seen.until("the other text", |page| page.number == 2);
    assert_eq!(rows(&page), ["an answer on line 1"]);
    seen.until("its hits", |page| {
        page.search.as_ref().is_some_and(|search| search.is_done && search.total == 1)
    });
    seen.view.ask(Request::Search("/(/".to_owned()));
    seen.until("the reason", |page| {
        page.search.as_ref().is_some_and(|search| search.problem.is_some())
    });
}

#[test]
fn a_search_finds_what_is_shown_of_the_line_protocol_and_stands_on_it() {
    let seen = Seen::new();
    let step = |text: &str| {
        format!(r#"{{"fleet":"step","tool":"bash","text":"{text}","state":"start"}}"#) + "\n"
    };
    let lines: Vec<String> = (0..50).map(|number| step(&format!("say {number}"))).collect();
    fs::write(seen.path(), lines.concat() + "a step in \x1b[1mba\x1b[0msh\nlast\n").unwrap();
    seen.open();
    seen.until("the end", |page| page.is_at_end);
    seen.view.ask(Request::Search("state".to_owned()));
    let counted = |page: &Page| {
        page.search.as_ref().filter(|search| search.is_done && !search.is_seeking).cloned()
    };
    let page = seen.until("an end of the search", |page| counted(page).is_some());
    assert_eq!(counted(&page).map(|search| search.total), Some(0), "nobody sees the JSON");
    seen.view.ask(Request::Search("bash".to_owned()));
    let ways = [None, Some(Request::NextHit), Some(Request::NextHit), Some(Request::NextHit)];
    let ranks = [49, 50, 51, 1];
    let lines = ["[bash] say 48", "[bash] say 49", "a step in bash", "[bash] say 0"];
    for ((way, rank), line) in ways.into_iter().zip(ranks).zip(lines) {
        if let Some(way) = way {
            seen.view.ask(way);
        }
        let page = seen.until(line, |page| {
            counted(page).is_some_and(|search| search.total == 51 && search.rank == Some(rank))
        });
        let current =
            |row: &&Row| row.spans.iter().any(|span| span.emphasis == Emphasis::CurrentHit);
        let standing: Vec<&Row> = page.rows.iter().filter(current).collect();
        assert_eq!(standing.len(), 1, "{page:#?}");
        let text: String = standing[0].spans.iter().map(|span| span.text.as_str()).collect();
        assert_eq!(text, line);
    }
}

#[test]
fn a_text_in_memory_never_has_new_lines_wherever_one_stands_in_it() {
    let seen = Seen::new();
    let lines: Vec<String> = (0..100).map(|number| format!("{number}\n")).collect();
    let what = What::Text(Arc::from(lines.concat()));
    seen.view.ask(Request::Open { number: 1, what, has_ended: true });
    let page = seen.until("the first rows", |page| page.number == 1);
    assert_eq!(rows(&page), ["0", "1", "2", "3"]);
    assert_eq!(page.new_lines, NewLines::default());
    for (way, first) in
        [(Move::Rows(7), "7"), (Move::End, "96"), (Move::Rows(-1), "95"), (Move::Start, "0")]
    {
        seen.view.ask(Request::Move(way));
        let page = seen.until(first, |page| rows(page).first().is_some_and(|row| row == first));
        assert_eq!(page.new_lines, NewLines::default(), "{way:?}");
    }
    let layout = Layout { width: 20, height: 2, wraps: false };
    seen.view.ask(Request::Layout(layout));
    let page = seen.until("two rows", |page| rows(page) == ["0", "1"]);
    assert_eq!(page.new_lines, NewLines::default());
}

#[test]
fn a_look_that_shows_nothing_new_is_no_reason_for_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    append(&path, "1\n2\n3\n");
    let layout = Layout { width: 40, height: 2, wraps: true };
    let opening = Opening { number: 1, what: What::File(path.clone()), has_ended: false };
    let mut viewed = Viewed::open(opening, layout);
    let tells = |viewed: &mut Viewed| {
        viewed.look(true, None);
        viewed.count_lines();
        let has_news = viewed.has_news();
        (has_news, has_news.then(|| rows(&viewed.page())))
    };
    let shown = |rows: [&str; 2]| (true, Some(rows.map(ToOwned::to_owned).to_vec()));
    assert_eq!(tells(&mut viewed), shown(["2", "3"]));
    assert_eq!(tells(&mut viewed), (false, None));
    append(&path, "4\n");
    assert_eq!(tells(&mut viewed), shown(["3", "4"]));
    assert_eq!(tells(&mut viewed), (false, None));
    viewed.go(Move::Start);
    assert_eq!(rows(&viewed.page()), ["1", "2"]);
    append(&path, "5\n");
    assert_eq!(tells(&mut viewed), shown(["1", "2"]), "there is one more new line");
    assert_eq!(tells(&mut viewed), (false, None));
    fs::write(&path, "").unwrap();
    assert_eq!(tells(&mut viewed), (true, Some(Vec::new())));
}

#[test]
fn many_moves_at_once_arrive_where_they_should() {
    let seen = Seen::new();
    let lines: Vec<String> = (0..1000).map(|number| format!("{number}\n")).collect();
    fs::write(seen.path(), lines.concat()).unwrap();
    seen.open();
    for _ in 0..500 {
        seen.view.ask(Request::Move(Move::Rows(-1)));
    }
    let page = seen.until("row 496", |page| rows(page).first().is_some_and(|row| row == "496"));
    assert_eq!(page.percent, 48);
    seen.view.ask(Request::Move(Move::Start));
    seen.until("the first row", |page| page.top == 0);
    seen.view.ask(Request::Close);
    seen.until("nothing", |page| page.number == 0 && page.rows.is_empty());
}

#[test]
fn what_was_written_before_an_end_is_shown_without_a_timer_after_it() {
    let seen = Seen::new();
    append(&seen.path(), "first\n");
    seen.open();
    seen.until("the first line", |page| rows(page) == ["first"]);
    append(&seen.path(), "last\n");
    seen.view.ask(Request::Ended(1));
    seen.until("the last line", |page| rows(page) == ["first", "last"]);
}

#[test]
fn a_file_whose_folder_comes_later_is_found_by_the_timer() {
    let seen = Seen::new();
    let folder = seen.folder.path().join("agent");
    let what = What::File(folder.join("out"));
    seen.view.ask(Request::Open { number: 1, what, has_ended: false });
    let page = seen.until("no file", |page| page.number == 1);
    assert_eq!((page.size, page.note.clone()), (None, None), "there is nothing to complain of");
    fs::create_dir(&folder).unwrap();
    append(&folder.join("out"), "late\n");
    seen.until("the line", |page| rows(page) == ["late"]);
}

#[test]
fn a_hidden_view_tells_nothing_until_it_is_seen_again() {
    let seen = Seen::new();
    append(&seen.path(), "first\n");
    seen.open();
    seen.until("the first line", |page| rows(page) == ["first"]);
    seen.view.ask(Request::Hide(true));
    append(&seen.path(), "second\n");
    // A search is answered through a page, so while the view is hidden none may come.
    seen.view.ask(Request::Search("second".to_owned()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let quiet = runtime.block_on(async {
        let mut pages = seen.view.pages();
        pages.mark_unchanged();
        let some_frames = Duration::from_millis(200);
        tokio::time::timeout(some_frames, pages.changed()).await.is_err()
    });
    assert!(quiet, "a page for nobody");
    seen.view.ask(Request::Hide(false));
    seen.until("both lines", |page| rows(page) == ["first", "second"]);
}
