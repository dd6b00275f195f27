//! Putting the agent's questions to the person.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use sidekicks_conversations::{Permission, PermissionId, Transcript};

use super::card::{self, Look, Reply};
use crate::lang::Lang;
use crate::manner::Manner;
use crate::say::Say;
use crate::style::Color;
use crate::terminal::{Question, Terminal};

/// One question after the other, on the terminal if there is one.
pub(super) struct Questions {
    terminal: Option<Terminal>,
    lang: Lang,
    color: Color,
    /// The folder that the agent works in.
    folder: PathBuf,
    /// The card that is shown.
    shown: Option<(Permission, Question)>,
    /// Those that were answered here. The event that says so comes later; they must not be asked again until then.
    done: HashSet<PermissionId>,
    /// What was wrong with the last answer.
    note: Option<String>,
}

/// What is to be done about a question.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The person chose.
    Answer(PermissionId, String),
    /// The person wants the agent stopped.
    Stop,
    /// Nobody answers, and nothing is allowed that nobody allowed: the option that says no, if the agent offers one.
    Unanswered { permission: Box<Permission>, no: Option<String>, asked: bool },
    /// Nothing, for now.
    Wait,
}

impl Questions {
    pub(super) fn new(manner: Manner, folder: PathBuf) -> Self {
        let Manner { lang, color, .. } = manner;
        Self { terminal: Terminal::open(), lang, color, folder, shown: None, done: HashSet::new(), note: None }
    }

    /// Asks the first open question of `mirror`, unless one is being asked.
    pub(super) fn ask(&mut self, mirror: &Transcript) -> io::Result<Verdict> {
        let open = mirror.permissions.iter().find(|open| !self.done.contains(&open.id));
        let Some(permission) = open.filter(|_| self.shown.is_none()) else { return Ok(Verdict::Wait) };
        let Some(terminal) = &self.terminal else {
            let permission = Permission::clone(permission);
            return Ok(self.unanswered(permission, false));
        };
        let note = self.note.take().unwrap_or_default();
        let paint = self.color.on_terminal(|name| std::env::var(name).ok());
        let look = Look { lang: self.lang, paint, width: terminal.width(), folder: &self.folder };
        let card = card::card(permission, &look);
        self.shown = Some((Permission::clone(permission), terminal.ask(format!("{note}\n{card}"))?));
        Ok(Verdict::Wait)
    }

    /// Waits for the answer to the card that is shown; for ever where there is none. Cancel-safe.
    pub(super) async fn answer(&mut self) -> Verdict {
        let Some((_, question)) = &mut self.shown else { return std::future::pending().await };
        let line = question.answer().await;
        let Some((permission, _)) = self.shown.take() else { return Verdict::Wait };
        let Some(line) = line else { return self.unanswered(permission, true) };
        match card::reply(&permission, &line) {
            Reply::Option(option) => {
                self.done.insert(permission.id.clone());
                Verdict::Answer(permission.id.clone(), option.id.clone())
            }
            Reply::StopAgent => {
                self.done.insert(permission.id);
                Verdict::Stop
            }
            Reply::Unknown => {
                self.note = Some(format!("{}\n", Say::NotAnOption.text(self.lang)));
                Verdict::Wait
            }
        }
    }

    /// Takes the card away if its question is settled by now.
    pub(super) fn follow(&mut self, mirror: &Transcript) {
        let open = |id: &PermissionId| mirror.permissions.iter().any(|open| open.id == *id);
        self.done.retain(open);
        if self.shown.as_ref().is_some_and(|(permission, _)| !open(&permission.id)) {
            self.shown = None;
            // At the end of a turn that is told in other words.
            if let Some(terminal) = self.terminal.as_ref().filter(|_| mirror.turn.busy) {
                let agent = mirror.agent.as_str();
                terminal.show(format!("\n{}\n", Say::TakenBack { agent }.text(self.lang)));
            }
        }
    }

    /// Asks nothing any more; tells whether a card was shown.
    pub(super) fn give_up(&mut self, mirror: &Transcript) -> bool {
        self.done.extend(mirror.permissions.iter().map(|open| open.id.clone()));
        self.shown.take().is_some()
    }

    fn unanswered(&mut self, permission: Permission, asked: bool) -> Verdict {
        self.done.insert(permission.id.clone());
        let no = card::rejection(&permission).map(|no| no.id.clone());
        Verdict::Unanswered { permission: Box::new(permission), no, asked }
    }
}
