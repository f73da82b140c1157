//! What holds for every size of a terminal.

use super::*;

fn wanted(columns: u16, rows: u16) -> Wanted {
    Wanted {
        size: (columns, rows),
        focus: Focus::Agents,
        is_zoomed: false,
        editor_rows: 1,
        shares: Shares::default(),
    }
}

#[test]
fn panes_never_overlap_nor_leave_the_screen_at_any_size() {
    for columns in (1..=320).step_by(7) {
        for rows in 1..=90 {
            for focus in [Focus::Editor, Focus::Agents, Focus::Tail] {
                for editor_rows in [1, 5, 500] {
                    let panes = panes(Wanted { focus, editor_rows, ..wanted(columns, rows) });
                    let all = [panes.header, panes.editor, panes.agents, panes.tail, panes.footer];
                    for (index, one) in all.iter().enumerate() {
                        assert_eq!(panes.screen.union(*one), panes.screen, "{panes:?}");
                        for other in &all[index + 1..] {
                            assert!(!one.intersects(*other), "{columns}x{rows}: {panes:?}");
                        }
                    }
                    if panes.arrangement != Arrangement::TooSmall {
                        let cells: u32 = all.iter().map(|area| area.area()).sum();
                        assert_eq!(cells, panes.screen.area(), "{columns}x{rows}: {panes:?}");
                        assert!(panes.of(focus).height >= 3, "{columns}x{rows}: {panes:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn small_terminals_show_one_pane_middle_ones_all_and_wide_ones_the_tail_beside_the_table() {
    let arrangement = |columns, rows| panes(wanted(columns, rows)).arrangement;
    assert_eq!(arrangement(20, 5), Arrangement::TooSmall);
    assert_eq!(arrangement(40, 12), Arrangement::Single);
    assert_eq!(arrangement(80, 24), Arrangement::Stacked);
    assert_eq!(arrangement(120, 40), Arrangement::Stacked);
    assert_eq!(arrangement(300, 80), Arrangement::Wide);
    let zoomed = panes(Wanted { is_zoomed: true, ..wanted(120, 40) });
    assert_eq!((zoomed.arrangement, zoomed.tail.area()), (Arrangement::Single, 0));
}

#[test]
fn a_dragged_border_follows_the_mouse_and_both_panes_stay_usable() {
    for (columns, rows) in [(80, 24), (120, 40), (300, 80)] {
        let before = wanted(columns, rows);
        let start = panes(before);
        for row in 0..rows {
            for divider in [Divider::AgentsTailRows, Divider::EditorAgents] {
                let to = Position::new(columns / 2, row);
                let shares = start.dragged(divider, to, before.shares, before.editor_rows);
                let after = panes(Wanted { shares, ..before });
                assert!(after.agents.height >= 3 && after.tail.height >= 3, "{after:?}");
                if divider == Divider::AgentsTailRows
                    && after.arrangement == Arrangement::Stacked
                    && (start.agents.y + 4..rows - 5).contains(&row)
                {
                    assert_eq!(after.tail.y, row, "{columns}x{rows}");
                }
            }
        }
    }
}
