// Sign-in in a real browser, with a real OpenID provider: from the console to the provider's form and back, what each
// role is offered on every page, and the way out.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page, Response } from "playwright-core";
import { startBrowser, type ConsoleBrowser } from "../harness/console.ts";
import { startOpenIdProvider, type OpenIdProvider } from "../harness/sign-in/openid-provider.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";

const ADMIN = { "x-api-key": "key-of-the-admin-0123" };
let provider: OpenIdProvider;
let server: ServerHere;
let browser: ConsoleBrowser;
let threadId = "";

before(async () => {
  provider = await startOpenIdProvider();
  const roles = "platform=operator,finance=reviewer,all=viewer";
  server = await startServerHere({
    env: { ...provider.env, HOLDPOINT_ROLES: roles, HOLDPOINT_API_KEYS: `root:${ADMIN["x-api-key"]}` },
  });
  provider.allow(server.url);
  const account = (name: string, group: string) =>
    provider.accounts.set(name, { email: `${name}@example.com`, name: `${name} Example`, groups: [group] });
  account("olga", "platform");
  account("rita", "finance");
  account("vera", "all");
  account("nina", "none");
  browser = await startBrowser({ url: server.url, leadsTo: provider.issuer });
  const { body: thread } = await call(server, "POST", "/threads", {}, ADMIN);
  ({ thread_id: threadId } = thread);
  const payload = { action_requests: [{ name: "refund", args: { amount: 5 } }] };
  await call(server, "POST", `/threads/${threadId}/runs/wait`, { assistant_id: "echo", input: { payload } }, ADMIN);
});
after(async () => {
  try {
    await browser?.close();
  } finally {
    await server.stop();
    removeFolder(server.dataDir);
    await provider.stop();
  }
});

/** Ends on the page of the server that was asked for, or on the one with the reason. @param at one of their browsers */
async function signIn(name: string, path: string, at = name): Promise<Page> {
  const page = await browser.open(path, { name: at });
  await page.route(/^https:/, (route) => route.abort()); // the provider's page asks for a font
  await page.getByRole("dialog", { name: "Sign in" }).getByRole("button", { name: "Sign in" }).click();
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.waitForURL((url) => url.href.startsWith(server.url));
  return page;
}

test("a person signs in at the provider, lands on the page of the link, sees name and role, and signs out", async () => {
  const page = await signIn("olga", "/crons");
  await page.getByRole("heading", { name: "Crons", exact: true }).waitFor();
  const account = page.getByRole("region", { name: "Account" });
  await account.getByText("olga Example").waitFor();
  await account.getByText("operator").waitFor();
  assert.ok(await page.getByRole("button", { name: "New cron" }).isEnabled());
  assert.equal(await page.evaluate("document.cookie"), "", "scripts cannot read the session");
  await account.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Yes, sign me out" }).click();
  await page.getByRole("dialog", { name: "Sign in" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/console/inbox");
  await page.close();
});

test("a reviewer answers in the own name, and is offered nothing else, on any page", async () => {
  const page = await signIn("rita", "/inbox");
  await page.getByRole("link", { name: "refund" }).click();
  await page.getByRole("button", { name: "Claim" }).click();
  await page.getByText("claimed by you").waitFor();
  for (const [path, label] of [
    ["/crons", "New cron"],
    ["/assistants", "New assistant"],
    ["/store", "New item"],
    [`/threads/${threadId}`, "Delete the thread"],
  ] as const) {
    await page.goto(`${server.url}/console${path}`);
    const button = page.getByRole("button", { name: label });
    await button.waitFor();
    await page.getByRole("region", { name: "Account" }).getByText("reviewer").waitFor();
    assert.ok(await button.isDisabled(), label);
    assert.equal(await button.getAttribute("title"), "Your role, reviewer, does not allow this.");
  }
  await page.goto(`${server.url}/console/crons`);
  await page.getByRole("region", { name: "Account" }).getByText("reviewer").waitFor();
  await page.keyboard.press("n");
  await page.getByRole("status").getByText("Your role, reviewer, does not allow this.").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0, "no form opens");
  const audit = await call(server, "GET", `/threads/${threadId}/audit`, undefined, ADMIN);
  assert.match(audit.text, /rita@example.com/);
  await page.close();
});

test("a viewer is offered no decision", async () => {
  const page = await signIn("vera", "/inbox");
  await page.getByRole("link", { name: "refund" }).click();
  await page.getByText("Your role may only read. A reviewer can answer this item.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve", exact: true }).count(), 0);
  await page.close();
});

test("somebody without a role reads the reason", async () => {
  const page = await signIn("nina", "/inbox");
  await page.getByRole("alert").getByText("Your account has no access to this server.").waitFor();
  await page.close();
});

