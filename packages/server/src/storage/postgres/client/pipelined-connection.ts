// Pipelined connection: several statements to PostgreSQL, and their answers, per packet.
// `pg` ends each statement with a Sync, which PostgreSQL answers in its own packet, and asks for its columns each time.
// Here one Sync ends all statements of one turn of the event loop: one packet there, one back.
// Invariants:
//   pipelined-connection.1. Statements sent before an answer arrives go with the next packet; a packet gets its answers
//        at once.
//   pipelined-connection.2. PostgreSQL skips the statements after a failed one up to the Sync, so they fail with it.
//   pipelined-connection.3. A connection parses and describes a statement once. If the first execution fails, its state
//        is unknown: the connection sends the statement again under another name.
//   pipelined-connection.4. A late answer ends the connection: it could not be matched to its statement.
import type { Connection, PoolClient } from "pg";
import { bindMessages } from "./bind-messages.ts";
import { columnParser, findLimits, statementName, parameterText, type Parameter, type Row } from "./pool.ts";

export interface Answer {
  readonly rows: readonly Row[];
  /** Changed or returned rows. */
  readonly rowCount: number;
}

export interface Pipeline {
  /** @throws PostgreSQL's error, or the reason for the missing answer */
  readonly send: (sql: string, parameters: readonly Parameter[]) => Promise<Answer>;
}

interface Column {
  readonly name: string;
  readonly parse: (cell: string) => unknown;
}

/** Statement state on one connection. */
interface Prepared {
  readonly name: string;
  readonly columns: readonly Column[];
}

interface Sent {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

const pipelines = new WeakMap<PoolClient, Pipeline>();

export function findPipeline(client: PoolClient): Pipeline {
  let pipeline = pipelines.get(client);
  if (pipeline === undefined) pipelines.set(client, (pipeline = createPipeline(client)));
  return pipeline;
}

function createPipeline(client: PoolClient): Pipeline {
  const prepared = new Map<string, Prepared>();
  const isPooled = findLimits(client) !== null;
  let failures = 0;
  let next: Sent[] = [];
  let underWay = false;

  const sendPacket = (): void => {
    if (underWay || next.length === 0) return;
    const packet = next;
    next = [];
    underWay = true;
    client.query(
      createPacket(packet, prepared, isPooled ? null : `_${failures}`, (failed) => {
        if (failed) failures++; // pipelined-connection.3
        underWay = false;
        sendPacket(); // pipelined-connection.1
      }),
    );
  };
  return {
    send: (sql, parameters) =>
      new Promise((resolve, reject) => {
        next.push({ sql, parameters, resolve, reject });
        if (!underWay && next.length === 1) process.nextTick(sendPacket);
      }),
  };
}

/** Interface that `pg` expects of a statement object. */
interface Packet {
  /** `pg` sets it, and calls it when no more answers come. */
  callback?: () => void;
  submit(connection: Connection): void;
  handleRowDescription(message: {
    readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
  }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: { readonly text: string }): void;
  handleReadyForQuery(): void;
  handleError(error: unknown, connection: Connection): void;
}

/** @param suffix of the names of statements that are new to the connection; null: none has a name (pool.5) */
function createPacket(
  sent: readonly Sent[],
  prepared: Map<string, Prepared>,
  suffix: string | null,
  onEnd: (failed: boolean) => void,
): Packet {
  const names = sent.map(({ sql }) => prepared.get(sql)?.name ?? newName(sql, suffix));
  const isNew = sent.map(({ sql }, at) => !prepared.has(sql) && sent.findIndex((other) => other.sql === sql) === at);
  const answers: Answer[] = [];
  let columns: readonly Column[] | null = null;
  let rows: Row[] = [];
  let ended = false;

  const end = (failed: boolean): void => {
    ended = true;
    packet.callback?.();
    onEnd(failed);
  };
  const columnsNow = (): readonly Column[] => columns ?? prepared.get(sent[answers.length]?.sql ?? "")?.columns ?? [];

  const packet: Packet = {
    submit(connection) {
      if (sent.every(({ sql }) => prepared.has(sql))) {
        if (!connection.stream.writable) return; // as `pg` does: the end of the connection fails the statements
        connection.stream.write(
          bindMessages(sent.map(({ parameters }, at) => ({ name: names[at] ?? "", parameters }))),
        );
        return;
      }
      connection.stream.cork();
      for (const [at, { sql, parameters }] of sent.entries()) {
        const name = names[at] ?? "";
        const asksAgain = name === "" || isNew[at] === true;
        if (asksAgain) connection.parse({ name, text: sql, types: [] }, true);
        connection.bind({ statement: name, values: parameters.map(parameterText) }, true);
        if (!prepared.has(sql)) connection.describe({ type: "P" }, true);
        connection.execute(null, true);
      }
      connection.sync();
      connection.stream.uncork();
    },
    handleRowDescription({ fields }) {
      columns = fields.map(({ name, dataTypeID }) => ({ name, parse: columnParser(dataTypeID) }));
    },
    handleDataRow({ fields }) {
      const row: Record<string, unknown> = {};
      for (const [at, { name, parse }] of columnsNow().entries()) {
        const cell = fields[at] ?? null;
        row[name] = cell === null ? null : parse(cell);
      }
      rows.push(row);
    },
    handleCommandComplete({ text }) {
      const at = answers.length;
      const { sql } = sent[at] ?? { sql: "" };
      // pipelined-connection.3
      if (!prepared.has(sql) && names[at] !== "") prepared.set(sql, { name: names[at] ?? "", columns: columns ?? [] });
      answers.push({ rows, rowCount: Number(/\d+$/.exec(text)?.[0] ?? 0) });
      columns = null;
      rows = [];
    },
    handleReadyForQuery() {
      for (const [at, { resolve }] of sent.entries()) resolve(answers[at] ?? { rows: [], rowCount: 0 });
      end(false);
    },
    handleError(error, connection) {
      if (ended) return;
      if (isTooLate(error)) connection.stream.destroy(); // pipelined-connection.4
      for (const [at, { resolve, reject }] of sent.entries()) {
        const answer = answers[at];
        if (answer === undefined) reject(error); // pipelined-connection.2
        else resolve(answer);
      }
      end(true);
    },
  };
  return packet;
}

/** Empty for an unnamed statement. */
function newName(sql: string, suffix: string | null): string {
  const name = suffix === null ? null : statementName(sql);
  return name === null ? "" : name + suffix;
}

/** The error of `pg` after `query_timeout`; it has no code. */
function isTooLate(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}
