// The table of promises, with a note for each no.
import type { Row } from "./promises.mjs";

export interface Asked {
  /** With its version. */
  readonly name: string;
  readonly storage: string;
  readonly rows: readonly Row[];
}

/** For a line of Markdown, without ids. */
const escape = (text: string): string =>
  text.replaceAll("`", "'").replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, "{id}");

/** @param library version of LangGraph */
export function makeTable(all: readonly Asked[], library: string): string {
  const names = all[0]?.rows.map(({ name }) => name) ?? [];
  const notes: string[] = [];
  const noteNo = (who: string, { reason, request }: Row): number => {
    const text = `${who}: ${escape(reason)}: \`${escape(request)}\``;
    const known = notes.indexOf(text);
    return known < 0 ? notes.push(text) : known + 1;
  };
  const showCell = (who: string, row: Row | undefined): string =>
    row?.kept === true ? "yes" : row?.kept === false ? `no [${noteNo(who, row)}]` : "—";
  const lines = names.map((name, at) => [name, ...all.map((one) => showCell(one.name, one.rows[at]))]);
  const counts = all.map(({ rows }) => String(rows.filter(({ kept }) => kept === true).length));
  const head = ["promise", ...all.map(({ name, storage }) => `${name}, ${storage}`)];
  return [
    ...[head, head.map(() => "---"), ...lines, ["kept", ...counts]].map((cells) => `| ${cells.join(" | ")} |`),
    "",
    `Asked on ${new Date().toISOString().slice(0, 10)}, under Node.js ${process.versions.node}, with LangGraph ${library}. A dash: the server has no second process on its storage. Each no, with the request that shows it, and the reply:`,
    "",
    ...notes.map((text, at) => `${at + 1}. ${text}`),
  ].join("\n");
}
