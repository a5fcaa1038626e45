// Handlers that allow every caller everything, except the custom rights and runs on the database of production, which only
// `admin` has.
import { Auth } from "@langchain/langgraph-sdk/auth";

const own = (name: string) => name as "*"; // the SDK's types lack these events

export const auth = new Auth()
  .authenticate((request) => (request.headers.get("authorization") ?? "").replace(/^Bearer /, ""))
  .on("*", () => true)
  .on(
    "threads:create_run",
    ({ value, user }) => user.identity === "admin" || !JSON.stringify(value).includes('"db":"prod"'),
  )
  .on(own("threads:bypass"), ({ user }) => user.identity === "admin")
  .on(own("assistants:administrate"), ({ user }) => user.identity === "admin");
