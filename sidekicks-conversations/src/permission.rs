//! A question of the agent, in words of ours.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sidekicks_acp::{AgentName, PermissionOption, PermissionRequest};

use crate::danger;
use crate::id::{MessageId, PermissionId};
use crate::part::{Diff, ToolPart};
use crate::tool::{self, Command, FileChange};

/// The agent asks for permission to do something: a [`PermissionRequest`] of `sidekicks-acp`, read and put into words,
/// without the means to reply, which is [`Conversation::answer`](crate::Conversation::answer).
///
/// What the connection calls *settled* is told here as [`PermissionResolved`](crate::Event::PermissionResolved).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Permission {
    /// Its name.
    pub id: PermissionId,
    /// Who asks.
    pub agent: AgentName,
    /// In which message, where it is asked in a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// For which tool call; may be one that no message has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What it is about, in the agent's words.
    pub title: String,
    /// What the agent says of it beyond the title and the command; absent where that is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What is to be done.
    pub action: Action,
    /// The command that is to be run, as a shell would read it; absent where the agent tells none but perhaps in its
    /// own words, in the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The files that are concerned, each once, as the agent writes them.
    pub paths: Vec<String>,
    /// The changes that are to be made.
    pub diffs: Arc<[Diff]>,
    /// What the tool is to be given, as the agent sent it.
    pub raw_input: Arc<Value>,
    /// What may destroy data.
    pub dangers: Vec<Danger>,
    /// What can be answered: allow once, allow always, reject always, reject once, then what ACP does not know.
    pub options: Vec<Choice>,
}

/// What an agent wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names say it")]
pub enum Action {
    RunCommand,
    EditFile,
    DeleteFile,
    MoveFile,
    ReadFile,
    Fetch,
    Search,
    SwitchMode,
    Other,
}

/// One answer that can be given: a [`PermissionOption`] of `sidekicks-acp`, as data that can be written and read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Choice {
    /// What is given to [`Conversation::answer`](crate::Conversation::answer).
    pub id: String,
    /// `allow_once`, `allow_always`, `reject_always`, `reject_once`, or the agent's own word.
    pub kind: String,
    /// The agent's label.
    pub name: String,
}

impl Choice {
    /// An answer that can be given.
    pub fn new(id: impl Into<String>, kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self { id: id.into(), kind: kind.into(), name: name.into() }
    }
}

/// Something that may destroy data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Danger {
    /// Why, one of [`DANGER_CODES`].
    pub code: String,
    /// How sure that is.
    pub level: DangerLevel,
    /// Where it begins in the command, in bytes; 0 where it is none of a piece of the command.
    pub start: usize,
    /// Where it ends in the command, in bytes; 0 where it is none of a piece of the command.
    pub end: usize,
}

impl Danger {
    /// A danger that is none of a piece of a command; of one that is, set `start` and `end`.
    pub fn new(code: impl Into<String>, level: DangerLevel) -> Self {
        Self { code: code.into(), level, start: 0, end: 0 }
    }

    /// Nothing is known of what a command does.
    pub(crate) fn not_analysed() -> Self {
        Self::new("not-analysed", DangerLevel::Unclear)
    }
}

/// How sure a danger is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DangerLevel {
    /// It destroys data.
    Destructive,
    /// What it does cannot be told.
    Unclear,
}

/// Every code that a danger can have, in alphabetical order. Those of commands come with the feature `dangers`; without it
/// each command is `not-analysed`.
///
/// - `changes-rights`: rights or owners of a whole folder are changed.
/// - `clears-crontab`: all of somebody's planned commands are deleted.
/// - `deletes-branch`: a Git branch goes, though its commits may be on no other.
/// - `deletes-files`: files are deleted, or overwritten so that they cannot be brought back.
/// - `deletes-resources`: something that runs or is stored elsewhere is deleted.
/// - `discards-changes`: Git throws away what is not committed.
/// - `drops-data`: a database loses rows, a table, or all that it holds.
/// - `drops-stash`: Git throws away work that was laid aside.
/// - `hidden-command`: which command is run, or which text, is only known when it is run; or variables or text to read are
///   given to it beside. *Unclear.*
/// - `moves-files`: files are moved, perhaps over others.
/// - `not-analysed`: the command was not looked into, or is not known, so nothing is known of what it does. *Unclear.*
/// - `outside-workspace`: a file outside the folder that the agent works in is changed, or a command run there. *Unclear.*
/// - `overwrites-file`: a file is emptied or written over.
/// - `removes-containers`: containers, images, volumes or networks are removed.
/// - `resets-index`: Git moves a branch, or forgets what is staged; files stay. *Unclear.*
/// - `rewrites-history`: Git history is rewritten, or the record of its former states deleted.
/// - `rewrites-remote`: a branch that others may have is overwritten or deleted.
/// - `runs-unseen-input`: a shell runs what it reads from elsewhere: a download, a file, another program. *Unclear.*
/// - `too-complex`: it is too long, or too deeply nested, to be looked into. *Unclear.*
/// - `touches-git`: a file in a `.git` folder is changed: a hook runs as a program. *Unclear.*
/// - `touches-keys`: a file that holds keys or passwords, as in `.ssh`, is read or changed. *Unclear.*
/// - `touches-shell-start`: a file that a shell runs when it starts is changed. *Unclear.*
/// - `unreadable`: a shell could not read it either, as with a quote that stays open. *Unclear.*
/// - `writes-disk`: a disk is formatted or written to directly.
pub const DANGER_CODES: &[&str] = &[
    "changes-rights",
    "clears-crontab",
    "deletes-branch",
    "deletes-files",
    "deletes-resources",
    "discards-changes",
    "drops-data",
    "drops-stash",
    "hidden-command",
    "moves-files",
    "not-analysed",
    "outside-workspace",
    "overwrites-file",
    "removes-containers",
    "resets-index",
    "rewrites-history",
    "rewrites-remote",
    "runs-unseen-input",
    "too-complex",
    "touches-git",
    "touches-keys",
    "touches-shell-start",
    "unreadable",
    "writes-disk",
];

