// Starts the peer with the measured graph. Argument: port.
import { startServer } from "@langchain/langgraph-api/server";

await startServer({
  port: Number(process.argv[2]),
  host: "127.0.0.1",
  nWorkers: 10,
  cwd: import.meta.dirname,
  graphs: { bench: "../graphs/graph.ts:graph" },
});
