import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { z } from "zod";
import { type Operation } from "@/lib/contract/operation";
import { toPlainLine } from "@/lib/contract/plain-line";
import { getWireForm } from "@/lib/contract/schemas/lenient";
import { createQuotaExceededError, getRemainingQuota, readUsedBytes } from "../assets/quota";
import { type StagedFile, stageStream } from "../assets/staged-file";
import { ServiceError, toErrorBody, toStorageFailure } from "../service-error";
import { type ServiceSettings } from "../settings";
import { createInvalidRequestError, parseJson, toIssues, withIdleTimeout } from "./read-json";
import { type RequestContext, type RouteDependencies } from "./route";

type Upload = { staged: StagedFile; fileName: string; declaredType: string; fields: Fields };
type Fields = ReadonlyMap<string, readonly string[]>;

const MAX_NAME_LENGTH = 500;

async function readUpload(
  headers: Headers,
  bytes: AsyncIterable<Uint8Array> | undefined,
  options: { partName: string; fieldNames: readonly string[]; folder: string; maxBytes: number; timeoutMs: number },
): Promise<Upload> {
  const contentType = headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\b/i.test(contentType))
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data.");
  if (!bytes) throw createMissingFileError(options.partName);

  const parser = createParser(contentType);
  const fields = new Map<string, string[]>();
  let file: { staging: Promise<StagedFile>; stream: BusboyFileStream; fileName: string; declaredType: string } | undefined;
  let textLength = 0;
  let uploadError: unknown;

  parser.on("field", (name, value, isNameTruncated, isValueTruncated) => {
    if (isNameTruncated || isValueTruncated)
      uploadError ??= new ServiceError("INVALID_BODY", `${name}: the part is too long.`, { field: name });
    if (!options.fieldNames.includes(name)) return;
    textLength += value.length;
    if (textLength > MAX_FORM_OVERHEAD_BYTES) uploadError ??= new ServiceError("INVALID_BODY", "The text fields are too long in total.");
    else fields.set(name, [...(fields.get(name) ?? []), value]);
  });
  parser.on("file", (name, stream, fileName, encoding, declaredType) => {
    // Without a listener, an early end would be an uncaught error.
    stream.on("error", () => undefined);
    if (name !== options.partName || file) return void stream.resume();
    const problem = findPartProblem(fileName ?? "", encoding);
    if (problem) uploadError ??= new ServiceError("INVALID_BODY", `${name}: ${problem}`, { field: name });
    const staging = stageStream(stream, options);
    staging.catch((error: unknown) => {
      uploadError ??= error;
      parser.destroy(error instanceof Error ? error : undefined);
    });
    // Clients write a quote as %22, and percent-encode no other character.
    file = { staging, stream, fileName: toPlainLine((fileName ?? "").replaceAll("%22", '"')), declaredType };
  });
  parser.on("fieldsLimit", () => (uploadError ??= new ServiceError("INVALID_BODY", "The body has too many parts.")));

  const counter = countBytes(headers);
  try {
    const finishEvent = once(parser, "finish");
    finishEvent.catch(() => undefined); // the pipeline reports it as well
    await pipeline(counter.countChunks(withIdleTimeout(bytes, options.timeoutMs)), parser);
    await finishEvent;
    if (!counter.isComplete()) throw createTruncatedUploadError();
    if (uploadError) throw uploadError;
    if (!file) throw createMissingFileError(options.partName);
    const staged = await file.staging;
    // Browsers send this for a file field that was left empty.
    if (file.fileName === "" && staged.size === 0) throw createMissingFileError(options.partName);
    return { staged, fileName: file.fileName || "upload", declaredType: file.declaredType, fields };
  } catch (error) {
    const cause = toErrorBody(uploadError) || toStorageFailure(uploadError) ? uploadError : error;
    file?.stream.destroy(error instanceof Error ? error : undefined);
    await file?.staging.then(
      (staged) => staged.dispose(),
      () => undefined, // a failed staging removes its own file
    );
    throw toErrorBody(cause) || toStorageFailure(cause) ? cause : createTruncatedUploadError();
  }
}

/** A base64-encoded part would be stored in its encoded form. */
function findPartProblem(fileName: string, encoding: string): string | undefined {
  if (!/^(7bit|8bit|binary|identity)$/i.test(encoding.trim())) return "Content-Transfer-Encoding must be binary: send the file unencoded.";
  return fileName.length > MAX_NAME_LENGTH ? `the name of the file is longer than ${MAX_NAME_LENGTH} characters.` : undefined;
}

function createParser(contentType: string) {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: { fields: 500, fieldSize: 1024 * 1024, files: 20, headerPairs: 100 },
    });
  } catch {
    throw new ServiceError("INVALID_BODY", "The multipart body has no boundary.");
  }
}

