//! The one table of keys: dispatch, footer, help and the README read it.
//!
//! What may go here: which key means what where, and how it is called. What may not: what an action does.

mod find;
mod place;

use crossterm::event::{KeyCode, KeyModifiers};

pub(super) use find::{action, footer};
pub(crate) use find::{key_name, name_of};
pub use place::Place;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is described by its label in the table below")]
pub enum Action {
    NextPane,
    PreviousPane,
    Help,
    Cap,
    Options,
    QuitQuestion,
    Suspend,
    Redraw,
    ToggleMouse,
    Dispatch,
    NewLine,
    Undo,
    Redo,
    HistoryBack,
    HistoryForward,
    ExternalEditor,
    WordLeft,
    WordRight,
    LineHead,
    LineEnd,
    DeleteWord,
    ToAgents,
    Down,
    Up,
    PageDown,
    PageUp,
    HalfPageDown,
    HalfPageUp,
    First,
    Last,
    ToTail,
    ToEditor,
    Sort,
    Filter,
    Search,
    Stop,
    StopMany,
    Hold,
    Retry,
    Message,
    EditQueued,
    MoveDown,
    MoveUp,
    Mark,
    NextNeedy,
    ShowFile,
    EditFile,
    CopyPath,
    Zoom,
    Details,
    Results,
    Fold,
    Back,
    Follow,
    NextText,
    NextHit,
    PreviousHit,
    Wrap,
    CopyLine,
    Left,
    Right,
    Accept,
    InterruptTurn,
    Raise1,
    Raise5,
    RaiseDouble,
    DropQueue,
    StopEverything,
    LeaveRunning,
    Yes,
    No,
    Close,
    NextField,
    PreviousField,
    Gantt,
    Fleets,
    Compare,
    AllFolders,
    RunAgain,
    RunAll,
    RunFailed,
    Earlier,
    Later,
    PreviousChange,
    NextChange,
    Play,
    Speed,
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Where it works.
    pub place: Place,
    code: KeyCode,
    modifiers: KeyModifiers,
    /// What it does.
    pub action: Action,
    /// How the key is called.
    pub shown: &'static str,
    /// What it does, in a word or two; empty if another key of the same action is the one to show.
    pub label: &'static str,
    /// The footer shows it, the lowest number first; zero: only help does.
    pub footer: u8,
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const CONTROL: KeyModifiers = KeyModifiers::CONTROL;
const ALT: KeyModifiers = KeyModifiers::ALT;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

const fn bind(
    place: Place,
    key: (KeyModifiers, KeyCode),
    action: Action,
    shown: &'static str,
    label: &'static str,
    footer: u8,
) -> Binding {
    Binding { place, code: key.1, modifiers: key.0, action, shown, label, footer }
}

const fn letter(character: char) -> (KeyModifiers, KeyCode) {
    (NONE, KeyCode::Char(character))
}

const fn control(character: char) -> (KeyModifiers, KeyCode) {
    (CONTROL, KeyCode::Char(character))
}

const fn key(code: KeyCode) -> (KeyModifiers, KeyCode) {
    (NONE, code)
}

/// All keys.
#[rustfmt::skip]
pub const KEYMAP: &[Binding] = &[
    //   where              key                                action                  shown        label                      footer
    bind(Place::Everywhere, key(KeyCode::Tab),                 Action::NextPane,       "Tab",       "next pane",               8),
    bind(Place::Everywhere, (SHIFT, KeyCode::BackTab),         Action::PreviousPane,   "Shift-Tab", "previous pane",           0),
    bind(Place::Everywhere, key(KeyCode::BackTab),             Action::PreviousPane,   "Shift-Tab", "",                        0),
    bind(Place::Everywhere, key(KeyCode::F(1)),                Action::Help,           "F1",        "help",                    9),
    bind(Place::Everywhere, key(KeyCode::F(4)),                Action::Cap,            "F4",        "cap",                     7),
    bind(Place::Everywhere, control('g'),                      Action::Cap,            "Ctrl-G",    "cap",                     0),
    bind(Place::Everywhere, control('o'),                      Action::Options,        "Ctrl-O",    "kind and options",        0),
    bind(Place::Everywhere, key(KeyCode::F(3)),                Action::Fleets,         "F3",        "fleets",                  11),
    bind(Place::Everywhere, control('c'),                      Action::QuitQuestion,   "Ctrl-C",    "quit question (twice: leave, agents go on)", 0),
    bind(Place::Everywhere, control('l'),                      Action::Redraw,         "Ctrl-L",    "draw anew",               0),

    bind(Place::Editor,     key(KeyCode::Enter),               Action::Dispatch,       "Enter",     "dispatch",                1),
    bind(Place::Editor,     (ALT, KeyCode::Enter),             Action::NewLine,        "Alt-Enter", "new line",                2),
    bind(Place::Editor,     (SHIFT, KeyCode::Enter),           Action::NewLine,        "Shift-Enter", "",                      0),
    bind(Place::Editor,     control('j'),                      Action::NewLine,        "Ctrl-J",    "new line",                0),
    bind(Place::Editor,     control('z'),                      Action::Undo,           "Ctrl-Z",    "undo",                    0),
    bind(Place::Editor,     control('u'),                      Action::Undo,           "Ctrl-U",    "undo",                    0),
    bind(Place::Editor,     control('r'),                      Action::Redo,           "Ctrl-R",    "redo",                    0),
    bind(Place::Editor,     control('p'),                      Action::HistoryBack,    "Ctrl-P",    "earlier draft (also Up in the first line)", 0),
    bind(Place::Editor,     control('n'),                      Action::HistoryForward, "Ctrl-N",    "later draft (also Down in the last line)", 0),
    bind(Place::Editor,     control('x'),                      Action::ExternalEditor, "Ctrl-X",    "open in $EDITOR",         0),
    bind(Place::Editor,     (CONTROL, KeyCode::Left),          Action::WordLeft,       "Ctrl-Left", "word left",               0),
    bind(Place::Editor,     (ALT, KeyCode::Char('b')),         Action::WordLeft,       "Alt-B",     "",                        0),
    bind(Place::Editor,     (CONTROL, KeyCode::Right),         Action::WordRight,      "Ctrl-Right","word right",              0),
    bind(Place::Editor,     (ALT, KeyCode::Char('f')),         Action::WordRight,      "Alt-F",     "",                        0),
    bind(Place::Editor,     control('a'),                      Action::LineHead,       "Ctrl-A",    "head of the line",        0),
    bind(Place::Editor,     control('e'),                      Action::LineEnd,        "Ctrl-E",    "end of the line",         0),
    bind(Place::Editor,     control('w'),                      Action::DeleteWord,     "Ctrl-W",    "delete the word before",  0),
    bind(Place::Editor,     (ALT, KeyCode::Backspace),         Action::DeleteWord,     "Alt-Backspace", "",                    0),
    bind(Place::Editor,     key(KeyCode::Esc),                 Action::ToAgents,       "Esc",       "agents",                  3),

    bind(Place::Agents,     letter('j'),                       Action::Down,           "j",         "down",                    0),
    bind(Place::Agents,     key(KeyCode::Down),                Action::Down,           "Down",      "",                        0),
    bind(Place::Agents,     letter('k'),                       Action::Up,             "k",         "up",                      0),
    bind(Place::Agents,     key(KeyCode::Up),                  Action::Up,             "Up",        "",                        0),
    bind(Place::Agents,     letter('g'),                       Action::First,          "g",         "first",                   0),
    bind(Place::Agents,     key(KeyCode::Home),                Action::First,          "Home",      "",                        0),
    bind(Place::Agents,     letter('G'),                       Action::Last,           "G",         "last",                    0),
    bind(Place::Agents,     key(KeyCode::End),                 Action::Last,           "End",       "",                        0),
    bind(Place::Agents,     key(KeyCode::PageDown),            Action::PageDown,       "PgDn",      "page down",               0),
    bind(Place::Agents,     key(KeyCode::PageUp),              Action::PageUp,         "PgUp",      "page up",                 0),
    bind(Place::Agents,     key(KeyCode::Enter),               Action::ToTail,         "Enter",     "output",                  2),
    bind(Place::Agents,     letter('i'),                       Action::ToEditor,       "i",         "new task",                1),
    bind(Place::Agents,     letter('d'),                       Action::Details,        "d",         "details",                 0),
    bind(Place::Agents,     letter('x'),                       Action::Stop,           "x",         "stop",                    3),
    bind(Place::Agents,     letter('X'),                       Action::StopMany,       "X",         "stop marked or shown",    0),
    bind(Place::Agents,     letter('r'),                       Action::Retry,          "r",         "retry",                   4),
    bind(Place::Agents,     letter('p'),                       Action::Hold,           "p",         "hold or release",         5),
    bind(Place::Agents,     letter('e'),                       Action::EditQueued,     "e",         "edit queued",             0),
    bind(Place::Agents,     letter('J'),                       Action::MoveDown,       "J",         "later in the queue",      0),
    bind(Place::Agents,     letter('K'),                       Action::MoveUp,         "K",         "earlier in the queue",    0),
    bind(Place::Agents,     letter(' '),                       Action::Mark,           "Space",     "mark",                    0),
    bind(Place::Agents,     letter('n'),                       Action::NextNeedy,      "n",         "next that needs you",     0),
    bind(Place::Agents,     letter('s'),                       Action::Sort,           "s",         "sort",                    0),
    bind(Place::Agents,     letter('f'),                       Action::Filter,         "f",         "filter",                  0),
    bind(Place::Agents,     letter('/'),                       Action::Search,         "/",         "search",                  0),
    bind(Place::Agents,     letter('-'),                       Action::Fold,           "-",         "fold or unfold its set",  0),
    bind(Place::Agents,     letter('m'),                       Action::Message,        "m",         "tell it more",            0),
    bind(Place::Agents,     letter('c'),                       Action::Cap,            "c",         "cap",                     0),
    bind(Place::Agents,     letter('v'),                       Action::Results,        "v",         "results",                 6),
    bind(Place::Agents,     letter('b'),                       Action::Gantt,          "b",         "table or bars over time", 0),
    bind(Place::Agents,     letter('R'),                       Action::RunAgain,       "R",         "run its tasks again",     3),
    bind(Place::Agents,     letter('t'),                       Action::Play,           "t",         "replay or pause",         5),
    bind(Place::Agents,     letter('T'),                       Action::Speed,          "T",         "replay faster, slower",    0),
    bind(Place::Agents,     key(KeyCode::Left),                Action::Earlier,        "Left",      "replay earlier",          0),
    bind(Place::Agents,     key(KeyCode::Right),               Action::Later,          "Right",     "replay later",            0),
    bind(Place::Agents,     letter('['),                       Action::PreviousChange, "[",         "replay change before",    0),
    bind(Place::Agents,     letter(']'),                       Action::NextChange,     "]",         "replay change after",     0),
    bind(Place::Agents,     letter('H'),                       Action::Fleets,         "H",         "earlier and other fleets", 0),
    bind(Place::Agents,     letter('o'),                       Action::ShowFile,       "o",         "open in $PAGER",          0),
    bind(Place::Agents,     letter('O'),                       Action::EditFile,       "O",         "open in $EDITOR",         0),
    bind(Place::Agents,     letter('y'),                       Action::CopyPath,       "y",         "copy path",               0),
    bind(Place::Agents,     letter('z'),                       Action::Zoom,           "z",         "zoom",                    0),
    bind(Place::Agents,     letter('M'),                       Action::ToggleMouse,    "M",         "mouse on or off",         0),
    bind(Place::Agents,     letter('?'),                       Action::Help,           "?",         "help",                    0),
    bind(Place::Agents,     letter('q'),                       Action::QuitQuestion,   "q",         "quit",                    10),
    bind(Place::Agents,     key(KeyCode::Esc),                 Action::Back,           "Esc",       "end search, marks, zoom", 0),
    bind(Place::Agents,     control('z'),                      Action::Suspend,        "Ctrl-Z",    "suspend",                 0),

    bind(Place::Tail,       letter('j'),                       Action::Down,           "j",         "down",                    0),
    bind(Place::Tail,       key(KeyCode::Down),                Action::Down,           "Down",      "",                        0),
    bind(Place::Tail,       letter('k'),                       Action::Up,             "k",         "up",                      0),
    bind(Place::Tail,       key(KeyCode::Up),                  Action::Up,             "Up",        "",                        0),
    bind(Place::Tail,       key(KeyCode::PageDown),            Action::PageDown,       "PgDn",      "page down",               0),
    bind(Place::Tail,       control('d'),                      Action::HalfPageDown,   "Ctrl-D",    "half a page down",        0),
    bind(Place::Tail,       key(KeyCode::PageUp),              Action::PageUp,         "PgUp",      "page up",                 2),
    bind(Place::Tail,       control('u'),                      Action::HalfPageUp,     "Ctrl-U",    "half a page up",          0),
    bind(Place::Tail,       letter('g'),                       Action::First,          "g",         "beginning",               0),
    bind(Place::Tail,       key(KeyCode::Home),                Action::First,          "Home",      "",                        0),
    bind(Place::Tail,       letter('G'),                       Action::Follow,         "G",         "end, and follow",         0),
    bind(Place::Tail,       key(KeyCode::End),                 Action::Follow,         "End",       "follow",                  3),
    bind(Place::Tail,       key(KeyCode::Left),                Action::Left,           "Left",      "left",                    0),
    bind(Place::Tail,       key(KeyCode::Right),               Action::Right,          "Right",     "right",                   0),
    bind(Place::Tail,       letter('t'),                       Action::NextText,       "t",         "next text",               1),
    bind(Place::Tail,       letter('/'),                       Action::Search,         "/",         "search",                  4),
    bind(Place::Tail,       letter('n'),                       Action::NextHit,        "n",         "next hit",                0),
    bind(Place::Tail,       letter('N'),                       Action::PreviousHit,    "N",         "previous hit",            0),
    bind(Place::Tail,       letter('w'),                       Action::Wrap,           "w",         "wrap",                    5),
    bind(Place::Tail,       letter('y'),                       Action::CopyLine,       "y",         "copy line",               0),
    bind(Place::Tail,       letter('Y'),                       Action::CopyPath,       "Y",         "copy path",               0),
    bind(Place::Tail,       letter('o'),                       Action::ShowFile,       "o",         "open in $PAGER",          6),
    bind(Place::Tail,       letter('O'),                       Action::EditFile,       "O",         "open in $EDITOR",         0),
    bind(Place::Tail,       letter('z'),                       Action::Zoom,           "z",         "zoom",                    0),
    bind(Place::Tail,       letter('i'),                       Action::ToEditor,       "i",         "new task",                0),
    bind(Place::Tail,       letter('M'),                       Action::ToggleMouse,    "M",         "mouse on or off",         0),
    bind(Place::Tail,       letter('?'),                       Action::Help,           "?",         "help",                    0),
    bind(Place::Tail,       letter('q'),                       Action::ToAgents,       "q",         "agents",                  0),
    bind(Place::Tail,       key(KeyCode::Esc),                 Action::Back,           "Esc",       "end search, zoom; agents", 0),
    bind(Place::Tail,       control('z'),                      Action::Suspend,        "Ctrl-Z",    "suspend",                 0),

    bind(Place::Prompt,     key(KeyCode::Enter),               Action::Accept,         "Enter",     "search",                  1),
    bind(Place::Prompt,     key(KeyCode::Esc),                 Action::Close,          "Esc",       "give up",                 2),

    bind(Place::Cap,        key(KeyCode::Enter),               Action::Accept,         "Enter",     "raise",                   1),
    bind(Place::Cap,        letter('+'),                       Action::Raise1,         "+",         "$1 more",                 2),
    bind(Place::Cap,        letter('f'),                       Action::Raise5,         "f",         "$5 more",                 3),
    bind(Place::Cap,        letter('x'),                       Action::RaiseDouble,    "x",         "twice the cap",           4),
    bind(Place::Cap,        letter('d'),                       Action::DropQueue,      "d",         "drop the queue",          5),
    bind(Place::Cap,        letter('s'),                       Action::StopEverything, "s",         "stop everything",         6),
    bind(Place::Cap,        key(KeyCode::Esc),                 Action::Close,          "Esc",       "keep holding",            7),
    bind(Place::Cap,        control('c'),                      Action::QuitQuestion,   "Ctrl-C",    "",                        0),

    bind(Place::CapByHand,  key(KeyCode::Enter),               Action::Accept,         "Enter",     "set the cap",             1),
    bind(Place::CapByHand,  letter('+'),                       Action::Raise1,         "+",         "$1 more",                 2),
    bind(Place::CapByHand,  letter('f'),                       Action::Raise5,         "f",         "$5 more",                 3),
    bind(Place::CapByHand,  letter('x'),                       Action::RaiseDouble,    "x",         "twice the cap",           4),
    bind(Place::CapByHand,  letter('d'),                       Action::DropQueue,      "d",         "drop the held queue",     5),
    bind(Place::CapByHand,  key(KeyCode::Esc),                 Action::Close,          "Esc",       "back",                    6),
    bind(Place::CapByHand,  control('c'),                      Action::Close,          "Ctrl-C",    "",                        0),

    bind(Place::FirstCap,   key(KeyCode::Enter),               Action::Accept,         "Enter",     "set it and dispatch",     1),
    bind(Place::FirstCap,   letter('+'),                       Action::Raise1,         "+",         "$1 more",                 2),
    bind(Place::FirstCap,   letter('f'),                       Action::Raise5,         "f",         "$5 more",                 3),
    bind(Place::FirstCap,   letter('n'),                       Action::No,             "n",         "dispatch without a cap",  4),
    bind(Place::FirstCap,   key(KeyCode::Esc),                 Action::Close,          "Esc",       "back to the draft",       5),
    bind(Place::FirstCap,   control('c'),                      Action::Close,          "Ctrl-C",    "",                        0),

    bind(Place::Quit,       letter('l'),                       Action::LeaveRunning,   "l",         "leave running",           1),
    bind(Place::Quit,       key(KeyCode::Enter),               Action::LeaveRunning,   "Enter",     "leave running",           0),
    bind(Place::Quit,       control('c'),                      Action::LeaveRunning,   "Ctrl-C",    "leave running",           0),
    bind(Place::Quit,       letter('s'),                       Action::StopEverything, "s",         "stop all and quit",       2),
    bind(Place::Quit,       key(KeyCode::Esc),                 Action::Close,          "Esc",       "back",                    3),
    bind(Place::Quit,       letter('b'),                       Action::Close,          "b",         "",                        0),

    bind(Place::Stopping,   key(KeyCode::Esc),                 Action::Close,          "Esc",       "stay here",               1),
    bind(Place::Stopping,   letter('l'),                       Action::LeaveRunning,   "l",         "leave them to end",       2),
    bind(Place::Stopping,   control('c'),                      Action::LeaveRunning,   "Ctrl-C",    "",                        0),
    bind(Place::Stopping,   letter('k'),                       Action::StopEverything, "k",         "kill at once",            3),

    bind(Place::Confirm,    letter('y'),                       Action::Yes,            "y",         "yes",                     1),
    bind(Place::Confirm,    letter('n'),                       Action::No,             "n",         "no",                      2),
    bind(Place::Confirm,    key(KeyCode::Esc),                 Action::No,             "Esc",       "",                        0),
    bind(Place::Confirm,    control('c'),                      Action::No,             "Ctrl-C",    "",                        0),

    bind(Place::Question,   key(KeyCode::PageDown),            Action::PageDown,       "PgDn",      "scroll down",             0),
    bind(Place::Question,   key(KeyCode::Down),                Action::Down,           "Down",      "",                        0),
    bind(Place::Question,   key(KeyCode::PageUp),              Action::PageUp,         "PgUp",      "scroll up",               0),
    bind(Place::Question,   key(KeyCode::Up),                  Action::Up,             "Up",        "",                        0),

    bind(Place::Text,       letter('j'),                       Action::Down,           "j",         "down",                    2),
    bind(Place::Text,       key(KeyCode::Down),                Action::Down,           "Down",      "",                        0),
    bind(Place::Text,       letter('k'),                       Action::Up,             "k",         "up",                      3),
    bind(Place::Text,       key(KeyCode::Up),                  Action::Up,             "Up",        "",                        0),
    bind(Place::Text,       key(KeyCode::PageDown),            Action::PageDown,       "PgDn",      "page down",               0),
    bind(Place::Text,       letter(' '),                       Action::PageDown,       "Space",     "",                        0),
    bind(Place::Text,       key(KeyCode::PageUp),              Action::PageUp,         "PgUp",      "page up",                 0),
    bind(Place::Text,       letter('g'),                       Action::First,          "g",         "beginning",               0),
    bind(Place::Text,       key(KeyCode::Home),                Action::First,          "Home",      "",                        0),
    bind(Place::Text,       letter('G'),                       Action::Last,           "G",         "end",                     0),
    bind(Place::Text,       key(KeyCode::End),                 Action::Last,           "End",       "",                        0),
    bind(Place::Text,       letter('y'),                       Action::CopyLine,       "y",         "copy",                    4),
    bind(Place::Text,       key(KeyCode::Esc),                 Action::Close,          "Esc",       "close",                   1),
    bind(Place::Text,       letter('q'),                       Action::Close,          "q",         "",                        0),
    bind(Place::Text,       key(KeyCode::Enter),               Action::Close,          "Enter",     "",                        0),
    bind(Place::Text,       control('c'),                      Action::Close,          "Ctrl-C",    "",                        0),

    bind(Place::Again,      letter('f'),                       Action::RunFailed,      "f",         "what is not done",        1),
    bind(Place::Again,      letter('a'),                       Action::RunAll,         "a",         "all",                     2),
    bind(Place::Again,      key(KeyCode::Esc),                 Action::Close,          "Esc",       "run nothing",             3),
    bind(Place::Again,      letter('q'),                       Action::Close,          "q",         "",                        0),
    bind(Place::Again,      control('c'),                      Action::Close,          "Ctrl-C",    "",                        0),

    bind(Place::Fleets,     letter('j'),                       Action::Down,           "j",         "down",                     0),
    bind(Place::Fleets,     key(KeyCode::Down),                Action::Down,           "Down",      "",                         0),
    bind(Place::Fleets,     letter('k'),                       Action::Up,             "k",         "up",                       0),
    bind(Place::Fleets,     key(KeyCode::Up),                  Action::Up,             "Up",        "",                         0),
    bind(Place::Fleets,     key(KeyCode::PageDown),            Action::PageDown,       "PgDn",      "page down",                0),
    bind(Place::Fleets,     key(KeyCode::PageUp),              Action::PageUp,         "PgUp",      "page up",                  0),
    bind(Place::Fleets,     letter('g'),                       Action::First,          "g",         "newest",                   0),
    bind(Place::Fleets,     key(KeyCode::Home),                Action::First,          "Home",      "",                         0),
    bind(Place::Fleets,     letter('G'),                       Action::Last,           "G",         "oldest",                   0),
    bind(Place::Fleets,     key(KeyCode::End),                 Action::Last,           "End",       "",                         0),
    bind(Place::Fleets,     key(KeyCode::Enter),               Action::Accept,         "Enter",     "open",                     1),
    bind(Place::Fleets,     letter(' '),                       Action::Mark,           "Space",     "mark two",                 3),
    bind(Place::Fleets,     letter('='),                       Action::Compare,        "=",         "compare them",             4),
    bind(Place::Fleets,     letter('/'),                       Action::Search,         "/",         "search",                   5),
    bind(Place::Fleets,     letter('a'),                       Action::AllFolders,     "a",         "all folders or this one",  6),
    bind(Place::Fleets,     key(KeyCode::Esc),                 Action::Close,          "Esc",       "close",                    2),
    bind(Place::Fleets,     letter('q'),                       Action::Close,          "q",         "",                         0),
    bind(Place::Fleets,     letter('H'),                       Action::Close,          "H",         "",                         0),
    bind(Place::Fleets,     key(KeyCode::F(3)),                Action::Close,          "F3",        "",                         0),
    bind(Place::Fleets,     control('c'),                      Action::Close,          "Ctrl-C",    "",                         0),

    bind(Place::Help,       key(KeyCode::Down),                Action::Down,           "Down",      "down",                    2),
    bind(Place::Help,       key(KeyCode::Up),                  Action::Up,             "Up",        "up",                      3),
    bind(Place::Help,       key(KeyCode::PageDown),            Action::PageDown,       "PgDn",      "page down",               0),
    bind(Place::Help,       key(KeyCode::PageUp),              Action::PageUp,         "PgUp",      "page up",                 0),
    bind(Place::Help,       key(KeyCode::Esc),                 Action::Close,          "Esc",       "close",                   1),
    bind(Place::Help,       key(KeyCode::F(1)),                Action::Close,          "F1",        "",                        0),
    bind(Place::Help,       key(KeyCode::Enter),               Action::Close,          "Enter",     "",                        0),
    bind(Place::Help,       control('c'),                      Action::Close,          "Ctrl-C",    "",                        0),

    bind(Place::Options,    key(KeyCode::Down),                Action::NextField,      "Down",      "next",                    2),
    bind(Place::Options,    key(KeyCode::Tab),                 Action::NextField,      "Tab",       "",                        0),
    bind(Place::Options,    key(KeyCode::Up),                  Action::PreviousField,  "Up",        "previous",                0),
    bind(Place::Options,    key(KeyCode::BackTab),             Action::PreviousField,  "Shift-Tab", "",                        0),
    bind(Place::Options,    (SHIFT, KeyCode::BackTab),         Action::PreviousField,  "Shift-Tab", "",                        0),
    bind(Place::Options,    key(KeyCode::Left),                Action::Left,           "Left",      "change",                  3),
    bind(Place::Options,    key(KeyCode::Right),               Action::Right,          "Right",     "",                        0),
    bind(Place::Options,    key(KeyCode::Enter),               Action::Accept,         "Enter",     "accept",                  1),
    bind(Place::Options,    key(KeyCode::Esc),                 Action::Close,          "Esc",       "give up changes",         4),
    bind(Place::Options,    control('o'),                      Action::Accept,         "Ctrl-O",    "",                        0),
    bind(Place::Options,    control('c'),                      Action::Close,          "Ctrl-C",    "",                        0),

    bind(Place::Tell,       key(KeyCode::Enter),               Action::Accept,         "Enter",     "tell it",                 1),
    bind(Place::Tell,       (ALT, KeyCode::Enter),             Action::NewLine,        "Alt-Enter", "new line",                2),
    bind(Place::Tell,       control('j'),                      Action::NewLine,        "Ctrl-J",    "",                        0),
    bind(Place::Tell,       control('x'),                      Action::InterruptTurn,  "Ctrl-X",    "interrupt its turn",      3),
    bind(Place::Tell,       key(KeyCode::Esc),                 Action::Close,          "Esc",       "tell it nothing",         4),
    bind(Place::Tell,       control('c'),                      Action::Close,          "Ctrl-C",    "",                        0),
];

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crossterm::event::KeyEvent;

    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        let mut seen: HashMap<(Place, KeyCode, KeyModifiers), Action> = HashMap::new();
        for binding in KEYMAP {
            let key = (binding.place, binding.code, binding.modifiers);
            assert_eq!(seen.insert(key, binding.action), None, "{} {:?}", binding.shown, key.0);
        }
        for ((place, code, modifiers), action) in &seen {
            let shared = place.shared().and_then(|shared| seen.get(&(shared, *code, *modifiers)));
            assert_eq!(shared, None, "{code:?} in {place:?} is {action:?} as well");
        }
    }

    /// C-137. A backslash before Enter, and Up in the first line, are the editor's own.
    #[test]
    fn the_keys_are_those_that_the_design_promises() {
        use Action as A;
        use Place::{Agents, Editor, Everywhere, Tail};
        let promised = [
            (Editor, "Enter", A::Dispatch),
            (Editor, "Alt-Enter", A::NewLine),
            (Editor, "Ctrl-J", A::NewLine),
            (Editor, "Ctrl-Z", A::Undo),
            (Editor, "Ctrl-U", A::Undo),
            (Editor, "Ctrl-R", A::Redo),
            (Editor, "Esc", A::ToAgents),
            (Everywhere, "Tab", A::NextPane),
            (Everywhere, "Shift-Tab", A::PreviousPane),
            (Everywhere, "F1", A::Help),
            (Agents, "?", A::Help),
            (Tail, "?", A::Help),
            (Everywhere, "F4", A::Cap),
            (Everywhere, "Ctrl-G", A::Cap),
            (Everywhere, "Ctrl-O", A::Options),
            (Everywhere, "Ctrl-C", A::QuitQuestion),
            (Agents, "j", A::Down),
            (Agents, "k", A::Up),
            (Agents, "Down", A::Down),
            (Agents, "Up", A::Up),
            (Agents, "g", A::First),
            (Agents, "G", A::Last),
            (Agents, "Enter", A::ToTail),
            (Agents, "i", A::ToEditor),
            (Agents, "s", A::Sort),
            (Agents, "f", A::Filter),
            (Agents, "/", A::Search),
            (Agents, "x", A::Stop),
            (Agents, "X", A::StopMany),
            (Agents, "p", A::Hold),
            (Agents, "r", A::Retry),
            (Agents, "m", A::Message),
            (Agents, "e", A::EditQueued),
            (Agents, "J", A::MoveDown),
            (Agents, "K", A::MoveUp),
            (Agents, "Space", A::Mark),
            (Agents, "n", A::NextNeedy),
            (Agents, "c", A::Cap),
            (Agents, "o", A::ShowFile),
            (Agents, "y", A::CopyPath),
            (Agents, "z", A::Zoom),
            (Agents, "d", A::Details),
            (Agents, "q", A::QuitQuestion),
            (Agents, "Esc", A::Back),
            (Agents, "M", A::ToggleMouse),
            (Agents, "Ctrl-Z", A::Suspend),
            (Tail, "j", A::Down),
            (Tail, "k", A::Up),
            (Tail, "PgUp", A::PageUp),
            (Tail, "PgDn", A::PageDown),
            (Tail, "g", A::First),
            (Tail, "G", A::Follow),
            (Tail, "End", A::Follow),
            (Tail, "t", A::NextText),
            (Tail, "/", A::Search),
            (Tail, "n", A::NextHit),
            (Tail, "N", A::PreviousHit),
            (Tail, "w", A::Wrap),
            (Tail, "y", A::CopyLine),
            (Tail, "o", A::ShowFile),
        ];
        for (place, shown, expected) in promised {
            let named = |binding: &&Binding| binding.place == place && binding.shown == shown;
            let binding = KEYMAP.iter().find(named);
            let binding = binding.unwrap_or_else(|| panic!("no {shown} in {place:?}"));
            assert_eq!(action(place, binding.event()), Some(expected), "{shown} in {place:?}");
        }
    }

    #[test]
    fn capital_letters_work_however_the_terminal_tells_shift() {
        let with = KeyEvent::new(KeyCode::Char('G'), SHIFT);
        let without = KeyEvent::new(KeyCode::Char('G'), NONE);
        assert_eq!(action(Place::Agents, with), Some(Action::Last));
        assert_eq!(action(Place::Agents, without), Some(Action::Last));
    }

    #[test]
    fn a_typist_reaches_no_letter_binding() {
        for place in Place::ALL.into_iter().filter(|place| *place == Place::Editor) {
            for character in ' '..='~' {
                let pressed = KeyEvent::new(KeyCode::Char(character), NONE);
                assert_eq!(action(place, pressed), None, "{character:?} in {place:?}");
            }
        }
    }

    #[test]
    fn the_screen_is_drawn_anew_from_every_place() {
        let pressed = KeyEvent::new(KeyCode::Char('l'), CONTROL);
        for place in Place::ALL {
            assert_eq!(action(place, pressed), Some(Action::Redraw), "{place:?}");
        }
    }

    #[test]
    fn every_place_says_in_the_footer_how_to_leave_or_go_on() {
        for place in Place::ALL.into_iter().filter(|place| *place != Place::Question) {
            assert!(!footer(place).is_empty(), "{place:?}");
        }
    }
}
