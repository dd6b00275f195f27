//! The two things the agent really does: running a command, and writing a file.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use agent_client_protocol::v1::schema::{
    SessionUpdate, ToolCall, ToolCallContent, ToolCallId, ToolCallLocation, ToolCallStatus, ToolCallUpdateFields,
    ToolKind,
};
use nix::sys::signal::Signal;
use serde_json::json;

use super::command::{Command, GRACE, Progress};
use super::directive::{code, code_block};
use super::edit::Edit;
use super::permission::{Standing, Tool, Verdict};
use super::tail::Tail;
use super::turn::{Stop, Turn};

impl Turn {
    pub(super) async fn run_command(&mut self, command: &str) -> Result<(), Stop> {
        let id = self.next_call();
        let call = ToolCall::new(id.clone(), command).kind(ToolKind::Execute).raw_input(json!({"command": command}));
        self.announce(&call).await?;
        self.permit(Tool::Run, call, &format!("did not run {}", code(command))).await?;
        self.outlet.update_tool(&id, with(ToolCallStatus::InProgress)).await?;
        let ended = match Command::start(command, &self.running.session.cwd) {
            Ok(started) => self.watch(&id, started).await?,
            Err(error) => Err(error),
        };
        match ended {
            Ok((status, tail)) => {
                let result = if status.success() { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
                let raw = json!({
                    "exitCode": status.code(),
                    "signal": signal(status),
                    "omittedBytes": tail.omitted(),
                });
                self.close(with(result).content(output(&tail)).raw_output(raw)).await?;
                let end = match signal(status) {
                    Some(signal) => format!("was ended by {signal}"),
                    None => format!("ended with exit code {}", status.code().unwrap_or_default()),
                };
                self.tell(&format!("{} {end}{}", code(command), last_lines(&tail))).await
            }
            Err(error) => {
                self.fail(&error.to_string()).await?;
                self.tell(&format!("I could not run {}: {error}.", code(command))).await
            }
        }
    }

    /// Shows what a command writes, until it ends. The outer error ends the turn, the inner one only the tool.
    async fn watch(&mut self, id: &ToolCallId, command: Command) -> Result<io::Result<(ExitStatus, Tail)>, Stop> {
        // Kept in the turn, which stops it gently when this future is dropped.
        let command = self.command.insert(command);
        let mut shown = 0;
        let ended = loop {
            match command.next().await {
                Ok(Progress::Ended(status)) => break Ok((status, command.take_tail())),
                Err(error) => break Err(error),
                // One at a time: a slow reader gets the latest output rather than every state of it.
                Ok(Progress::Wrote) if !self.outlet.has_written(shown) => command.show_again(),
                Ok(Progress::Wrote) => {
                    let fields = ToolCallUpdateFields::new().content(output(command.tail()));
                    shown = self.outlet.update_tool(id, fields).await?;
                }
            }
        };
        self.command = None;
        Ok(ended)
    }

    pub(super) async fn write_file(&mut self, file: &str, content: &str) -> Result<(), Stop> {
        let path = self.running.session.path(file);
        let id = self.next_call();
        let call = ToolCall::new(id.clone(), format!("Write {file}"))
            .kind(ToolKind::Edit)
            .locations(vec![ToolCallLocation::new(path.clone())])
            .raw_input(json!({"path": path, "content": content}));
        let written = match Edit::prepare(path, content.to_owned()).await {
            Ok(edit) => {
                let call = call.content(edit.content());
                self.announce(&call).await?;
                self.permit(Tool::Write, call, &format!("did not write {}", code(file))).await?;
                self.outlet.update_tool(&id, with(ToolCallStatus::InProgress)).await?;
                edit.write().await
            }
            Err(error) => {
                self.announce(&call).await?;
                Err(error)
            }
        };
        match written {
            Ok(bytes) => {
                // The content stays the diff.
                self.close(with(ToolCallStatus::Completed).raw_output(json!({"bytes": bytes}))).await?;
                self.tell(&format!("I wrote {bytes} bytes to {}.", code(file))).await
            }
            Err(error) => {
                self.fail(&error).await?;
                self.tell(&format!("I could not write {}: {error}.", code(file))).await
            }
        }
    }

    /// Gives the open tool call of a cancelled turn its end, and ends its command.
    pub(super) async fn abandon_tool(&mut self) {
        let fields = match self.command.take() {
            Some(command) => {
                let tail = command.stop(GRACE).await;
                let raw = json!({"exitCode": null, "cancelled": true, "omittedBytes": tail.omitted()});
                with(ToolCallStatus::Failed).content(output(&tail)).raw_output(raw)
            }
            None => with(ToolCallStatus::Failed).raw_output(json!({"cancelled": true})),
        };
        // It fails when the client is gone: nobody is left to tell.
        let _ = self.close(fields).await;
    }

    async fn announce(&mut self, call: &ToolCall) -> Result<(), Stop> {
        self.message = None;
        self.outlet.send(SessionUpdate::ToolCall(call.clone())).await?;
        self.tool = Some(call.tool_call_id.clone());
        Ok(())
    }

    /// Goes on only with the person's consent. `undone` says what is not done without it.
    async fn permit(&mut self, tool: Tool, call: ToolCall, undone: &str) -> Result<(), Stop> {
        let session = &self.running.session;
        let why = match session.standing(tool) {
            Standing::Always => return Ok(()),
            Standing::Never => "you said never".to_owned(),
            Standing::Ask => match self.outlet.ask(tool, call).await {
                Verdict::Allowed(standing) => {
                    session.remember(tool, standing);
                    return Ok(());
                }
                Verdict::Refused(standing, why) => {
                    session.remember(tool, standing);
                    why
                }
                Verdict::Cancelled => return Err(Stop::Cancelled),
            },
        };
        self.fail(&format!("Not done: {why}.")).await?;
        self.tell(&format!("I {undone}: {why}.")).await?;
        Err(Stop::Refused)
    }

    async fn fail(&mut self, why: &str) -> Result<(), Stop> {
        let content: Vec<ToolCallContent> = vec![why.into()];
        self.close(with(ToolCallStatus::Failed).content(content).raw_output(json!({"error": why}))).await
    }

    /// Sends the last update of the open tool call, if there is one.
    async fn close(&mut self, fields: ToolCallUpdateFields) -> Result<(), Stop> {
        if let Some(id) = &self.tool {
            self.outlet.update_tool(id, fields).await?;
        }
        self.tool = None;
        Ok(())
    }

    fn next_call(&self) -> ToolCallId {
        ToolCallId::new(format!("call-{}", self.running.session.number()))
    }
}

fn with(status: ToolCallStatus) -> ToolCallUpdateFields {
    ToolCallUpdateFields::new().status(status)
}

/// How many lines of a command's output are repeated in the answer.
const LINES: usize = 20;

/// The rest of the sentence that tells how a command ended: what it wrote, which not every interface shows by itself.
fn last_lines(tail: &Tail) -> String {
    let text = tail.text();
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(LINES);
    match lines.get(skipped..) {
        None | Some([]) => ".".to_owned(),
        Some(last) if skipped > 0 || tail.omitted() > 0 => {
            format!(". Its last lines:\n\n{}", code_block(&last.join("\n")))
        }
        Some(all) => format!(":\n\n{}", code_block(&all.join("\n"))),
    }
}

/// What a command wrote, as a tool call shows it.
fn output(tail: &Tail) -> Vec<ToolCallContent> {
    let mut content: Vec<ToolCallContent> = Vec::new();
    if tail.omitted() > 0 {
        content.push(format!("(the first {} bytes are left out)", tail.omitted()).into());
    }
    let text = tail.text();
    if !text.is_empty() {
        content.push(code_block(&text).into());
    }
    content
}

/// The name of the signal that ended a process.
fn signal(status: ExitStatus) -> Option<String> {
    let number = status.signal()?;
    Some(Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.to_string()))
}
