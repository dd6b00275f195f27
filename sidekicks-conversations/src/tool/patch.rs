//! Which files the text of a patch names: an envelope of `apply_patch`, or a unified diff.

use super::FileChange;

/// The files of a patch, in the order in which they stand there. A file may stand there more than once.
pub(super) fn patched(patch: &str) -> Vec<FileChange> {
    let patch = patch.trim_start_matches('\u{feff}');
    // Some tools take an envelope wherever it stands.
    let found = enveloped(patch, |_| true);
    if found.is_empty() {
        return in_unified(patch);
    }
    found.into_iter().map(|change| FileChange { at: 0..0, ..change }).collect()
}

/// The files of all envelopes in `text`, with the lines that name them. It may be a command that gives them to
/// `apply_patch`; in other commands they are mere words.
pub(super) fn in_envelopes(text: &str) -> Vec<FileChange> {
    enveloped(text, |above| above.is_empty() || above.trim_start().starts_with("<<") || runs_apply_patch(above))
}

/// `opens` tells whether an envelope may begin below a line, which is the last one that is not blank.
fn enveloped(text: &str, opens: impl Fn(&str) -> bool) -> Vec<FileChange> {
    let mut found = Vec::new();
    let mut envelope: Option<Envelope> = None;
    let mut above = "";
    for (start, line) in lines(text) {
        match &mut envelope {
            Some(inside) => {
                let line_of_it = inside.seen(line);
                if is_end(line_of_it) {
                    (envelope, above) = (None, line);
                } else if let Some((path, is_deleted)) = inside.header(line_of_it) {
                    let start = start + line.len() - line_of_it.len();
                    let at = start..start + line_of_it.trim_end().len();
                    let change = FileChange { at, ..FileChange::of(path, is_deleted) };
                    found.extend((!change.path.is_empty()).then_some(change));
                }
            }
            None => {
                envelope = Envelope::opened(line, || opens(above));
                if !line.trim().is_empty() {
                    above = line;
                }
            }
        }
    }
    found
}

/// What is known between `*** Begin Patch` and `*** End Patch`.
struct Envelope {
    /// It stands in single quotes.
    quoted: bool,
    /// In a file that is updated, a line that begins with a blank is one of the file.
    updates: bool,
}

impl Envelope {
    /// Begun by `line`, where a line of its own `may_open` one.
    fn opened(line: &str, may_open: impl Fn() -> bool) -> Option<Self> {
        let lead = line.trim_end().strip_suffix("*** Begin Patch")?;
        let opens = match lead.trim().is_empty() {
            true => may_open(),
            false => runs_apply_patch(lead),
        };
        opens.then(|| Self { quoted: lead.ends_with('\''), updates: false })
    }

    fn seen<'a>(&self, line: &'a str) -> &'a str {
        if self.updates { line } else { line.trim_start() }
    }

    /// The file that a line is about, and whether it is deleted.
    fn header(&mut self, line: &str) -> Option<(String, bool)> {
        let (word, path) = line.strip_prefix("*** ")?.split_once(':')?;
        match word {
            "Add File" | "Delete File" => self.updates = false,
            "Update File" => self.updates = true,
            "Move to" => {}
            _ => return None,
        }
        let path = path.trim();
        let path = if self.quoted { path.replace(r"'\''", "'") } else { path.to_owned() };
        Some((path, word == "Delete File"))
    }
}

/// In a command a quote may end there too. With anything else behind it some tools read on.
fn is_end(line: &str) -> bool {
    line.strip_prefix("*** End Patch").is_some_and(|rest| rest.trim().is_empty() || rest.starts_with(['\'', '"']))
}

fn runs_apply_patch(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.any(|word| matches!(word, "apply_patch" | "applypatch"))
}

/// The files of a unified diff, with or without the lines that Git adds.
fn in_unified(text: &str) -> Vec<FileChange> {
    // Where a hunk is not as long as it says, a tool that does not count may take lines of it for heads of files.
    counted(text, true).or_else(|| counted(text, false)).unwrap_or_default()
}

