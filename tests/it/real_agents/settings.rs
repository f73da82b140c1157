//! What a person would have set up on a machine where every program knows but one service of models.
//!
//! What may go here: settings and variables of the programs. What may not: what Fleet itself gives them.

use serde_json::json;

use crate::harness::World;

/// The key that every program has.
const KEY: &str = "no-key";

/// Sets every program up for the service at this address. What fails is tried once more at most.
pub(super) fn write(world: &mut World, url: &str) {
    claude(world, url);
    codex(world, url);
    opencode(world, url);
    gemini(world, url);
    qwen(world);
    copilot(world, url);
    hermes(world, url);
    ygg(world);
    // Some leave files there.
    let temporary = world.home().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    world.set("TMPDIR", temporary.to_str().unwrap());
    // What qwen and ygg read.
    world.set("OPENAI_BASE_URL", &format!("{url}/v1"));
    world.set("OPENAI_API_KEY", KEY);
}

fn put(world: &World, name: &str, text: &str) {
    let path = world.home().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn claude(world: &mut World, url: &str) {
    world.set("ANTHROPIC_BASE_URL", url);
    world.set("ANTHROPIC_API_KEY", KEY);
    world.set("CLAUDE_CODE_MAX_RETRIES", "1");
}

/// Its sandbox makes an empty `.git` in every folder that commands may write in, for as long as one runs: not in that of
/// all other tests.
fn codex(world: &mut World, url: &str) {
    let settings = format!(
        "model_provider = \"scripted\"\n\
         [model_providers.scripted]\n\
         name = \"scripted\"\n\
         base_url = \"{url}/v1\"\n\
         env_key = \"SCRIPTED_KEY\"\n\
         wire_api = \"responses\"\n\
         request_max_retries = 1\n\
         stream_max_retries = 1\n\
         [sandbox_workspace_write]\n\
         exclude_slash_tmp = true\n"
    );
    put(world, ".codex/config.toml", &settings);
    world.set("SCRIPTED_KEY", KEY);
}

fn opencode(world: &mut World, url: &str) {
    let model = json!({
        "name": "M",
        "limit": {"context": 200_000, "output": 8_000},
        "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75},
    });
    let settings = json!({
        "model": "mock/m",
        "small_model": "mock/m",
        "provider": {"mock": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Mock",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": KEY},
            "models": {"m": model},
        }},
    });
    world.set("OPENCODE_CONFIG_CONTENT", &settings.to_string());
    // Its list of models is elsewhere, and nothing is fetched in a test.
    world.set("OPENCODE_DISABLE_MODELS_FETCH", "1");
}

fn gemini(world: &mut World, url: &str) {
    let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
    put(world, ".gemini/settings.json", &settings.to_string());
    world.set("GOOGLE_GEMINI_BASE_URL", url);
    world.set("GEMINI_API_KEY", KEY);
}

fn qwen(world: &World) {
    let settings = json!({"security": {"auth": {"selectedType": "openai"}}});
    put(world, ".qwen/settings.json", &settings.to_string());
}

fn copilot(world: &mut World, url: &str) {
    world.set("COPILOT_OFFLINE", "true");
    world.set("COPILOT_PROVIDER_BASE_URL", &format!("{url}/v1"));
    world.set("COPILOT_PROVIDER_API_KEY", KEY);
}

fn hermes(world: &World, url: &str) {
    let settings = format!(
        "model:\n  default: claude-sonnet-4-5\n  provider: custom\n  base_url: {url}/v1\n  api_key: {KEY}\n"
    );
    put(world, ".hermes/config.yaml", &settings);
}

fn ygg(world: &mut World) {
    world.set("YGG_LOKI_AUTO_INSTALL", "0");
}
