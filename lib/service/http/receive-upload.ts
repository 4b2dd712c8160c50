// Receives an upload as its operation's row describes it, within its limits: the file's own, and what the user's quota leaves.
// An upload whose declared length exceeds them is refused unread.

import { z } from "zod";
import { type Operation } from "@/lib/contract/operation";
import { wireFormOf } from "@/lib/contract/schemas/lenient";
import { quotaExceeded, roomFor, usedBytes } from "../assets/quota";
import { type Parts } from "../parts";
import { asRefusal, ServiceError } from "../service-error";
import { type ServiceSettings } from "../settings";
import { parseJson } from "./read-json";
import { invalid, toIssues } from "./read-query";
import { type Fields, readUpload, type Upload } from "./read-upload";
import { type Asked } from "./route";

/** How much the parts around a file may add to the length of a body. */
const MOST_AROUND_A_FILE = 16 * 1024 * 1024;

type UploadOperation = Operation & { body: { kind: "multipart"; fields: z.ZodObject } };
export type UploadCall<O extends UploadOperation> = Pick<Asked, "request" | "bytes" | "user"> & { operation: O };

export async function receiveUpload<O extends UploadOperation>(
  { database, folders, settings }: Parts,
  { operation, request, bytes, user }: UploadCall<O>,
  maxBytes: number,
): Promise<Omit<Upload, "fields"> & { fields: z.output<O["body"]["fields"]> }> {
  const room = await roomFor(database, user.id);
  const beyondQuota = async () => quotaExceeded(await usedBytes(database, user.id), settings.userQuotaBytes ?? 0);
  const least = Number(request.headers.get("content-length") ?? 0) - MOST_AROUND_A_FILE;
  if (least > maxBytes) throw tooLarge(maxBytes);
  if (least > room) throw await beyondQuota();
  try {
    const limits = { maxBytes: Math.min(maxBytes, room), timeoutMs: settings.requestTimeoutMs };
    const upload = await readUpload(request.headers, bytes(), { part: operation.body.file, folder: folders.temp, ...limits });
    try {
      return { ...upload, fields: readFields<O["body"]["fields"]>(upload.fields, operation.body.fields, settings) };
    } catch (error) {
      await upload.staged.dispose();
      throw error;
    }
  } catch (error) {
    throw room < maxBytes && asRefusal(error)?.code === "FILE_TOO_LARGE" ? await beyondQuota() : error;
  }
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError("FILE_TOO_LARGE", `The file is larger than the ${maxBytes} bytes that this service takes.`);
}

// The text parts of an upload, read with its operation's schema. A list is sent as JSON text, as repeated parts or as a comma list; an
// object is JSON text. A blank part counts as absent.
type Limits = Pick<ServiceSettings, "maxJsonDepth">;

function readFields<S extends z.ZodObject>(parts: Fields, schema: S, limits: Limits): z.output<S> {
  const values = Object.entries(schema.shape).map(([name, field]) => [name, valueOf(name, field, parts.get(name) ?? [], limits)] as const);
  const parsed = schema.safeParse(Object.fromEntries(values));
  if (parsed.success) return parsed.data;
  throw invalid("INVALID_BODY", toIssues(parsed.error));
}

function valueOf(name: string, field: z.core.$ZodType, texts: readonly string[], limits: Limits): unknown {
  const inner = field instanceof z.ZodOptional || field instanceof z.ZodDefault ? field.unwrap() : field;
  if (inner instanceof z.ZodArray) return texts.flatMap((text) => readList(name, text, limits));
  const text = texts.find((one) => one.trim() !== "");
  return text !== undefined && wireFormOf(inner)?.kind === "object" ? readJsonPart(name, text, limits) : text;
}

function readList(field: string, text: string, limits: Limits): unknown[] {
  if (text.trim() === "") return [];
  // A text that begins like JSON is JSON: an object or a text in quotes is no comma list.
  if (!/^\s*[[{"]/.test(text)) return text.includes(",") ? splitList(text) : [text];
  const list = readJsonPart(field, text, limits);
  if (!Array.isArray(list)) throw invalid("INVALID_BODY", [{ field, message: "must be a JSON list of texts" }]);
  return list;
}

/** Blanks around the items of a comma list are dropped; a part that is a single tag is kept as it was sent. */
function splitList(text: string): string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

function readJsonPart(field: string, text: string, limits: Limits): unknown {
  try {
    return parseJson(text, limits);
  } catch (error) {
    throw invalid("INVALID_BODY", [{ field, message: asRefusal(error)?.message ?? "is not JSON" }]);
  }
}
