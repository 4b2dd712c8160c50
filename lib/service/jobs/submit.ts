// Accepts a graph: validates it, pins its files, drops its secrets, writes one durable row. An acknowledged job survives kill -9.

import { randomUUID } from "node:crypto";
import { withSpellingsOf, writeExactJson } from "@/lib/contract/json/exact-json";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type PromptBody } from "@/lib/contract/schemas/queue";
import { findFiles } from "../assets/file-names";
import { isRaster } from "../assets/media-type";
import { fileNamesIn, validatePrompt, type Validation } from "../nodes/validate";
import { type PromptError } from "../nodes/validation/parse-prompt";
import { type Pool, storeNeeds } from "../runners/pool";
import { type Database, query } from "../store/database";
import { type Engine } from "./run/engine";
import { toStoredTexts } from "./secrets";
import { workflowIdOf } from "./workflow-id";

export type Accepted = { ok: true; id: string; seq: number; number: number; needs: number; nodeErrors: NodeErrors };
export type Refused = Extract<Validation, { ok: false }>;

export async function submitPrompt(
  stores: { database: Database; pool: Pool; engine: Pick<Engine, "enqueue">; now: () => number },
  userId: number,
  body: PromptBody,
): Promise<Accepted | Refused> {
  const { database, pool } = stores;
  const library = pool.libraries.all();
  const found = await findFiles(database, userId, fileNamesIn(body.prompt, library));
  const files = new Map([...found].map(([name, { media_type }]) => [name, { mediaType: media_type, isImage: isRaster(media_type) }]));
  const validation = validatePrompt(body.prompt, { targets: body.partial_execution_targets, files, library });
  if (!validation.ok) return validation;
  const missing = pool.whatIsMissing(validation.needs);
  if (missing !== undefined) return { ok: false, error: noRunner(missing), nodeErrors: {} };

  // Random from the first character on: users tell jobs apart by the beginning of their ids.
  const id = randomUUID();
  // The family keeps the client's id here; it says which listeners get the job's messages (GET /ws).
  const sent = body.extra_data ?? {};
  const extraData = withSpellingsOf(sent, { ...sent, ...(body.client_id && { client_id: body.client_id }) });
  const images = validation.images.flatMap((name) => {
    const file = found.get(name);
    return file ? { name, hash: file.hash } : [];
  });
  const texts = toStoredTexts({ prompt: body.prompt, graph: validation.graph, extra_data: extraData });
  const inputs = {
    ...texts,
    // Usually the two texts are equal; then it is stored once.
    graph: texts.graph === texts.prompt ? "" : texts.graph,
    outputs_to_execute: writeExactJson(validation.outputs),
  };
  const workflowId = workflowIdOf(body.prompt, extraData);

  const accepted = await database.commit(async (tx) => {
    const at = stores.now();
    const needs = await storeNeeds(tx, validation.needs);
    const user = await tx.row(
      query
        .updateTable("users")
        .set(({ eb }) => ({ last_number: eb("last_number", "+", 1) }))
        .where("id", "=", userId)
        .returning("last_number"),
    );
    const number = user?.last_number ?? 1;
    const job = await tx.row(
      query
        .insertInto("jobs")
        .values({
          id,
          user_id: userId,
          state: "pending",
          needs,
          number,
          workflow_id: workflowId,
          create_time: at,
          update_time: at,
          state_time: at,
        })
        .returning("seq"),
    );
    if (!job) throw new Error("the job was not inserted");
    await tx.run(query.insertInto("job_inputs").values({ job_seq: job.seq, ...inputs }));
    if (images.length > 0) await tx.run(query.insertInto("job_images").values(images.map((image) => ({ job_seq: job.seq, ...image }))));
    await stores.engine.enqueue(tx, userId, job.seq, needs);
    return { seq: job.seq, number, needs };
  });
  pool.learn(accepted.needs, validation.needs);
  return { ok: true, id, ...accepted, nodeErrors: validation.nodeErrors };
}

/** Each part is available at some runner, but no runner has all of them. */
function noRunner(details: string): PromptError {
  return { type: "no_runner", message: "No runner has everything that this workflow needs.", details, extra_info: {} };
}
