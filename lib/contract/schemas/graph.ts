// The prompt graph ("API format"): nodes by id, each with a class and inputs that are literals or links.

import { z } from "zod";
import { freeForm, lenientOptional } from "./lenient";

export type Link = [string, number];

export const graphNodeSchema = z.looseObject({
  class_type: z.string(),
  inputs: freeForm.default({}),
  _meta: lenientOptional(z.looseObject({ title: lenientOptional(z.string()) })),
});
export type GraphNode = z.infer<typeof graphNodeSchema>;

export const graphSchema = z.record(z.string(), graphNodeSchema);
export type Graph = z.infer<typeof graphSchema>;
