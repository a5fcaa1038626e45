// People by their tokens: `ann` or `ann:finance+board`, with groups, and an e-mail address each.
import { Auth } from "@langchain/langgraph-sdk/auth";

export const auth = new Auth()
  .authenticate((request) => {
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    const [identity = "", groups = ""] = token.split(":");
    return {
      identity,
      permissions: [],
      email: `${identity}@Example.com`,
      groups: groups === "" ? [] : groups.split("+"),
    };
  })
  .on(
    "assistants:administrate" as never,
    ({ user }: { readonly user: { readonly identity: string } }) => user.identity === "root",
  );
