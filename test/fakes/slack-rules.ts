// Slack's rules for messages of incoming webhooks, from its Block Kit reference; throws on a violation.
// https://docs.slack.dev/reference/block-kit/blocks

type Plain = Readonly<Record<string, unknown>>;

/** @returns every rule that a message breaks */
export function brokenSlackRules(message: unknown): readonly string[] {
  const broken: string[] = [];
  const must = (holds: boolean, rule: string): void => {
    if (!holds) broken.push(rule);
  };
  const only = (object: Plain, names: readonly string[], where: string): void => {
    for (const name of Object.keys(object)) must(names.includes(name), `${where}: no field ${name}`);
  };
  const text = (value: unknown, where: string, types: readonly string[], unitsMax: number): void => {
    const { type, text: content } = (value ?? {}) as Plain;
    only((value ?? {}) as Plain, ["type", "text", "emoji", "verbatim"], where);
    must(types.includes(String(type)), `${where}: type ${String(type)}`);
    must(typeof content === "string" && content.length > 0, `${where}: has text`);
    must(String(content).length <= unitsMax, `${where}: at most ${unitsMax} characters, has ${String(content).length}`);
    must(type === "plain_text" || (value as Plain)["emoji"] === undefined, `${where}: emoji is for plain_text`);
    if (type === "mrkdwn") must(!/&(?!(amp|lt|gt);)/.test(String(content)), `${where}: & is escaped`);
  };
  const both = ["mrkdwn", "plain_text"];
  const element = (one: Plain, where: string): void => {
    only(one, ["type", "text", "url", "style", "value", "action_id"], where);
    must(one["type"] === "button", `${where}: type ${String(one["type"])}`);
    text(one["text"], `${where}.text`, ["plain_text"], 75);
    must(["primary", "danger", undefined].includes(one["style"] as string | undefined), `${where}: style`);
    const url = one["url"];
    must(typeof url === "string" && URL.canParse(url) && url.length <= 3000, `${where}: url`);
  };
  const rules: Readonly<Record<string, (block: Plain, where: string) => void>> = {
    header(block, where) {
      only(block, ["type", "text", "block_id"], where);
      text(block["text"], `${where}.text`, ["plain_text"], 150);
    },
    section(block, where) {
      only(block, ["type", "text", "fields", "accessory", "block_id"], where);
      const fields = (block["fields"] ?? []) as readonly unknown[];
      must(block["text"] !== undefined || fields.length > 0, `${where}: text or fields`);
      must(fields.length <= 10, `${where}: at most 10 fields`);
      if (block["text"] !== undefined) text(block["text"], `${where}.text`, both, 3000);
      for (const [at, field] of fields.entries()) text(field, `${where}.fields[${at}]`, both, 2000);
    },
    actions(block, where) {
      only(block, ["type", "elements", "block_id"], where);
      const elements = (block["elements"] ?? []) as readonly Plain[];
      must(elements.length > 0 && elements.length <= 25, `${where}: 1 to 25 elements`);
      for (const [at, one] of elements.entries()) element(one, `${where}.elements[${at}]`);
    },
    context(block, where) {
      only(block, ["type", "elements", "block_id"], where);
      const elements = (block["elements"] ?? []) as readonly unknown[];
      must(elements.length > 0 && elements.length <= 10, `${where}: 1 to 10 elements`);
      for (const [at, one] of elements.entries()) text(one, `${where}.elements[${at}]`, both, 3000);
    },
  };
  const { text: fallback, blocks } = message as Plain;
  only(message as Plain, ["text", "blocks"], "message");
  must(typeof fallback === "string" && fallback.length > 0 && fallback.length <= 40_000, "message: text");
  must(Array.isArray(blocks) && blocks.length > 0 && blocks.length <= 50, "message: 1 to 50 blocks");
  for (const [at, block] of (blocks as readonly Plain[]).entries()) {
    const rule = rules[String(block["type"])];
    const where = `blocks[${at}]`;
    if (rule === undefined) broken.push(`${where}: type ${String(block["type"])}`);
    else rule(block, where);
  }
  return broken;
}
