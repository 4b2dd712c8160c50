// One GET of the doctor's.
// Must never: follow a redirect.

import "server-only";
import { INSTALLATION_HEADER } from "../installation";
import { readSeen, type Seen, SEEN_HEADER } from "../seen-request";

const PATIENCE_MS = 5000;

export type Answer = { status: number; installation: string | null; date: string | null; location: string | null; seen: Seen | undefined };

/** Undefined if nothing answers. */
export async function ask(url: string, headers: Record<string, string> = {}): Promise<Answer | undefined> {
  try {
    const answer = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(PATIENCE_MS) });
    await answer.body?.cancel();
    const valueOf = (name: string) => answer.headers.get(name);
    return {
      status: answer.status,
      installation: valueOf(INSTALLATION_HEADER),
      date: valueOf("date"),
      location: valueOf("location"),
      seen: readSeen(valueOf(SEEN_HEADER)),
    };
  } catch {
    return undefined; // reported as no answer
  }
}
