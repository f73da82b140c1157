//! Draws the whole screen from the model, at any size.
//!
//! What may go here: the order of panes and what lies over them. What may not: changing anything.

use ratatui::Frame;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

use super::layout::Arrangement;
use super::model::Model;
use super::theme::Tone;
use super::{footer, header};

/// Draws everything.
pub(super) fn draw(model: &Model, frame: &mut Frame<'_>) {
    let world = &model.world;
    let panes = world.panes;
    let area = frame.area();
    if area != panes.screen {
        // The terminal has changed meanwhile; a message says so in a moment, and then all fits again.
        return;
    }
    let buffer = frame.buffer_mut();
    if panes.arrangement == Arrangement::TooSmall {
        let words = ["too small:", "make the", "terminal", "larger"];
        let lines: Vec<Line<'_>> = words
            .iter()
            .map(|word| Line::styled(*word, world.theme.style(Tone::Warning)))
            .collect();
        Paragraph::new(lines).render(area, buffer);
        return;
    }
    header::draw(panes.header, buffer, world);
    let mut caret = None;
    let mut note = |focus, at| {
        if focus == world.focus {
            caret = at;
        }
    };
    if !panes.editor.is_empty() {
        note(super::layout::Focus::Editor, model.editor.draw(panes.editor, buffer, world));
    }
    if !panes.agents.is_empty() {
        note(super::layout::Focus::Agents, model.agents.draw(panes.agents, buffer, world));
    }
    if !panes.tail.is_empty() {
        note(super::layout::Focus::Tail, model.tail.draw(panes.tail, buffer, world));
    }
    // A modal names its own keys; what became of the last one is told in any case.
    if model.modal.is_none() || model.flash.is_some() {
        footer::draw(panes.footer, buffer, world, model.place(), model.flash.as_ref());
    }
    if let Some(modal) = &model.modal {
        caret = modal.draw(buffer, world);
    }
    if let Some(caret) = caret.filter(|caret| area.contains(*caret)) {
        frame.set_cursor_position(caret);
    }
}

#[cfg(test)]
mod tests;
