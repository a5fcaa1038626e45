// Tests of tables: table.1 (no line is wider than the window), table.2 (without a window nothing is left out).
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatTable, type Column } from "./table.ts";
import { countWidth } from "./sanitize.ts";

type Row = Readonly<Record<"id" | "age" | "name" | "note" | "none", string>>;

const LAYOUT: readonly Column<Row>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "AGE", cell: ({ age }) => age, right: true },
  { title: "NAME", cell: ({ name }) => name, least: 6 },
  { title: "NOTE", cell: ({ note }) => note, least: 8, optional: true },
  { title: "NONE", cell: ({ none }) => none, optional: true },
];
const ROWS: readonly Row[] = [
  { id: "ab12cd34", age: "3m", name: "refund: A customer asks for money back", note: "now\nor never", none: "" },
  { id: "ffffffff", age: "12h", name: "返金：お客様がお金を返してほしい", note: "🙂🙂🙂 ok", none: "" },
];

test("a table fits its window, with any content and any width (table.1)", () => {
  for (let columns = 10; columns <= 120; columns++)
    for (const line of formatTable(ROWS, LAYOUT, columns))
      assert.ok(countWidth(line) <= columns, `${columns}: ${line}`);
});

test("columns that can be done without go before others get too short (table.1)", () => {
  assert.deepEqual(formatTable(ROWS, LAYOUT, 40), [
    "ID        AGE  NAME         NOTE",
    "ab12cd34   3m  refund: A…   now or never",
    "ffffffff  12h  返金：お客…  🙂🙂🙂 ok",
  ]);
  assert.deepEqual(formatTable(ROWS, LAYOUT, 26), [
    "ID        AGE  NAME",
    "ab12cd34   3m  refund: A…",
    "ffffffff  12h  返金：お客…",
  ]);
});

test("without a window, omits only empty columns (table.2)", () => {
  const [head, ...rows] = formatTable(ROWS, LAYOUT, null);
  assert.match(head ?? "", /^ID +AGE +NAME +NOTE$/);
  for (const [index, row] of rows.entries()) assert.ok(row.includes(ROWS[index]?.name ?? "?"), row);
});