function countBytes(headers: Headers) {
  const declaredLength = headers.get("content-length");
  let bytesReceived = 0;
  return {
    isComplete: () => declaredLength === null || Number(declaredLength) === bytesReceived,
    async *countChunks(source: AsyncIterable<Uint8Array>) {
      for await (const chunk of source) {
        bytesReceived += chunk.byteLength;
        yield chunk;
      }
    },
  };
}

function createTruncatedUploadError(): ServiceError {
  return new ServiceError("TRUNCATED_UPLOAD", "The upload ended before it was complete. Nothing was stored.");
}

function createMissingFileError(partName: string): ServiceError {
  return new ServiceError("MISSING_FILE", `${partName}: the body contains no file with this name.`, { field: partName });
}

const MAX_FORM_OVERHEAD_BYTES = 16 * 1024 * 1024;

type UploadOperation = Operation & { body: { kind: "multipart"; fields: z.ZodObject } };
export type UploadCall<O extends UploadOperation> = Pick<RequestContext, "request" | "bytes" | "user"> & { operation: O };

export async function receiveUpload<O extends UploadOperation>(
  { database, folders, settings }: RouteDependencies,
  { operation, request, bytes, user }: UploadCall<O>,
  maxBytes: number,
): Promise<Omit<Upload, "fields"> & { fields: z.output<O["body"]["fields"]> }> {
  const remainingBytes = await getRemainingQuota(database, user.id);
  const readQuotaError = async () => createQuotaExceededError(await readUsedBytes(database, user.id), settings.userQuotaBytes ?? 0);
  const minFileBytes = Number(request.headers.get("content-length") ?? 0) - MAX_FORM_OVERHEAD_BYTES;
  if (minFileBytes > maxBytes) throw createFileTooLargeError(maxBytes);
  if (minFileBytes > remainingBytes) throw await readQuotaError();
  try {
    const limits = { maxBytes: Math.min(maxBytes, remainingBytes), timeoutMs: settings.requestTimeoutMs };
    const fieldNames = Object.keys(operation.body.fields.shape);
    const options = { partName: operation.body.file, fieldNames, folder: folders.temp, ...limits };
    const upload = await readUpload(request.headers, bytes(), options);
    try {
      return { ...upload, fields: readFields<O["body"]["fields"]>(upload.fields, operation.body.fields, settings) };
    } catch (error) {
      await upload.staged.dispose();
      throw error;
    }
  } catch (error) {
    throw remainingBytes < maxBytes && toErrorBody(error)?.code === "FILE_TOO_LARGE" ? await readQuotaError() : error;
  }
}

function createFileTooLargeError(maxBytes: number): ServiceError {
  return new ServiceError("FILE_TOO_LARGE", `The file is larger than the ${maxBytes} bytes that this service accepts.`);
}

// Reads text parts with the operation's schema. A list is JSON, repeated parts or comma-separated; an object is JSON.
type Limits = Pick<ServiceSettings, "maxJsonDepth">;

function readFields<S extends z.ZodObject>(fields: Fields, schema: S, limits: Limits): z.output<S> {
  const values = Object.entries(schema.shape).map(
    ([name, field]) => [name, parseField(name, field, fields.get(name) ?? [], limits)] as const,
  );
  const result = schema.safeParse(Object.fromEntries(values));
  if (result.success) return result.data;
  throw createInvalidRequestError("INVALID_BODY", toIssues(result.error));
}

function parseField(name: string, field: z.core.$ZodType, texts: readonly string[], limits: Limits): unknown {
  const innerField = field instanceof z.ZodOptional || field instanceof z.ZodDefault ? field.unwrap() : field;
  if (innerField instanceof z.ZodArray) return texts.flatMap((text) => parseList(name, text, limits));
  const text = texts.find((text) => text.trim() !== "");
  return text !== undefined && getWireForm(innerField)?.kind === "object" ? readJsonPart(name, text, limits) : text;
}

function parseList(field: string, text: string, limits: Limits): unknown[] {
  if (text.trim() === "") return [];
  // Text that begins like JSON is parsed as JSON, not as a comma-separated list.
  if (!/^\s*[[{"]/.test(text)) return text.includes(",") ? splitList(text) : [text];
  const list = readJsonPart(field, text, limits);
  if (!Array.isArray(list)) throw createInvalidRequestError("INVALID_BODY", [{ field, message: "must be a JSON list of strings" }]);
  return list;
}

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
    throw createInvalidRequestError("INVALID_BODY", [{ field, message: toErrorBody(error)?.message ?? "is not JSON" }]);
  }
}
