//! One turn: the events, the questions and the signals of it.

use std::io::{self, IsTerminal};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sidekicks_acp::AgentName;
use sidekicks_agents::Supervisor;
use sidekicks_conversations::{
    AgentProfile, Conversation, Conversations, Event, Message, MessageId, Options, Subscription, Transcript, TurnPhase,
};
use tokio::time::{Instant, sleep, sleep_until};

use super::circles::Circles;
use super::output::Output;
use super::questions::{Questions, Verdict};
use super::screen::{Screen, Stream};
use crate::exit;
use crate::manner::Manner;
use crate::say::Say;
use crate::signals::Signals;

/// How often something is shown, at most.
const FRAME: Duration = Duration::from_millis(16);

/// How long, after a signal, the last words may take on an output that nobody reads.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// How long an agent may take to leave before a word is said about it.
const PATIENCE: Duration = Duration::from_millis(1500);

/// How long an agent may take to be ready before a word is said about it.
const PATIENCE_AT_START: Duration = Duration::from_secs(3);

/// One question to one agent.
pub(super) struct Asking {
    agents: Supervisor,
    conversation: Conversation,
    events: Subscription,
    /// The conversation as the events tell it.
    mirror: Transcript,
    view: View,
    output: Output,
    signals: Signals,
    questions: Questions,
    circles: Circles,
    /// The signal that interrupted it.
    signal: Option<i32>,
    /// Whether a second signal came.
    hurried: bool,
}

/// How events are shown.
enum View {
    Text(Screen),
    /// One event a line, as the library serialises it.
    Json(Screen),
}

/// Why the waiting is over.
enum Over {
    Answered,
    /// Stdout takes nothing more.
    Unwritten(io::Error),
    Interrupted,
}

impl Asking {
    pub(super) fn new(name: AgentName, agents: Supervisor, profile: AgentProfile, manner: Manner) -> io::Result<Self> {
        let questions = Questions::new(manner, profile.cwd.clone());
        let known = name.clone();
        let directory = move |name: &AgentName| (*name == known).then(|| profile.clone());
        let conversations = Conversations::new(directory, Options::default());
        let conversation = conversations.with(&name).ok_or(io::ErrorKind::NotFound)?;
        let screen = Screen::new(manner.lang, io::stdout().is_terminal());
        Ok(Self {
            agents,
            events: conversations.subscribe(),
            conversation,
            mirror: Transcript::new(name),
            view: if manner.json { View::Json(screen) } else { View::Text(screen) },
            output: Output::start(),
            signals: Signals::listen()?,
            questions,
            circles: Circles::default(),
            signal: None,
            hurried: false,
        })
    }

    /// Asks, shows what comes, stops the agent, and gives the exit code.
    pub(super) async fn ask(mut self, prompt: String) -> u8 {
        let question = self.conversation.send(prompt);
        let code = match &question {
            Ok(question) => self.turn(question).await,
            Err(error) => self.refused(error),
        };
        let code = self.signal.map_or(code, exit::after_signal);
        self.view.done(&self.mirror, question.as_ref().ok(), code, self.signal.is_some());
        self.output.write(self.view.take());
        self.leave().await;
        match self.last_words().await {
            Err(error) if code == exit::DONE => self.unwritten(&error).await,
            _ => code,
        }
    }

    /// Shows the turn, says how it ended, and gives the exit code.
    async fn turn(&mut self, question: &MessageId) -> u8 {
        match self.wait(question).await {
            Ok(Over::Answered | Over::Interrupted) => self.conclude(question),
            Ok(Over::Unwritten(error)) => self.unwritten(&error).await,
            Err(error) => self.refused(&error),
        }
    }

