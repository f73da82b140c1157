//! Tests of the config file.

use super::*;
use crate::adapters::{Prices, invocation};
use crate::cli::arguments::Parallel;
use crate::cli::plan::{Plan, Surroundings, plan};
use crate::core::{AgentKind, OnCap, OwnKind, Usage};

fn config(text: &str) -> Config {
    Config::parse("config.toml", text).unwrap()
}

fn usd(text: &str) -> NanoUsd {
    text.parse().unwrap()
}

const WHOLE: &str = r#"
agent = "fast"
order = ["codex", "fast", "claude"]
cap = 5
max_parallel = "unlimited"
budget = "0.10"
timeout = "20m"
stale_stop = true

[kinds.fast]
adapter = "claude"
command = ["npx", "claude"]
options = ["--model", "haiku"]
env = ["GATEWAY_KEY"]

[kinds.mine]
adapter = "command"
command = ["./mine", "{task}"]

[prices."gpt-9"]
input = 0.1
output = "30"
cache_read = 0.000000075
"#;

#[test]
fn everything_that_can_be_set_is_read() {
    let config = config(WHOLE);
    assert_eq!(config.agent.as_deref(), Some("fast"));
    assert_eq!(config.order.as_deref().unwrap(), ["codex", "fast", "claude"]);
    let own = OwnKind {
        adapter: AgentKind("claude".to_owned()),
        program: vec!["npx".to_owned(), "claude".to_owned()],
        options: vec!["--model".to_owned(), "haiku".to_owned()],
    };
    assert_eq!(config.kinds["fast"], ConfiguredKind { own, env: vec!["GATEWAY_KEY".to_owned()] });
    assert_eq!(config.settings.limits.cap, Some(usd("5")));
    assert_eq!(config.settings.limits.max_parallel, Some(Parallel(None)));
    assert_eq!(config.settings.budget, Some(usd("0.10")));
    assert_eq!(config.settings.timeout, Some(Duration::from_mins(20)));
    assert!(config.settings.limits.stale_stop);
    let names = config.names();
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    assert!(place("claude") < place("fast") && place("mine") < place("sh"), "{names:?}");
    assert_eq!(Config::parse("config.toml", "").unwrap(), Config::default());
}

/// Each amount is that of its text to the last nano-dollar; 0.1 in floating point is not.
#[test]
fn a_price_is_read_exactly_and_a_cache_costs_as_input_where_nothing_is_said() {
    let price = config(WHOLE).prices["gpt-9"];
    assert_eq!(price.input, NanoUsd::from_nanos(100_000_000));
    assert_eq!(price.cache_read, NanoUsd::from_nanos(75));
    assert_eq!((price.cache_write, price.output), (price.input, usd("30")));
    let usage = Usage { input: 10, cache_write: 20, output: 1, ..Usage::default() };
    let cost = Prices::new(config(WHOLE).prices).estimate(None, "gpt-9", &usage);
    assert_eq!(cost, Some(NanoUsd::from_nanos(33_000)));
}

