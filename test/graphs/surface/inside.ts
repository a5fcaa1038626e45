// An app that lives inside the server: middleware around the server's routes, a client without an address, a webhook's
// receiver; and a graph that uses the SDK's logger and client.
import { Annotation, StateGraph } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { getLogger } from "@langchain/langgraph-sdk/logging";
import { Hono } from "hono";

const client = new Client({ apiKey: null }); // at import: the server registers before it loads this
const logger = getLogger();
const received: unknown[] = [];

const app = new Hono()
  .use(async (context, next) => {
    if (context.req.query("stop") !== undefined) return context.json({ stopped: context.req.path });
    if (context.req.header("x-read") !== undefined) await context.req.text();
    const label = context.req.header("x-label");
    if (label !== undefined) (await context.req.json<{ metadata: Record<string, string> }>()).metadata["label"] = label;
    await next();
    context.header("x-seen", `${context.req.method} ${context.res.status}`);
    return undefined;
  })
  .use("/threads/*", async (context, next) => {
    await next();
    context.header("x-threads", "yes");
  })
  .get("/custom/runs", async (context) => {
    const asked = new Client({ apiKey: context.req.header("x-api-key") ?? null });
    const result = await asked.runs.wait(null, "logs", { input: {} });
    return context.json({ result });
  })
  .get("/custom/stream", async (context) => {
    const modes: string[] = [];
    const asked = context.req.query("fresh") === undefined ? client : new Client({ apiKey: null });
    for await (const { event } of asked.runs.stream(null, "logs", { input: {}, streamMode: "updates" }))
      modes.push(event);
    return context.json({ modes });
  })
  .get("/custom/fails", () => {
    throw new Error("of the app");
  })
  .post("/custom/webhook", async (context) => {
    received.push(await context.req.json());
    return context.json({});
  })
  .get("/custom/received", (context) => context.json(received))
  .notFound((context) => context.json({ own: "not found" }, 418))
  .onError((error, context) => context.json({ failed: error.message }, 500));

const State = Annotation.Root({ text: Annotation<string>() });
const logs = new StateGraph(State)
  .addNode("speak", () => {
    logger.warn("in a node", { amount: 7, event: "forged" }).info({ message: "as an object" });
    getLogger().error(new Error("of a node"));
    return { text: "said" };
  })
  .addEdge("__start__", "speak")
  .compile();

/** Not a Hono app: it gets requests without a route of the server. */
const plain = { fetch: () => Response.json({ plain: true }) };

export { app, logs, plain };
