//! Where a key is pressed.
//!
//! What may go here: the places and what holds for each of them. What may not: keys.

/// Where a key is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Every pane; modals have all keys for themselves.
    Everywhere,
    /// Every box that asks something.
    Question,
    /// The task editor.
    Editor,
    /// The table.
    Agents,
    /// The output.
    Tail,
    /// A line that is typed in the table or the output: search.
    Prompt,
    /// The cap question.
    Cap,
    /// The cap by hand.
    CapByHand,
    /// A cap before the first task that costs money.
    FirstCap,
    /// What happens to agents when the screen is left.
    Quit,
    /// Everything is being stopped before the screen is left.
    Stopping,
    /// A yes or no with its count.
    Confirm,
    /// Help.
    Help,
    /// A box of text: details, a message, results.
    Text,
    /// Options of what is typed.
    Options,
    /// What is told to an agent.
    Tell,
    /// The list of fleets.
    Fleets,
    /// Which tasks of an ended fleet are run again.
    Again,
}

impl Place {
    /// Every place, in the order in which help shows them.
    pub const ALL: [Self; 18] = [
        Self::Everywhere,
        Self::Editor,
        Self::Agents,
        Self::Tail,
        Self::Prompt,
        Self::Cap,
        Self::CapByHand,
        Self::FirstCap,
        Self::Quit,
        Self::Stopping,
        Self::Confirm,
        Self::Question,
        Self::Text,
        Self::Options,
        Self::Tell,
        Self::Fleets,
        Self::Again,
        Self::Help,
    ];

    /// Returns what help calls it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Editor => "task editor",
            Self::Agents => "agents",
            Self::Tail => "output",
            Self::Prompt => "search line",
            Self::Cap => "cap question",
            Self::CapByHand => "cap by hand",
            Self::FirstCap => "first cap",
            Self::Quit => "quit question",
            Self::Stopping => "stopping everything",
            Self::Confirm => "confirmation",
            Self::Question => "every question",
            Self::Help => "help",
            Self::Text => "details, results, messages",
            Self::Options => "options",
            Self::Tell => "message to an agent",
            Self::Fleets => "list of fleets",
            Self::Again => "run again",
        }
    }

    /// Returns the place whose keys work here as well, if there is one.
    pub const fn shared(self) -> Option<Self> {
        match self {
            Self::Editor | Self::Agents | Self::Tail => Some(Self::Everywhere),
            Self::Cap
            | Self::CapByHand
            | Self::FirstCap
            | Self::Quit
            | Self::Stopping
            | Self::Tell
            | Self::Again
            | Self::Confirm => Some(Self::Question),
            Self::Everywhere
            | Self::Question
            | Self::Prompt
            | Self::Help
            | Self::Text
            | Self::Fleets
            | Self::Options => None,
        }
    }

    /// Says whether keys without a meaning are typed as text there.
    pub const fn takes_text(self) -> bool {
        match self {
            Self::Editor
            | Self::Prompt
            | Self::Cap
            | Self::CapByHand
            | Self::FirstCap
            | Self::Help
            | Self::Tell
            | Self::Options => true,
            Self::Everywhere
            | Self::Agents
            | Self::Tail
            | Self::Quit
            | Self::Stopping
            | Self::Confirm
            | Self::Question
            | Self::Fleets
            | Self::Again
            | Self::Text => false,
        }
    }
}