impl Permission {
    /// A question with no options yet, as tests of an interface need it; the rest is set by its fields.
    pub fn new(id: impl Into<PermissionId>, agent: AgentName, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            agent,
            message_id: None,
            tool_call_id: None,
            title: title.into(),
            description: None,
            action: Action::Other,
            command: None,
            paths: Vec::new(),
            diffs: Arc::default(),
            raw_input: Arc::default(),
            dangers: Vec::new(),
            options: Vec::new(),
        }
    }

    /// The option of this kind: `allow_once`, `allow_always`, `reject_always`, `reject_once`. `None` where the agent offers
    /// none, or several: of two of one kind, one may change more than this one answer, and a person has to choose.
    pub fn option(&self, kind: &str) -> Option<&Choice> {
        let mut options = self.options.iter().filter(|option| option.kind == kind);
        options.next().filter(|_| options.next().is_none())
    }

    /// What `request` asks, with the dangers of all but its command. Agents may send no more than the id of a tool call that
    /// they announced: `known`. `cwd` is the folder that the agent works in.
    pub(crate) fn of(
        request: &PermissionRequest,
        known: Option<&ToolPart>,
        cwd: &Path,
        id: PermissionId,
        agent: AgentName,
        message_id: Option<MessageId>,
    ) -> Self {
        let params = request.raw.to_value();
        let call = &params["toolCall"];
        let mut part = known.cloned().unwrap_or_default();
        let is_input = tool::describe(&mut part, call);
        // Never the title: what is looked into must be what is run. Of whatever kind the agent says that the tool is.
        let told = tool::command(&part);
        let is_command = told != Command::Absent;
        let command = match told {
            Command::Line(line) => Some(line),
            Command::Unreadable | Command::Absent => None,
        };
        let changes = tool::changes(&part.input, command.as_deref());
        let action = action(&part, is_command, &changes);
        let mut dangers = match &command {
            None if action == Action::RunCommand => vec![Danger::not_analysed()],
            _ => Vec::new(),
        };
        let (mut paths, are_all) = tool::paths(&part, &changes);
        if !are_all && dangers.is_empty() {
            dangers.push(Danger::not_analysed());
        }
        let mut known = HashSet::new();
        paths.retain(|path| known.insert(danger::resolved(cwd, Path::new(path)))); // Some tell one in several ways.
        dangers.extend(danger::of_files(action, &paths, &part.diffs, &changes, cwd));
        if is_command {
            dangers.extend(danger::of_beside(&tool::beside(&part.input), cwd));
        }
        let description = tool::description(&part, call, is_input, command.as_deref());
        Self {
            id,
            agent,
            message_id,
            tool_call_id: call["toolCallId"].as_str().map(str::to_owned),
            title: part.title,
            description,
            action,
            command,
            paths,
            diffs: part.diffs,
            raw_input: part.input,
            dangers,
            options: ordered(&request.options),
        }
    }
}

/// What is done, whatever the agent calls it: a tool that is said to read may run a command or change a file.
fn action(part: &ToolPart, is_command: bool, changes: &[FileChange]) -> Action {
    let deleted: HashSet<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    let deletes = !changes.is_empty()
        && changes.iter().all(|change| change.is_deleted)
        && part.diffs.iter().all(|diff| deleted.contains(diff.path.as_str()));
    match part.tool_kind.as_str() {
        _ if is_command => Action::RunCommand,
        "execute" => Action::RunCommand,
        "delete" => Action::DeleteFile,
        "move" => Action::MoveFile,
        _ if deletes => Action::DeleteFile,
        "edit" => Action::EditFile,
        _ if !changes.is_empty() || !part.diffs.is_empty() => Action::EditFile,
        "read" => Action::ReadFile,
        "fetch" => Action::Fetch,
        "search" => Action::Search,
        "switch_mode" => Action::SwitchMode,
        _ => Action::Other,
    }
}

/// The options in the order in which they are shown; among equals the agent's order stays.
fn ordered(options: &[PermissionOption]) -> Vec<Choice> {
    let place = |kind: &str| match kind {
        "allow_once" => 0,
        "allow_always" => 1,
        "reject_always" => 2,
        "reject_once" => 3,
        _ => 4,
    };
    let choice = |option: &PermissionOption| Choice {
        id: option.id.clone(),
        kind: option.kind.clone(),
        name: option.name.clone(),
    };
    let mut choices: Vec<Choice> = options.iter().map(choice).collect();
    choices.sort_by_key(|choice| place(&choice.kind));
    choices
}
