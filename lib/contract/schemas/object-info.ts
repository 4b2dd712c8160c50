// The node catalogue: inputs and outputs by class name. An invalid entry must not make the entire catalogue unreadable.

import { z } from "zod";
import { namedSchema, withExactSchema } from "./exact";
import { freeForm, lenientOptional } from "./lenient";

export const nodeInfoSchema = z.looseObject({
  input: lenientOptional(
    z.looseObject({ required: lenientOptional(freeForm), optional: lenientOptional(freeForm), hidden: lenientOptional(freeForm) }),
  ),
  input_order: lenientOptional(freeForm),
  output: lenientOptional(z.array(z.unknown())),
  output_is_list: lenientOptional(z.array(z.boolean())),
  output_name: lenientOptional(z.union([z.array(z.string()), z.string()])),
  name: lenientOptional(z.string()),
  display_name: lenientOptional(z.string()),
  description: lenientOptional(z.string()),
  category: lenientOptional(z.string()),
  output_node: lenientOptional(z.boolean()),
});
export type NodeInfo = z.infer<typeof nodeInfoSchema>;

const specsSchema = z.record(z.string(), z.array(z.unknown()));
const namesSchema = z.array(z.string());
const exactInfoSchema = z.looseObject({
  input: z.object({ required: specsSchema, optional: specsSchema.optional(), hidden: freeForm.optional() }),
  input_order: z.object({ required: namesSchema, optional: namesSchema.optional(), hidden: namesSchema.optional() }),
  is_input_list: z.boolean(),
  output: namesSchema,
  output_is_list: z.array(z.boolean()),
  output_name: namesSchema,
  name: z.string(),
  display_name: z.string(),
  description: z.string(),
  category: z.string(),
  output_node: z.boolean(),
  deprecated: z.boolean().optional(),
});

export const objectInfoSchema = namedSchema(
  "NodeLibrary",
  withExactSchema(z.record(z.string(), nodeInfoSchema.catch({})), z.record(z.string(), exactInfoSchema)),
);
export type ObjectInfo = z.infer<typeof objectInfoSchema>;
