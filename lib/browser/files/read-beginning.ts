// The beginning of a text file, however long the file is.
// Guarantees: says whether there is more; a letter that the bound cuts in two is left out.

import { ok, type Result } from "@/lib/shared/result";
import { type ApiFailure } from "../read-failure";
import { readFirstBytes } from "./first-bytes";

const MOST_BYTES = 64 * 1024;
export type Beginning = { text: string; isWhole: boolean };

export async function readBeginning(src: string): Promise<Result<Beginning, ApiFailure>> {
  const read = await readFirstBytes(src, MOST_BYTES);
  if (!read.ok) return read;
  const { bytes, isWhole } = read.value;
  return ok({ text: new TextDecoder().decode(bytes, { stream: !isWhole }), isWhole });
}
