//! The terminal: taking it, drawing on it, giving it back as it was.
//!
//! What may go here: every mode that is switched on, in one place, and undone in one place, by return, error, panic or
//! signal. What may not: what is drawn, what keys mean.

mod canvas;
mod job;
mod output;
pub(crate) mod panics;

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, Ordering};

use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, queue};
use ratatui::backend::Backend;
use ratatui::layout::Size;
use ratatui::{Frame, Terminal};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{isatty, tcgetwinsize};

use self::canvas::{Canvas, FrameBytes};
pub(crate) use self::job::{Ground, can_be_continued, ground, stop_group};
use self::output::Output;

/// What is switched on, as bits of [`STATE`].
const ENTERED: u8 = 1;
const MOUSE: u8 = 2;
const KEYS: u8 = 4;

/// What has to be undone. Whoever takes a bit out undoes it, so that nothing is undone twice: a second leave would put
/// the shell's prompt over what was printed after the first.
static STATE: AtomicU8 = AtomicU8::new(0);

/// Buttons, drags and the wheel, in the encoding that knows wide terminals. Moves without a button are not asked for.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
/// The reverse of [`MOUSE_ON`].
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";

/// Most bytes that wait for the terminal beside the frame that is being written.
const MOST_BYTES: usize = 1024 * 1024;

/// Why there is no screen.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// There is nobody to see it.
    #[error("{0} is not a terminal; `fleet run` works without one")]
    NoTerminal(&'static str),
    /// It understands no sequences, so that a screen would be a heap of them.
    #[error(
        "a terminal that calls itself {0:?} shows no screen: set TERM to what it is, or use `fleet run`"
    )]
    Dumb(String),
    /// The terminal refused.
    #[error("could not set up the terminal: {0}")]
    Refused(#[from] io::Error),
}

/// The terminal, taken. Dropping this gives it back.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: Terminal<Canvas>,
    bytes: FrameBytes,
    output: Output,
    modes: Modes,
}

/// What is switched on beside what always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Modes {
    mouse: bool,
    keys: bool,
}

impl Screen {
    /// Takes the terminal, which must be ours.
    pub(crate) fn enter(
        mouse: bool,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, TerminalError> {
        check(variable)?;
        panics::install_hook();
        let modes = Modes { mouse, keys: has_keyboard_flags(variable) };
        let bytes = FrameBytes::default();
        let terminal = Terminal::new(Canvas::new(bytes.clone(), size()))?;
        let output = Output::start(stdout())?;
        let screen = Self { terminal, bytes, output, modes };
        enter(modes)?;
        Ok(screen)
    }

    /// Takes the terminal again after [`leave`], and draws everything anew with the next frame.
    pub(crate) fn enter_again(&mut self) -> io::Result<()> {
        self.bytes.take();
        enter(self.modes)?;
        self.terminal.backend_mut().set_size(size());
        self.redraw()
    }

    /// Draws everything anew with the next frame, whatever somebody else has written there.
    pub(crate) fn redraw(&mut self) -> io::Result<()> {
        let size = self.terminal.backend().size()?;
        // Clears as well, and unlike `clear` asks the terminal nothing.
        self.terminal.resize(size.into())
    }

    /// Says whether the last frame is still on its way to the terminal.
    pub(crate) fn is_busy(&self) -> bool {
        self.output.is_busy()
    }

    /// Waits until the last frame is written; for ever if there is none. An error means that the terminal has gone.
    pub(crate) async fn written(&mut self) -> io::Result<()> {
        self.output.written().await
    }

    /// Draws a frame of this size and sends it, unless the last one is still on its way.
    pub(crate) fn draw(&mut self, size: Size, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if self.output.is_busy() {
            return Ok(());
        }
        self.terminal.backend_mut().set_size(size);
        queue!(self.bytes, BeginSynchronizedUpdate)?;
        self.terminal.draw(draw)?;
        queue!(self.bytes, EndSynchronizedUpdate)?;
        self.flush()
    }

    /// Sends bytes that are no part of a frame, such as the bell. Says whether there was room for them.
    pub(crate) fn say(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let waiting = self.bytes.take();
        if waiting.len() + bytes.len() > MOST_BYTES {
            self.bytes.write_all(&waiting)?;
            return Ok(false);
        }
        self.bytes.write_all(&[waiting.as_slice(), bytes].concat())?;
        self.flush()?;
        Ok(true)
    }

    /// Sends what waits, unless the last frame is still on its way.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.output.is_busy() {
            return Ok(());
        }
        let bytes = self.bytes.take();
        if bytes.is_empty() { Ok(()) } else { self.output.send(bytes) }
    }

    /// Switches mouse reports on or off, also for later times when the terminal is taken again.
    pub(crate) fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        self.modes.mouse = on;
        let was_on = if on {
            STATE.fetch_or(MOUSE, Ordering::SeqCst) & MOUSE != 0
        } else {
            STATE.fetch_and(!MOUSE, Ordering::SeqCst) & MOUSE != 0
        };
        if was_on != on {
            self.say(if on { MOUSE_ON } else { MOUSE_OFF })?;
        }
        Ok(())
    }
}

