// Question parts: open items as parts of a message: one text for models, and one data part each for programs.
import type { Part } from "@a2a-js/sdk";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { buildForm } from "../calls/flat-form.ts";
import { linkTo } from "../calls/inbox-items.ts";
import { dataPart, textPart } from "./content.ts";

export interface OpenItem {
  readonly item: InboxItem;
  readonly isForPeopleOnly: boolean;
}

/** @param notes lines before the questions: why the last answer was refused */
export function questionParts(open: readonly OpenItem[], publicUrl: string, notes: readonly string[]): Part[] {
  const lines = open.map((one) => formatLine(one, linkTo(publicUrl, one.item)));
  const data = open.map((one) => dataPart(toQuestion(one, linkTo(publicUrl, one.item))));
  return [textPart([...notes, ...lines].join("\n\n")), ...data];
}

export function toQuestion({ item, isForPeopleOnly }: OpenItem, link: string): JsonObject {
  const form = buildForm(item);
  return {
    interrupt_id: item.id,
    kind: item.kind,
    title: item.title,
    value: item.value,
    ...(item.response_schema === undefined ? {} : { response_schema: item.response_schema }),
    ...(form === null ? {} : { form: { ...form.schema } }),
    people_only: isForPeopleOnly,
    link,
  };
}

function formatLine({ item, isForPeopleOnly }: OpenItem, link: string): string {
  const message = buildForm(item)?.message ?? item.title;
  return isForPeopleOnly
    ? `${message}\nOnly a person may answer: ${link}`
    : `${message}\nA person can answer at ${link}`;
}
