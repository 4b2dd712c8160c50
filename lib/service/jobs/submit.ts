import { createHash, randomUUID } from "node:crypto";
import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn, isObject } from "@/lib/contract/json/json";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type PromptBody } from "@/lib/contract/schemas/job";
import { getShape, isLink } from "@/lib/contract/workflow/graph";
import { toUuid } from "@/lib/shared/text";
import { findFiles } from "../assets/file-names";
import { isRaster } from "../assets/media-type";
import { type PromptError } from "../nodes/check-inputs";
import { findFileNames, validatePrompt, type Validation } from "../nodes/validate";
import { type Pool, storeNeeds } from "../runners/pool";
import { type Database, query } from "../store/database";
import { type Engine } from "./run/engine";

const secretKeys = new Set(["api_key_comfy_org", "auth_token_comfy_org"]);
const REDACTED = "[REDACTED]";
/** Shorter values cannot be keys, and removing them would break ordinary words. */
const MIN_SECRET_LENGTH = 8;

type Fields = Record<string, unknown>;
type Parts<T> = { prompt: T; graph: T; extra_data: T };

/** Each part as JSON text, ready to be stored. Usually there is no secret, and the values are not searched. */
function toStoredTexts(parts: Parts<Fields>): Parts<string> {
  const texts = mapParts(parts, writeExactJson);
  const hasSecret = Object.values(texts).some((text) => [...secretKeys].some((key) => text.includes(key)));
  if (!hasSecret) return texts;
  // Longest first, because a shorter secret may be the beginning of a longer one.
  const secrets = [...new Set(Object.values(parts).flatMap((part) => [...findSecrets(part)]))].sort((a, b) => b.length - a.length);
  return mapParts(parts, (part) => writeExactJson(redact(part, secrets)));
}

function* findSecrets(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (secretKeys.has(key) && typeof inner === "string" && inner.length >= MIN_SECRET_LENGTH) yield inner;
    else yield* findSecrets(inner);
  }
}

function redact(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return secrets.reduce((text, secret) => text.replaceAll(secret, () => REDACTED), value);
  if (Array.isArray(value))
    return copySpellings(
      value,
      value.map((item) => redact(item, secrets)),
    );
  if (typeof value !== "object" || value === null) return value;
  const publicEntries = Object.entries(value).filter(([key]) => !secretKeys.has(key));
  return copySpellings(value, Object.fromEntries(publicEntries.map(([key, inner]) => [key, redact(inner, secrets)])));
}

function mapParts<A, B>({ prompt, graph, extra_data }: Parts<A>, change: (part: A) => B): Parts<B> {
  return { prompt: change(prompt), graph: change(graph), extra_data: change(extra_data) };
}

const NAMESPACE = Buffer.from("6f1c2b0a8d5e4f7b9a3c1e2d4b6a8c0e", "hex");
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function getWorkflowId(graph: Record<string, unknown>, extraData: Record<string, unknown>): string {
  const id = getField(getField(getField(extraData, "extra_pnginfo"), "workflow"), "id");
  return typeof id === "string" && uuid.test(id)
    ? id.toLowerCase()
    : createNameUuid(writeExactJson(getShape(graph, (_nodeId, _name, value) => isLink(value))));
}

function createNameUuid(name: string): string {
  return toUuid(createHash("sha1").update(NAMESPACE).update(name).digest("hex"), 5);
}

function getField(value: unknown, name: string): unknown {
  return isObject(value) ? getOwn(value, name) : undefined;
}

type AcceptedJob = { ok: true; id: string; seq: number; number: number; needs: number; nodeErrors: NodeErrors };
type RejectedJob = Extract<Validation, { ok: false }>;

export async function submitPrompt(
  stores: { database: Database; pool: Pool; engine: Pick<Engine, "enqueue" | "submitted">; now: () => number },
  userId: number,
  body: PromptBody,
): Promise<AcceptedJob | RejectedJob> {
  const { database, pool } = stores;
  const library = pool.libraries.all();
  const inputFiles = await findFiles(database, userId, findFileNames(body.prompt, library));
  const files = new Map([...inputFiles].map(([name, { media_type }]) => [name, { mediaType: media_type, isImage: isRaster(media_type) }]));
  const validation = validatePrompt(body.prompt, { targets: body.partial_execution_targets, files, library });
  if (!validation.ok) return validation;
  const missingNeeds = pool.missingRequirements(validation.needs);
  if (missingNeeds !== undefined) return { ok: false, error: createNoRunnerError(missingNeeds), nodeErrors: {} };

  // Random from the first character on, because users distinguish jobs by the beginning of their ids.
  const id = randomUUID();
  // ComfyUI stores the client id here; it selects the listeners for the job's messages (GET /ws).
  const clientData = body.extra_data ?? {};
  const extraData = copySpellings(clientData, { ...clientData, ...(body.client_id && { client_id: body.client_id }) });
  const images = validation.images.flatMap((name) => {
    const file = inputFiles.get(name);
    return file ? { name, hash: file.hash } : [];
  });
  const texts = toStoredTexts({ prompt: body.prompt, graph: validation.graph, extra_data: extraData });
  const inputs = {
    ...texts,
    // If the two texts are equal, which is usual, only one is stored.
    graph: texts.graph === texts.prompt ? "" : texts.graph,
    outputs_to_execute: writeExactJson(validation.outputs),
  };
  const workflowId = getWorkflowId(body.prompt, extraData);

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
  pool.addNeeds(accepted.needs, validation.needs);
  stores.engine.submitted(userId, accepted.seq, accepted.needs);
  return { ok: true, id, ...accepted, nodeErrors: validation.nodeErrors };
}

/** Each part is available at some runner, but no runner has all of them. */
function createNoRunnerError(details: string): PromptError {
  return { type: "no_runner", message: "No runner has everything that this workflow needs.", details, extra_info: {} };
}
