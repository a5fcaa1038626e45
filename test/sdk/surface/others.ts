// Rows of the options of all calls but those that start a run.
import { ASSISTANTS } from "./assistants.ts";
import { CRON_ROWS, CRONS } from "./crons.ts";
import { effects, inClient, type Row } from "./rows.ts";
import { RUNS } from "./runs.ts";
import { STORE } from "./store.ts";
import { THREADS } from "./threads.ts";

const SIGNALLED = [
  ...["count", "create", "delete", "get", "getGraph", "getSchemas", "getSubgraphs", "getVersions", "search"].map(
    (name) => `assistants.${name}`,
  ),
  ...["setLatest", "update"].map((name) => `assistants.${name}`),
  ...["count", "delete", "search"].map((name) => `crons.${name}`),
  ...["cancel", "cancelMany", "delete", "get", "join", "joinStream", "list"].map((name) => `runs.${name}`),
  ...["deleteItem", "getItem", "listNamespaces", "putItem", "searchItems"].map((name) => `store.${name}`),
  ...["copy", "count", "create", "delete", "get", "getHistory", "getState", "joinStream", "patchState"].map(
    (name) => `threads.${name}`,
  ),
  ...["prune", "search", "update", "updateState"].map((name) => `threads.${name}`),
];

export const OTHER_ROWS: readonly [string, Row][] = [
  ...effects("threads", THREADS),
  ...effects("runs", RUNS),
  ...effects("assistants", ASSISTANTS),
  ...effects("store", STORE),
  ...effects("crons", CRONS),
  ...CRON_ROWS,
  ...inClient(SIGNALLED, ["signal"]),
  ...inClient(["runs.joinStream"], ["streamIdleReconnect"]),
  // Members of the config that names the thread.
  ...inClient(["threads.patchState"], ["recursion_limit", "tags"]),
  ...inClient(
    ["threads.stream"],
    "fetch maxReconnectAttempts onConnected onReconnect reconnectDelayMs startingCommandId streamIdleReconnect webSocketFactory".split(
      " ",
    ),
  ),
];
