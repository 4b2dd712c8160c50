// The queue, the history, and interrupting what runs.

import { operations } from "@/lib/contract/operations";
import { type ManageBody } from "@/lib/contract/schemas/queue";
import { listHistory, listOlderHistory, manageHistory, toHistoryEntry, toOlderEntry } from "../jobs/history/history";
import { findJob } from "../jobs/job-row";
import { listQueue, manageQueue } from "../jobs/queue-view";
import { objectText } from "../jobs/stored-texts";
import { type Parts } from "../parts";
import { ServiceError } from "../service-error";
import { empty, json, jsonPieces, jsonText } from "./answers";
import { requireFew } from "./read-json";
import { type Route, route } from "./route";

export function queueRoutes(parts: Parts): Route[] {
  const { database, engine } = parts;

  async function withFewIds(read: () => Promise<ManageBody>): Promise<ManageBody> {
    const body = await read();
    requireFew("delete", body.delete, parts.settings);
    return body;
  }

  /** Keyed by the job's id. */
  function readEntry(userId: number, id: string, toText: typeof toHistoryEntry): Promise<Record<string, string> | undefined> {
    return database.reading(async (reader) => {
      const job = await findJob(reader, userId, id);
      const text = job && (await toText(reader, job));
      return job && text !== undefined ? { [job.id]: text } : undefined;
    });
  }

  return [
    route(operations.listQueue, ({ user }) => jsonPieces(listQueue(database, user.id))),
    route(operations.manageQueue, async ({ body, user }) => {
      const changed = await manageQueue(parts, user.id, await withFewIds(body));
      parts.events.queueChanged(user.id);
      return json(changed);
    }),

    route(operations.listHistory, async ({ query, user }) => jsonPieces(await listHistory(database, user.id, query()))),
    route(operations.manageHistory, async ({ body, user }) =>
      json({ code: "OK", message: await manageHistory(parts, user.id, await withFewIds(body)) }),
    ),
    route(operations.getHistoryEntry, async (call) => {
      const entry = await readEntry(call.user.id, call.param("job_id"), toHistoryEntry);
      if (!entry) throw new ServiceError("NOT_FOUND", "This job is not in the history.");
      return jsonText(objectText({}, entry));
    }),

    route(operations.listOlderHistory, async ({ query, user }) => jsonPieces(await listOlderHistory(database, user.id, query()))),
    route(operations.getOlderHistoryEntry, async (call) =>
      jsonText(objectText({}, (await readEntry(call.user.id, call.param("job_id"), toOlderEntry)) ?? {})),
    ),

    route(operations.interrupt, async ({ body, user }) => {
      const { prompt_id } = (await body()) ?? {};
      if (prompt_id !== undefined && !(await findJob(database, user.id, prompt_id)))
        throw new ServiceError("NOT_FOUND", "There is no such job.");
      await engine.cancelRunning(user.id, prompt_id === undefined ? undefined : [prompt_id]);
      return empty(200);
    }),
  ];
}