    /// Stdout failed. As with any program in a pipe, that nobody reads on is no error.
    async fn unwritten(&mut self, error: &io::Error) -> u8 {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return exit::DONE;
        }
        self.view.screen().say(Say::CannotWrite { reason: &error.to_string() });
        self.output.write(self.view.take());
        let _ = self.last_words().await; // Stdout is not written to here; a signal is still heard.
        exit::FAILED
    }

    fn refused(&mut self, error: &dyn std::error::Error) -> u8 {
        self.view.screen().say(Say::CannotStart { reason: &error.to_string() });
        exit::FAILED
    }

    /// Shows what happens until the turn is over.
    async fn wait(&mut self, question: &MessageId) -> io::Result<Over> {
        let mut give_up: Option<Instant> = None;
        let conversation = self.conversation.clone();
        let mut idle = pin!(async move { conversation.idle().await });
        let mut is_idle = false;
        let mut slow_start = pin!(sleep(PATIENCE_AT_START));
        let mut patient = io::stderr().is_terminal();
        loop {
            if !self.output.is_writing() {
                self.output.write(self.view.take());
            }
            if !self.output.is_writing() {
                if self.is_over(question) {
                    return Ok(if self.signal.is_some() { Over::Interrupted } else { Over::Answered });
                }
                let verdict = self.questions.ask(&self.mirror)?;
                self.obey(verdict);
            }
            tokio::select! {
                batch = self.events.next_batch(FRAME), if !self.output.is_writing() => {
                    let Some(batch) = batch else { return Ok(Over::Answered) };
                    self.take(&batch);
                }
                written = self.output.written() => {
                    if let Err(error) = written {
                        self.view.take(); // Nor would the rest be.
                        self.stop();
                        return Ok(Over::Unwritten(error));
                    }
                }
                verdict = self.questions.answer() => self.obey(verdict),
                signal = self.signals.next() => {
                    if self.signal.is_some() {
                        self.hurried = true; // The second: nobody wants to wait.
                        return Ok(Over::Interrupted);
                    }
                    self.interrupted(signal);
                }
                () = idle.as_mut(), if self.signal.is_some() && !is_idle => {
                    is_idle = true;
                    give_up = Some(Instant::now() + LAST_WORDS);
                }
                () = at(give_up) => return Ok(Over::Interrupted),
                () = slow_start.as_mut(), if patient => {
                    patient = false;
                    if self.mirror.turn.phase == TurnPhase::Starting && self.signal.is_none() {
                        self.view.screen().say(Say::StartTakesLong { agent: self.mirror.agent.as_str() });
                    }
                }
            }
        }
    }

    fn take(&mut self, batch: &[Arc<Event>]) {
        let mut in_circles = None;
        for event in batch {
            self.mirror.apply(event);
            // After each: the next event of the batch may be a success.
            in_circles = self.circles.seen(self.mirror.turn.failed_tools).or(in_circles);
        }
        self.view.show(&self.mirror, batch);
        if let Some(failed) = in_circles {
            self.view.screen().say(Say::GoesInCircles { agent: self.mirror.agent.as_str(), failed });
        }
        self.questions.follow(&self.mirror);
    }

    fn is_over(&self, question: &MessageId) -> bool {
        !self.mirror.turn.busy && self.mirror.message(question).is_some()
    }

    fn interrupted(&mut self, signal: i32) {
        self.signal = Some(signal);
        self.stop();
        if signal == nix::libc::SIGINT {
            self.view.screen().say(Say::Stopping);
        }
    }

    fn obey(&mut self, verdict: Verdict) {
        match verdict {
            // It fails only where the question was settled a moment ago, of which the events tell.
            Verdict::Answer(id, option) => {
                let _ = self.conversation.answer(&id, &option);
            }
            Verdict::Stop => self.stop(),
            Verdict::Unanswered { permission, no, asked } => {
                let agent = permission.agent.as_str();
                let title = [
                    permission.command.as_deref(),
                    Some(permission.title.as_str()),
                    permission.tool_call_id.as_deref(),
                ];
                let title = title.into_iter().flatten().find(|title| !title.trim().is_empty()).unwrap_or("?");
                let screen = self.view.screen();
                if asked {
                    screen.break_line();
                }
                match no {
                    Some(no) => {
                        screen.say(match asked {
                            true => Say::RejectedUnanswered { agent, title },
                            false => Say::RejectedUnasked { agent, title },
                        });
                        let _ = self.conversation.answer(&permission.id, &no);
                    }
                    None => {
                        screen.say(Say::CancelledUnasked { agent, title });
                        self.stop();
                    }
                }
            }
            Verdict::Wait => {}
        }
    }

    /// Stops the turn; what it still asks is put to nobody.
    fn stop(&mut self) {
        if self.questions.give_up(&self.mirror) {
            self.view.screen().break_line(); // The card waits for an answer on its last line.
        }
        self.conversation.stop();
    }

    /// Says how it ended, and gives the exit code.
    fn conclude(&mut self, question: &MessageId) -> u8 {
        let mirror = &self.mirror;
        let agent = mirror.agent.as_str();
        let screen = self.view.screen();
        screen.finish();
        let Some(asked) = mirror.message(question) else { return exit::FAILED };
        let answer = answer_to(mirror, question);
        let failure = asked.error.as_ref().or_else(|| answer.and_then(|answer| answer.error.as_ref()));
        if let Some(failure) = failure {
            screen.say(Say::Failure { agent, failure });
            if let Some(stderr) = &failure.stderr {
                screen.quote(last_lines(stderr));
            }
            if let Some(methods) = failure.methods.as_ref().filter(|methods| !methods.is_empty()) {
                let names: Vec<String> = methods.iter().map(|method| method.name().to_owned()).collect();
                screen.say(Say::LoginMethods(&names));
            }
        } else if let Some(Message { stop_reason: Some(reason), empty, .. }) = answer
            && self.signal.is_none()
        {
            match reason.as_str() {
                "end_turn" if *empty => screen.say(Say::Empty { agent }),
                "end_turn" => {}
                reason => screen.say(Say::StopReason { agent, reason }),
            }
        }
        exit::of_turn(asked, answer)
    }

    /// Stops the agent; a signal meanwhile hurries it.
    async fn leave(&mut self) {
        let agents = self.agents.clone();
        let mut stop = pin!(async move { agents.shutdown().await });
        let mut patience = pin!(sleep(PATIENCE));
        let mut waited = false;
        let mut hurry = self.hurried;
        loop {
            tokio::select! {
                biased; // A stop has to be asked for before it can be hurried.
                _ = stop.as_mut() => break,
                () = std::future::ready(()), if hurry => {
                    hurry = false;
                    self.agents.hurry();
                }
                signal = self.signals.next() => {
                    self.signal.get_or_insert(signal);
                    self.agents.hurry();
                }
                () = patience.as_mut(), if !waited => {
                    waited = true;
                    if io::stderr().is_terminal() {
                        self.view.screen().say(Say::StopTakesLong { agent: self.mirror.agent.as_str() });
                        self.output.write(self.view.take());
                    }
                }
            }
        }
    }

    /// Waits until everything is written: for as long as it takes, since a pager may be read for hours, but not for long
    /// once a signal came.
    async fn last_words(&mut self) -> io::Result<()> {
        let soon = || Some(Instant::now() + LAST_WORDS);
        let mut give_up = self.signal.and_then(|_| soon());
        while self.output.is_writing() {
            tokio::select! {
                written = self.output.written() => written?,
                () = at(give_up) => break,
                signal = self.signals.next() => {
                    self.signal.get_or_insert(signal);
                    give_up = soon();
                }
            }
        }
        Ok(())
    }
}