#[test]
fn every_mistake_is_one_sentence_with_its_place() {
    let table = [
        ("cap = 5\ncapp = 6", "line 2, column 1: unknown key capp (did you mean cap?)"),
        ("cap = ", "line 1, column 7: is no TOML: string values must be quoted"),
        ("cap = -1", "line 1, column 7: cap '-1' is below zero"),
        (
            "cap = [1]",
            "line 1, column 7: cap is a list where a text or a decimal number is expected",
        ),
        ("ö = 1\ncap = 0x10", "line 1, column 1: is no TOML: "),
        (
            "cap = 0x10",
            "line 1, column 7: cap is a number where a text or a decimal number is expected",
        ),
        (
            "agent = \"cluade\"",
            "line 1, column 9: there is no agent kind cluade (did you mean claude?)",
        ),
        ("agent = \"command\"", "line 1, column 9: there is no agent kind command"),
        ("order = []", "line 1, column 9: order has no kind in it"),
        ("order = \"sh\"", "line 1, column 9: order is a text where a list of kinds"),
        (
            "order = [\"claude\", \"codx\"]",
            "line 1, column 20: there is no agent kind codx (did you mean codex?)",
        ),
        ("timeout = \"soon\"", "line 1, column 11: timeout 'soon' "),
        ("stale_stop = 3", "line 1, column 14: stale_stop '3' is neither true nor false"),
        ("kinds = 3", "line 1, column 9: kinds is a number where a table of keys is expected"),
        ("[kinds.a]\n", "line 1, column 8: the kind a has no adapter: write adapter = \"claude\""),
        (
            "[kinds.a]\nadapter = \"codx\"",
            "line 2, column 11: there is no adapter codx (did you mean codex?)",
        ),
        (
            "[kinds.a]\nadaptor = \"codex\"",
            "line 2, column 1: unknown key adaptor (did you mean adapter?)",
        ),
        ("[kinds.a]\nadapter = \"command\"", "line 1, column 8: the kind a has no command"),
        (
            "[kinds.a]\nadapter = \"codex\"\ncommand = []",
            "line 3, column 11: command names no program",
        ),
        (
            "[kinds.a]\nprogram = \"x\"\ncommand = \"x\"",
            "line 2, column 1: command and program mean the same",
        ),
        (
            "[kinds.a]\nenv = [\"FLEET_AGENT\"]",
            "line 2, column 7: env 'FLEET_AGENT' is set by fleet itself",
        ),
        ("[kinds.\"a b\"]\n", "line 1, column 8: the name of a kind is made of letters"),
        ("[kinds.command]\n", "line 1, column 8: command is a kind of Fleet's own"),
        ("[prices.m]\ninput = 1", "line 1, column 9: the price of m has no output"),
        ("[prices.m]\nimput = 1", "line 2, column 1: unknown key imput (did you mean input?)"),
        (
            "[prices.m]\ninput = \"much\"",
            "line 2, column 9: input 'much' is not an amount of dollars",
        ),
        ("cap = 1\ncap = 2", "line 2, column 1: is no TOML: "),
    ];
    for (text, expected) in table {
        let sentence = Config::parse("config.toml", text).expect_err(text);
        let expected = format!("config.toml, {expected}");
        assert!(sentence.starts_with(&expected), "{text}\nis      {sentence}\nexpected {expected}");
        assert!(!sentence.contains('\n'), "{sentence}");
    }
    let nobody = Config::parse("config.toml", "qqq = 1").unwrap_err();
    assert!(nobody.contains("known: agent, order, kinds, notices, prices, cap"), "{nobody}");
}

