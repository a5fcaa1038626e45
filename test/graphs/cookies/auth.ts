// Handlers by which a header or a cookie names the caller, who owns its threads. They note the methods and URLs that they get.
import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";

const noted = globalThis as { handlerUrls?: string[] };

export const auth = new Auth()
  .authenticate((request) => {
    (noted.handlerUrls ??= []).push(`${request.method} ${request.url}`);
    const user = request.headers.get("x-user") ?? /user=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1];
    if (user === undefined) throw new HTTPException(401);
    return user;
  })
  .on("*", ({ user }) => ({ owner: user.identity }));
