//! How a turn goes on and how it ends, and what follows.

use std::mem;

use serde_json::{Map, json};
use sidekicks_acp::schema::ContentBlock;
use sidekicks_acp::{CallError, ConnectError, Lease, Phase, PromptId, StopReason, TurnEnd};
use tokio::time::Instant;

use super::{Core, Failing, Heard, Session, Stage, Turn};
use crate::directory::AgentProfile;
use crate::event::ResolvedBy;
use crate::failure::Failure;
use crate::id::MessageId;
use crate::message::{Message, Role};

impl Core {
    pub(super) fn begin(&mut self, message: MessageId, content: Vec<ContentBlock>, profile: AgentProfile) {
        let stage = Stage::Borrowing(self.number());
        self.look_at_configured(&profile);
        self.turn = Some(Turn {
            message,
            content,
            profile,
            stage,
            lease: None,
            waiting_for: Vec::new(),
            answer: None,
            cancelled: false,
            deadline: None,
            retried: false,
            resumed: false,
            crossed: 0,
            failing: Failing::default(),
            heard: Heard { at: Instant::now(), clock: 0, told: false },
        });
        self.lend_to_turn();
    }

    /// Sends the prompt, if the turn and the session are ready for it.
    pub(super) fn prompt(&mut self) {
        let (Some(turn), Some(Session { id: Some(session), .. })) = (&self.turn, &self.session) else { return };
        let (Stage::Opening, Some(lease)) = (&turn.stage, &turn.lease) else { return };
        match lease.connection().prompt(session, turn.content.clone()) {
            Ok(prompt) => self.prompted(prompt),
            Err(error) => self.call_failed(&error, Phase::Prompt),
        }
    }

    fn prompted(&mut self, prompt: PromptId) {
        self.tell_late();
        self.tell_recall();
        if !self.unclaimed.is_empty() {
            let text = mem::take(&mut self.unclaimed);
            self.say("notice", Map::from_iter([("text".to_owned(), text.into())]));
        }
        let begun = self.new_message(Role::Agent);
        self.session.iter_mut().for_each(|session| session.prompted = true);
        let Some(turn) = &mut self.turn else { return };
        turn.stage = Stage::Prompting(prompt);
        turn.heard = Heard { at: Instant::now(), clock: begun.at, told: false };
        // After a connection that was lost before anything was sent, the answer is there already.
        if let Some(answer) = &turn.answer {
            return self.cursor.begin(answer.clone());
        }
        turn.answer = Some(begun.id.clone());
        self.cursor.begin(begun.id.clone());
        let reply_to = Some(turn.message.clone());
        self.update(Message { reply_to, ..begun });
    }

    /// Something failed before the prompt was taken.
    pub(super) fn call_failed(&mut self, error: &CallError, phase: Phase) {
        if matches!(error, CallError::Ended { .. }) && self.retry() {
            return;
        }
        let failure = Failure::of_call(error, phase);
        if phase == Phase::Open {
            self.say_unavailable(&failure);
        } else {
            self.say_login_required(&failure);
        }
        self.fail_before_prompt(failure);
    }

