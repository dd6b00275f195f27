//! `sidekicks config edit`: a copy in the person's editor, saved when it has no errors.

mod copy;
mod editor;

use std::fs::DirBuilder;
use std::io::{IsTerminal, stdin, stdout};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use sidekicks_config::{Digest, LoadError, Loaded, SaveError, SaveOptions, can_save, load, save_if_unchanged};
use sidekicks_prefs::{is_missing, standard_config};

use self::copy::Copy;
use self::editor::Editor;
use super::problems::{Look, Problems};
use crate::exit;
use crate::lang::Lang;
use crate::manner::Manner;
use crate::say::{About, Editing, Say};
use crate::signals::Signals;
use crate::start::{Start, env};
use crate::state;
use crate::terminal::Terminal;

pub(super) fn main(start: &Start, manner: Manner) -> u8 {
    start.tell_gone(manner);
    let terminal = Terminal::open().filter(|_| stdin().is_terminal() && stdout().is_terminal());
    let Some(terminal) = terminal else { return manner.complain(Editing::NeedsTerminal, exit::USAGE) };
    let begun = match begin(start, manner) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return manner.complain(Say::CannotStart { reason: &error.to_string() }, exit::FAILED),
    };
    let code = runtime.block_on(async {
        // From here on no signal ends us, and so none loses what was written.
        match Signals::listen() {
            Ok(signals) => Edit { begun, manner, terminal, signals }.run().await,
            Err(error) => manner.complain(Say::CannotStart { reason: &error.to_string() }, exit::FAILED),
        }
    });
    runtime.shutdown_background();
    code
}

/// What is to be edited.
struct Begun {
    path: PathBuf,
    /// What the file holds; `None` where there is none.
    digest: Option<Digest>,
    copy: Copy,
    editor: Editor,
}

fn begin(start: &Start, manner: Manner) -> Result<Begun, u8> {
    let path = start.choice.path().map(Path::to_owned).or_else(|| standard_config(&env));
    let path = path.ok_or_else(|| manner.complain(Editing::NoPlace, exit::USAGE))?;
    if !is_ours_to_make(&path) {
        // Not after an hour of writing.
        can_save(&path)
            .map_err(|error| manner.complain(Editing::CannotSave { path: &path, error: &error }, exit::FAILED))?;
    }
    let editor = Editor::find().map_err(|say| manner.complain(say, exit::FAILED))?;
    let (original, digest) = if is_missing(&path) {
        (starter(manner.lang).as_bytes().to_vec(), None)
    } else {
        start.loaded(manner)?; // What cannot be read is told.
        let bytes = std::fs::read(&path).map_err(|error| cannot_copy(manner, &error))?;
        let digest = Digest::of(&bytes);
        (bytes, Some(digest))
    };
    let copy = Copy::of(&path, original).map_err(|error| cannot_copy(manner, &error))?;
    Ok(Begun { path, digest, copy, editor })
}

/// Whether the file, and perhaps its folder, is to be made where nobody has to name it.
fn is_ours_to_make(path: &Path) -> bool {
    is_missing(path) && standard_config(&env).is_some_and(|standard| standard == path)
}

fn cannot_copy(manner: Manner, error: &std::io::Error) -> u8 {
    manner.complain(Editing::CannotCopy { reason: &error.to_string() }, exit::FAILED)
}

/// What a new file begins with.
fn starter(lang: Lang) -> &'static str {
    match lang {
        Lang::Fr => include_str!("edit/starter.fr.jsonc"),
        _ => include_str!("edit/starter.en.jsonc"),
    }
}

struct Edit {
    begun: Begun,
    manner: Manner,
    terminal: Terminal,
    signals: Signals,
}

/// What a person wants to do about errors.
enum Wish {
    GoOn,
    Discard,
    /// They were interrupted.
    Leave(i32),
}

