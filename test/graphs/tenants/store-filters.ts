// Handlers that limit the store by filters, one kind for each caller: on the value, the namespace and the key.
import { Auth } from "@langchain/langgraph-sdk/auth";

const FILTERS: Readonly<Record<string, Record<string, string | { $contains: string }>>> = {
  ann: { owner: "ann" },
  kim: { namespace: { $contains: "kim" } },
  key: { key: "shared" },
  tag: { tags: { $contains: "red" }, owner: "ann" },
};

export const auth = new Auth()
  .authenticate((request) => (request.headers.get("authorization") ?? "").replace(/^Bearer token-/, ""))
  .on("store", ({ user }) => FILTERS[user.identity] ?? true);
