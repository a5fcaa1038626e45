// Starts a peer. Arguments: kind, port, a folder with a langgraph.json whose graphs it serves, its data folder.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [kind, port, graphsFolder, dataFolder] = process.argv.slice(2);
const { graphs } = JSON.parse(readFileSync(join(graphsFolder, "langgraph.json"), "utf8"));
const located = Object.entries(graphs).map(([id, text]) => {
  const [file, name] = text.split(":");
  return [id, resolve(graphsFolder, file), name];
});

if (kind === "reference") {
  const { startServer } = await import("@langchain/langgraph-api/server");
  await startServer({
    port: Number(port),
    host: "127.0.0.1",
    nWorkers: 10,
    cwd: dataFolder,
    graphs: Object.fromEntries(located.map(([id, file, name]) => [id, `${file}:${name}`])),
  });
} else {
  process.chdir(dataFolder);
  const { registerGraph } = await import("@langgraph-js/pure-graph");
  for (const [id, file, name] of located) registerGraph(id, (await import(pathToFileURL(file).href))[name]);
  const { Hono } = await import("hono");
  const { serve } = await import("@hono/node-server");
  const { default: routes } = await import("@langgraph-js/pure-graph/dist/adapter/hono/index.js");
  const app = new Hono();
  app.get("/ok", (context) => context.json({ ok: true })); // the package has none
  app.route("/", routes);
  serve({ fetch: app.fetch, port: Number(port), hostname: "127.0.0.1" });
}
