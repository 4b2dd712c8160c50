// User data files: the list and the upload's answer. A local server may list bare names and answer with a bare path.

import { z } from "zod";
import { exactFields, named, reads } from "./exact";
import { anyNumber, booleanText, entries, loosely, moment } from "./lenient";

export const userdataQuerySchema = z.object({
  dir: z.string().max(2000).endsWith("/", "must end with /"),
  recurse: booleanText.default(false),
  split: booleanText.default(false),
  full_info: booleanText.default(true),
});

export const userdataWriteQuerySchema = z.object({ overwrite: booleanText.default(true), full_info: booleanText.default(false) });

const userdataFileSchema = z.looseObject({ path: z.string(), size: loosely(anyNumber), modified: loosely(moment) });
export type UserdataFile = z.infer<typeof userdataFileSchema>;

const bareName = z.string().transform((path): UserdataFile => ({ path, size: undefined, modified: undefined }));
const file = exactFields(userdataFileSchema);
export const userdataListSchema = named(
  "UserFiles",
  reads(entries(z.union([userdataFileSchema, bareName])), z.array(file.extend({ modified: z.number() }))),
);
/** The exact form: only the path if full_info is false. */
export const userdataWriteAnswerSchema = named("WrittenFile", reads(z.union([userdataFileSchema, bareName]), z.union([z.string(), file])));
