//! What goes into our calls, checked before anything is sent.

use serde::Serialize;
use serde_json::{Value, json};

use crate::agent_info::PROTOCOL_VERSION;
use crate::error::CallError;
use crate::options::ConnectOptions;
use crate::schema::{AgentCapabilities, ContentBlock, FileSystemCapabilities, McpServer};
use crate::session::{OpenSession, SessionOrigin};

/// The parameters of `initialize`.
pub(crate) fn handshake(options: &ConnectOptions) -> Value {
    // Nobody is there to serve files or terminals, whatever the options say.
    let capabilities = options.capabilities.clone().fs(FileSystemCapabilities::new()).terminal(false);
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": capabilities,
        "clientInfo": options.client,
    })
}

/// The parameters of `session/new`, `session/load` or `session/resume`.
pub(crate) fn opening(request: &OpenSession, agent: &AgentCapabilities) -> Result<Value, CallError> {
    let OpenSession { origin, cwd, mcp_servers, additional_directories, meta } = request;
    let session = &agent.session_capabilities;
    let id = match origin {
        SessionOrigin::New => None,
        SessionOrigin::Load(id) => offered(agent.load_session, "session/load").map(|()| Some(id))?,
        SessionOrigin::Resume(id) => offered(session.resume.is_some(), "session/resume").map(|()| Some(id))?,
    };
    if let Some(relative) = additional_directories.iter().chain([cwd]).find(|folder| !folder.is_absolute()) {
        return Err(CallError::RelativeCwd(relative.clone()));
    }
    for server in mcp_servers {
        match server {
            McpServer::Http(_) => offered(agent.mcp_capabilities.http, "MCP servers over HTTP")?,
            McpServer::Sse(_) => offered(agent.mcp_capabilities.sse, "MCP servers over SSE")?,
            _ => {}
        }
    }
    // Agents differ in whether they take a request without the list of servers, so it is always there.
    let mut params = json!({ "cwd": written(cwd)?, "mcpServers": written(mcp_servers)? });
    if let Some(id) = id {
        params["sessionId"] = written(id)?;
    }
    if !additional_directories.is_empty() {
        offered(session.additional_directories.is_some(), "additional folders")?;
        params["additionalDirectories"] = written(additional_directories)?;
    }
    if let Some(meta) = meta {
        params["_meta"] = written(meta)?;
    }
    Ok(params)
}

/// Whether the agent takes this content in a prompt; text and links all agents take.
pub(crate) fn check(content: &[ContentBlock], agent: &AgentCapabilities) -> Result<(), CallError> {
    if content.iter().all(|block| matches!(block, ContentBlock::Text(text) if text.text.is_empty())) {
        return Err(CallError::EmptyPrompt);
    }
    let takes = &agent.prompt_capabilities;
    for block in content {
        let refused = match block {
            ContentBlock::Image(_) if !takes.image => "images",
            ContentBlock::Audio(_) if !takes.audio => "audio",
            ContentBlock::Resource(_) if !takes.embedded_context => "embedded resources",
            _ => continue,
        };
        return Err(CallError::UnsupportedContent(refused));
    }
    Ok(())
}

/// Refuses what the agent does not offer.
pub(crate) fn offered(offered: bool, what: &'static str) -> Result<(), CallError> {
    if offered { Ok(()) } else { Err(CallError::Unsupported(what)) }
}

/// A part of a call as JSON. Paths may hold what JSON cannot.
pub(crate) fn written(part: &impl Serialize) -> Result<Value, CallError> {
    serde_json::to_value(part).map_err(|error| CallError::NotUnicode(error.to_string()))
}
