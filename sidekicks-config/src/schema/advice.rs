//! What to do about a key that does not exist.

use serde_json::{Map, Value};

use crate::Advice;
use crate::nearest::nearest;

/// What others call our keys.
pub(super) const FOREIGN: [(&str, &str); 18] = [
    ("agent_servers", "agents"),
    ("agentServers", "agents"),
    ("acp.agents", "agents"),
    ("mcpServers", "mcp_servers"),
    ("mcp", "mcp_servers"),
    ("cmd", "command"),
    ("program", "command"),
    ("arguments", "args"),
    ("environment", "env"),
    ("default_model", "model"),
    ("default_mode", "mode"),
    ("working_directory", "cwd"),
    ("workingDirectory", "cwd"),
    ("workingDir", "cwd"),
    ("workdir", "cwd"),
    ("work_dir", "cwd"),
    ("http_headers", "headers"),
    ("name", "display_name"),
];

/// What others say with a key that means the opposite of ours.
pub(super) const OPPOSITES: [(&str, &str); 1] = [("disabled", "enabled")];

/// What others write for our values.
pub(super) const FOREIGN_VALUES: [(&str, &str); 8] = [
    ("streamable-http", "http"),
    ("streamable_http", "http"),
    ("streamableHttp", "http"),
    ("remote", "http"),
    ("local", "stdio"),
    ("approve-all", "allow_all"),
    ("approve-reads", "allow_reads"),
    ("deny", "deny_all"),
];

/// The one of these values that was probably meant.
pub(super) fn value(written: &str, allowed: &[String]) -> Option<String> {
    let is_allowed = |ours: &str| allowed.iter().any(|allowed| allowed == ours);
    let foreign = FOREIGN_VALUES.iter().find(|(other, ours)| *other == written && is_allowed(ours));
    match foreign {
        Some((_, ours)) => Some((*ours).to_owned()),
        None => nearest(written, allowed.iter().map(String::as_str)),
    }
}

/// What was probably meant by this key, where these are known.
pub(super) fn advice(key: &str, known: &Map<String, Value>) -> Advice {
    if let Some((_, ours)) = FOREIGN.iter().find(|(other, ours)| *other == key && known.contains_key(*ours)) {
        return Advice::CalledHere((*ours).to_owned());
    }
    if let Some((_, ours)) = OPPOSITES.iter().find(|(other, ours)| *other == key && known.contains_key(*ours)) {
        return Advice::Opposite((*ours).to_owned());
    }
    match nearest(key, known.keys().map(String::as_str)) {
        Some(known) => Advice::DidYouMean(known),
        None if key == "type" => Advice::Delete,
        None => Advice::None,
    }
}