#[test]
fn a_name_from_a_file_never_reaches_the_terminal_raw() {
    for text in ["\"a\\u001b[2J\" = 1", "agent = \"\\u001b[2J\"", "[prices.\"\\u001b[2J\"]"] {
        let sentence = Config::parse("config.toml", text).unwrap_err();
        assert!(!sentence.contains('\u{1b}'), "{sentence:?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told_and_a_missing_one_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    assert_eq!(Config::read(&path).unwrap(), Config::default());
    std::fs::write(&path, b"name = \"\xff\"").unwrap();
    assert!(Config::read(&path).unwrap_err().contains("is no UTF-8 text"));
    std::fs::write(&path, "#".repeat(1024 * 1024 + 1)).unwrap();
    assert!(Config::read(&path).unwrap_err().contains("longer than 1 MiB"));
    assert!(Config::read(folder.path()).unwrap_err().contains("cannot be read"));
}

/// Makes a plan of the command line with the config, in a world where every program is there.
fn planned(config: &Config, words: &[&str]) -> Result<Plan, String> {
    let words = ["fleet", "run"].iter().chain(words).map(std::ffi::OsString::from);
    let parsed = crate::cli::arguments::parse(words).unwrap();
    let Some(crate::cli::arguments::Action::Run(run)) = parsed.action else { panic!("not run") };
    let around = Surroundings {
        folder: "/".into(),
        processors: 2,
        terminal: false,
        has_variable: &|name| name == "GATEWAY_KEY" || name == "OPENAI_API_KEY",
    };
    config.with_kinds(|kinds| plan(&config.under(&run), kinds, &around, &mut io::empty()))
}

fn place() -> crate::adapters::Place {
    crate::adapters::Place {
        task_file: "/state/task".into(),
        report: "/state/report.json".into(),
        mesh: None,
        token: None,
    }
}

#[test]
fn the_command_line_goes_before_the_file() {
    let config = config(WHOLE);
    let plan = planned(&config, &["fix it"]).unwrap();
    assert_eq!(plan.options.cap, Some(usd("5")));
    assert_eq!(plan.options.max_parallel, None);
    assert_eq!((plan.options.stale_stop, plan.options.on_cap), (true, OnCap::Drop));
    assert_eq!(plan.tasks[0].task.budget, Some(usd("0.10")));
    let words = ["--cap", "7", "-j", "3", "--budget", "1", "--timeout", "1s", "fix it"];
    let plan = planned(&config, &words).unwrap();
    assert_eq!((plan.options.cap, plan.options.max_parallel), (Some(usd("7")), Some(3)));
    let task = &plan.tasks[0].task;
    assert_eq!((task.budget, task.timeout), (Some(usd("1")), Some(Duration::from_secs(1))));
}

#[test]
fn the_kind_that_is_set_is_taken_where_none_is_named_and_that_is_said() {
    let config = config(WHOLE);
    let plan = planned(&config, &["fix it"]).unwrap();
    assert_eq!(plan.tasks[0].task.kind.0, "fast");
    assert_eq!(plan.notes, ["agent fast: as the config file says (--agent chooses another)"]);
    for (words, kind) in [(&["--agent", "sh", "x"][..], "sh"), (&["--", "make", "x"], "command")] {
        let plan = planned(&config, words).unwrap();
        assert_eq!((plan.tasks[0].task.kind.0.as_str(), plan.notes.len()), (kind, 0), "{words:?}");
    }
    let order: Vec<&str> = config.tried().iter().map(|real| real.name).collect();
    assert_eq!(order, ["codex", "fast", "claude"]);
    assert_eq!(config.tried()[1].program, "npx");
    let all: Vec<RealName> =
        Config::default().tried().iter().map(|real| real.name.to_owned()).collect();
    assert_eq!(all.first().map(String::as_str), Some("claude"));
    assert!(!all.iter().any(|name| name == "sh"), "sh is never chosen by itself");
}

type RealName = String;

#[test]
fn a_kind_of_the_owners_own_is_its_adapter_with_another_program_and_options() {
    let config = config(WHOLE);
    let plan = planned(&config, &["--agent", "fast", "fix it", "--", "--loud"]).unwrap();
    let task = &plan.tasks[0].task;
    assert!(task.traits.pays && task.traits.prompt, "as its adapter has them");
    assert_eq!((task.extra.as_slice(), &task.command), (&["--loud".to_owned()][..], &None));
    assert_eq!(task.env_names, ["GATEWAY_KEY"]);
    // What is in the task is enough: no config is asked.
    let argv = invocation(task, &place()).unwrap().argv;
    assert_eq!(argv[..3], ["npx", "claude", "-p"]);
    let at = |word: &str| argv.iter().position(|argument| argument == word).unwrap();
    assert!(at("haiku") == at("--model") + 1 && at("--model") < at("--loud"), "{argv:?}");

    let mine = planned(&config, &["--agent", "mine", "fix it"]).unwrap().tasks.remove(0).task;
    assert!(!mine.traits.pays);
    assert_eq!(invocation(&mine, &place()).unwrap().argv, ["./mine", "fix it"]);
    let refused = planned(&config, &["--agent", "mine", "--model", "m", "fix it"]).unwrap_err();
    assert!(refused.contains("agents of kind mine have no --model"), "{refused}");
    let unknown = planned(&config, &["--agent", "fats", "fix it"]).unwrap_err();
    assert!(unknown.contains("did you mean fast?"), "{unknown}");
}

#[test]
fn a_known_kind_can_be_changed_and_keeps_its_name() {
    let config = config("[kinds.claude]\ncommand = \"/opt/claude\"\n");
    let task = planned(&config, &["--agent", "claude", "x"]).unwrap().tasks.remove(0).task;
    assert_eq!(invocation(&task, &place()).unwrap().argv[..2], ["/opt/claude", "-p"]);
    assert_eq!(config.names().iter().filter(|name| **name == "claude").count(), 1);
    assert_eq!(config.tried()[0].program, "/opt/claude");
    assert_eq!(config.install("claude"), None, "what the package has is another program");
}

#[test]
fn keys_that_are_set_are_demanded_after_a_recovery_and_those_that_a_kind_needs_now() {
    let task = |config: &Config, kind: &str| {
        planned(config, &["--agent", kind, "x"]).map(|mut plan| plan.tasks.remove(0).task)
    };
    let none = Config::default();
    assert_eq!(task(&none, "codex").unwrap().env_names, ["OPENAI_API_KEY"]);
    assert_eq!(task(&none, "sh").unwrap().env_names, [""; 0]);
    let needy = config("[kinds.a]\nadapter = \"codex\"\nenv = [\"NOT_HERE\"]\n");
    let refused = task(&needy, "a").unwrap_err();
    assert!(refused.contains("agents of kind a need NOT_HERE, which is not set here"), "{refused}");
    let given = planned(&needy, &["--agent", "a", "--env", "NOT_HERE=1", "x"]).unwrap();
    let task = &given.tasks[0].task;
    assert_eq!(
        (task.env_names.len(), task.env_stored.as_slice()),
        (0, &["NOT_HERE".to_owned()][..])
    );
}

#[test]
fn what_nobody_will_know_the_cost_of_is_said_before_it_starts() {
    let none = Config::default();
    let notes = |config: &Config, words: &[&str]| planned(config, words).unwrap().notes;
    let copilot = ["--agent", "copilot", "--model", "gpt-9", "x", "y"];
    let said = "copilot does not say what it costs, and the price of its model is not known ([prices] in the config file)";
    assert_eq!(notes(&none, &copilot), [format!("{said}: its cost stays unknown")]);
    let with = |more: &[&'static str]| [&copilot[..], more].concat();
    assert_eq!(
        notes(&none, &with(&["--cap", "2"])),
        [format!("{said}: counts as $0.50 each against the cap")]
    );
    let told = notes(&none, &with(&["--cap", "2", "--assume-cost", "0.2"]));
    assert!(told[0].ends_with("counts as $0.20 each against the cap"), "{told:?}");
    let told = notes(&none, &with(&["--budget", "1"]));
    assert!(told[0].ends_with("its budget cannot be kept"), "{told:?}");
    let hermes = ["--agent", "hermes", "x"];
    assert_eq!(notes(&none, &hermes), [""; 0]);
    let late = "hermes says what it cost only when it has ended";
    let told = notes(&none, &[&hermes[..], &["--cap", "2"]].concat());
    assert_eq!(told, [format!("{late}: the cap cannot stop it before")]);
    let told = notes(&none, &[&hermes[..], &["--cap", "2", "--budget", "1"]].concat());
    assert_eq!(told, [format!("{late}: its budget cannot stop it before")]);
    let codex = ["--agent", "codex", "--model", "gpt-9", "x"];
    let told = notes(&none, &codex);
    assert!(
        told[0].contains("the price of its model is not known ([prices] in the config"),
        "{told:?}"
    );
    let priced = config("[prices.gpt-9]\ninput = 1\noutput = 1\n");
    assert_eq!(notes(&priced, &codex), [""; 0]);
    for known in
        [&["--agent", "claude", "x"][..], &["--agent", "codex", "x"], &["--agent", "sh", "x"]]
    {
        assert_eq!(notes(&none, known), [""; 0], "{known:?}");
    }
}
