// People by their tokens: `ann`, or `ann:finance+board` with groups. Only `root` may go around questions and change
// review rules; `mal` may start runs, and answers nothing.
import { Auth } from "@langchain/langgraph-sdk/auth";

const own = (name: string) => name as "*"; // the SDK's types lack these events

export const auth = new Auth()
  .authenticate((request) => {
    const given = request.headers.get("authorization") ?? request.headers.get("x-api-key") ?? "";
    const [identity = "", groups = ""] = given.replace(/^Bearer /, "").split(":");
    return {
      identity,
      permissions: [],
      email: `${identity}@example.com`,
      groups: groups === "" ? [] : groups.split("+"),
    };
  })
  .on("*", () => true)
  .on(own("threads:answer"), ({ user }) => user.identity !== "mal")
  .on(own("threads:bypass"), ({ user }) => user.identity === "root")
  .on(own("assistants:administrate"), ({ user }) => user.identity === "root");
