import { z } from "zod";
import { writeExactJson } from "../json/exact-json";
import { graphSchema } from "../schemas/graph";
import { createPlainLine, freeForm } from "../schemas/lenient";
import { workflowLimits } from "../workflow/read-workflow";

export const appBounds = { inputs: 100, outputs: 50, tags: 20, members: 200, choices: 1000, presets: 100 } as const;

export const idSchema = z.string().min(1).max(200);
export const nameSchema = createPlainLine(80);

export const appValueSchema = z.union([z.string(), z.number(), z.bigint(), z.boolean()]);
export type AppValue = z.infer<typeof appValueSchema>;
export type AppValues = Record<string, AppValue>;
const limitSchema = z.union([z.number(), z.bigint()]);

/** `picture`, `video`, `audio`: the value is the name of a file on the service, from the response to its upload. */
const appControlSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), isLong: z.boolean().default(false) }),
  z.object({
    kind: z.literal("number"),
    isWhole: z.boolean().default(false),
    min: limitSchema.optional(),
    max: limitSchema.optional(),
    step: z.number().positive().optional(),
    isSlider: z.boolean().default(false),
  }),
  /** A whole number. If it is missing or `random`, each run gets a random seed. */
  z.object({ kind: z.literal("seed"), min: limitSchema.optional(), max: limitSchema.optional() }),
  z.object({ kind: z.literal("switch") }),
  z.object({
    kind: z.literal("choice"),
    choices: z
      .array(z.object({ value: z.union([z.string().max(1000), z.number(), z.boolean()]), label: createPlainLine(200, 0).optional() }))
      .min(1)
      .max(appBounds.choices),
  }),
  z.object({ kind: z.literal("picture"), hasMask: z.boolean().default(false) }),
  z.object({ kind: z.literal("video") }),
  z.object({ kind: z.literal("audio") }),
]);
export type AppControl = z.infer<typeof appControlSchema>;

const inputRefSchema = z.object({ node: idSchema, input: idSchema });
const appInputSchema = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, "must start with a lowercase letter and contain only lowercase letters, digits and _"),
  ...inputRefSchema.shape,
  /** More inputs of the graph with the same value, for example because one widget of the editor sets several nodes. */
  also: z.array(inputRefSchema).max(appBounds.inputs).optional(),
  label: nameSchema,
  help: z.string().max(1000).default(""),
  group: createPlainLine(80, 0).default(""),
  control: appControlSchema,
  default: appValueSchema.optional(),
  isRequired: z.boolean().default(false),
  example: appValueSchema.optional(),
});
export type AppInput = z.infer<typeof appInputSchema>;
/** An input for a form. Only members who may see the workflow get its location in the graph. */
export type AppField = Omit<AppInput, "node" | "input" | "also"> & Partial<Pick<AppInput, "node" | "input" | "also">>;

const appOutputSchema = z.object({ node: idSchema, label: nameSchema });
export type AppOutput = z.infer<typeof appOutputSchema>;

export const definitionSchema = z.object({
  title: nameSchema,
  text: z.string().max(5000).default(""),
  tags: z
    .array(createPlainLine(40))
    .max(appBounds.tags)
    .default([])
    .transform((tags) => [...new Set(tags)]),
  cover: idSchema.optional(),
  inputs: z.array(appInputSchema).max(appBounds.inputs).default([]),
  /** Empty: all outputs of the run. */
  outputs: z.array(appOutputSchema).max(appBounds.outputs).default([]),
  graph: graphSchema.refine((graph) => {
    const nodeCount = Object.keys(graph).length;
    return nodeCount > 0 && nodeCount <= workflowLimits.nodes;
  }, `must have 1 to ${workflowLimits.nodes} nodes`),
  editor: freeForm.optional(),
});
export type AppDefinition = z.infer<typeof definitionSchema>;

export type AppChange =
  | { what: "created" | "title" | "text" | "tags" | "cover" | "workflow" | "input_order" | "output_order" }
  | { what: "input_added" | "input_removed" | "input_changed" | "output_added" | "output_removed" | "output_changed"; label: string };

export function compareVersions(before: AppDefinition, after: AppDefinition): AppChange[] {
  const fields = (["title", "text", "tags", "cover"] as const).flatMap((field) =>
    isSame(before[field], after[field]) ? [] : [{ what: field }],
  );
  const isSameWorkflow = isSame(before.graph, after.graph) && isSame(before.editor, after.editor);
  return [
    ...fields,
    ...compareLists("input", before.inputs, after.inputs, (input: AppInput) => input.name),
    ...compareLists("output", before.outputs, after.outputs, (output: AppOutput) => output.node),
    ...(isSameWorkflow ? [] : [{ what: "workflow" as const }]),
  ];
}

function compareLists<T extends { label: string }>(
  kind: "input" | "output",
  before: readonly T[],
  after: readonly T[],
  getKey: (item: T) => string,
): AppChange[] {
  const [oldItems, newItems] = [new Map(before.map((item) => [getKey(item), item])), new Map(after.map((item) => [getKey(item), item]))];
  const oldOrder = before.map(getKey).filter((key) => newItems.has(key));
  const changes: AppChange[] = [];
  for (const [key, { label }] of oldItems) if (!newItems.has(key)) changes.push({ what: `${kind}_removed`, label });
  for (const [key, item] of newItems) {
    const oldItem = oldItems.get(key);
    if (!oldItem) changes.push({ what: `${kind}_added`, label: item.label });
    else if (!isSame(oldItem, item)) changes.push({ what: `${kind}_changed`, label: item.label });
  }
  const newOrder = after.map(getKey).filter((key) => oldItems.has(key));
  if (oldOrder.join("\n") !== newOrder.join("\n")) changes.push({ what: `${kind}_order` });
  return changes;
}

function isSame(value: unknown, otherValue: unknown): boolean {
  return writeExactJson(sortKeys(value)) === writeExactJson(sortKeys(otherValue));
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map(sortKeys);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([key], [otherKey]) => (key < otherKey ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  );
}
