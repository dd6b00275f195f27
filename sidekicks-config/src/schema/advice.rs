//! What to do about a key that does not exist.

use serde_json::{Map, Value};

use crate::Advice;
use crate::nearest::nearest;

/// What others call our keys.
pub(super) const FOREIGN: [(&str, &str); 13] = [
    ("agent_servers", "agents"),
    ("agentServers", "agents"),
    ("acp.agents", "agents"),
    ("mcpServers", "mcp_servers"),
    ("mcp", "mcp_servers"),
    ("cmd", "command"),
    ("program", "command"),
    ("environment", "env"),
    ("default_model", "model"),
    ("default_mode", "mode"),
    ("working_directory", "cwd"),
    ("workingDirectory", "cwd"),
    ("name", "display_name"),
];

/// What was probably meant by this key, where these are known.
pub(super) fn advice(key: &str, known: &Map<String, Value>) -> Advice {
    if let Some((_, ours)) = FOREIGN.iter().find(|(other, ours)| *other == key && known.contains_key(*ours)) {
        return Advice::CalledHere((*ours).to_owned());
    }
    match nearest(key, known.keys().map(String::as_str)) {
        Some(known) => Advice::DidYouMean(known),
        None if key == "type" => Advice::Delete,
        None => Advice::None,
    }
}
