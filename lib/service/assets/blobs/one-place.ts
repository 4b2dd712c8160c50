// Services on one database keep bytes alike: in a place that all share, or, where there is one alone, in its data folder.
// Guarantees: one that starts beside another that does otherwise is refused in words, whichever of them came first.

import { type BlobSetting } from "@/lib/service/blob-setting";
import { type Questions } from "@/lib/service/store/questions";

const CHANNEL = "where bytes lie";
const kindOf = (blobs: BlobSetting | undefined) => (blobs ? "shared" : "own");

/** Before it is listed: from then on it is asked. */
export function tellPlace(questions: Questions, blobs: BlobSetting | undefined): void {
  questions.answer(CHANNEL, () => Promise.resolve(kindOf(blobs)));
}

export async function requireSamePlace(questions: Questions, blobs: BlobSetting | undefined): Promise<void> {
  const others = await questions.ask(CHANNEL, null);
  if (others.every((kind) => kind === kindOf(blobs))) return;
  throw new Error(
    blobs
      ? "Another service runs on the database of DATABASE_URL and keeps its files in its own data folder, where this one would miss them. Stop it, bring its files to one place for all (npm run copy-blobs), and start both with the same LIGHTDESK_BLOBS."
      : "Another service runs on the database of DATABASE_URL and keeps its files where its LIGHTDESK_BLOBS says. Start this one with the same LIGHTDESK_BLOBS.",
  );
}
