// The table "case × channel": a rule as rows, each tried over every channel that can say it.
//   inTable("decisions must be as many as actions", CASES, async (channel, row) => { … })
// In short form each row runs on one channel (three in `.long.test.ts`), the next row on the next ones, so that a table
// covers all of them; HOLDPOINT_FAULTS=full runs every row on every channel. HOLDPOINT_TEST_STORAGE=postgres runs it on
// PostgreSQL.
import { suite, test } from "node:test";
import { IS_LONG } from "../long.ts";
import { PATIENCE } from "../patience.ts";
import { CHANNELS, type Channel } from "./channels.ts";

export const WHOLE = process.env["HOLDPOINT_FAULTS"] === "full";
/** Channels of a row. */
const CHANNELS_IN_SHORT = IS_LONG ? 3 : 1;

export interface Row {
  readonly name: string;
  /** The answer; a channel that cannot express it has no test. Absent: any channel. */
  readonly value?: unknown;
  /** A second answer, if the rule needs one. */
  readonly next?: unknown;
  /** The value matters as it stands: a form, from which the server builds the answer, has no test. */
  readonly whole?: boolean;
  /** The question has review rules; a channel that adds members of its own has no test. */
  readonly reviewed?: true;
  /** Members beside the answer; a channel that carries none of them has no test. */
  readonly more?: Readonly<Record<string, unknown>>;
}

function fits(channel: Channel, { value, next, more = {}, whole = false, reviewed }: Row): boolean {
  if (whole && !channel.sendsJson) return false;
  if (reviewed === true && channel.addsMetadata === true) return false;
  return (
    [value, next].every((answer) => answer === undefined || channel.says(answer)) &&
    Object.keys(more).every((name) => channel.carries.includes(name))
  );
}

/** In short form, the channels of the row at this position. */
function chosen(fitting: readonly Channel[], position: number): readonly Channel[] {
  if (WHOLE || fitting.length <= CHANNELS_IN_SHORT) return fitting;
  const first = (position * CHANNELS_IN_SHORT + 1) % fitting.length; // a row may name the channel at its position
  return [...fitting, ...fitting].slice(first, first + CHANNELS_IN_SHORT);
}

export function inTable<R extends Row>(
  name: string,
  rows: readonly R[],
  check: (channel: Channel, row: R) => Promise<void>,
): void {
  suite(name, PATIENCE, () => {
    for (const [position, row] of rows.entries()) {
      const fitting = CHANNELS.filter((channel) => fits(channel, row));
      for (const channel of chosen(fitting, position))
        test(`${row.name}, over ${channel.name}`, async () => check(channel, row));
    }
  });
}