test("before sign-in the page says the product's name and nothing else", async () => {
  for (const path of ["/inbox", "/settings", `/threads/${threadId}`]) {
    const page = await browser.open(path);
    const dialog = page.getByRole("dialog", { name: "Sign in" });
    await dialog.waitFor();
    const own = await dialog.innerText();
    assert.equal((await page.locator("body").innerText()).replace(own, "").trim(), "Holdpoint", path);
    assert.equal(await page.getByRole("navigation").count(), 0);
    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    await dialog.getByRole("button", { name: "Use an API key" }).click();
    const asksKey = page.getByRole("dialog", { name: "API key" });
    await asksKey.waitFor();
    assert.equal(await page.getByRole("navigation").count(), 0, "Escape and a click beside it leave the dialog");
    await page.keyboard.press("Escape");
    await dialog.waitFor();
    assert.equal((await page.locator("body").innerText()).replace(own, "").trim(), "Holdpoint", path);
    await page.close();
  }
});

/** The name of the row once it was open. */
const READ = /^(?!.*unread).*refund/;

test("views, read marks and the tab of a person are the same in another browser, and are not another person's", async () => {
  const page = await signIn("rita", "/inbox", "rita at home");
  await page.getByRole("link", { name: "refund" }).click();
  await page.getByRole("link", { name: READ }).waitFor();
  await page.goto(`${server.url}/console/inbox?kind=question`);
  await page.getByRole("button", { name: "My groups" }).click();
  await page.getByRole("button", { name: "Save view" }).click();
  await page.getByLabel("Name of the view").fill("Of my groups");
  const kept = page.waitForResponse((reply) => isKept(reply, "Of my groups"));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved as Of my groups.", { exact: true }).waitFor();
  await kept;
  assert.equal(await page.evaluate("localStorage.getItem('holdpoint.views')"), null);
  await page.close();
  const other = await signIn("rita", "/inbox", "rita at work");
  await other.getByRole("link", { name: "Of my groups" }).waitFor();
  await other.getByRole("button", { name: "My groups", pressed: true }).waitFor();
  await other.getByRole("button", { name: "All", exact: true }).click();
  await other.getByRole("link", { name: READ }).waitFor();
  await other.close();
  const stranger = await signIn("olga", "/inbox", "olga at home");
  await stranger.getByRole("link", { name: /refund.*unread/ }).waitFor();
  await stranger.getByRole("button", { name: "All", exact: true, pressed: true }).waitFor();
  assert.equal(await stranger.getByRole("link", { name: "Of my groups" }).count(), 0);
  await stranger.close();
});

test("a page of one person writes nothing for another one who has signed in since in the same browser", async () => {
  const page = await signIn("rita", "/inbox", "shared");
  await page.getByRole("region", { name: "Account" }).getByText("rita Example").waitFor();
  await page.getByRole("link", { name: "refund" }).waitFor(); // what it loads later, it would load without a session
  await page.context().clearCookies(); // the session of the first page stays alive at the server
  const other = await signIn("vera", "/inbox", "shared");
  await other.getByRole("region", { name: "Account" }).getByText("vera Example").waitFor();
  await page.bringToFront();
  await page.getByRole("button", { name: "Unassigned" }).click();
  await page.getByRole("region", { name: "Account" }).getByText("vera Example").waitFor();
  await other.reload();
  await other.getByRole("button", { name: "All", exact: true, pressed: true }).waitFor();
  await Promise.all([page.close(), other.close()]);
});

test("a person reads that views and read marks are not saved, and the next change saves them", async () => {
  const page = await signIn("olga", "/inbox");
  await page.getByRole("button", { name: "All", exact: true, pressed: true }).waitFor();
  await page.route("**/people/me/console", (route) =>
    route.request().method() === "PUT" ? route.fulfill({ status: 503, json: { detail: "Full." } }) : route.fallback(),
  );
  await page.getByRole("button", { name: "Unassigned" }).click();
  await page.getByRole("status").getByText("Views and read marks are not saved: Full.").waitFor();
  await page.unroute("**/people/me/console");
  const kept = page.waitForResponse((reply) => isKept(reply, "mine"));
  await page.getByRole("button", { name: "Mine" }).click();
  await kept;
  await page.close();
});

test("a mention and an assignment are suggestions that the keyboard chooses", async () => {
  await (await signIn("olga", "/inbox", "olga with keys")).close();
  const page = await signIn("rita", "/inbox", "rita with keys");
  await page.getByRole("link", { name: "refund" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByLabel("New comment").focus();
  await page.keyboard.type("Please see @ol");
  await page
    .getByRole("group", { name: "Mention" })
    .getByRole("button", { name: /^olga@example.com/ })
    .waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.type("today");
  assert.equal(await page.getByLabel("New comment").inputValue(), "Please see @olga@example.com today");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("listitem").getByText("Please see @olga@example.com today").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("w");
  await page.getByRole("dialog").getByLabel("Name of the person").waitFor();
  await page.keyboard.type("Olg");
  await page.getByRole("group", { name: "People" }).getByRole("button", { name: "olga@example.com" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.getByText("claimed by olga@example.com").waitFor();
  await page.close();
});

const isKept = (reply: Response, view: string): boolean =>
  reply.url().endsWith("/people/me/console") &&
  reply.status() === 200 &&
  (reply.request().postData() ?? "").includes(view);
