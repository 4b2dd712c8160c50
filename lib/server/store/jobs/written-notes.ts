// What was last written about each job, so that an answer that is polled by many is not compared with the database each time.
// Guarantees: bounded, and trusted only for minutes, because another process may have removed a row meanwhile.

import "server-only";
import { createHash } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { createLru } from "@/lib/shared/lru";

type Note = { jobId: string; inputs?: string };

const MOST_CHARACTERS = 500;
const BELIEVED_MS = 5 * 60_000;

export function createWrittenNotes(now: () => number = Date.now) {
  const written = createLru<string, { content: string; atMs: number }>({ max: 10_000 });
  const nameOf = (number: number, { jobId }: Note) => `${number} ${jobId}`;

  return {
    /** Notes that contain something not written recently. */
    news<T extends Note>(number: number, notes: readonly T[]): T[] {
      return notes.filter((note) => {
        const known = written.get(nameOf(number, note));
        return !known || now() - known.atMs > BELIEVED_MS || known.content !== contentOf(note);
      });
    },

    /** What was written is not compared again. */
    keep(number: number, note: Note): void {
      const name = nameOf(number, note);
      // Inputs are sent only once.
      if (note.inputs !== undefined) written.delete(name);
      else written.set(name, { content: contentOf(note), atMs: now() });
    },

    /** Rows were removed: notes about them must be written again. */
    forget: () => written.clear(),
  };
}

/** Hashed where it is long, as a job's error may be. */
function contentOf(note: Note): string {
  const text = writeExactJson(note);
  return text.length <= MOST_CHARACTERS ? text : createHash("sha256").update(text).digest("base64");
}
