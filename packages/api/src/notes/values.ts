// Values of the examples: objects of the API as a server returns them.
export const THREAD_ID = "01a1feaf-26ec-72b5-ad65-85def8559567";
export const RUN_ID = "01a1feaf-2702-7f1c-9c0e-5f1f5d0f2b11";
export const ASSISTANT_ID = "fe096781-5601-53d2-b2f6-0d3403f7e9ca";
export const CHECKPOINT_ID = "1f0b2c3d-4e5f-6a7b-8001-2b3c4d5e6f70";
export const CRON_ID = "01a1feb0-17eb-712d-8bbc-b68e064df3c3";
export const INTERRUPT_ID = "9f0104dd304e94ad537429520432b873";
export const AT = "2026-01-15T09:30:00.000Z";

export const assistantExample = {
  assistant_id: ASSISTANT_ID,
  graph_id: "agent",
  name: "agent",
  description: null,
  metadata: {},
  config: {},
  context: {},
  version: 1,
  created_at: AT,
  updated_at: AT,
};

export const threadExample = {
  thread_id: THREAD_ID,
  created_at: AT,
  updated_at: AT,
  state_updated_at: AT,
  metadata: { graph_id: "agent", tenant: "acme" },
  status: "interrupted",
  config: {},
  values: { some_text: "original text" },
  interrupts: {},
};

export const stateExample = {
  values: { some_text: "original text" },
  next: ["human_node"],
  tasks: [],
  metadata: { source: "loop", step: 0 },
  created_at: AT,
  checkpoint: { thread_id: THREAD_ID, checkpoint_id: CHECKPOINT_ID, checkpoint_ns: "" },
  parent_checkpoint: null,
  interrupts: [],
};

export const runWebhookExample = {
  webhook_id: RUN_ID,
  run_id: RUN_ID,
  thread_id: THREAD_ID,
  url: "https://hooks.example.com/runs",
  format: "event",
  created_at: AT,
};

export const runExample = {
  run_id: RUN_ID,
  thread_id: THREAD_ID,
  assistant_id: ASSISTANT_ID,
  created_at: AT,
  updated_at: AT,
  status: "success",
  ended_by: "done",
  cancel_reason: null,
  attempt: 1,
  metadata: {},
  multitask_strategy: "enqueue",
  kwargs: {},
};

export const pauseExample = {
  some_text: "original text",
  __interrupt__: [
    {
      id: INTERRUPT_ID,
      value: { text_to_revise: "original text" },
      resumable: true,
      ns: ["human_node:6d2b7a31-0c3a-5b58-9d5a-6f4f5f0f8f10"],
      when: "during",
    },
  ],
};

export const cronExample = {
  cron_id: CRON_ID,
  assistant_id: ASSISTANT_ID,
  thread_id: null,
  user_id: null,
  schedule: "0 9 * * 1-5",
  timezone: "Europe/Berlin",
  end_time: null,
  enabled: true,
  on_run_completed: "delete",
  disabled_reason: null,
  next_run_date: "2026-01-16T08:00:00.000Z",
  payload: { input: { some_text: "daily report" } },
  metadata: {},
  created_at: AT,
  updated_at: AT,
};

export const itemExample = {
  id: INTERRUPT_ID,
  thread_id: THREAD_ID,
  graph_id: "agent",
  assistant_id: ASSISTANT_ID,
  run_id: RUN_ID,
  node: "human_node",
  ns: ["human_node:6d2b7a31-0c3a-5b58-9d5a-6f4f5f0f8f10"],
  kind: "question",
  dialect: "plain",
  title: 'text_to_revise: "original text"',
  action: null,
  actions: 0,
  excerpt: "text_to_revise: original text",
  decisions: ["respond"],
  dangerous: false,
  priority: "normal",
  created_at: AT,
  claim: null,
  deadline: null,
  state: "open",
  overdue: false,
  thread_status: "interrupted",
  metadata: { graph_id: "agent" },
  value: { text_to_revise: "original text" },
};

export const storeItemExample = {
  namespace: ["users", "7"],
  key: "profile",
  value: { name: "Ann" },
  created_at: AT,
  updated_at: AT,
};

export const schemasExample = {
  graph_id: "agent",
  input_schema: { type: "object", properties: { some_text: { type: "string" } } },
  output_schema: {},
  state_schema: {},
  config_schema: null,
  context_schema: null,
};

export const subgraphExample = { ...schemasExample, state: {}, input: {}, output: {}, config: null };

export const EVENTS_EXAMPLE = `event: metadata
data: {"run_id":"${RUN_ID}"}

event: updates
data: {"__interrupt__":[{"id":"${INTERRUPT_ID}","value":{"text_to_revise":"original text"}}]}

`;

export const KEY_ID = "01a1feaf-26ec-72b5-ad65-85def8559567";

export const keyExample = {
  key_id: KEY_ID,
  name: "nightly-report",
  role: "operator",
  assistants: [ASSISTANT_ID],
  metadata: {},
  created_by: "ann@example.com",
  created_at: AT,
  expires_at: "2026-04-15T08:00:00.000Z",
  last_used_at: null,
};

export const consoleBodyExample = {
  revision: "0f6c2a1f9d1b4c7e8a5d3b2c1f0e9d8c",
  views: [{ name: "Refunds of the week", path: "/inbox", search: { graph: "refund-approval", older: "7d" } }],
  seen: [`${THREAD_ID}/${INTERRUPT_ID}`],
  tab: "groups",
};

export const consoleExample = { person: "ann@example.com", ...consoleBodyExample };

export const personExample = {
  name: "ann@example.com",
  display_name: "Ann Example",
  email: "ann@example.com",
  groups: ["finance"],
  created_at: AT,
  last_seen_at: AT,
};