    /// The connection ended, or the session was lost, before the prompt was taken: once more, silently. `false` if it was
    /// tried already.
    pub(super) fn retry(&mut self) -> bool {
        let number = self.number();
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.retried && !turn.cancelled) else {
            return false;
        };
        turn.retried = true;
        turn.stage = Stage::Borrowing(number);
        turn.lease = None;
        self.end_session();
        self.tell_turn();
        true
    }

    pub(super) fn fail_before_prompt(&mut self, failure: Failure) {
        if let Some(Turn { message, content, answer, lease, profile, .. }) = self.turn.take() {
            self.keep_for_card(lease, profile.connector);
            if let Some(answer) = answer {
                let error = Some(failure.clone());
                self.finish_message(&answer, |message| message.error = error);
            }
            if failure.methods.is_some() {
                self.await_login(&message);
            }
            self.not_sent(&message, content, Some(failure));
        }
        self.mind_card();
        self.drop_queue();
        self.tell_turn();
    }

    pub(super) fn cancelled_before_prompt(&mut self) {
        if let Some(Turn { message, content, answer, .. }) = self.turn.take() {
            if let Some(answer) = answer {
                self.finish_message(&answer, cancelled);
            }
            self.not_sent(&message, content, None);
        }
        self.mind_card();
    }

    /// The turn ended with a stop reason.
    pub(super) fn finish(&mut self, end: &TurnEnd) {
        let Some(Turn { message, content, answer: Some(answer), cancelled, .. }) = self.turn.take() else { return };
        self.settle_questions(ResolvedBy::Agent);
        self.judge_confirmations();
        match end.prompt_sent {
            true => {
                self.remember();
                self.login_awaited.clear(); // It is not asked for any more.
            }
            false => self.not_sent(&message, content, None),
        }
        let reason = if cancelled { &StopReason::Cancelled } else { &end.stop_reason };
        self.finish_message(&answer, |message| {
            message.stop_reason = Some(reason.to_string());
            message.agent_stop_reason = (*reason != end.stop_reason).then(|| end.stop_reason.to_string());
            message.empty = !cancelled && message.says_nothing();
        });
        self.go_on();
        self.tell_turn();
    }

    /// The turn ended with an error.
    pub(super) fn fail(&mut self, error: &CallError) {
        if matches!(error, CallError::Ended { sent: false, .. }) && self.retry() {
            return;
        }
        if self.has_lost_session(error) {
            self.lose_session();
            if self.says_nothing() && self.retry() {
                return;
            }
            self.end_session();
        }
        let Some(Turn { message, content, answer: Some(answer), cancelled: was_cancelled, .. }) = self.turn.take()
        else {
            return;
        };
        self.settle_questions(ResolvedBy::Agent);
        let failure = Failure::of_call(error, Phase::Prompt);
        if failure.prompt_sent {
            self.remember();
        }
        if matches!(error, CallError::Ended { .. }) {
            self.end_session(); // It is told here, and not once more as the exit of an idle agent.
        }
        // An agent that answers a cancel with an error did end its turn, as it was asked to.
        if was_cancelled && matches!(error, CallError::Agent(_)) {
            self.finish_message(&answer, |message| {
                cancelled(message);
                message.agent_stop_reason = Some(failure.message);
            });
            self.go_on();
        } else {
            if failure.methods.is_some() {
                // It was sent, and not taken: a login is all that it lacks.
                self.await_login(&message);
                self.keep_unsent(&message, content);
            } else if !failure.prompt_sent {
                self.not_sent(&message, content, Some(failure.clone()));
            }
            self.say_login_required(&failure);
            self.finish_message(&answer, |message| message.error = Some(failure));
            self.drop_queue();
        }
        self.tell_turn();
    }

    /// The agent did not obey a cancel in time.
    pub(super) fn condemn(&mut self) {
        let Some(Turn { lease, answer: Some(answer), .. }) = self.turn.take() else { return };
        lease.into_iter().for_each(Lease::condemn);
        self.remember();
        self.end_session();
        self.finish_message(&answer, cancelled);
        self.say("agent-unresponsive", Map::new());
        self.go_on();
        self.tell_turn();
    }

    /// The next message of the queue, if one waits.
    pub(super) fn go_on(&mut self) {
        while !self.queue.is_empty() {
            let profile = self.common.directory.find(&self.agent);
            let Some((id, content)) = self.queue.pop_front() else { return };
            let Some(profile) = profile else {
                self.not_sent(&id, content, Some(Failure::of_connect(&ConnectError::Unknown)));
                continue;
            };
            self.change(&id, |message| message.queued = false);
            return self.begin(id, content, profile);
        }
    }

    pub(super) fn drop_queue(&mut self) {
        while let Some((id, content)) = self.queue.pop_front() {
            self.not_sent(&id, content, None);
        }
    }

    /// This message, and those that wait behind it, are sent again after a login.
    fn await_login(&mut self, message: &MessageId) {
        let behind = self.queue.iter().map(|(queued, _)| queued);
        self.login_awaited.extend([message].into_iter().chain(behind).cloned());
    }

    /// Whether nothing of the answer has come yet.
    fn says_nothing(&self) -> bool {
        let answer = self.turn.as_ref().and_then(|turn| turn.answer.as_ref());
        answer.is_some_and(|answer| {
            self.look(|transcript| transcript.message(answer).is_some_and(|message| message.parts.is_empty()))
        })
    }

    pub(super) fn say_unavailable(&self, failure: &Failure) {
        match failure.methods {
            Some(_) => self.say_login_required(failure),
            None => self.say("agent-unavailable", Map::new()),
        }
    }

    fn say_login_required(&self, failure: &Failure) {
        if let Some(methods) = &failure.methods {
            self.say("login-required", Map::from_iter([("methods".to_owned(), json!(methods))]));
        }
    }
}

pub(super) fn cancelled(message: &mut Message) {
    message.stop_reason = Some(StopReason::Cancelled.to_string());
}
