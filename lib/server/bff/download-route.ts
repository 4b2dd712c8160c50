// POST /api/assets/download: the interface's own operation; if the service answers with a task, the console lists it as a download.
// Guarantees: the answer is the service's own. Must never: fail a download because its record could not be written.

import "server-only";
import { randomUUID } from "node:crypto";
import { maskedAddress } from "@/lib/contract/assets/file-refs";
import { parseJson } from "@/lib/contract/json/parse-json";
import { operations } from "@/lib/contract/operations";
import { downloadBodySchema, taskStartedSchema } from "@/lib/contract/schemas/asset";
import { ok } from "@/lib/shared/result";
import { findConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { runOperation } from "../operations/run-operation";
import { connectionIn, readWhole } from "../requests/read-request";
import { sealRequest } from "../tasks/sealed-request";
import { guarded, type Handler } from "./guard";

export function downloadRoute(): Handler {
  const { downloadAsset } = operations;
  return guarded({ action: downloadAsset.name, role: downloadAsset.role, connection: true }, async (asked) => {
    const sent = await readWhole(asked);
    if (!sent.ok) return sent;
    const { url, headers, signal } = asked.request;
    const request = new Request(url, { method: "POST", headers, signal, body: sent.value });
    const result = await runOperation(downloadAsset, { ...asked, request }, ok({}));
    if (!result.ok || result.value.status !== 202) return result;
    try {
      await keep(asked, parseJson(new TextDecoder().decode(sent.value)), await result.value.clone().json());
    } catch (err) {
      asked.composition.log.error({ err, requestId: asked.requestId }, "a download was started and could not be kept in sight");
    }
    return result;
  });
}

async function keep({ request, ...context }: AuthedContext, sent: unknown, answered: unknown): Promise<void> {
  const body = downloadBodySchema.parse(sent);
  const { task_id: taskId, status } = taskStartedSchema.parse(answered);
  const connection = await findConnection(context, connectionIn(request));
  if (!connection.ok) return;
  const id = randomUUID();
  await context.composition.store.downloadTasks.add({
    id,
    connectionId: connection.value.id,
    memberId: context.viewer.memberId,
    taskId,
    source: maskedAddress(body.source_url),
    sealed: sealRequest(context.composition.ring, id, body),
    word: status.slice(0, 100),
    now: context.composition.now(),
  });
}
