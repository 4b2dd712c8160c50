// Tags: adding and removing, the list, and the counts beside a filtered view.

import { z } from "zod";
import { tagSchema, tagsSchema } from "./asset";
import { component, count, reads } from "./exact";
import { booleanText, commaList, integerText, maybe, objectText } from "./lenient";

export const tagsBodySchema = z.looseObject({ tags: tagsSchema.min(1) });

const list = z
  .array(z.string())
  .nullish()
  .transform((tags) => tags ?? []);

/** Only total_tags is always there; the others may be absent. */
export const tagChangeSchema = component("TagChange", {
  total_tags: z.array(z.string()),
  added: list,
  removed: list,
  already_present: list,
  not_present: list,
});

export const tagsQuerySchema = z.object({
  prefix: z.string().max(200).optional(),
  limit: integerText({ min: 1, max: 1000 }).default(100),
  offset: integerText({ min: 0 }).default(0),
  order: z.enum(["count_desc", "name_asc"]).default("count_desc"),
  include_zero: booleanText.default(false),
  include_public: booleanText.default(true),
});

export const tagsAnswerSchema = component("TagList", {
  tags: z.array(z.looseObject({ name: z.string(), count: reads(z.number(), count) })),
  total: reads(maybe(z.number()), count),
  has_more: maybe(z.boolean()),
});

export const refineQuerySchema = z.object({
  include_tags: commaList(tagSchema).optional(),
  exclude_tags: commaList(tagSchema).optional(),
  name_contains: z.string().max(500).optional(),
  metadata_filter: objectText.optional(),
  limit: integerText({ min: 1, max: 1000 }).default(100),
  include_public: booleanText.default(true),
});
export const refineAnswerSchema = component("TagCounts", { tag_counts: z.record(z.string(), reads(z.number(), count)) });