/// Says whether there is a terminal that can show a screen. `variable` reads the environment.
pub fn check(variable: &dyn Fn(&str) -> Option<String>) -> Result<(), TerminalError> {
    for (is_there, name) in
        [(isatty(stdin()), "standard input"), (isatty(stdout()), "standard output")]
    {
        if !is_there {
            return Err(TerminalError::NoTerminal(name));
        }
    }
    let name = variable("TERM").unwrap_or_default();
    if name.is_empty() || name == "dumb" {
        return Err(TerminalError::Dumb(name));
    }
    Ok(())
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// The descriptor to read keys from.
pub(crate) fn input() -> io::Result<OwnedFd> {
    Ok(rustix::io::dup(stdin())?)
}

/// Columns and rows of the terminal now. A terminal that does not know gets the size of the oldest ones.
pub(crate) fn size() -> Size {
    match tcgetwinsize(stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Size::new(size.ws_col, size.ws_row),
        _ => Size::new(80, 24),
    }
}

fn enter(modes: Modes) -> io::Result<()> {
    let mut bytes = Vec::new();
    // Somebody who was killed may have left the alternate screen on: then entering it clears nothing.
    queue!(
        bytes,
        EnterAlternateScreen,
        Clear(ClearType::All),
        EnableBracketedPaste,
        EnableFocusChange,
        cursor::Hide
    )?;
    let mut state = ENTERED;
    if modes.keys {
        queue!(
            bytes,
            PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES)
        )?;
        state |= KEYS;
    }
    if modes.mouse {
        bytes.extend_from_slice(MOUSE_ON);
        state |= MOUSE;
    }
    // From here on there is something to undo, whatever fails.
    STATE.store(state, Ordering::SeqCst);
    // It is still noted as raw where it could not be given back, by a leave in the background.
    disable_raw_mode()?;
    enable_raw_mode()?;
    output::write_all(stdout(), &bytes)
}

/// Says whether the terminal is taken now.
pub(crate) fn is_entered() -> bool {
    STATE.load(Ordering::SeqCst) & ENTERED != 0
}

/// Gives the terminal back as it was, once. Safe to call at any time, from any thread, in a panic hook as well; it
/// never waits longer than a fraction of a second for a terminal that does not read.
pub(crate) fn leave() {
    let state = STATE.swap(0, Ordering::SeqCst);
    if state & ENTERED == 0 {
        return;
    }
    // In the background the terminal belongs to somebody else, who has set it up already.
    if ground() != Ground::Foreground {
        return;
    }
    let mut bytes = Vec::new();
    // A frame that was cut off has left its attributes and its synchronized update behind.
    let mut queued = queue!(bytes, EndSynchronizedUpdate, SetAttribute(Attribute::Reset));
    if state & MOUSE != 0 {
        bytes.extend_from_slice(MOUSE_OFF);
    }
    if state & KEYS != 0 {
        queued = queued.and_then(|()| queue!(bytes, PopKeyboardEnhancementFlags));
    }
    queued = queued.and_then(|()| {
        queue!(bytes, DisableFocusChange, DisableBracketedPaste, LeaveAlternateScreen, cursor::Show)
    });
    // There is nobody to tell, and raw mode must end in any case.
    let _ = queued.and_then(|()| output::write_last(stdout(), &bytes));
    let _ = disable_raw_mode();
}

/// Says whether the terminal is known to mark pastes, by its name or by what only it sets.
pub(crate) fn has_paste_marks(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    const VARIABLES: [&str; 3] = ["VTE_VERSION", "KONSOLE_VERSION", "WT_SESSION"];
    // This multiplexer passes no marks on.
    if variable("STY").is_some() {
        return false;
    }
    is_known(variable) || VARIABLES.iter().any(|name| variable(name).is_some())
}

/// Says whether the terminal is known to tell modified keys apart when it is asked to (the kitty keyboard protocol).
/// It is known by its name: a question costs a start of seconds where it is not answered.
fn has_keyboard_flags(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    // A multiplexer between us and the terminal has its own idea of keys.
    if variable("TMUX").is_some() || variable("STY").is_some() || variable("ZELLIJ").is_some() {
        return false;
    }
    is_known(variable)
}

/// Says whether the terminal is one of those that can do all that a screen may ask for.
fn is_known(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    const TERMS: [&str; 6] =
        ["xterm-kitty", "xterm-ghostty", "foot", "foot-extra", "alacritty", "rio"];
    const PROGRAMS: [&str; 4] = ["ghostty", "WezTerm", "iTerm.app", "rio"];
    let is = |name: &str, known: &[&str]| {
        variable(name).is_some_and(|value| known.contains(&value.as_str()))
    };
    is("TERM", &TERMS) || is("TERM_PROGRAM", &PROGRAMS)
}

#[cfg(test)]
mod tests;
