// Checks that services on one database store bytes alike: all in a shared place, or a single service in its own data folder.
// Guarantees: a service that starts beside a running one that stores them differently is refused, whichever came first.

import { type BlobSetting } from "@/lib/service/blob-setting";
import { type Questions } from "@/lib/service/store/questions";

const CHANNEL = "where bytes lie";
const kindOf = (blobs: BlobSetting | undefined) => (blobs ? "shared" : "own");

/** To be called before the process is listed: from then on others ask it. */
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
