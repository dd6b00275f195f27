//! What an agent does when all is well.

use serde_json::{Value, json};

use super::Peer;

/// Good weather: what an agent does.
impl Peer {
    /// The next message, which must be of this method.
    pub async fn expect(&mut self, method: &str) -> Value {
        let message = self.hear().await.unwrap_or_else(|| panic!("the client left; expected {method}"));
        assert_eq!(message["method"], method, "the client sent {message}");
        message
    }

    /// The next message, which must be the reply to the agent's request `id`: its result.
    pub async fn answer(&mut self, id: &Value) -> Value {
        let message = self.hear().await.unwrap_or_else(|| panic!("the client left; expected a reply to {id}"));
        assert_eq!(&message["id"], id, "the client sent {message}");
        message.get("result").unwrap_or_else(|| panic!("the client refused: {message}")).clone()
    }

    /// Replies to `request` with a result.
    pub async fn reply(&mut self, request: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    /// Replies to `request` with an error.
    pub async fn refuse(&mut self, request: &Value, error: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).await;
    }

    /// Sends a request with this id, and does not wait for the answer.
    pub async fn request(&mut self, id: &Value, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Sends a `session/update`.
    pub async fn update(&mut self, session: &str, update: Value) {
        self.notify("session/update", json!({ "sessionId": session, "update": update })).await;
    }

    /// Sends a fragment of the answer.
    pub async fn say(&mut self, session: &str, text: &str) {
        let content = json!({ "type": "text", "text": text });
        self.update(session, json!({ "sessionUpdate": "agent_message_chunk", "content": content })).await;
    }

    /// Sends a fragment of what it thinks.
    pub async fn think(&mut self, session: &str, text: &str) {
        let content = json!({ "type": "text", "text": text });
        self.update(session, json!({ "sessionUpdate": "agent_thought_chunk", "content": content })).await;
    }

    /// Begins tool call `id`, of kind `other`, which is in progress.
    pub async fn begin_tool(&mut self, session: &str, id: &str, title: &str) {
        let call = json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "status": "in_progress" });
        self.update(session, call).await;
    }

    /// Ends tool call `id` with a status, `completed` or `failed`, and a text.
    pub async fn end_tool(&mut self, session: &str, id: &str, status: &str, text: &str) {
        let content = json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
        let update =
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": content });
        self.update(session, update).await;
    }

    /// Sends the whole plan: pairs of content and status (`pending`, `in_progress`, `completed`).
    pub async fn plan(&mut self, session: &str, entries: &[(&str, &str)]) {
        let entries: Vec<_> = entries
            .iter()
            .map(|(content, status)| json!({ "content": content, "status": status, "priority": "medium" }))
            .collect();
        self.update(session, json!({ "sessionUpdate": "plan", "entries": entries })).await;
    }

    /// Tells how many tokens of how large a window are used.
    pub async fn usage(&mut self, session: &str, used: u64, size: u64) {
        self.update(session, json!({ "sessionUpdate": "usage_update", "used": used, "size": size })).await;
    }

    /// Asks for permission with request id `id`, and does not wait for the answer. `options` are pairs of id and kind.
    pub async fn ask(&mut self, id: &Value, session: &str, tool_call: Value, options: &[(&str, &str)]) {
        let options: Vec<_> =
            options.iter().map(|(id, kind)| json!({ "optionId": id, "name": id, "kind": kind })).collect();
        let params = json!({ "sessionId": session, "toolCall": tool_call, "options": options });
        self.request(id, "session/request_permission", params).await;
    }

    /// Asks the user for something with request id `id`, and does not wait for the answer. `params` are those of
    /// `elicitation/create`.
    pub async fn elicit(&mut self, id: &Value, params: Value) {
        self.request(id, "elicitation/create", params).await;
    }

    /// Expects `initialize` and answers it, with every kind of prompt content taken.
    pub async fn shake_hands(&mut self) {
        let content = json!({ "image": true, "audio": true, "embeddedContext": true });
        self.shake_hands_with(json!({ "promptCapabilities": content })).await;
    }

    /// Expects `initialize` and answers it with these `agentCapabilities`.
    pub async fn shake_hands_with(&mut self, capabilities: Value) {
        let request = self.expect("initialize").await;
        let info = json!({ "name": "scripted", "version": "1" });
        let result =
            json!({ "protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": info, "authMethods": [] });
        self.reply(&request, result).await;
    }

    /// Expects `session/new` and answers it with this id.
    pub async fn open(&mut self, session: &str) {
        let request = self.expect("session/new").await;
        self.reply(&request, json!({ "sessionId": session })).await;
    }

    /// Expects `session/prompt`.
    pub async fn prompted(&mut self) -> Value {
        self.expect("session/prompt").await
    }

    /// Ends the turn of the prompt `request`.
    pub async fn end_turn(&mut self, request: &Value, stop_reason: &str) {
        self.reply(request, json!({ "stopReason": stop_reason })).await;
    }

    /// Waits until the client has closed the connection; what it still says is passed over.
    pub async fn farewell(&mut self) {
        while self.hear_line().await.is_some() {}
    }
}
