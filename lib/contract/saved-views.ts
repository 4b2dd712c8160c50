// Saved views of lists: each is a name and the query of an address.
// Guarantees: a view holds nothing but the query, and says who may change it. Schemas are for the server; components import the types only.

import { z } from "zod";

export const viewScreens = ["jobs", "assets"] as const;
export type ViewScreen = (typeof viewScreens)[number];

export type SavedView = {
  id: string;
  name: string;
  /** The address's query, without the question mark; empty for the bare list. */
  query: string;
  /** Visible to all members. */
  team: boolean;
  /** The list opens with it, for the member who asks. */
  isDefault: boolean;
  canChange: boolean;
};

const queryText = z.string().max(2_000);
export const savedViewBodySchema = z.object({
  screen: z.enum(viewScreens).default("jobs"),
  name: z.string().trim().min(1).max(80),
  query: queryText,
  team: z.boolean().default(false),
  isDefault: z.boolean().default(false),
});
export const savedViewsQuerySchema = z.object({ screen: z.enum(viewScreens).default("jobs") });
/** Absent fields stay as they are. */
export const savedViewChangeSchema = z.object({
  name: z.string().trim().min(1).max(80).optional(),
  query: queryText.optional(),
  isDefault: z.boolean().optional(),
});
