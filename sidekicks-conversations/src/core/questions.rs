//! The questions of the agent, from when one comes until it is settled: what it may destroy is looked into, then the rules
//! and the policy decide, then the decider, then a person.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use sidekicks_acp::{PermissionRequest, QuestionId};
use tokio::time::Instant;

use super::{Core, Number, Stage, Turn, Want};
use crate::danger::{self, Analysis};
use crate::decider::Decision;
use crate::error::AnswerError;
use crate::event::{Event, Outcome, ResolvedBy};
use crate::id::PermissionId;
use crate::permission::{Choice, Danger, Permission};
use crate::policy::{self, Case, Decide, Policy, Rule};

/// Up to so many bytes a command is looked into at once, while the conversation is locked: that takes far less than a
/// millisecond as a rule, and some where somebody made it to be slow.
const SHORT: usize = 1024;

/// A question that is not settled.
pub(super) struct Question {
    id: PermissionId,
    request: PermissionRequest,
    permission: Arc<Permission>,
    grounds: Arc<Grounds>,
    step: Step,
    /// When it is settled without anybody.
    due: Option<Instant>,
}

/// What decides about a question, as it was when that came.
pub(crate) struct Grounds {
    /// The folder that the agent works in.
    cwd: PathBuf,
    policy: Policy,
    rules: Vec<Rule>,
}

/// What is known of a question once it was looked into.
pub(crate) struct Judgement {
    /// The dangers of its command.
    dangers: Vec<Danger>,
    decide: Decide,
    /// What decides so; the policy where it is none.
    rule: Option<Rule>,
}

impl Grounds {
    /// Looks into a question. That takes long where its command was made to be slow.
    pub(crate) fn judge(&self, permission: &Permission) -> Judgement {
        let Analysis { dangers, commands } = match &permission.command {
            Some(command) => danger::analyse(command),
            None => Analysis::of_no_command(),
        };
        let mut flagged = permission.clone();
        flagged.dangers.extend(dangers.iter().cloned());
        let (decide, rule) =
            policy::decide(self.policy, &self.rules, &Case::of(&flagged, commands.as_deref(), &self.cwd));
        Judgement { dangers, decide, rule: rule.cloned() }
    }
}

impl Judgement {
    /// Nothing is known, so a person is asked.
    fn failed(permission: &Permission) -> Self {
        let len = permission.command.as_ref().map_or(0, String::len);
        Self { dangers: Analysis::unknown(len).dangers, decide: Decide::Ask, rule: None }
    }
}

/// How far a question has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// What its command may destroy is being looked into.
    LookedInto(Number),
    /// The decider is asked.
    Decided(Number),
    /// A person is to be asked, once that is clear of those that came before.
    ToBeAsked,
    /// A person was asked.
    Asked,
}

/// What is answered without a person.
enum Reply {
    Option(String),
    Cancelled,
}

/// Who or what settles a question.
pub(super) enum Settler {
    Of(ResolvedBy),
    Rule(Rule),
    Policy(Policy),
}

impl Question {
    pub(super) fn is_asked(&self) -> bool {
        self.step == Step::Asked
    }

    fn wants(&self) -> Option<(Number, Want)> {
        match self.step {
            Step::LookedInto(number) => {
                Some((number, Want::Judgement(Arc::clone(&self.permission), Arc::clone(&self.grounds))))
            }
            Step::Decided(number) => Some((number, Want::Decision(Arc::clone(&self.permission)))),
            Step::ToBeAsked | Step::Asked => None,
        }
    }
}

impl Core {
    pub(super) fn asked(&mut self, request: PermissionRequest) {
        let answer = match &self.turn {
            Some(Turn { cancelled: true, .. }) => return, // Dropping it answers "cancelled".
            Some(Turn { stage: Stage::Prompting(_), answer, .. }) => answer.clone(),
            _ => None,
        };
        let call = request.raw.to_value().get_mut("toolCall").map(Value::take).unwrap_or_default();
        if answer.is_some() {
            let transcript = self.common.hub.transcript(&self.agent);
            let events = self.cursor.announce(&transcript, &call);
            drop(transcript);
            events.into_iter().for_each(|event| self.publish(event));
        }
        let id = PermissionId::numbered(self.common.number());
        let Some(session) = &self.session else { return };
        let cwd = session.cwd().to_owned();
        let permission = self.look(|transcript| {
            let call = call["toolCallId"].as_str().and_then(|tool| self.cursor.tool(transcript, tool));
            Permission::of(&request, call, &cwd, id.clone(), self.agent.clone(), answer.clone())
        });
        let (policy, rules) = self.rules();
        let grounds = Arc::new(Grounds { cwd, policy, rules });
        let is_short = permission.command.as_ref().is_none_or(|command| command.len() <= SHORT);
        let judgement = is_short.then(|| grounds.judge(&permission));
        let number = self.number();
        let (permission, step) = (Arc::new(permission), Step::LookedInto(number));
        let due = Instant::now().checked_add(self.common.options.permission_timeout);
        self.questions.push(Question { id, request, permission, grounds, step, due });
        match judgement {
            judgement @ Some(_) => self.looked_into(number, judgement),
            None => self.minded(),
        }
    }

