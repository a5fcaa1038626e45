// Values of the protobuf reader: AnyValue, KeyValue and the lists made of them.
// Invariants:
//   - Recursion ends at DEPTH_MAX; the length of the body bounds its values.
import { ATTRIBUTES_MAX, DecodeError, DEPTH_MAX } from "./decoded.ts";
import type { Attributes, AttributeValue } from "./span.ts";
import {
  type Cursor,
  double,
  fieldEnd,
  fieldNumbers,
  int64,
  key,
  skip,
  spendValue,
  text,
  truncated,
  varint,
} from "./protobuf-reader.ts";

const KEY_AND_VALUE = fieldNumbers(1, 2);
const ANY_VALUE = fieldNumbers(1, 2, 3, 4, 5, 6, 7);
const ITEMS = fieldNumbers(1);

export interface AttributeList {
  readonly keys: string[];
  readonly values: AttributeValue[];
}

export function newList(): AttributeList {
  return { keys: [], values: [] };
}

/**
 * Reads one more attribute into `list`, or skips it when the list is full. Returns the number of dropped attributes.
 */
export function attribute(c: Cursor, limit: number, list: AttributeList): number {
  const end = fieldEnd(c, limit);
  if (list.keys.length < ATTRIBUTES_MAX) {
    keyValue(c, end, list, 1);
    return 0;
  }
  c.pos = end;
  return 1;
}

function keyValue(c: Cursor, end: number, list: AttributeList, depth: number): void {
  let name = "";
  let value: AttributeValue = null;
  spendValue(c);
  while (c.pos < end) {
    const tag = varint(c);
    if (tag === 10) name = key(c, end);
    else if (tag === 18) value = anyValue(c, fieldEnd(c, end), depth);
    else skip(c, tag, end, KEY_AND_VALUE);
  }
  if (c.pos !== end) throw truncated();
  list.keys.push(name);
  list.values.push(value);
}

export function anyValue(c: Cursor, end: number, depth: number): AttributeValue {
  if (depth > DEPTH_MAX) throw new DecodeError(`values are nested more than ${DEPTH_MAX} deep`);
  let value: AttributeValue = null;
  while (c.pos < end) {
    const tag = varint(c);
    switch (tag) {
      case 10:
        value = text(c, end);
        break;
      case 16:
        value = varint(c) !== 0;
        break;
      case 24:
        value = int64(c);
        break;
      case 33:
        value = double(c, end);
        break;
      case 42:
        value = arrayValue(c, fieldEnd(c, end), depth);
        break;
      case 50:
        value = keyValueList(c, fieldEnd(c, end), depth);
        break;
      case 58: {
        const bytesEnd = fieldEnd(c, end);
        value = Buffer.from(c.b.subarray(c.pos, bytesEnd)); // a copy, which does not retain the body
        c.pos = bytesEnd;
        break;
      }
      default:
        skip(c, tag, end, ANY_VALUE);
    }
  }
  if (c.pos !== end) throw truncated();
  return value;
}

function arrayValue(c: Cursor, end: number, depth: number): AttributeValue[] {
  const items: AttributeValue[] = [];
  while (c.pos < end) {
    const tag = varint(c);
    if (tag === 10) {
      spendValue(c);
      items.push(anyValue(c, fieldEnd(c, end), depth + 1));
    } else skip(c, tag, end, ITEMS);
  }
  return items;
}

function keyValueList(c: Cursor, end: number, depth: number): Attributes {
  const list = newList();
  while (c.pos < end) {
    const tag = varint(c);
    if (tag === 10) keyValue(c, fieldEnd(c, end), list, depth + 1);
    else skip(c, tag, end, ITEMS);
  }
  return list;
}
