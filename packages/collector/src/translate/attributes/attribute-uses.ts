// Attribute uses: the fields of the run that each attribute of a span went to. Metadata takes the attributes without a
// use.
// Invariants:
//   - A rule that takes an attribute's value uses the attribute. A rule without a result releases its
//   attributes.
//   - One set of masks serves all spans, one after the other: a span allocates nothing here.

/** Fields of the run, in the names of the upload. The index is the bit in a mask. */
export const RUN_FIELDS = [
  "place in the trace",
  "run_type",
  "name",
  "inputs",
  "outputs",
  "usage_metadata",
  "extra.metadata",
  "extra.metadata.ls_provider",
  "extra.metadata.ls_model_name",
  "extra.invocation_params",
  "error",
  "events",
  "serialized",
  "tags",
  "session_name",
  "attachments",
] as const;

export type RunField = (typeof RUN_FIELDS)[number];

const BITS = new Map<RunField, number>(RUN_FIELDS.map((field, at) => [field, 1 << at]));

export interface AttributeUses {
  /** Everything read from here on belongs to this field. */
  enter(field: RunField): void;
  take(slot: number): void;
  /** Bits of the fields that took the slot; 0: unused. */
  listFields(slot: number): number;
  mark(): number;
  /** Takes back every use since the mark. */
  release(mark: number): void;
  clear(): void;
}

export function createAttributeUses(slotCount: number): AttributeUses {
  const masks = new Int32Array(slotCount);
  const slots: number[] = [];
  const before: number[] = [];
  let bit = 1;
  const release = (mark: number): void => {
    while (slots.length > mark) masks[slots.pop() ?? 0] = before.pop() ?? 0;
  };
  return {
    enter(field) {
      bit = BITS.get(field) ?? 1;
    },
    take(slot) {
      const mask = masks[slot] ?? 0;
      if ((mask & bit) !== 0) return;
      slots.push(slot);
      before.push(mask);
      masks[slot] = mask | bit;
    },
    listFields: (slot) => masks[slot] ?? 0,
    mark: () => slots.length,
    release,
    clear: () => release(0),
  };
}

/** The mask of several fields. */
export function buildMask(...fields: readonly RunField[]): number {
  return fields.reduce((mask, field) => mask | (BITS.get(field) ?? 0), 0);
}

export function fieldsOfMask(mask: number): readonly RunField[] {
  return RUN_FIELDS.filter((_field, at) => (mask & (1 << at)) !== 0);
}
