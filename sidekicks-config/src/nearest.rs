//! What was probably meant.

/// The one of these names that is written most like `text`, if one is like it at all: a letter or two that are missing,
/// too many, wrong or swapped, or another way to join words.
pub(crate) fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const LONGEST: usize = 64; // Nobody meant a name with a text longer than this one.
    if text.len() > 4 * LONGEST {
        return None;
    }
    let written = joined(text);
    let length = written.chars().count();
    let most = (length / 3).clamp(1, 3);
    let distance = |name: &str| {
        let name = joined(name);
        // As many letters have to be added or taken away, at least: most names are done with here.
        let near = name.chars().count().abs_diff(length) <= most;
        near.then(|| strsim::osa_distance(&written, &name))
    };
    let closest =
        names.into_iter().filter_map(|name| Some((distance(name)?, name))).min_by_key(|(distance, _)| *distance);
    closest.filter(|(distance, _)| *distance <= most).map(|(_, name)| name.to_owned())
}

/// In lower case, with words joined as ours are: `mcpServers` and `mcp-servers` are `mcp_servers`.
fn joined(text: &str) -> String {
    let mut joined = String::new();
    let mut lower = false;
    for c in text.chars() {
        if c.is_uppercase() && lower {
            joined.push('_');
        }
        lower = c.is_lowercase();
        joined.extend(if matches!(c, '-' | ' ') { '_' } else { c }.to_lowercase());
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_probably_meant() {
        let keys = ["command", "args", "env", "mcp_servers", "permission", "start_timeout", "cwd"];
        let cases = [
            ("permision", Some("permission")),
            ("comand", Some("command")),
            ("commnad", Some("command")),
            ("arg", Some("args")),
            ("mcpServers", Some("mcp_servers")),
            ("MCP-Servers", Some("mcp_servers")),
            ("startTimeout", Some("start_timeout")),
            ("permission", Some("permission")),
            ("sandbox", None),
            ("x", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(nearest(text, keys).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_closest_one_and_of_equals_the_first() {
        let cases: [(&str, &[&str], Option<&str>); 12] = [
            ("riker", &["picker", "rikker", "riker2"], Some("rikker")),
            ("ab", &["xb", "ax"], Some("xb")),
            // A short name is another one sooner than a long one.
            ("ab", &["abcd"], None),
            ("abcdefghi", &["abcdefghi123"], Some("abcdefghi123")),
            ("abcdefghi", &["abcdefghi1234"], None),
            ("tow", &["two"], Some("two")),
            ("", &["a"], Some("a")),
            ("é", &["e"], Some("e")),
            ("ÉCOLE", &["école"], Some("école")),
            ("Number One", &["number_one"], Some("number_one")),
            ("HTTPServer", &["http_server", "httpserver"], Some("httpserver")),
            ("x", &[], None),
        ];
        for (text, names, expected) in cases {
            assert_eq!(nearest(text, names.iter().copied()).as_deref(), expected, "{text}");
        }
        assert_eq!(nearest(&"x".repeat(300), ["x"]), None);
    }
}
