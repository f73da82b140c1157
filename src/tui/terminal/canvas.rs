//! Where frames are drawn: into memory, as bytes for the terminal.
//!
//! What may go here: the backend of ratatui's terminal. What may not: writing to the terminal, which may block, and
//! questions to it, whose answers race with what is typed.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};

/// Bytes that a frame came to.
#[derive(Debug, Default, Clone)]
pub(crate) struct FrameBytes(Rc<RefCell<Vec<u8>>>);

impl FrameBytes {
    /// Takes what was drawn since the last time.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl Write for FrameBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The backend: crossterm's sequences, our own size.
#[derive(Debug)]
pub(crate) struct Canvas {
    sequences: CrosstermBackend<FrameBytes>,
    size: Size,
}

impl Canvas {
    pub(crate) fn new(bytes: FrameBytes, size: Size) -> Self {
        Self { sequences: CrosstermBackend::new(bytes), size }
    }

    /// Frames have this size from now on.
    pub(crate) fn set_size(&mut self, size: Size) {
        self.size = size;
    }
}

impl Backend for Canvas {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        self.sequences.draw(content)
    }

    fn append_lines(&mut self, count: u16) -> io::Result<()> {
        self.sequences.append_lines(count)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.sequences.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.sequences.show_cursor()
    }

    /// Nobody needs to know, and asking the terminal takes seconds where it does not answer.
    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.sequences.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.sequences.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.sequences.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size, pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
