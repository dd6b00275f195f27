//! The words of a command as options and operands.

use super::text::Text;
use super::tree::Word;

/// Which options of a program take a value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spec {
    /// Letters whose value is the rest of the word, or the next word.
    pub(super) short: &'static str,
    /// Letters whose value can only be the rest of the word.
    pub(super) attached: &'static str,
    /// Names whose value follows `=`, or is the next word.
    pub(super) long: &'static [&'static str],
}

/// An option: a letter or a name, without dashes.
#[derive(Debug)]
pub(super) struct Opt {
    pub(super) name: String,
    pub(super) at: usize,
    pub(super) value: Option<Text>,
}

/// What the words are, by their places.
#[derive(Debug, Default)]
pub(super) struct Args {
    pub(super) options: Vec<Opt>,
    pub(super) operands: Vec<usize>,
    /// `--`
    pub(super) separator: Option<usize>,
}

/// Where options end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// At the first operand: what follows belongs to another program.
    Operand,
    /// At `--`.
    Separator,
}

impl Args {
    /// Reads `words` from `from` on.
    pub(super) fn of(words: &[Word], from: usize, spec: Spec, until: Until) -> Self {
        let mut args = Self::default();
        let mut at = from;
        while let Some(word) = words.get(at) {
            let text = word.text();
            if args.separator.is_some() || text == "-" || !text.starts_with('-') {
                args.operands.push(at);
                if until == Until::Operand {
                    break;
                }
            } else if text == "--" {
                args.separator = Some(at);
            } else if let Some(name) = text.strip_prefix("--") {
                at += args.long(words, at, name, spec);
            } else {
                at += args.short(words, at, spec);
            }
            at += 1;
        }
        args
    }

    /// Gives the number of further words that it took.
    fn long(&mut self, words: &[Word], at: usize, name: &str, spec: Spec) -> usize {
        if let Some((name, value)) = name.split_once('=') {
            let end = words[at].text().len();
            let value = words[at].value.piece(end - value.len()..end);
            self.options.push(Opt { name: name.to_owned(), at, value: Some(value) });
            return 0;
        }
        let value = if spec.long.contains(&name) { words.get(at + 1).map(|word| word.value.clone()) } else { None };
        let taken = usize::from(value.is_some());
        self.options.push(Opt { name: name.to_owned(), at, value });
        taken
    }

    fn short(&mut self, words: &[Word], at: usize, spec: Spec) -> usize {
        let text = words[at].text();
        for (place, letter) in text.char_indices().skip(1) {
            let name = letter.to_string();
            let rest = place + letter.len_utf8()..text.len();
            let attached = (!rest.is_empty()).then(|| words[at].value.piece(rest));
            if spec.attached.contains(letter) {
                self.options.push(Opt { name, at, value: attached });
                return 0;
            }
            if spec.short.contains(letter) {
                let taken = usize::from(attached.is_none());
                let value = attached.or_else(|| words.get(at + 1).map(|word| word.value.clone()));
                self.options.push(Opt { name, at, value });
                return taken;
            }
            self.options.push(Opt { name, at, value: None });
        }
        0
    }

    /// The first of these options; of a name of three letters or more its beginning does, as programs take it.
    pub(super) fn find(&self, names: &[&str]) -> Option<&Opt> {
        let is = |given: &str| names.iter().any(|name| *name == given || (given.len() > 2 && name.starts_with(given)));
        self.options.iter().find(|option| is(&option.name))
    }

    /// Where the first of these options stands.
    pub(super) fn at(&self, names: &[&str]) -> Option<usize> {
        self.find(names).map(|option| option.at)
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.find(names).is_some()
    }

    /// The values of these options.
    pub(super) fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Text> {
        self.options.iter().filter(|option| names.contains(&&*option.name)).filter_map(|option| option.value.as_ref())
    }
}