    /// What is waited for on behalf of questions.
    pub(crate) fn judgements(&self) -> Vec<(Number, Want)> {
        self.questions.iter().filter_map(Question::wants).collect()
    }

    /// What the command of a question may destroy is known.
    pub(super) fn looked_into(&mut self, number: Number, judgement: Option<Judgement>) {
        let Some(at) = self.questions.iter().position(|question| question.step == Step::LookedInto(number)) else {
            return;
        };
        let next = self.common.options.decider.is_some().then(|| self.number());
        let Question { permission, grounds, step, .. } = &mut self.questions[at];
        let judgement = judgement.unwrap_or_else(|| Judgement::failed(permission));
        let Judgement { dangers: found, decide, rule } = judgement;
        let dangers = &mut Arc::make_mut(permission).dangers;
        dangers.splice(..0, found);
        // As they stand in the command; behind them what stands elsewhere.
        dangers.sort_by_key(|danger| (danger.end == 0, danger.start));
        let reply = match decide {
            Decide::Allow => allowing(permission),
            Decide::Deny => denying(permission),
            Decide::Ask => None,
        };
        match reply {
            Some(reply) => {
                let policy = grounds.policy;
                self.settle(at, reply, rule.map_or(Settler::Policy(policy), Settler::Rule));
            }
            None => {
                // No code goes past what the user wrote: that a person is asked, or, with two answers to refuse with, that
                // it is refused.
                let is_for_a_person = decide == Decide::Deny || (decide == Decide::Ask && rule.is_some());
                *step = next.filter(|_| !is_for_a_person).map_or(Step::ToBeAsked, Step::Decided);
                self.minded();
            }
        }
    }

    /// The decider has decided, or failed to.
    pub(super) fn decided(&mut self, number: Number, decision: Option<Decision>) {
        let Some(at) = self.questions.iter().position(|question| question.step == Step::Decided(number)) else {
            return;
        };
        let Question { permission, step, .. } = &mut self.questions[at];
        let reply = match decision {
            Some(Decision::Ask) => None,
            Some(Decision::Allow) => allowing(permission),
            Some(Decision::Deny) => denying(permission),
            Some(Decision::Select(id)) if permission.options.iter().any(|option| option.id == id) => {
                Some(Reply::Option(id))
            }
            Some(Decision::Select(_)) | None => Some(refusing(permission)),
        };
        match reply {
            Some(reply) => self.settle(at, reply, Settler::Of(ResolvedBy::Decider)),
            None => {
                *step = Step::ToBeAsked;
                self.minded();
            }
        }
    }

    pub(crate) fn answer(&mut self, id: &PermissionId, option: &str) -> Result<(), AnswerError> {
        let at = self.questions.iter().position(|open| open.id == *id).ok_or(AnswerError::AlreadyResolved)?;
        match self.questions[at].request.select(option) {
            Ok(()) => {
                let question = self.questions.remove(at);
                self.refusal(&question.request, option);
                let by = Settler::Of(ResolvedBy::User);
                self.resolved(&question, Outcome::Selected, Some(option.to_owned()), by);
                self.heard(); // From here on the agent has time to say something.
                self.minded();
                Ok(())
            }
            Err(sidekicks_acp::AnswerError::UnknownOption(_)) => Err(AnswerError::NoSuchOption),
            // Withdrawn a moment ago; that it was comes as an event.
            Err(_) => Err(AnswerError::AlreadyResolved),
        }
    }

    pub(super) fn withdrawn(&mut self, question: QuestionId) {
        if let Some(at) = self.questions.iter().position(|open| open.request.id() == question) {
            self.settle(at, Reply::Cancelled, Settler::Of(ResolvedBy::Agent));
        }
    }

