// What was last written of each job, so that an answer that is read again and again (a list that is polled by many) is not looked up again.
// Guarantees: bounded, and believed for minutes only, since another process may have removed a row meanwhile.

import "server-only";
import { createHash } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";

type Note = { jobId: string; inputs?: string };

const MOST = 10_000;
const BELIEVED_MS = 5 * 60_000;

export function createWrittenNotes(now: () => number = Date.now) {
  const written = new Map<string, { hash: string; atMs: number }>();
  const nameOf = (number: number, { jobId }: Note) => `${number} ${jobId}`;

  return {
    /** Those that say anything that was not written a while ago. */
    news<T extends Note>(number: number, notes: readonly T[]): T[] {
      return notes.filter((note) => {
        const known = written.get(nameOf(number, note));
        return !known || now() - known.atMs > BELIEVED_MS || known.hash !== hashOf(note);
      });
    },

    /** Of a job whose inputs are known: nothing is left to be read of it. */
    keep(number: number, note: Note): void {
      const name = nameOf(number, note);
      written.delete(name);
      // A text of inputs comes once.
      if (note.inputs !== undefined) return;
      for (const oldest of written.size < MOST ? [] : [written.keys().next().value ?? name]) written.delete(oldest);
      written.set(name, { hash: hashOf(note), atMs: now() });
    },

    /** Rows were removed: whatever is told of them again has to be written again. */
    forget: () => written.clear(),
  };
}

/** A job's error may be long. */
function hashOf(note: Note): string {
  return createHash("sha256").update(writeExactJson(note)).digest("base64");
}
