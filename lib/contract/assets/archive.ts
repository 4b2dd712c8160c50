// Many assets as one ZIP: which ones are chosen, and the answer that comes before the file itself is fetched.

import { z } from "zod";

/** The most files in one ZIP; a million pictures are not one download. */
export const MOST_ARCHIVED = 10_000;

export const archiveChoiceSchema = z.union([
  z.object({ ids: z.array(z.string().min(1).max(200)).min(1).max(MOST_ARCHIVED) }),
  /** The filters of a list, as they are in its address. */
  z.object({ query: z.string().max(20_000) }),
]);
export type ArchiveChoice = z.infer<typeof archiveChoiceSchema>;

/** `count`: how many files it will hold, if the service counts; `isCut`: more files matched than one ZIP may hold. */
export type ArchiveAnswer = { id: string; count?: number; isCut: boolean };