/// None where a hunk is shorter than it says and `counts`.
fn counted(text: &str, counts: bool) -> Option<Vec<FileChange>> {
    let mut found: Vec<FileChange> = Vec::new();
    let add = |found: &mut Vec<FileChange>, path: Option<String>, is_deleted| {
        let path = path.filter(|path| !path.is_empty());
        found.extend(path.map(|path| FileChange::of(path, is_deleted)));
    };
    let mut hunk = Hunk::default();
    // What Git says of a file stands between its first line and its first hunk.
    let (mut in_head, mut name) = (false, None);
    let mut lines = lines(text).map(|(_, line)| line).peekable();
    while let Some(line) = lines.next() {
        let was_open = hunk.is_open();
        if hunk.takes(line) {
            continue;
        }
        if was_open {
            return None;
        }
        if let Some(begun) = Hunk::begun(line) {
            if let Some(change) = found.last_mut().filter(|change| !change.is_deleted) {
                change.is_emptied |= begun.empties(line);
            }
            (hunk, in_head) = (if counts { begun } else { Hunk::default() }, false);
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            (in_head, name) = (true, in_both_halves(names));
        } else if let Some(old) = line.strip_prefix("--- ") {
            let Some(new) = lines.next_if(|next| next.starts_with("+++ ")) else { continue };
            let (old, new) = sides(old, &new["+++ ".len()..]);
            let is_deleted = new.is_none();
            if is_deleted || old != new {
                add(&mut found, old, is_deleted);
            }
            add(&mut found, new, false);
            in_head = false;
        } else if in_head {
            if let Some(path) = line.strip_prefix("rename from ").or_else(|| line.strip_prefix("rename to ")) {
                add(&mut found, Some(unquoted(path)), false);
            } else if line.starts_with("deleted file mode ") || line.starts_with("new file mode ") {
                add(&mut found, name.take(), line.starts_with('d'));
            }
        }
    }
    (!hunk.is_open()).then_some(found)
}

/// How many lines of the old and of the new text a hunk still has: a line of it may look like the head of a file.
#[derive(Default)]
struct Hunk {
    old: u64,
    new: u64,
}

impl Hunk {
    fn begun(line: &str) -> Option<Self> {
        let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
        let count = |range: &str| range.split_once(',').map_or(Ok(1), |(_, count)| count.parse());
        Some(Self { old: count(old).ok()?, new: count(new).ok()? })
    }

    /// Whether nothing is left of the file, which is how a range of no lines that begins at line 0 is written.
    fn empties(&self, line: &str) -> bool {
        self.old > 0 && self.new == 0 && line.contains(" +0,0 @@")
    }

    fn is_open(&self) -> bool {
        (self.old, self.new) != (0, 0)
    }

    /// Whether `line` is one of it. It ends early at a line that can be none.
    fn takes(&mut self, line: &str) -> bool {
        let (old, new) = match line.bytes().next() {
            Some(b' ') | None => (self.old.checked_sub(1), self.new.checked_sub(1)),
            Some(b'-') => (self.old.checked_sub(1), Some(self.new)),
            Some(b'+') => (Some(self.old), self.new.checked_sub(1)),
            Some(b'\\') => (Some(self.old), Some(self.new)),
            _ => (None, None),
        };
        let is_open = self.is_open();
        match (old, new) {
            (Some(old), Some(new)) if is_open => (self.old, self.new) = (old, new),
            _ => *self = Self::default(),
        }
        is_open && old.is_some() && new.is_some()
    }
}

/// Whether a unified diff of one file leaves nothing of it.
pub(super) fn empties(diff: &str) -> bool {
    lines(diff).any(|(_, line)| Hunk::begun(line).is_some_and(|hunk| hunk.empties(line)))
}

/// The names after `---` and `+++`, without what Git puts before them; none where there is no file.
fn sides(old: &str, new: &str) -> (Option<String>, Option<String>) {
    let name = |side: &str| {
        let name = side.split('\t').next().unwrap_or_default().trim_end();
        (name != "/dev/null").then(|| unquoted(name))
    };
    let (old, new) = (name(old), name(new));
    let bare = |name: &Option<String>, prefix: &str| {
        name.as_ref().map(|name| name.strip_prefix(prefix).map(str::to_owned)).unwrap_or(Some(String::new()))
    };
    match (bare(&old, "a/"), bare(&new, "b/")) {
        (Some(bare_old), Some(bare_new)) => (old.map(|_| bare_old), new.map(|_| bare_new)),
        _ => (old, new),
    }
}

/// The name in `a/NAME b/NAME`. Where a file is renamed there are two, and other lines tell both.
fn in_both_halves(names: &str) -> Option<String> {
    let half = names.len().checked_sub(1)? / 2;
    let (old, new) = (names.get(..half)?, names.get(half..)?.strip_prefix(' ')?);
    match sides(old, new) {
        (Some(old), Some(new)) if old == new => Some(old),
        _ => None,
    }
}

/// A name as Git writes it, which quotes it like C where it is not plain.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else { return name.to_owned() };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        let escaped = if byte == b'\\' { rest.next() } else { None };
        bytes.push(match escaped {
            None => byte,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(digit @ b'0'..=b'7') => {
                let mut value = digit - b'0';
                for _ in 0..2 {
                    let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) else { break };
                    value = value.wrapping_mul(8).wrapping_add(digit - b'0');
                }
                value
            }
            Some(other) => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The lines of `text` without their ends, and where each begins.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

#[cfg(test)]
mod tests;
