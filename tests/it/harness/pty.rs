//! The real binary in a pseudo-terminal: keys in, a screen out.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use portable_pty::{CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::fs::OFlags;
use rustix::termios::{Action, LocalModes, tcflow, tcgetattr};

use super::{GENEROUS, Pid, World, wait_until};

/// Begins and ends a frame, of which a terminal shows nothing until it has all of it.
const FRAME_BEGINS: &[u8] = b"\x1b[?2026h";
const FRAME_ENDS: &[u8] = b"\x1b[?2026l";

/// What the binary wrote, raw and as a person would see it.
struct Seen {
    raw: Vec<u8>,
    /// End of `raw` that is not shown yet: a frame that has not ended, or the beginning of such a mark.
    hidden: Vec<u8>,
    screen: vt100::Parser,
}

impl Seen {
    /// Takes what was written, and shows it but for a frame that has only begun: what is half drawn is seen by nobody.
    fn take(&mut self, piece: &[u8]) {
        self.raw.extend_from_slice(piece);
        self.hidden.extend_from_slice(piece);
        loop {
            let shown = match find(&self.hidden, FRAME_BEGINS) {
                Some(0) => match find(&self.hidden, FRAME_ENDS) {
                    Some(end) => end + FRAME_ENDS.len(),
                    None => return,
                },
                Some(start) => start,
                None => {
                    let is_cut = |length: &usize| self.hidden.ends_with(&FRAME_BEGINS[..*length]);
                    let cut = (1..FRAME_BEGINS.len()).rev().find(is_cut).unwrap_or(0);
                    self.hidden.len() - cut
                }
            };
            if shown == 0 {
                return;
            }
            self.screen.process(&self.hidden[..shown]);
            self.hidden.drain(..shown);
        }
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

/// A pseudo-terminal with the binary in it.
pub(crate) struct Terminal {
    seen: Arc<Mutex<Seen>>,
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    ended: Option<ExitStatus>,
    /// Its path, by which its modes can be read.
    name: PathBuf,
    master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Starts the binary in a terminal of this size.
    pub(crate) fn start(world: &World, args: &[&str], rows: u16, columns: u16) -> Self {
        Self::start_program(world, env!("CARGO_BIN_EXE_fleet"), args, rows, columns)
    }

    /// Starts any program in a terminal of this size.
    pub(crate) fn start_program(
        world: &World,
        program: impl AsRef<OsStr>,
        args: &[&str],
        rows: u16,
        columns: u16,
    ) -> Self {
        let pair = native_pty_system().openpty(size(rows, columns)).unwrap();
        let name = pair.master.tty_name().unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.env_clear();
        for (name, value) in world.variables() {
            command.env(name, value);
        }
        command.cwd(world.work());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = vt100::Parser::new(cells(rows), cells(columns), 0);
        let seen = Arc::new(Mutex::new(Seen { raw: Vec::new(), hidden: Vec::new(), screen }));
        let writer = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let reader = pair.master.try_clone_reader().unwrap();
        let (into, answers) = (Arc::clone(&seen), Arc::clone(&writer));
        std::thread::spawn(move || read(reader, &into, &answers));
        Self { seen, writer, child, ended: None, name, master: pair.master }
    }

    /// Process that was started in it.
    pub(crate) fn pid(&self) -> Pid {
        Pid(self.child.process_id().expect("it has not been waited for"))
    }

    /// Gives the terminal another size.
    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        // What is written between the two is for the old size.
        let mut seen = self.seen.lock().unwrap();
        seen.screen.screen_mut().set_size(cells(rows), cells(columns));
        self.master.resize(size(rows, columns)).unwrap();
    }

    /// Waits until it is as a shell leaves it to a program: modes, screen, cursor, mouse, pastes. What a program wrote
    /// last may be seen after its end.
    #[track_caller]
    pub(crate) fn wait_given_back(&self) {
        wait_until("the terminal is given back", GENEROUS, || self.is_given_back());
    }

    /// Stops what the terminal reads from its program, or lets it read again, as somebody who selects text would.
    pub(crate) fn set_reading(&self, reads: bool) {
        let action = if reads { Action::OOn } else { Action::OOff };
        tcflow(self.open().unwrap(), action).unwrap();
    }

    fn open(&self) -> std::io::Result<File> {
        let no_controlling = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
        OpenOptions::new().read(true).custom_flags(no_controlling).open(&self.name)
    }

    fn is_given_back(&self) -> Result<(), String> {
        // A terminal that nobody has open any more has no modes to be wrong.
        if let Ok(terminal) = self.open() {
            let modes = tcgetattr(terminal).unwrap().local_modes;
            if !modes.contains(LocalModes::ICANON | LocalModes::ECHO) {
                return Err(format!("raw: {modes:?}"));
            }
        }
        let written = self.written();
        let seen = self.seen.lock().unwrap();
        let screen = seen.screen.screen();
        let wrong = |what: &str| Err(format!("{what}: {written:?}"));
        if screen.alternate_screen() {
            return wrong("the alternate screen is still there");
        }
        if screen.hide_cursor() {
            return wrong("there is no cursor");
        }
        if screen.bracketed_paste() {
            return wrong("pastes are marked");
        }
        for mode in ["1000", "1002", "1006", "1004", "2026"] {
            let last = |sign: &str| written.rfind(&format!("\x1b[?{mode}{sign}"));
            if last("h") > last("l") {
                return wrong(&format!("mode {mode} is still on"));
            }
        }
        Ok(())
    }

    /// Says whether a full-screen program has the terminal.
    pub(crate) fn is_taken(&self) -> bool {
        self.seen.lock().unwrap().screen.screen().alternate_screen()
    }

    /// Types these bytes. What is sent at once with a line feed in it is taken for a paste by a full-screen program, so
    /// Enter is sent by itself, after what it follows was seen.
    pub(crate) fn send(&self, bytes: &str) {
        let mut writer = self.writer.lock().unwrap();
        writer.write_all(bytes.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// What a person sees now.
    pub(crate) fn screen(&self) -> String {
        self.seen.lock().unwrap().screen.screen().contents()
    }

    /// Looks at the cells of what a person sees now.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.seen.lock().unwrap().screen.screen())
    }

    /// All that was ever written, as text.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().raw).into_owned()
    }

    /// Waits until a person sees this.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        wait_until(&format!("the screen shows {text:?}"), GENEROUS, || {
            let screen = self.screen();
            if screen.contains(text) { Ok(()) } else { Err(format!("\n{screen}")) }
        });
    }

    /// Waits until this has been written so many times, whether it is still seen or not.
    #[track_caller]
    pub(crate) fn wait_written(&self, text: &str, times: usize) {
        wait_until(&format!("{text:?} was written {times} times"), GENEROUS, || {
            let written = self.written();
            if written.matches(text).count() >= times {
                Ok(())
            } else {
                Err(format!("\n{written}"))
            }
        });
    }

    /// Waits for the end of the binary and returns its exit code; a signal is a failure.
    #[track_caller]
    pub(crate) fn end(&mut self) -> u32 {
        wait_until("the binary in the terminal ends", GENEROUS, || {
            if self.ended.is_none() {
                self.ended = self.child.try_wait().unwrap();
            }
            if self.ended.is_some() { Ok(()) } else { Err(format!("\n{}", self.screen())) }
        });
        let status = self.ended.clone().expect("it has just ended");
        assert_eq!(status.signal(), None, "{}", self.screen());
        status.exit_code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.ended.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn size(rows: u16, columns: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a terminal has at least one cell")
}

/// Reads until the terminal is closed. A real terminal answers queries for its kind (DA1) and its cursor (CPR);
/// without answers a program that asks waits for its whole time-out.
fn read(
    mut reader: Box<dyn Read + Send>,
    into: &Mutex<Seen>,
    answers: &Mutex<Box<dyn Write + Send>>,
) {
    let mut buffer = [0; 4096];
    while let Ok(count) = reader.read(&mut buffer) {
        if count == 0 {
            break;
        }
        let piece = &buffer[..count];
        let cursor = {
            let mut seen = into.lock().unwrap_or_else(PoisonError::into_inner);
            seen.take(piece);
            seen.screen.screen().cursor_position()
        };
        let kind =
            if piece.windows(3).any(|window| window == b"\x1b[c") { "\x1b[?62c" } else { "" };
        let place = if piece.windows(4).any(|window| window == b"\x1b[6n") {
            format!("\x1b[{};{}R", cursor.0 + 1, cursor.1 + 1)
        } else {
            String::new()
        };
        let answer = format!("{kind}{place}");
        if !answer.is_empty() {
            let mut writer = answers.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = writer.write_all(answer.as_bytes());
            let _ = writer.flush();
        }
    }
}
