// Tags: adding and removing, the list, and the counts beside a filtered view.

import { z } from "zod";
import { tagSchema, tagsSchema } from "./asset";
import { component, count, reads } from "./exact";
import {
  anyCount,
  booleanText,
  commaList,
  entries,
  entriesById,
  integerText,
  loosely,
  objectText,
  texts,
  unreadableCount,
} from "./lenient";

export const tagsBodySchema = z.looseObject({ tags: tagsSchema.min(1) });

/** Only total_tags is always there; the others may be absent. */
export const tagChangeSchema = component("TagChange", {
  total_tags: entries(z.string()),
  added: texts,
  removed: texts,
  already_present: texts,
  not_present: texts,
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
  tags: entries(z.looseObject({ name: z.string(), count: anyCount })),
  total: reads(loosely(anyCount), count),
  has_more: loosely(z.boolean()),
  unreadable: unreadableCount,
});

export const refineQuerySchema = z.object({
  include_tags: commaList(tagSchema).optional(),
  exclude_tags: commaList(tagSchema).optional(),
  name_contains: z.string().max(500).optional(),
  metadata_filter: objectText.optional(),
  limit: integerText({ min: 1, max: 1000 }).default(100),
  include_public: booleanText.default(true),
});
export const refineAnswerSchema = component("TagCounts", { tag_counts: entriesById(anyCount), unreadable: unreadableCount });
