// An agent on the official TypeScript SDK that does what the one in rust_sdk.rs does. ACP_SDK names the SDK's module.
import { Readable, Writable } from "node:stream";

const acp = await import(process.env.ACP_SDK);
const update = (client, update) => client.notify("session/update", { sessionId: "s", update });
const chunk = (sessionUpdate, text) => ({ sessionUpdate, content: { type: "text", text } });

const modes = { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }] };
let model = "small";
let loud = false;
const options = () => [
  {
    id: "model", name: "Model", type: "select", currentValue: model,
    options: [{ value: "small", name: "Small" }, { value: "large", name: "Large" }],
  },
  { id: "loud", name: "Loud", type: "boolean", currentValue: loud },
];
let cancel = () => {};

async function prompt({ params: { prompt }, client }) {
  switch (prompt[0].text) {
    case "hello":
      await update(client, chunk("agent_thought_chunk", "hm"));
      await update(client, chunk("agent_message_chunk", "hello"));
      await update(client, {
        sessionUpdate: "plan", entries: [{ content: "greet", priority: "high", status: "completed" }],
      });
      await update(client, { sessionUpdate: "usage_update", used: 7, size: 100 });
      break;
    case "ask": {
      const toolCall = { toolCallId: "t1", title: "Delete it" };
      await update(client, { sessionUpdate: "tool_call", ...toolCall });
      const { outcome } = await client.request("session/request_permission", {
        sessionId: "s",
        toolCall,
        options: [
          { optionId: "yes", name: "Yes", kind: "allow_once" }, { optionId: "no", name: "No", kind: "reject_once" },
        ],
      });
      await update(client, { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" });
      await update(client, chunk("agent_message_chunk", outcome.optionId === "yes" ? "allowed" : "refused"));
      break;
    }
    case "who": {
      const answer = await client.request("elicitation/create", {
        sessionId: "s",
        mode: "form",
        message: "Who are you?",
        requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      });
      await update(client, chunk("agent_message_chunk", `hello ${answer.content?.name}`));
      break;
    }
    case "wait": {
      const cancelled = new Promise((resolve) => (cancel = resolve));
      await update(client, chunk("agent_message_chunk", "waiting"));
      await cancelled;
      return { stopReason: "cancelled" };
    }
    case "fail":
      throw new acp.RequestError(-32603, "Internal error", { message: "no model today" });
    default:
      await update(client, chunk("agent_message_chunk", prompt.map(({ type }) => type).join(" ")));
  }
  return { stopReason: "end_turn" };
}

acp
  .agent({ name: "interop" })
  .onRequest("initialize", () => ({
    protocolVersion: 1,
    agentInfo: { name: "interop", version: "1" },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true },
      sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {} },
      auth: { logout: {} },
    },
    authMethods: [{ id: "key", name: "Key" }],
  }))
  .onRequest("authenticate", () => ({}))
  .onRequest("logout", () => ({}))
  .onRequest("session/new", ({ client }) => {
    setImmediate(() => client.notify("_interop/hello", { sessionId: "s" })); // After the reply.
    return { sessionId: "s", modes, configOptions: options() };
  })
  .onRequest("session/load", async ({ client }) => {
    await update(client, chunk("user_message_chunk", "hello"));
    await update(client, chunk("agent_message_chunk", "hello"));
    return { modes, configOptions: options() };
  })
  .onRequest("session/resume", () => ({ modes, configOptions: options() }))
  .onRequest("session/list", () => ({ sessions: [{ sessionId: "s", cwd: "/tmp" }] }))
  .onRequest("session/close", () => ({}))
  .onRequest("session/delete", () => ({}))
  .onRequest("session/set_mode", async ({ params, client }) => {
    await update(client, { sessionUpdate: "current_mode_update", currentModeId: params.modeId });
    return {};
  })
  .onRequest("session/set_config_option", ({ params }) => {
    if (params.configId === "loud") loud = params.value;
    else model = params.value;
    return { configOptions: options() };
  })
  .onRequest("session/prompt", prompt)
  .onNotification("session/cancel", () => cancel())
  .onRequest("_interop/echo", (params) => params, ({ params }) => params)
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
