// Many assets as one ZIP: what is chosen, and what is answered before the file itself is fetched.

import { z } from "zod";

/** What one file may hold; a wall of a million pictures is not one download. */
export const MOST_ARCHIVED = 10_000;

export const archiveChoiceSchema = z.union([
  z.object({ ids: z.array(z.string().min(1).max(200)).min(1).max(MOST_ARCHIVED) }),
  /** The filters of a list, as they are in its address. */
  z.object({ query: z.string().max(20_000) }),
]);
export type ArchiveChoice = z.infer<typeof archiveChoiceSchema>;

/** `count`: files that it will hold, where the service counts; `isCut`: more matched than one file may hold. */
export type ArchiveAnswer = { id: string; count?: number; isCut: boolean };