    pub(super) fn settle_questions(&mut self, by: ResolvedBy) {
        for question in std::mem::take(&mut self.questions) {
            // Dropping the request answers "cancelled", where it was not withdrawn already.
            self.resolved(&question, Outcome::Cancelled, None, Settler::Of(by));
        }
        self.mind_card();
    }

    /// When the next question is settled without anybody.
    pub(super) fn questions_due(&self) -> Option<Instant> {
        self.questions.iter().filter_map(|question| question.due).min()
    }

    /// All of them before anything is asked: one whose time is over need not be shown for a moment.
    pub(super) fn settle_due(&mut self, now: Instant) {
        let is_due = |question: &Question| question.due.is_some_and(|due| due <= now);
        let before = self.questions.len();
        while let Some(at) = self.questions.iter().position(is_due) {
            let reply = refusing(&self.questions[at].permission);
            self.conclude(at, reply, Settler::Of(ResolvedBy::Timeout));
        }
        if self.questions.len() < before {
            self.heard();
            self.minded();
        }
    }

    /// Answers without a person.
    fn settle(&mut self, at: usize, reply: Reply, by: Settler) {
        self.conclude(at, reply, by);
        self.heard();
        self.minded();
    }

    fn conclude(&mut self, at: usize, reply: Reply, by: Settler) {
        let question = self.questions.remove(at);
        let (outcome, option, by) = match reply {
            Reply::Cancelled => (Outcome::Cancelled, None, by),
            Reply::Option(id) => match question.request.select(&id) {
                Ok(()) => (Outcome::Selected, Some(id), by),
                // The agent has just taken it back.
                Err(_) => (Outcome::Cancelled, None, Settler::Of(ResolvedBy::Agent)),
            },
        };
        self.resolved(&question, outcome, option, by);
        drop(question); // Answers "cancelled", where nothing was chosen.
    }

    /// A question came, went, or has come further.
    fn minded(&mut self) {
        for question in &mut self.questions {
            match question.step {
                Step::Asked => {}
                Step::ToBeAsked => {
                    question.step = Step::Asked;
                    self.common.hub.publish(Event::PermissionRequested(Arc::clone(&question.permission)));
                }
                // Those behind it wait, so that they are asked in the order in which they came.
                Step::LookedInto(_) | Step::Decided(_) => break,
            }
        }
        self.mind_card();
        self.tell_turn();
    }

    /// What decides about the questions of this agent now; of one that is in no directory any more, what its turn began with.
    fn rules(&self) -> (Policy, Vec<Rule>) {
        let profile = self.common.directory.find(&self.agent);
        let profile = profile.or_else(|| self.turn.as_ref().map(|turn| turn.profile.clone()));
        profile.map(|profile| (profile.policy, profile.rules)).unwrap_or_default()
    }

    fn resolved(&self, question: &Question, outcome: Outcome, option: Option<String>, by: Settler) {
        let (by, rule, policy) = match by {
            Settler::Of(by) => (by, None, None),
            Settler::Rule(rule) => (ResolvedBy::Rule, Some(rule), None),
            Settler::Policy(policy) => (ResolvedBy::Policy, None, Some(policy)),
        };
        let (id, agent) = (question.id.clone(), self.agent.clone());
        let permission = (!question.is_asked()).then(|| Arc::clone(&question.permission));
        self.publish(Event::PermissionResolved { id, agent, outcome, option, by, rule, policy, permission });
    }
}

/// The one answer of this kind. One whose id another option has too may be taken for that.
fn only<'a>(permission: &'a Permission, kind: &str) -> Option<&'a Choice> {
    let is_shared = |id: &str| permission.options.iter().filter(|option| option.id == id).count() > 1;
    permission.option(kind).filter(|option| !is_shared(&option.id))
}

/// The one answer that allows once; of several one may change more than this answer.
fn allowing(permission: &Permission) -> Option<Reply> {
    only(permission, "allow_once").map(|option| Reply::Option(option.id.clone()))
}

/// The one answer that refuses once, "cancelled" where there is none; `None` where there are several.
fn denying(permission: &Permission) -> Option<Reply> {
    let refuses = permission.options.iter().any(|option| option.kind == "reject_once");
    match only(permission, "reject_once") {
        Some(option) => Some(Reply::Option(option.id.clone())),
        None => (!refuses).then_some(Reply::Cancelled),
    }
}

/// As [`denying`], where nobody is left to be asked.
fn refusing(permission: &Permission) -> Reply {
    denying(permission).unwrap_or(Reply::Cancelled)
}
