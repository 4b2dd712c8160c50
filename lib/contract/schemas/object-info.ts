// The node catalogue: inputs and outputs by class name. An invalid entry must not make the whole catalogue unreadable.

import { z } from "zod";
import { namedSchema, reads } from "./exact";
import { freeForm, loosely } from "./lenient";

export const nodeInfoSchema = z.looseObject({
  input: loosely(z.looseObject({ required: loosely(freeForm), optional: loosely(freeForm), hidden: loosely(freeForm) })),
  input_order: loosely(freeForm),
  output: loosely(z.array(z.unknown())),
  output_is_list: loosely(z.array(z.boolean())),
  output_name: loosely(z.union([z.array(z.string()), z.string()])),
  name: loosely(z.string()),
  display_name: loosely(z.string()),
  description: loosely(z.string()),
  category: loosely(z.string()),
  output_node: loosely(z.boolean()),
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
  reads(z.record(z.string(), nodeInfoSchema.catch({})), z.record(z.string(), exactInfoSchema)),
);
export type ObjectInfo = z.infer<typeof objectInfoSchema>;
