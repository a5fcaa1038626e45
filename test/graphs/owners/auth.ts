// Handlers by which a thread has one owner, and `admin` may do everything, such as giving it to another owner.
import { Auth } from "@langchain/langgraph-sdk/auth";

export const auth = new Auth()
  .authenticate((request) => (request.headers.get("authorization") ?? "").replace(/^Bearer /, ""))
  .on("*", ({ user }) => (user.identity === "admin" ? true : { owner: user.identity }));
