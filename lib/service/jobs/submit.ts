// Accepting a graph: validated, its files pinned, its secrets dropped, one durable row. An acknowledged job survives kill -9.

import { randomUUID } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type NodeErrors } from "@/lib/contract/schemas/node-errors";
import { type PromptBody } from "@/lib/contract/schemas/prompt";
import { findByName, findImage } from "../assets/file-names";
import { validatePrompt, type Validation } from "../nodes/validate";
import { type PromptError } from "../nodes/validation/parse-prompt";
import { type Pool, storeNeeds } from "../runners/pool";
import { type Database, query } from "../store/database";
import { toStoredTexts } from "./secrets";
import { workflowIdOf } from "./workflow-id";

export type Accepted = { ok: true; id: string; seq: number; number: number; needs: number; nodeErrors: NodeErrors };
export type Refused = Extract<Validation, { ok: false }>;

export async function submitPrompt(
  stores: { database: Database; pool: Pool; now: () => number },
  userId: number,
  body: PromptBody,
): Promise<Accepted | Refused> {
  const { database, pool } = stores;
  const pinned = new Map<string, string>();
  const hasImage = (name: string, anyKind = false) => {
    if (pinned.has(name)) return true;
    const found = anyKind ? findByName(database, userId, name) : findImage(database, userId, name);
    if (!found || !("hash" in found)) return found ?? false;
    pinned.set(name, found.hash);
    return true;
  };
  const validation = validatePrompt(body.prompt, { targets: body.partial_execution_targets, hasImage, library: pool.libraries.all() });
  if (!validation.ok) return validation;
  const missing = pool.whatIsMissing(validation.needs);
  if (missing !== undefined) return { ok: false, error: noRunner(missing), nodeErrors: {} };

  // Random from its first letter on: people tell jobs apart by the beginning of their ids.
  const id = randomUUID();
  // Where the family keeps it: who shall hear of the job (GET /ws).
  const extraData = { ...body.extra_data, ...(body.client_id && { client_id: body.client_id }) };
  const needed = new Set(validation.images);
  const images = [...pinned].flatMap(([name, hash]) => (needed.has(name) ? { name, hash } : []));
  const texts = toStoredTexts({ prompt: body.prompt, graph: validation.graph, extra_data: extraData });
  const inputs = {
    ...texts,
    // Mostly the same text: then it is stored once.
    graph: texts.graph === texts.prompt ? "" : texts.graph,
    outputs_to_execute: writeExactJson(validation.outputs),
  };
  const workflowId = workflowIdOf(body.prompt, extraData);

  const accepted = await database.commit(() => {
    const at = stores.now();
    const needs = storeNeeds(database, validation.needs);
    const user = database.row(
      query
        .updateTable("users")
        .set(({ eb }) => ({ last_number: eb("last_number", "+", 1) }))
        .where("id", "=", userId)
        .returning("last_number"),
    );
    const number = user?.last_number ?? 1;
    const job = database.row(
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
    database.run(query.insertInto("job_inputs").values({ job_seq: job.seq, ...inputs }));
    for (const image of images) database.run(query.insertInto("job_images").values({ job_seq: job.seq, ...image }));
    return { seq: job.seq, number, needs };
  });
  return { ok: true, id, ...accepted, nodeErrors: validation.nodeErrors };
}

/** Each part is to be had somewhere, and all of them nowhere. */
function noRunner(details: string): PromptError {
  return { type: "no_runner", message: "No runner has everything that this workflow needs.", details, extra_info: {} };
}
