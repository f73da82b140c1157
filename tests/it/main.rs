//! Integration tests, in one binary since each costs a link.

// For clippy `cfg(test)` is what makes it test code, in which a failed `unwrap` is a failed test.
#[cfg(test)]
mod adapters;
#[cfg(test)]
mod changed_files;
#[cfg(test)]
mod cli_usage;
#[cfg(test)]
mod controls;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod demo_screen;
#[cfg(test)]
mod dispatch;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod every_state;
#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod holds;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod notices;
#[cfg(test)]
mod own_config;
#[cfg(test)]
mod picture;
#[cfg(test)]
mod readme;
#[cfg(test)]
mod real_agents;
#[cfg(test)]
mod real_ygg;
#[cfg(test)]
mod recordings;
#[cfg(test)]
mod run_basics;
#[cfg(test)]
mod run_doors;
#[cfg(test)]
mod run_ends;
#[cfg(test)]
mod run_money;
#[cfg(test)]
mod run_prompt;
#[cfg(test)]
mod run_prompts;
#[cfg(test)]
mod run_recorded;
#[cfg(test)]
mod run_recovery;
#[cfg(test)]
mod run_sessions;
#[cfg(test)]
mod run_stalls;
#[cfg(test)]
mod run_surroundings;
#[cfg(test)]
mod run_transcript;
#[cfg(test)]
mod run_words;
#[cfg(test)]
mod runtime;
#[cfg(test)]
#[cfg(feature = "tui")]
mod screen_hands;
#[cfg(test)]
#[cfg(feature = "tui")]
mod screen_history;
#[cfg(test)]
#[cfg(feature = "tui")]
mod screen_start;
#[cfg(test)]
#[cfg(feature = "tui")]
mod screen_tail;
#[cfg(test)]
#[cfg(feature = "tui")]
mod screen_terminal;
#[cfg(test)]
mod script;
#[cfg(test)]
mod show;
#[cfg(test)]
mod socket;
#[cfg(test)]
mod steer;
#[cfg(test)]
mod supervise;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod wait;
