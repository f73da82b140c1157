//! The view of one output file: opening a large one at its end, a write until it is on a page, also beside a flooding
//! neighbour, and a search through all of it.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loki_fleet::tail::view::{Page, Request, TailView, What};

use super::{Asked, folder, median};

/// Size of the file that is opened at its end, most of it a hole: no part of it but the end is read.
const LARGE: u64 = 5 << 30;
/// Lines of one latency measurement, and the time between two of them.
const LINES: usize = 200;
const BETWEEN: Duration = Duration::from_millis(25);

pub(crate) fn measure(asked: &Asked) {
    println!("tail: medians of {} rounds, {LINES} lines for a latency", asked.rounds);
    let mut opened: Vec<Duration> = (0..asked.rounds).map(|_| open()).collect();
    println!("  opening 5 GB at its end        {:>8.3} ms", milliseconds(median(&mut opened)));
    latency("write to page, alone           ", false);
    latency("write to page, beside a flood  ", true);
    let place = folder();
    let path = place.path().join("out");
    fill(&path, asked.megabytes);
    for (what, needle) in
        [("exact case", "Needle"), ("any case", "needle"), ("pattern", "/n[aeiou]+dle/")]
    {
        let mut times: Vec<Duration> = (0..asked.rounds).map(|_| search(&path, needle)).collect();
        println!(
            "  search {} MB, {what:<10}      {:>8.3} s",
            asked.megabytes,
            median(&mut times).as_secs_f64()
        );
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn until(view: &TailView, is_it: impl FnMut(&Arc<Page>) -> bool) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().build().expect("a loop can be made");
    let mut pages = view.pages();
    runtime.block_on(pages.wait_for(is_it)).expect("the view lives");
}

fn view(path: &Path) -> TailView {
    let view = TailView::start().expect("the view starts");
    view.ask(Request::Open { number: 1, what: What::File(path.to_owned()), has_ended: false });
    view
}

fn open() -> Duration {
    let place = folder();
    let path = place.path().join("out");
    let mut file = File::create(&path).expect("the file can be made");
    file.seek(SeekFrom::Start(LARGE)).expect("the file can be large");
    for number in 0..1000 {
        writeln!(file, "line {number}").expect("the end can be written");
    }
    let start = Instant::now();
    let view = view(&path);
    until(&view, |page| page.is_at_end && page.rows.len() == 24);
    start.elapsed()
}

fn latency(name: &str, has_neighbour: bool) {
    let place = folder();
    let folder = |name: &str| {
        let folder = place.path().join(name);
        std::fs::create_dir(&folder).expect("the folder can be made");
        folder.join("out")
    };
    let (path, other) = (folder("viewed"), folder("neighbour"));
    let stop = Arc::new(AtomicBool::new(false));
    let flood = has_neighbour.then(|| {
        let stop = Arc::clone(&stop);
        let piece = vec![b'x'; 64 * 1024];
        std::thread::spawn(move || {
            let mut file = File::create(&other).expect("the flood can be opened");
            while !stop.load(Ordering::Relaxed) {
                file.write_all(&piece).expect("the flood can be written");
                // A file that is written from its start again floods as well and fills no disk.
                if file.stream_position().is_ok_and(|at| at > 256 << 20) {
                    file.rewind().expect("the flood can begin anew");
                }
            }
        })
    });
    let mut file =
        OpenOptions::new().create(true).append(true).open(&path).expect("the file opens");
    writeln!(file, "first").expect("a line can be written");
    let view = view(&path);
    until(&view, |page| page.is_at_end && !page.rows.is_empty());
    let mut times = Vec::with_capacity(LINES);
    for number in 0..LINES {
        std::thread::sleep(BETWEEN);
        let line = format!("line {number}");
        let start = Instant::now();
        writeln!(file, "{line}").expect("a line can be written");
        until(&view, |page| {
            let last = page.rows.last().and_then(|row| row.spans.last());
            last.is_some_and(|span| span.text == line)
        });
        times.push(start.elapsed());
    }
    stop.store(true, Ordering::Relaxed);
    if let Some(flood) = flood {
        flood.join().expect("the flood ends");
    }
    let middle = median(&mut times);
    let late = times.get(times.len() * 95 / 100).copied().unwrap_or_default();
    let worst = times.last().copied().unwrap_or_default();
    println!(
        "  {name}{:>8.3} ms, p95 {:.3} ms, worst {:.3} ms",
        milliseconds(middle),
        milliseconds(late),
        milliseconds(worst)
    );
}

fn fill(path: &Path, megabytes: u64) {
    let line = format!("{}\n", "some words of a log ".repeat(4));
    let piece: Vec<u8> = line.bytes().cycle().take(1 << 20).collect();
    let mut file = File::create(path).expect("the file can be made");
    for _ in 0..megabytes {
        file.write_all(&piece).expect("the file can be written");
    }
    writeln!(file, "Needle").expect("the end can be written");
}

fn search(path: &Path, needle: &str) -> Duration {
    let view = view(path);
    until(&view, |page| page.is_at_end);
    let start = Instant::now();
    view.ask(Request::Search(needle.to_owned()));
    until(&view, |page| page.search.as_ref().is_some_and(|search| search.is_done));
    let total = view.page().search.as_ref().map_or(0, |search| search.total);
    assert_eq!(total, 1, "the needle is there once");
    start.elapsed()
}
