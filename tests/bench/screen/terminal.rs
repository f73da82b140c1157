//! The screen in a pseudo-terminal, with the moment at which something became visible.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::place::HOMES;

/// How long something that must come is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) struct Screen {
    parser: vt100::Parser,
    /// Times of the newest change.
    changed: Instant,
    bytes: u64,
    /// What came since nobody looks; `None` while somebody does.
    unseen: Option<Vec<u8>>,
}

impl Screen {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        match &mut self.unseen {
            Some(unseen) => unseen.extend_from_slice(bytes),
            None => self.parser.process(bytes),
        }
    }

    pub(super) fn text(&self) -> String {
        self.parser.screen().contents()
    }
}

pub(crate) struct Terminal {
    seen: Arc<(Mutex<Screen>, Condvar)>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    pub(crate) started: Instant,
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Starts the binary with these words, its state and all else below `place`.
    pub(crate) fn start(place: &Path, words: &[&str], (columns, rows): (u16, u16)) -> Self {
        let pair = native_pty_system()
            .openpty(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 })
            .expect("there is a pseudo-terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fleet"));
        command.args(words);
        command.cwd(place);
        for (name, value) in [("TERM", "xterm-256color"), ("LANG", "C.UTF-8")] {
            command.env(name, value);
        }
        for name in HOMES {
            command.env(name, place);
        }
        command.env_remove("FLEET_AGENT");
        command.env_remove("FLEET_DEPTH");
        command.env_remove("TMUX");
        let cells = |count| NonZeroU16::new(count).expect("a size is not zero");
        let seen = Arc::new((
            Mutex::new(Screen {
                parser: vt100::Parser::new(cells(rows), cells(columns), 0),
                changed: Instant::now(),
                bytes: 0,
                unseen: None,
            }),
            Condvar::new(),
        ));
        let into = Arc::clone(&seen);
        let mut reader = pair.master.try_clone_reader().expect("the terminal can be read");
        let writer = pair.master.take_writer().expect("the terminal can be written");
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).expect("the binary can be started");
        drop(pair.slave);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                let now = Instant::now();
                let mut screen = into.0.lock().unwrap_or_else(PoisonError::into_inner);
                screen.take(buffer.get(..count).unwrap_or_default());
                screen.changed = now;
                drop(screen);
                into.1.notify_all();
            }
        });
        Self { seen, writer, child, started, _master: pair.master }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.process_id().expect("it runs")
    }

    pub(crate) fn send(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("keys can be typed");
        self.writer.flush().expect("keys can be typed");
    }

    /// Agrees to so many tasks at once, if that is asked about.
    pub(super) fn agree(&mut self, tasks: usize) {
        if tasks > 20 {
            self.wait_for("dispatch ");
            // The question has opened by itself, and hears no key in its first moment.
            std::thread::sleep(Duration::from_millis(700));
            self.send("y");
        }
    }

    /// Only takes what the screen writes until `work` has ended: what a terminal needs to understand it is no cost of the
    /// screen's.
    pub(crate) fn unseen<T>(&self, work: impl FnOnce() -> T) -> T {
        let lock = || self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        lock().unseen = Some(Vec::new());
        let done = work();
        let mut screen = lock();
        let unseen = screen.unseen.take().unwrap_or_default();
        screen.parser.process(&unseen);
        done
    }

    /// Bytes that were written to the terminal so far.
    pub(super) fn bytes(&self) -> u64 {
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Waits until `look` finds something on the screen; returns it with the moment at which it came.
    pub(crate) fn wait<T>(&self, what: &str, look: impl Fn(&str) -> Option<T>) -> (T, Instant) {
        let end = Instant::now() + PATIENCE;
        let mut screen = self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let text = screen.text();
            if let Some(found) = look(&text) {
                return (found, screen.changed);
            }
            assert!(Instant::now() < end, "no {what} on the screen:\n{text}");
            screen = self
                .seen
                .1
                .wait_timeout(screen, Duration::from_millis(200))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    pub(crate) fn wait_for(&self, text: &str) -> Instant {
        self.wait(text, |screen| screen.contains(text).then_some(())).1
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
