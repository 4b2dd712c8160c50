// The queue in client responses.

import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { query, type Reader } from "../store/database";
import { inPieces, listText, queuedTexts, together } from "./job-row";

/** The list is cut here; GET /api/prompt counts exactly. */
const MAX_LISTED = 5000;

/** As JSON text in pieces: [position from 1, id, graph, output node ids, { create_time }]; oldest first. */
export async function* listQueue(reader: Reader, userId: number): AsyncIterable<string> {
  const waiting = (state: KnownJobState) =>
    reader.rows(
      query
        .selectFrom("jobs")
        .select(["seq", "id", "create_time"])
        .where("user_id", "=", userId)
        .where("state", "=", state)
        .orderBy("seq")
        .limit(MAX_LISTED),
    );
  const running = await waiting("in_progress");
  const pending = await waiting("pending");
  async function* tuples(jobs: typeof running): AsyncIterable<string> {
    let position = 0;
    for await (const some of together(reader, jobs)) {
      const texts = await queuedTexts(reader, some.map((job) => job.seq)); // prettier-ignore
      for (const { seq, id, create_time } of some) {
        const stored = texts.get(seq);
        // A job that was removed meanwhile is left out; a damaged text is empty.
        if (!stored) continue;
        const { prompt, outputs_to_execute } = stored;
        const parts = [String((position += 1)), writeExactJson(id), prompt ?? "{}", outputs_to_execute ?? "[]"];
        yield listText([...parts, writeExactJson({ create_time })]);
      }
    }
  }
  yield* inPieces('{"queue_running":[', tuples(running), "]");
  yield* inPieces(',"queue_pending":[', tuples(pending), "]}");
}
