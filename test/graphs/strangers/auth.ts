// Handlers that allow every caller below /public, as for a health page.
import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";

export const auth = new Auth().authenticate((request) => {
  if (new URL(request.url).pathname.startsWith("/public")) return "anybody";
  if (request.headers.get("authorization") === "Bearer token") return "owner";
  throw new HTTPException(401, { message: "Unknown token." });
});
