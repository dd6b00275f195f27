//! Tool servers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::entries::Variables;

/// A tool server (MCP) that agents are to connect to. `Debug` shows the names of variables and headers alone: in anything
/// else there may be keys.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
#[non_exhaustive]
pub enum McpServer {
    /// A program that the agent starts, and talks to over stdin and stdout.
    #[non_exhaustive]
    Stdio {
        /// The program.
        command: String,
        /// What it is started with.
        args: Vec<String>,
        /// Variables that it gets.
        env: Variables,
    },
    /// A server that is reached over HTTP.
    #[non_exhaustive]
    Http {
        /// Its address.
        url: String,
        /// Headers of each request.
        headers: Variables,
    },
    /// A server that is reached over HTTP and sends events.
    #[non_exhaustive]
    Sse {
        /// Its address.
        url: String,
        /// Headers of each request.
        headers: Variables,
    },
}

impl McpServer {
    /// A program with these arguments and variables.
    pub fn stdio(command: impl Into<String>, args: Vec<String>, env: Variables) -> Self {
        Self::Stdio { command: command.into(), args, env }
    }

    /// A server at this address.
    pub fn http(url: impl Into<String>, headers: Variables) -> Self {
        Self::Http { url: url.into(), headers }
    }

    /// A server at this address that sends events.
    pub fn sse(url: impl Into<String>, headers: Variables) -> Self {
        Self::Sse { url: url.into(), headers }
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, field, value) = match self {
            Self::Stdio { env, .. } => ("Stdio", "env", env),
            Self::Http { headers, .. } => ("Http", "headers", headers),
            Self::Sse { headers, .. } => ("Sse", "headers", headers),
        };
        f.debug_struct(name).field(field, value).finish_non_exhaustive()
    }
}

/// As it stands in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    transport: Option<Transport>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "Variables::is_empty")]
    env: Variables,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing_if = "Variables::is_empty")]
    headers: Variables,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Transport {
    Stdio,
    Http,
    Sse,
}

impl TryFrom<Written> for McpServer {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let Written { transport, command, args, env, url, headers } = written;
        match (transport.unwrap_or(Transport::Stdio), command, url) {
            (Transport::Stdio, Some(command), None) if headers.is_empty() => Ok(Self::Stdio { command, args, env }),
            (Transport::Http, None, Some(url)) if args.is_empty() && env.is_empty() => Ok(Self::Http { url, headers }),
            (Transport::Sse, None, Some(url)) if args.is_empty() && env.is_empty() => Ok(Self::Sse { url, headers }),
            _ => Err("no MCP server of its type"),
        }
    }
}

impl From<McpServer> for Written {
    fn from(server: McpServer) -> Self {
        let none = Self {
            transport: None,
            command: None,
            args: Vec::new(),
            env: Variables::default(),
            url: None,
            headers: Variables::default(),
        };
        match server {
            McpServer::Stdio { command, args, env } => Self { command: Some(command), args, env, ..none },
            McpServer::Http { url, headers } => {
                Self { transport: Some(Transport::Http), url: Some(url), headers, ..none }
            }
            McpServer::Sse { url, headers } => {
                Self { transport: Some(Transport::Sse), url: Some(url), headers, ..none }
            }
        }
    }
}
