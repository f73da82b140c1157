//! The mouse: a click selects and focuses, the wheel scrolls what is under it, a drag moves a border, a click on a key's
//! name in the footer presses it.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::Model;
use crate::tui::footer;
use crate::tui::layout::Focus;
use crate::tui::message::Request;

impl Model {
    pub(super) fn mouse(&mut self, event: MouseEvent) -> Vec<Request> {
        let mut requests = Vec::new();
        let position = Position::new(event.column, event.row);
        let is_press = event.kind == MouseEventKind::Down(MouseButton::Left);
        // A remark covers the names of keys, and a modal stands over them.
        if is_press
            && self.flash.is_none()
            && self.modal.is_none()
            && let Some(binding) =
                footer::key_at(self.world.panes.footer, position, &self.world, self.place())
        {
            return self.key(binding.event());
        }
        if self.modal.is_some() {
            let wishes = self.wishes_of_modal(|modal, world| modal.mouse(event, world));
            self.grant(wishes, &mut requests);
            return requests;
        }
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                self.dragging = self.world.panes.divider_at(position);
            }
            MouseEventKind::Drag(MouseButton::Left) => {
                if let Some(divider) = self.dragging {
                    let rows = self.editor.rows(self.size.0.saturating_sub(2));
                    self.shares = self.world.panes.dragged(divider, position, self.shares, rows);
                    return requests;
                }
            }
            MouseEventKind::Up(_) if self.dragging.take().is_some() => {
                requests.push(Request::SaveSizes(self.shares));
            }
            _ => {}
        }
        let Some(focus) = self.world.panes.at(position) else { return requests };
        if is_press && !(focus == Focus::Editor && self.world.is_read_only) {
            self.focus(focus);
        }
        let area = self.world.panes.of(focus);
        let wishes = match focus {
            Focus::Editor => self.editor.mouse(event, area, &self.world),
            Focus::Agents => self.agents.mouse(event, area, &self.world),
            Focus::Tail => self.tail.mouse(event, area, &self.world),
        };
        self.grant(wishes, &mut requests);
        requests
    }
}