impl Edit {
    async fn run(mut self) -> u8 {
        let manner = self.manner;
        loop {
            let mut ended_by = None;
            let Begun { copy, editor, path, .. } = &self.begun;
            let status = editor.run(copy.path(), &mut self.signals, &mut ended_by).await;
            let program = editor.program.as_str();
            let failed = match &status {
                _ if ended_by.is_some() => ended_by.map(exit::after_signal),
                Err(error) => {
                    let reason = error.to_string();
                    Some(manner.complain(Editing::CannotRun { editor: program, reason: &reason }, exit::FAILED))
                }
                Ok(status) if !status.success() => {
                    Some(manner.complain(Editing::Failed { editor: program }, exit::FAILED))
                }
                Ok(_) => None,
            };
            if let Some(code) = failed {
                return self.give_up(code);
            }
            if copy.is_unchanged() {
                return manner.complain(Editing::Unchanged { path }, exit::DONE);
            }
            let loaded = load(copy.path());
            if let Ok(loaded) = &loaded
                && !loaded.has_errors()
            {
                return self.save(loaded);
            }
            self.show(&loaded);
            match self.ask().await {
                Wish::GoOn => {}
                Wish::Discard => return self.give_up(exit::CONFIG),
                Wish::Leave(signal) => return self.give_up(exit::after_signal(signal)),
            }
        }
    }

    fn show(&self, loaded: &Result<Loaded, LoadError>) {
        let manner = self.manner;
        match loaded {
            Ok(loaded) => {
                let report = Problems::of(loaded, &self.begun.path).report(Look::of(&stdout(), manner));
                manner.print(report, exit::DONE);
            }
            Err(error) => drop(manner.complain(About::Unreadable(error), exit::DONE)),
        }
    }

    async fn ask(&mut self) -> Wish {
        let lang = self.manner.lang;
        let options = format!("[1] {}   [2] {}", Editing::GoOn.text(lang), Editing::Discard.text(lang));
        let mut note = String::new();
        loop {
            let Ok(mut question) = self.terminal.ask(format!("{note}{options} ? ")) else { return Wish::Discard };
            let answer = tokio::select! {
                answer = question.answer() => answer,
                signal = self.signals.next() => return Wish::Leave(signal),
            };
            match answer.as_deref() {
                Some("1") => return Wish::GoOn,
                Some("2") | None => return Wish::Discard,
                Some(_) => note = format!("{}\n", Say::NotAnOption.text(lang)),
            }
        }
    }

    fn save(self, loaded: &Loaded) -> u8 {
        let (Begun { path, digest, .. }, manner) = (&self.begun, self.manner);
        if is_ours_to_make(path) {
            // Whether it could be made, the save tells.
            let _ = path.parent().map(|folder| DirBuilder::new().recursive(true).mode(0o700).create(folder));
        }
        let mut options = SaveOptions::default();
        options.state_dir = state::folder();
        match save_if_unchanged(path, &loaded.text, digest.as_ref(), &options) {
            Ok(saved) => {
                manner.complain(Editing::Saved { path }, exit::DONE);
                if !saved.atomic {
                    manner.complain(Editing::SavedInPlace, exit::DONE);
                }
                let problems = Problems::of(loaded, path);
                if problems.all.is_empty() {
                    return exit::DONE;
                }
                manner.print(problems.report(Look::of(&stdout(), manner)), exit::DONE)
            }
            Err(error) => {
                let written = matches!(&error, SaveError::Io { step: sidekicks_config::SaveStep::SyncDirectory, .. });
                let code = manner.complain(Editing::NotSaved { path, error: &error }, exit::FAILED);
                if written { code } else { self.give_up(code) }
            }
        }
    }

    /// Ends without saving. The copy stays, if anything was written in it.
    fn give_up(self, code: u8) -> u8 {
        let Self { begun: Begun { copy, .. }, manner, .. } = self;
        match copy.is_unchanged() || !copy.path().exists() {
            true => code,
            false => manner.complain(Editing::Kept { copy: &copy.keep() }, code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_new_file_begins_with_has_no_problem() {
        for lang in [Lang::En, Lang::Fr] {
            let text = starter(lang);
            assert_eq!(sidekicks_config::validate(text), [], "{lang:?}");
            // Each example can be made use of, alone and with the others.
            let examples: Vec<&str> =
                text.lines().filter(|line| line.trim_start() != *line && line.contains("// \"")).collect();
            assert_eq!(examples.len(), 3);
            for example in examples {
                let text = text.replace(example, &example.replacen("// ", "", 1));
                assert_eq!(sidekicks_config::validate(&text), [], "{text}");
            }
            let text = text.replace(" // \"", " \"");
            assert_eq!(sidekicks_config::validate(&text), [], "{text}");
        }
    }
}