impl View {
    fn screen(&mut self) -> &mut Screen {
        match self {
            Self::Text(screen) | Self::Json(screen) => screen,
        }
    }

    fn show(&mut self, mirror: &Transcript, batch: &[Arc<Event>]) {
        match self {
            Self::Text(screen) => screen.draw(mirror),
            Self::Json(screen) => batch.iter().for_each(|event| screen.event(event)),
        }
    }

    /// The last line of JSON: how the turn of `question` ended.
    fn done(&mut self, mirror: &Transcript, question: Option<&MessageId>, code: u8, interrupted: bool) {
        if let Self::Json(screen) = self {
            let asked = question.and_then(|id| mirror.message(id));
            let answer = question.and_then(|id| answer_to(mirror, id));
            let error =
                asked.and_then(|asked| asked.error.as_ref()).or(answer.and_then(|answer| answer.error.as_ref()));
            let reason = answer.and_then(|answer| answer.stop_reason.as_deref());
            // Interrupted before the agent ended the turn, or before it was asked anything.
            let reason = reason.or((interrupted && error.is_none()).then_some("cancelled"));
            let payload = json!({ "stopReason": reason, "error": error, "exitCode": code });
            screen.event(&json!({ "event": "done", "payload": payload }));
        }
    }

    fn take(&mut self) -> Vec<(Stream, String)> {
        self.screen().take()
    }
}

fn answer_to<'a>(mirror: &'a Transcript, question: &MessageId) -> Option<&'a Message> {
    mirror.messages.iter().rev().find(|message| message.reply_to.as_ref() == Some(question)).map(Arc::as_ref)
}

/// The last ten lines: the reason is at the end.
fn last_lines(text: &str) -> &str {
    let start = text.rmatch_indices('\n').nth(9).map_or(0, |(at, _)| at + 1);
    &text[start..]
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
