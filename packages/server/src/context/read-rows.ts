// Read rows: the rows of a list, read on demand in chunks of bounded size. Each row is in its state at that moment;
// rows that are deleted meanwhile are omitted.
import { splitChunks } from "./chunks.ts";
import type { AssistantTx, Awaitable, CronTx, RunTx, SizedId, Storage } from "../ports/ports.ts";

export async function* readRows<Id, Row>(
  storage: Pick<Storage, "read">,
  ids: readonly SizedId<Id>[],
  read: (tx: RunTx & AssistantTx & CronTx, id: Id) => Awaitable<Row | null>,
): AsyncGenerator<Row> {
  for (const chunk of splitChunks(ids)) {
    const rows = await storage.read((tx) => Promise.all(chunk.map(async ({ id }) => read(tx, id))));
    for (const row of rows) if (row !== null) yield row;
  }
}
