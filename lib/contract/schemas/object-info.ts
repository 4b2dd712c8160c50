// The node catalogue: class name to inputs and outputs. An input is [type, options] or [[choices], options].

import { z } from "zod";
import { freeForm, maybe } from "./lenient";

export const inputSpecSchema = z.union([z.tuple([z.union([z.string(), z.array(z.unknown())])]).rest(z.unknown()), z.array(z.unknown())]);

const inputGroup = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((group) => group ?? {});

export const nodeInfoSchema = z.looseObject({
  input: z.looseObject({ required: inputGroup, optional: inputGroup, hidden: inputGroup }).nullish(),
  input_order: maybe(freeForm),
  output: maybe(z.array(z.unknown())),
  output_is_list: maybe(z.array(z.boolean())),
  output_name: maybe(z.union([z.array(z.string()), z.string()])),
  name: maybe(z.string()),
  display_name: maybe(z.string()),
  description: maybe(z.string()),
  category: maybe(z.string()),
  output_node: maybe(z.boolean()),
});
export type NodeInfo = z.infer<typeof nodeInfoSchema>;

export const objectInfoSchema = z.record(z.string(), nodeInfoSchema);
export type ObjectInfo = z.infer<typeof objectInfoSchema>;
