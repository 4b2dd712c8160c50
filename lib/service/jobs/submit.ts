import { createHash, randomUUID } from "node:crypto";
import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn, isObject } from "@/lib/contract/json/json";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type PromptBody } from "@/lib/contract/schemas/job";
import { getShape, isLink } from "@/lib/contract/workflow/graph";
import { toUuid } from "@/lib/shared/text";
import { findFilesByName } from "../assets/file-names";
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
type PromptParts<T> = { prompt: T; graph: T; extra_data: T };

/** Writes each part as JSON text with secrets redacted. Usually there are none, so the values are not searched. */
function toStoredTexts(parts: PromptParts<Fields>): PromptParts<string> {
  const texts = mapParts(parts, writeExactJson);
  const hasSecret = Object.values(texts).some((text) => [...secretKeys].some((key) => text.includes(key)));
  if (!hasSecret) return texts;
  // Longest first, because a shorter secret may be a prefix of a longer one.
  const secrets = [...new Set(Object.values(parts).flatMap((part) => [...findSecrets(part)]))].sort((a, b) => b.length - a.length);
  return mapParts(parts, (part) => writeExactJson(redact(part, secrets)));
}

function* findSecrets(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (secretKeys.has(key) && typeof child === "string" && child.length >= MIN_SECRET_LENGTH) yield child;
    else yield* findSecrets(child);
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
  return copySpellings(value, Object.fromEntries(publicEntries.map(([key, child]) => [key, redact(child, secrets)])));
}

function mapParts<A, B>({ prompt, graph, extra_data }: PromptParts<A>, transform: (part: A) => B): PromptParts<B> {
  return { prompt: transform(prompt), graph: transform(graph), extra_data: transform(extra_data) };
}

const UUID_NAMESPACE = Buffer.from("6f1c2b0a8d5e4f7b9a3c1e2d4b6a8c0e", "hex");
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function getWorkflowId(graph: Record<string, unknown>, extraData: Record<string, unknown>): string {
  const id = getField(getField(getField(extraData, "extra_pnginfo"), "workflow"), "id");
  return typeof id === "string" && uuidPattern.test(id)
    ? id.toLowerCase()
    : createNameUuid(writeExactJson(getShape(graph, (_nodeId, _name, value) => isLink(value))));
}

function createNameUuid(name: string): string {
  return toUuid(createHash("sha1").update(UUID_NAMESPACE).update(name).digest("hex"), 5);
}

function getField(value: unknown, name: string): unknown {
  return isObject(value) ? getOwn(value, name) : undefined;
}

type AcceptedJob = { ok: true; id: string; seq: number; number: number; needs: number; nodeErrors: NodeErrors };
type RejectedJob = Extract<Validation, { ok: false }>;

export async function submitPrompt(
  dependencies: { database: Database; pool: Pool; engine: Pick<Engine, "enqueue" | "notifySubmitted">; now: () => number },
  userId: number,
  body: PromptBody,
): Promise<AcceptedJob | RejectedJob> {
  const { database, pool } = dependencies;
  const library = pool.libraries.getMergedLibrary();
  const inputFiles = await findFilesByName(database, userId, findFileNames(body.prompt, library));
  const files = new Map([...inputFiles].map(([name, { media_type }]) => [name, { mediaType: media_type, isImage: isRaster(media_type) }]));
  const validation = validatePrompt(body.prompt, { targets: body.partial_execution_targets, files, library });
  if (!validation.ok) return validation;
  const missingNeeds = pool.describeMissingNeeds(validation.needs);
  if (missingNeeds !== undefined) return { ok: false, error: createNoRunnerError(missingNeeds), nodeErrors: {} };

  // Fully random, because users distinguish jobs by the first characters of their ids.
  const id = randomUUID();
  // ComfyUI stores the client id here. It selects the listeners for the job's messages (GET /ws).
  const clientData = body.extra_data ?? {};
  const extraData = copySpellings(clientData, { ...clientData, ...(body.client_id && { client_id: body.client_id }) });
  const images = validation.images.flatMap((name) => {
    const file = inputFiles.get(name);
    return file ? { name, hash: file.hash } : [];
  });
  const texts = toStoredTexts({ prompt: body.prompt, graph: validation.graph, extra_data: extraData });
  const inputs = {
    ...texts,
    // The two texts are usually equal. If so, store only one.
    graph: texts.graph === texts.prompt ? "" : texts.graph,
    outputs_to_execute: writeExactJson(validation.outputs),
  };
  const workflowId = getWorkflowId(body.prompt, extraData);

  const acceptedJob = await database.commit(async (tx) => {
    const nowMs = dependencies.now();
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
          create_time: nowMs,
          update_time: nowMs,
          state_time: nowMs,
        })
        .returning("seq"),
    );
    if (!job) throw new Error("the job was not inserted");
    await tx.run(query.insertInto("job_inputs").values({ job_seq: job.seq, ...inputs }));
    if (images.length > 0) await tx.run(query.insertInto("job_images").values(images.map((image) => ({ job_seq: job.seq, ...image }))));
    await dependencies.engine.enqueue(tx, userId, job.seq, needs);
    return { seq: job.seq, number, needs };
  });
  pool.addNeeds(acceptedJob.needs, validation.needs);
  dependencies.engine.notifySubmitted(userId, acceptedJob.seq, acceptedJob.needs);
  return { ok: true, id, ...acceptedJob, nodeErrors: validation.nodeErrors };
}

/** Every requirement is met by some runner, but no runner meets all of them. */
function createNoRunnerError(details: string): PromptError {
  return { type: "no_runner", message: "No runner has everything that this workflow needs.", details, extra_info: {} };
}
