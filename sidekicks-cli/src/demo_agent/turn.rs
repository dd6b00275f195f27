//! One turn: from a prompt to its answer.

use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    MessageId, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, PromptResponse, SessionUpdate, StopReason,
    ToolCallId, UsageUpdate,
};
use serde_json::json;

use super::answer;
use super::command::Command;
use super::directive::{Directive, parse};
use super::outlet::Outlet;
use super::prompt::Prompt;
use super::sessions::RunningTurn;

/// Between two pieces of an answer, so that one sees it come.
const PAUSE: Duration = Duration::from_millis(15);

/// An answer comes in at most this many pieces.
const PIECES: usize = 8;

/// What there is room for in a session, in tokens of about four characters. Invented: there is no model.
const CONTEXT: u64 = 200_000;

/// A turn that runs.
pub(super) struct Turn {
    pub(super) running: RunningTurn,
    pub(super) outlet: Outlet,
    /// The message that the next piece of text belongs to. A tool call ends it.
    pub(super) message: Option<MessageId>,
    /// The tool call that has no final status yet.
    pub(super) tool: Option<ToolCallId>,
    /// The command that runs for it.
    pub(super) command: Option<Command>,
    attachments: Vec<String>,
}

/// Why a turn ends before all is done.
#[derive(Debug)]
pub(super) enum Stop {
    /// The person said no: what comes after it is left out, and the turn ends as usual.
    Refused,
    Cancelled,
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Turn {
    pub(super) fn new(running: RunningTurn, outlet: Outlet) -> Self {
        Self { running, outlet, message: None, tool: None, command: None, attachments: Vec::new() }
    }

    /// Plays the turn and answers the prompt. Dropping the future leaves no process behind.
    pub(super) async fn run(mut self, prompt: Prompt, responder: Responder<PromptResponse>) {
        let cancelled = self.running.cancelled.clone();
        let withdrawn = responder.cancellation();
        let end = tokio::select! {
            biased;
            () = cancelled.notified() => Err(Stop::Cancelled),
            () = withdrawn.cancelled() => Err(Stop::Cancelled),
            end = self.play(prompt) => end,
        };
        if let Err(Stop::Cancelled) = end {
            self.abandon_tool().await;
        }
        // Before the answer: whoever reads it may start the next turn at once.
        drop(self);
        let answered = match end {
            Ok(()) | Err(Stop::Refused) => responder.respond(PromptResponse::new(StopReason::EndTurn)),
            Err(Stop::Cancelled) => responder.respond(PromptResponse::new(StopReason::Cancelled)),
            Err(Stop::Failed(error)) => responder.respond_with_error(error),
        };
        // It fails when the client is gone, which the connection notices by itself.
        drop(answered);
    }

    async fn play(&mut self, prompt: Prompt) -> Result<(), Stop> {
        let directives = parse(&prompt.text);
        self.running.session.said(prompt.size);
        self.think(&answer::thoughts(&prompt, &directives)).await?;
        self.attachments = prompt.attachments;
        self.plan(&directives, 0, None).await?;
        let mut done = 0;
        for directive in &directives {
            self.plan(&directives, done, Some(done)).await?;
            let followed = self.follow(directive).await;
            done += 1;
            match followed {
                Err(Stop::Refused) if done == directives.len() => {}
                Err(Stop::Refused) => {
                    self.tell("So I leave out the rest, too.").await?;
                    break;
                }
                other => other?,
            }
        }
        self.plan(&directives, done, None).await?;
        self.usage().await
    }

    async fn follow(&mut self, directive: &Directive) -> Result<(), Stop> {
        match directive {
            Directive::Talk(text) => {
                let attachments = std::mem::take(&mut self.attachments);
                self.tell(&answer::echo(text, &attachments)).await
            }
            Directive::Help => self.tell(&answer::help()).await,
            Directive::Run(command) => self.run_command(command).await,
            Directive::Write { file, content } => self.write_file(file, content).await,
            Directive::Fail(message) => {
                self.tell("This turn fails now, because you said so.").await?;
                let message = message.as_deref().unwrap_or("the demo agent was told to fail");
                Err(Stop::Failed(Error::internal_error().data(json!({"error": message}))))
            }
            Directive::Stall => {
                self.tell("Waiting…").await?;
                std::future::pending().await
            }
            Directive::Long { lines, asked } => self.count(*lines, *asked).await,
            Directive::Misused(sentence) => self.tell(sentence).await,
        }
    }

    async fn count(&mut self, lines: u64, asked: u64) -> Result<(), Stop> {
        if asked > lines {
            self.tell(&format!("{asked} is too far for me, so I stop at {lines}.")).await?;
        }
        // A message of its own: it holds nothing but the lines.
        let message = self.next_message();
        for line in 1..=lines {
            self.outlet.say(&message, format!("line {line}\n")).await?;
        }
        self.message = None;
        Ok(())
    }

    async fn think(&mut self, pieces: &[String]) -> Result<(), Stop> {
        let message = self.next_message();
        for piece in pieces {
            self.outlet.think(&message, piece.clone()).await?;
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Says a paragraph, piece by piece.
    pub(super) async fn tell(&mut self, text: &str) -> Result<(), Stop> {
        self.running.session.said(text.chars().count());
        let (message, text) = match &self.message {
            Some(message) => (message.clone(), format!("\n\n{text}")),
            None => (self.next_message(), text.to_owned()),
        };
        self.message = Some(message.clone());
        for piece in pieces(&text) {
            self.outlet.say(&message, piece.to_owned()).await?;
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Shows the plan: the first `done` things are, and `current` is being done.
    async fn plan(&self, directives: &[Directive], done: usize, current: Option<usize>) -> Result<(), Stop> {
        let entries = directives.iter().enumerate().map(|(index, directive)| {
            let status = match index {
                _ if index < done => PlanEntryStatus::Completed,
                _ if Some(index) == current => PlanEntryStatus::InProgress,
                _ => PlanEntryStatus::Pending,
            };
            PlanEntry::new(directive.label(), PlanEntryPriority::Medium, status)
        });
        self.outlet.send(SessionUpdate::Plan(Plan::new(entries.collect()))).await?;
        Ok(())
    }

    async fn usage(&self) -> Result<(), Stop> {
        let used = CONTEXT.min(self.running.session.said(0) / 4);
        self.outlet.send(SessionUpdate::UsageUpdate(UsageUpdate::new(used, CONTEXT))).await?;
        Ok(())
    }

    fn next_message(&self) -> MessageId {
        MessageId::new(format!("message-{}", self.running.session.number()))
    }
}

/// Cuts a text at spaces and line ends, into pieces of about the same size.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let size = text.len().div_ceil(PIECES).max(16);
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().find(|(at, c)| c.is_whitespace() && *at + 1 >= size);
        let (piece, after) = rest.split_at(end.map_or(rest.len(), |(at, c)| at + c.len_utf8()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_up_the_text() {
        for text in ["", "word", "a few words of an answer, then more", &"é\u{2003}à ".repeat(200), &"x".repeat(999)]
        {
            let pieces: Vec<&str> = pieces(text).collect();
            assert_eq!(pieces.concat(), text);
            assert!(pieces.len() <= PIECES, "{} pieces", pieces.len());
            assert!(pieces.iter().all(|piece| !piece.is_empty()));
        }
        assert!(pieces(&answer::help()).count() > 4);
    }
}
