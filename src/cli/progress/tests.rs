//! Tests of the display and of watching.

use std::io::{self, Write};
use std::sync::Mutex;

use tokio::sync::mpsc;

use super::*;
use crate::cli::prompt::{OpenInput, Opening};
use crate::core::testing::{end, row, snapshot};
use crate::core::{
    Answer, Command, NanoUsd, Outcome, Question, QuestionId, Refusal, Reply, Row, Status,
};
use crate::runtime::{Asked, HostEnd, channel};
use crate::words::style::Style;

const TERMINAL: Style = Style { terminal: true, colour: false, unicode: true };
const PIPE: Style = Style { terminal: false, colour: false, unicode: true };

/// An output that several can look at.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// What a person sees on a terminal of that width, without its empty end.
    fn screen(&self, width: u16) -> Vec<String> {
        let size = |number: u16| std::num::NonZero::new(number).unwrap();
        let mut parser = vt100::Parser::new(size(40), size(width), 0);
        parser.process(self.text().replace('\n', "\r\n").as_bytes());
        let mut rows: Vec<String> =
            parser.screen().rows(0, width).map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn queued(id: u32) -> Row {
    let mut row = row(id);
    row.status = Status::Queued;
    row.started = None;
    row
}

fn done(id: u32) -> Row {
    end(row(id), Outcome::Done, "")
}

/// Plays snapshots to a watch on a paused clock and returns what it wrote.
async fn play(style: Style, snapshots: Vec<Snapshot>) -> (Shared, Arc<Snapshot>) {
    let shared = Shared::default();
    let mut snapshots = snapshots.into_iter();
    let (handle, host) = channel(snapshots.next().unwrap());
    let mut out = shared.clone();
    let watching = tokio::spawn(async move {
        let width = || 60;
        let mut display = Display::new(&mut out, style, &width);
        watch(handle, &mut display).await
    });
    for snapshot in snapshots {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        host.snapshots.send_replace(Arc::new(snapshot));
    }
    (shared, watching.await.unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_pipe_gets_plain_lines_and_nothing_else() {
    let (shared, last) = play(
        PIPE,
        vec![
            snapshot(1, vec![row(1), queued(2)]),
            snapshot(2, vec![done(1), row(2)]),
            snapshot(3, vec![done(1), end(row(2), Outcome::Failed, "exit code 3")]),
        ],
    )
    .await;
    assert_eq!(
        shared.text(),
        "fleet k3f · 2 agents · sh · 4 at once\n\
         [set 1] 2 tasks\n\
         ✓ [set 1 · 1/3] goal 1 (12s)\n\
         ✗ [set 1 · 2/3] goal 2 (12s) — exit code 3\n"
    );
    assert_eq!(last.revision, 3);
}

/// C-117: the line about a failed agent is there while its sibling runs.
#[tokio::test(start_paused = true)]
async fn a_failure_is_told_while_siblings_run() {
    let (handle, host) = channel(snapshot(1, vec![row(1), row(2)]));
    let shared = Shared::default();
    let mut out = shared.clone();
    let watching = tokio::spawn(async move {
        let mut display = Display::new(&mut out, PIPE, &|| 60);
        watch(handle, &mut display).await
    });
    tokio::time::sleep(Duration::from_millis(10)).await;
    host.snapshots
        .send_replace(Arc::new(snapshot(2, vec![end(row(1), Outcome::Failed, "no key"), row(2)])));
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert!(
        shared.text().ends_with("✗ [set 1 · 1/3] goal 1 (12s) — no key\n"),
        "{}",
        shared.text()
    );
    assert!(!watching.is_finished());
    watching.abort();
}

#[tokio::test(start_paused = true)]
async fn the_status_line_stays_at_the_bottom_and_is_gone_at_the_end() {
    let (shared, _) = play(
        TERMINAL,
        vec![
            snapshot(1, vec![row(1), queued(2)]),
            snapshot(2, vec![done(1), row(2)]),
            snapshot(3, vec![done(1), done(2)]),
        ],
    )
    .await;
    assert_eq!(
        shared.screen(60),
        [
            "fleet k3f · 2 agents · sh · 4 at once",
            "[set 1] 2 tasks",
            "✓ [set 1 · 1/3] goal 1 (12s)",
            "✓ [set 1 · 2/3] goal 2 (12s)"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_status_line_counts_seconds_only_while_agents_run() {
    let (handle, host) = channel(snapshot(1, vec![row(1)]));
    let shared = Shared::default();
    let mut out = shared.clone();
    let watching = tokio::spawn(async move {
        let mut display = Display::new(&mut out, TERMINAL, &|| 60);
        watch(handle, &mut display).await
    });
    tokio::time::sleep(Duration::from_millis(3500)).await;
    let status = shared.screen(60).pop().unwrap();
    assert!(status.contains(" · 23s · "), "{status}");
    host.snapshots.send_replace(Arc::new({
        let mut held = snapshot(2, vec![queued(1)]);
        held.header.closed = false;
        held
    }));
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = shared.text().len();
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(shared.text().len(), before, "an idle fleet draws nothing");
    watching.abort();
}

#[tokio::test(start_paused = true)]
async fn many_snapshots_in_one_moment_are_drawn_once() {
    let (handle, host) = channel(snapshot(1, vec![row(1)]));
    let shared = Shared::default();
    let mut out = shared.clone();
    let watching = tokio::spawn(async move {
        let mut display = Display::new(&mut out, TERMINAL, &|| 60);
        watch(handle, &mut display).await
    });
    tokio::time::sleep(Duration::from_millis(10)).await;
    let before = shared.text().matches("running").count();
    for number in 0..50_u64 {
        let mut next = snapshot(2 + number, vec![row(1)]);
        next.header.spent = NanoUsd::from_dollars(number);
        host.snapshots.send_replace(Arc::new(next));
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(110)).await;
    assert!(shared.text().matches("running").count() <= before + 2, "{}", shared.text());
    assert!(shared.text().contains("$49.0000"));
    watching.abort();
}

#[tokio::test(start_paused = true)]
async fn watching_ends_when_the_host_has_gone() {
    let (handle, host): (_, HostEnd) = channel(snapshot(1, vec![row(1)]));
    drop(host);
    let mut out = Shared::default();
    let mut display = Display::new(&mut out, PIPE, &|| 60);
    assert_eq!(watch(handle, &mut display).await.revision, 1);
}

/// Takes so many bytes and then refuses.
struct Closing(usize);

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_goes_away_silences_progress_and_nothing_else() {
    let (handle, host) = channel(snapshot(1, vec![row(1), row(2)]));
    let watching = tokio::spawn(async move {
        let mut out = Closing(80);
        let mut display = Display::new(&mut out, TERMINAL, &|| 60);
        let last = watch(handle, &mut display).await;
        (last.revision, display.is_redrawn())
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    host.snapshots.send_replace(Arc::new(snapshot(2, vec![done(1), row(2)])));
    tokio::time::sleep(Duration::from_millis(300)).await;
    host.snapshots.send_replace(Arc::new(snapshot(3, vec![done(1), done(2)])));
    assert_eq!(watching.await.unwrap(), (3, false));
}

#[test]
fn a_fleet_that_waits_for_an_answer_is_not_over_and_one_that_is_held_is() {
    let mut now = snapshot(1, vec![done(1), queued(2)]);
    assert!(!is_over(&now));
    now.header.idle = true;
    assert!(is_over(&now));
    now.header.closed = false;
    assert!(!is_over(&now));
    now.header.interrupted = Some("SIGINT".into());
    assert!(is_over(&now));
}

#[test]
fn a_status_line_that_wraps_after_the_terminal_became_narrower_is_erased_whole() {
    let shared = Shared::default();
    let mut out = shared.clone();
    let width = std::sync::atomic::AtomicUsize::new(60);
    let get = || width.load(std::sync::atomic::Ordering::Relaxed);
    let mut display = Display::new(&mut out, TERMINAL, &get);
    display.draw_text(&"x".repeat(50));
    width.store(20, std::sync::atomic::Ordering::Relaxed);
    display.erase();
    assert_eq!(shared.text().matches("\u{1b}[A").count(), 2);
}

/// Keys from a channel instead of a terminal.
struct Keys(Vec<Opening>);

impl AnswerSource for Keys {
    fn open(&mut self) -> Opening {
        self.0.pop().unwrap_or(Opening::Unavailable)
    }
}

fn asked(revision: u64, rows: Vec<Row>) -> Snapshot {
    let mut asked = snapshot(revision, rows);
    asked.header.cap = Some(NanoUsd::from_dollars(5));
    asked.header.spent = NanoUsd::from_dollars(5);
    asked.question = Some(Question {
        id: QuestionId(1),
        asked: Moment(2_000),
        cap: NanoUsd::from_dollars(5),
        committed: NanoUsd::from_dollars(5),
        default: NanoUsd::from_dollars(6),
        queued: 1,
        queue_estimate: None,
    });
    asked
}

/// A watch with a question and a host that a test plays.
struct Table {
    shared: Shared,
    host: HostEnd,
    typing: mpsc::Sender<Vec<u8>>,
    watching: tokio::task::JoinHandle<Arc<Snapshot>>,
}

impl Table {
    fn new(first: Snapshot, before: Vec<Opening>) -> Self {
        let (handle, host) = channel(first);
        let shared = Shared::default();
        let mut out = shared.clone();
        let (typing, pieces) = mpsc::channel(8);
        let mut openings = vec![Opening::Ready(OpenInput::of(pieces))];
        openings.extend(before.into_iter().rev());
        let watching = tokio::spawn(async move {
            let mut display = Display::new(&mut out, TERMINAL, &|| 100);
            watch_and_ask(handle, &mut display, Some(&mut Keys(openings))).await
        });
        Self { shared, host, typing, watching }
    }

    async fn types(&self, text: &str) {
        self.typing.send(text.as_bytes().to_vec()).await.unwrap();
        settle().await;
    }

    /// Takes the command that came, and answers it.
    async fn reply(&mut self, reply: Reply) -> Command {
        let Asked { command, reply: answer, .. } = self.host.commands.recv().await.unwrap();
        answer.send(reply).unwrap();
        settle().await;
        command
    }

    fn shows(&self, snapshot: Snapshot) {
        self.host.snapshots.send_replace(Arc::new(snapshot));
    }

    fn screen(&self) -> String {
        self.shared.screen(100).join("\n")
    }
}

/// Lets everything that can happen without time happen, and the next drawing.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(150)).await;
}

fn raised(id: u32, dollars: u64) -> Command {
    Command::Answer(QuestionId(id), Answer::Raise(NanoUsd::from_dollars(dollars)))
}

/// C-64: a word that is no number and an amount that the core refuses are refused in place, and neither asks anew.
#[tokio::test(start_paused = true)]
async fn a_wrong_amount_is_refused_where_it_was_typed_and_the_next_one_counts() {
    let mut table = Table::new(asked(1, vec![row(1), queued(2)]), vec![]);
    settle().await;
    assert!(table.screen().ends_with("new cap [$6.00], d, h or s:"), "{}", table.screen());
    table.types("lots\n").await;
    assert!(table.screen().contains("'lots' is not an amount of dollars"), "{}", table.screen());
    assert!(table.host.commands.try_recv().is_err(), "nothing was sent");
    table.types("4\n").await;
    let refused = Reply::Refused(Refusal("$4.00 is not above the $5.00 that are spent".into()));
    assert_eq!(table.reply(refused).await, raised(1, 4));
    assert!(table.screen().contains("$4.00 is not above the $5.00"), "{}", table.screen());
    table.types("8\n").await;
    assert_eq!(table.reply(Reply::Done(1)).await, raised(1, 8));
    assert_eq!(table.shared.text().matches("cap reached: ").count(), 1);
    // The old snapshot still has the question, which does not open it again.
    settle().await;
    assert!(
        table.screen().contains("raised to $8.00") && !table.screen().contains("new cap"),
        "{}",
        table.screen()
    );
    table.watching.abort();
}

/// C-63: without anything queued there is no question in the snapshot, and nothing is asked.
#[tokio::test(start_paused = true)]
async fn without_a_question_nothing_is_asked_and_nothing_is_read() {
    let table = Table::new(snapshot(1, vec![row(1)]), vec![]);
    table.types("9\n").await;
    assert!(!table.screen().contains("cap"), "{}", table.screen());
    table.watching.abort();
}

/// C-66 as far as a line at the bottom goes: ends are told above the question while it is open.
#[tokio::test(start_paused = true)]
async fn ends_go_on_being_told_while_the_question_is_open_and_typing_stays() {
    let table = Table::new(asked(1, vec![row(1), queued(2)]), vec![]);
    settle().await;
    table.types("7.5").await;
    table.shows(asked(2, vec![done(1), queued(2)]));
    settle().await;
    let screen = table.screen();
    assert!(screen.contains("✓ [set 1 · 1/3] goal 1"), "{screen}");
    assert!(screen.ends_with("new cap [$6.00], d, h or s: 7.5"), "{screen}");
    table.watching.abort();
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_answered_elsewhere_disappears_with_the_reason() {
    let table = Table::new(asked(1, vec![row(1), queued(2)]), vec![]);
    settle().await;
    let mut next = snapshot(2, vec![row(1), row(2)]);
    next.header.cap = Some(NanoUsd::from_dollars(12));
    table.shows(next);
    settle().await;
    let screen = table.screen();
    assert!(
        screen.contains("answered elsewhere: raised to $12.00") && !screen.contains("new cap"),
        "{screen}"
    );
    table.watching.abort();
}

#[tokio::test(start_paused = true)]
async fn a_second_answer_is_told_how_the_first_one_was() {
    let mut table = Table::new(asked(1, vec![row(1), queued(2)]), vec![]);
    settle().await;
    table.types("\n").await;
    let command = table.reply(Reply::AlreadyAnswered("raised to $12.00".into())).await;
    assert_eq!(command, raised(1, 6));
    assert!(table.screen().contains("already answered: raised to $12.00"), "{}", table.screen());
    table.watching.abort();
}

#[tokio::test(start_paused = true)]
async fn in_the_background_the_question_waits_for_the_foreground() {
    let table = Table::new(
        asked(1, vec![row(1), queued(2)]),
        vec![Opening::Background, Opening::Background],
    );
    settle().await;
    assert!(
        table.screen().contains("foreground (fg)") && !table.screen().contains("new cap"),
        "{}",
        table.screen()
    );
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(table.screen().contains("new cap [$6.00]"), "{}", table.screen());
    assert_eq!(table.shared.text().matches("foreground").count(), 1);
    table.watching.abort();
}

#[tokio::test(start_paused = true)]
async fn without_a_terminal_the_queue_stays_held() {
    let (handle, mut host) = channel(asked(1, vec![row(1), queued(2)]));
    let mut out = Shared::default();
    let watching = tokio::spawn(async move {
        let mut display = Display::new(&mut out, TERMINAL, &|| 100);
        watch_and_ask(handle, &mut display, Some(&mut Keys(vec![]))).await
    });
    let Asked { command, .. } = host.commands.recv().await.unwrap();
    assert_eq!(command, Command::Answer(QuestionId(1), Answer::Hold));
    watching.abort();
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_would_see_is_not_asked() {
    let (handle, mut host) = channel(asked(1, vec![row(1), queued(2)]));
    let (_typing, pieces) = mpsc::channel(1);
    let watching = tokio::spawn(async move {
        let mut out = Shared::default();
        let mut display = Display::new(&mut out, PIPE, &|| 100);
        let openings = vec![Opening::Ready(OpenInput::of(pieces))];
        watch_and_ask(handle, &mut display, Some(&mut Keys(openings))).await
    });
    let Asked { command, .. } = host.commands.recv().await.unwrap();
    assert_eq!(command, Command::Answer(QuestionId(1), Answer::Hold));
    watching.abort();
}

#[tokio::test(start_paused = true)]
async fn the_next_question_is_asked_anew() {
    let (handle, mut host) = channel(asked(1, vec![row(1), queued(2)]));
    let (shared, (one, first), (two, second)) =
        (Shared::default(), mpsc::channel(8), mpsc::channel(8));
    let mut out = shared.clone();
    let watching = tokio::spawn(async move {
        let openings =
            vec![Opening::Ready(OpenInput::of(second)), Opening::Ready(OpenInput::of(first))];
        let mut display = Display::new(&mut out, TERMINAL, &|| 100);
        watch_and_ask(handle, &mut display, Some(&mut Keys(openings))).await
    });
    one.send(b"\n".to_vec()).await.unwrap();
    host.commands.recv().await.unwrap().reply.send(Reply::Done(1)).unwrap();
    settle().await;
    assert!(one.is_closed(), "nothing is read once the question is closed");
    let mut again = asked(2, vec![done(1), queued(2)]);
    again.question.as_mut().unwrap().id = QuestionId(2);
    host.snapshots.send_replace(Arc::new(again));
    two.send(b"d\n".to_vec()).await.unwrap();
    let Asked { command, .. } = host.commands.recv().await.unwrap();
    assert_eq!(command, Command::Answer(QuestionId(2), Answer::Drop));
    watching.abort();
}
