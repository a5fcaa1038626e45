// Tests of socket-tickets.ts on a clock that the test moves: socket-tickets.1 (once, one thread, 30 seconds),
// socket-tickets.3 (the storage has no credentials), socket-tickets.4. The storage is a table of tickets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import type { AgentContext } from "../context/context.ts";
import type { SocketTicket, SocketTicketTx } from "../ports/ports.ts";
import { issueTicket, redeemTicket } from "./socket-tickets.ts";

function setUp() {
  const clock = createFakeClock();
  const rows = new Map<string, SocketTicket>();
  const tx: SocketTicketTx = {
    putSocketTicket: (row) => void rows.set(row.digest, row),
    takeSocketTicket(digest) {
      const row = rows.get(digest) ?? null;
      rows.delete(digest);
      return row;
    },
    countSocketTickets: (caller) => [...rows.values()].filter((row) => row.caller === caller).length,
    deleteSocketTicketsBefore(at) {
      for (const [digest, { expiresAt }] of rows) if (expiresAt <= at) rows.delete(digest);
    },
  };
  const storage = { transaction: async (work: (given: SocketTicketTx) => unknown) => work(tx) };
  const agent = { clock, storage } as unknown as AgentContext;
  const issue = (name = "ann", threadId = "t") =>
    issueTicket(agent, threadId, { name, user: null, permissions: [] }, HEADERS);
  return { clock, rows, issue, redeem: (ticket: string, threadId = "t") => redeemTicket(agent, threadId, ticket) };
}

const HEADERS = {
  host: "example",
  authorization: "Bearer a-long-secret",
  cookie: "session=another-secret",
  "x-tenant": "acme",
  "content-type": "application/json",
  "idempotency-key": "k",
};
const refused = { code: "unauthenticated" };

test("a ticket gives the credentials of its call, once (socket-tickets.1, socket-tickets.2)", async () => {
  const { issue, redeem } = setUp();
  const { ticket } = await issue();
  const { authorization, cookie, "x-tenant": tenant } = HEADERS;
  assert.deepEqual(await redeem(ticket), { authorization, cookie, "x-tenant": tenant });
  await assert.rejects(redeem(ticket), refused);
});

test("another thread neither takes a ticket nor uses it up (socket-tickets.1)", async () => {
  const { issue, redeem } = setUp();
  const { ticket } = await issue();
  await assert.rejects(redeem(ticket, "another thread"), refused);
  await redeem(ticket);
});

test("a ticket expires after 30 seconds (socket-tickets.1)", async () => {
  const { clock, issue, redeem } = setUp();
  const [early, late] = [await issue(), await issue()];
  assert.equal(late.expiresAt, clock.now() + 30_000);
  await clock.advance(29_999);
  await redeem(early.ticket);
  await clock.advance(1);
  await assert.rejects(redeem(late.ticket), refused);
});

test("the storage has neither the ticket nor the credentials (socket-tickets.3)", async () => {
  const { issue, rows } = setUp();
  const { ticket } = await issue();
  const [row] = rows.values();
  const stored = JSON.stringify(row) + Buffer.from(row?.headers ?? "", "base64").toString("latin1");
  for (const secret of [ticket, "a-long-secret", "another-secret"]) assert.ok(!stored.includes(secret));
});

test("a caller has 64 unused tickets at most (socket-tickets.4)", async () => {
  const { clock, issue, redeem } = setUp();
  const tickets = [];
  for (let count = 0; count < 64; count++) tickets.push(await issue());
  await assert.rejects(issue(), { code: "too_many_tickets" });
  await issue("bob");
  await redeem(tickets[0]?.ticket ?? "");
  await issue();
  await assert.rejects(issue(), { code: "too_many_tickets" });
  await clock.advance(30_000);
  await issue();
});

for (const text of ["", "x", "é".repeat(43), "a".repeat(43)]) {
  test(`"${text}" is no ticket (socket-tickets.1)`, async () => {
    await assert.rejects(setUp().redeem(text), refused);
  });
}
