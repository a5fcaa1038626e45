// Routes of an operator's own, as a Hono app: replies, streams, failures, and one that shadows a route of the server.
import { Hono } from "hono";
import { setTimeout as sleep } from "node:timers/promises";

type Env = { readonly Bindings: { readonly auth?: { readonly user: unknown; readonly permissions: unknown } } };

const app = new Hono<Env>();
const seen = { aborted: 0, cancelled: 0 };
const over = Promise.withResolvers<void>();
const note = (what: keyof typeof seen): void => {
  seen[what]++;
  if (seen.aborted > 0 && seen.cancelled > 0) over.resolve();
};

app.use("*", async (context, next) => {
  context.header("x-mine", "yes");
  await next();
});
app.get("/custom/hello", (context) =>
  context.json({ hello: context.req.query("name") ?? "you", auth: context.env.auth ?? null }),
);
app.post("/custom/echo", async (context) => {
  const text = await context.req.text();
  return context.json({ units: text.length, type: context.req.header("content-type") ?? null }, 201);
});
/** Echoes the body chunk by chunk. */
app.post(
  "/custom/pipe",
  (context) => new Response(context.req.raw.body, { headers: { "content-type": "text/plain" } }),
);
app.post("/custom/ignores", (context) => context.text("not read"));
app.post("/custom/swallows", async (context) => {
  const text = await context.req.text().catch(() => "cut");
  return context.text(text);
});
app.get("/custom/cookies", () => {
  const headers = new Headers({ "content-type": "text/plain", connection: "close" });
  headers.append("set-cookie", "a=1");
  headers.append("set-cookie", "b=2");
  return new Response("two", { status: 202, headers });
});
app.get("/custom/throws", () => {
  throw new Error("secret of the app");
});
app.get("/custom/rejects", async () => {
  void Promise.reject(new Error("left alone"));
  return new Response("ok");
});
app.get("/custom/nothing", () => undefined as unknown as Response);
app.get("/custom/breaks", () => {
  const pieces = async function* pieces() {
    yield "one ";
    await sleep(20);
    throw new Error("broken off");
  };
  return new Response(ReadableStream.from(bytes(pieces())));
});
app.get("/custom/endless", (context) => {
  context.req.raw.signal.addEventListener("abort", () => note("aborted"));
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("first\n")),
    cancel: () => note("cancelled"),
  });
  return new Response(source);
});
/** Replies once the endless reply has ended for the app too. */
app.get("/custom/seen", async (context) => {
  await over.promise;
  return context.json(seen);
});
app.get("/custom/redirect", (context) => context.redirect("/custom/hello"));
app.get("/custom/cors", (context) =>
  context.text("own", 200, { "access-control-allow-origin": "https://own.example" }),
);
app.get("/info", (context) => context.json({ shadowed: true }));

async function* bytes(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield new TextEncoder().encode(text);
}

export { app };
