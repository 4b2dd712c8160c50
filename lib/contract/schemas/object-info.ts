// The node catalogue: class name to inputs and outputs. An input is [type, options] or [[choices], options].
// Custom nodes describe themselves freely: one odd entry must not make the whole catalogue unreadable.

import { z } from "zod";
import { freeForm, loosely } from "./lenient";

export const nodeInfoSchema = z.looseObject({
  /** Input name to [type, options], by group; what is no list is a node pack's own. */
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

export const objectInfoSchema = z.record(z.string(), nodeInfoSchema.catch({}));
export type ObjectInfo = z.infer<typeof objectInfoSchema>;
