//! An error that the agent itself answered with.

use serde_json::Value;

use crate::agent_info::auth_methods;
use crate::schema::AuthMethod;

/// A JSON-RPC error that the agent answered with.
///
/// Its message is the agent's own explanation, wherever the agent put it: `data.error`, `data.message`,
/// `data.details`, `data` itself when it is a string, or JSON inside `message`; else `message` as it is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct AgentError {
    /// The JSON-RPC error code; agents also pass on HTTP statuses and numbers of their own. 0 where there was none.
    pub code: i64,
    /// The explanation, for a person. Never empty. It is the agent's text: control characters and all.
    pub message: String,
    /// `error.data` as it came.
    pub data: Option<Value>,
    /// For [`login_required`](Self::login_required): how one can log in, as the agent offers it.
    pub methods: Vec<AuthMethod>,
}

/// The code by which ACP says that a login is needed.
const AUTH_REQUIRED: i64 = -32000;

impl AgentError {
    /// An error as if an agent had answered it, for other transports and for tests.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, methods: Vec::new() }
    }

    /// Whether the agent wants a login first. It goes on running, so that `authenticate` can be called.
    pub fn login_required(&self) -> bool {
        self.code == AUTH_REQUIRED
    }

    /// Reads the `error` of a reply, whatever its shape. `methods` are those of the handshake.
    pub(crate) fn read(error: &str, methods: &[AuthMethod]) -> Self {
        let error = crate::raw::value(error);
        let code = code(&error["code"]);
        let data = error.get("data").filter(|data| !data.is_null()).cloned();
        let said = match &error {
            Value::String(text) => text.as_str(),
            _ => error["message"].as_str().unwrap_or_default(),
        };
        let message =
            explanation(said, data.as_ref()).unwrap_or_else(|| format!("the agent gave no reason (error {code})"));
        let mut this = Self { code, message, data, methods: Vec::new() };
        if this.login_required() {
            let theirs = this.data.as_ref().map(|data| auth_methods(&data["authMethods"])).unwrap_or_default();
            this.methods = if theirs.is_empty() { methods.to_vec() } else { theirs };
        }
        this
    }
}

fn code(code: &Value) -> i64 {
    let number = |n: f64| n as i64;
    match code {
        Value::Number(n) => n.as_i64().or_else(|| n.as_f64().map(number)).unwrap_or_default(),
        Value::String(text) => text.trim().parse().unwrap_or_default(),
        _ => 0,
    }
}

fn explanation(said: &str, data: Option<&Value>) -> Option<String> {
    let said = some(&unwrapped(said));
    let more = data.and_then(|data| match data {
        Value::String(text) => {
            let text = some(text)?;
            // A bare word (a method, an id) explains nothing without what it belongs to.
            let bare = !text.contains(char::is_whitespace);
            said.as_ref().filter(|_| bare).map(|said| format!("{said}: {text}")).or(Some(text))
        }
        _ => ["error", "message", "details"].iter().find_map(|key| told(&data[*key])),
    });
    more.or(said)
}

/// Some HTTP clients put the JSON answer of a server into the message.
fn unwrapped(message: &str) -> String {
    let inner = message.trim().starts_with('{').then(|| serde_json::from_str::<Value>(message).ok()).flatten();
    inner.as_ref().and_then(told).unwrap_or_else(|| message.to_owned())
}

/// The text in a value that is a string, or an object with one in `error` or `message`.
fn told(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => some(text),
        Value::Object(_) => ["error", "message"].iter().find_map(|key| told(&value[*key])),
        _ => None,
    }
}

fn some(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_the_agents_own_explanation() {
        let cases = [
            (
                r#"{"code":-32603,"message":"Internal error","data":{"error":"generation timed out (stalled)"}}"#,
                -32603,
                "generation timed out (stalled)",
            ),
            (
                r#"{"code":-32603,"message":"Internal error","data":{"message":"stream disconnected","info":"other"}}"#,
                -32603,
                "stream disconnected",
            ),
            (
                r#"{"code":-32003,"message":"Session is active","data":{"details":"held by pid 7"}}"#,
                -32003,
                "held by pid 7",
            ),
            (
                r#"{"code":-32600,"message":"Invalid request","data":"first must be initialize"}"#,
                -32600,
                "first must be initialize",
            ),
            (r#"{"code":-32601,"message":"Method not found","data":"_x/y"}"#, -32601, "Method not found: _x/y"),
            (
                r#"{"code":-32603,"message":"A turn is already running","data":null}"#,
                -32603,
                "A turn is already running",
            ),
            (r#"{"code":401,"message":"{\"error\":{\"code\":401,\"message\":\"bad key\"}}"}"#, 401, "bad key"),
            (r#"{"code":-32603,"message":"Internal error","data":[{"message":"not read"}]}"#, -32603, "Internal error"),
            (r#"{"code":"-32603","message":"text code"}"#, -32603, "text code"),
            (r#"{"code":1001.0,"message":"float code"}"#, 1001, "float code"),
            (r#"{"message":"{not json"}"#, 0, "{not json"),
            (r#""just text""#, 0, "just text"),
            (r#"{"code":7}"#, 7, "the agent gave no reason (error 7)"),
            ("true", 0, "the agent gave no reason (error 0)"),
        ];
        for (error, code, message) in cases {
            let read = AgentError::read(error, &[]);
            assert_eq!((read.code, read.message.as_str()), (code, message), "{error}");
        }
    }

    #[test]
    fn a_login_names_its_methods() {
        let offered = auth_methods(&serde_json::json!([{"id": "a", "name": "A"}, 7]));
        assert_eq!(offered.len(), 1);
        let plain = AgentError::read(r#"{"code":-32000,"message":"Authentication required"}"#, &offered);
        assert_eq!(plain.methods, offered, "those of the handshake");
        let own = AgentError::read(
            r#"{"code":-32000,"message":"x","data":{"authMethods":[{"id":"b","name":"B","type":"terminal","args":["login"],"env":{}}]}}"#,
            &offered,
        );
        assert_eq!(own.methods.len(), 1);
        assert_eq!(own.methods[0].id().to_string(), "b");
    }
}
