// The queue, the history, and interrupting what runs.

import { z } from "zod";
import { operations } from "@/lib/contract/operations";
import { historyQuerySchema, type ManageBody, manageBodySchema, olderHistoryQuerySchema } from "@/lib/contract/schemas/queue";
import { listHistory, listOlderHistory, manageHistory, toHistoryEntry, toOlderEntry } from "../jobs/history";
import { findJob } from "../jobs/job-row";
import { listQueue, manageQueue } from "../jobs/queue";
import { objectText } from "../jobs/stored-texts";
import { type Parts } from "../parts";
import { ServiceError } from "../service-error";
import { empty, json, jsonPieces, jsonText } from "./answers";
import { readJson, requireFew } from "./read-json";
import { readQuery } from "./read-query";
import { route, type Route } from "./route";

const interruptBodySchema = z.looseObject({ prompt_id: z.string().nullish() });

export function queueRoutes(parts: Parts): Route[] {
  const { database, engine } = parts;

  async function readManageBody(request: Request): Promise<ManageBody> {
    const body = await readJson(request, manageBodySchema, parts.settings);
    requireFew("delete", body.delete, parts.settings);
    return body;
  }

  return [
    route(operations.listQueue, ({ user }) => jsonPieces(listQueue(database, user.id))),
    route(operations.manageQueue, async ({ request, user }) => {
      const changed = await manageQueue(parts, user.id, await readManageBody(request));
      parts.events.queueChanged(user.id);
      return json(changed);
    }),

    route(operations.listHistory, ({ request, user }) =>
      jsonPieces(listHistory(database, user.id, readQuery(request, historyQuerySchema))),
    ),
    route(operations.manageHistory, async ({ request, user }) => {
      const body = await readManageBody(request);
      return json({ code: "OK", message: await manageHistory(parts, user.id, body) });
    }),
    route(operations.getHistoryEntry, (call) => {
      const job = findJob(database, call.user.id, call.param("job_id"));
      const entry = job && toHistoryEntry(database, job);
      if (!job || !entry) throw new ServiceError("NOT_FOUND", "The history holds no such job.");
      return jsonText(objectText({}, { [job.id]: entry }));
    }),

    route(operations.listOlderHistory, ({ request, user }) =>
      jsonPieces(listOlderHistory(database, user.id, readQuery(request, olderHistoryQuerySchema))),
    ),
    route(operations.getOlderHistoryEntry, (call) => {
      const job = findJob(database, call.user.id, call.param("job_id"));
      const entry = job && toOlderEntry(database, job);
      return jsonText(objectText({}, job && entry ? { [job.id]: entry } : {}));
    }),

    route(operations.interrupt, async ({ request, user }) => {
      const { prompt_id } = await readJson(request, interruptBodySchema, parts.settings, {});
      if (typeof prompt_id === "string" && !findJob(database, user.id, prompt_id))
        throw new ServiceError("NOT_FOUND", "There is no such job.");
      await engine.cancelRunning(user.id, typeof prompt_id === "string" ? [prompt_id] : undefined);
      return empty(200);
    }),
  ];
}
