//! Tests of what needs no terminal. The rest is tested with the real binary in one.

use super::*;

#[test]
fn keys_are_told_apart_only_where_that_is_known_to_work() {
    let known = |pairs: &'static [(&str, &str)]| {
        has_keyboard_flags(&|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    };
    assert!(known(&[("TERM", "xterm-kitty")]));
    assert!(known(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")]));
    assert!(!known(&[("TERM", "xterm-256color")]));
    assert!(!known(&[]));
    assert!(!known(&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/tmux")]));
}

#[test]
fn pastes_are_known_to_be_marked_only_where_something_says_so() {
    let known = |pairs: &'static [(&str, &str)]| {
        has_paste_marks(&|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    };
    assert!(known(&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/tmux")]));
    assert!(known(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")]));
    assert!(!known(&[("TERM", "xterm-256color")]));
    assert!(!known(&[("TERM", "linux")]));
    assert!(!known(&[("TERM", "screen"), ("VTE_VERSION", "7600"), ("STY", "1.pts")]));
}
