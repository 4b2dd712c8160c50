// Reads a multipart body with one file: the file streams to disk while it is hashed, the text parts are gathered, in any order.
// Guarantees: only the text parts are held in memory; a body that ends early, or before its declared length, is TRUNCATED_UPLOAD, one that
// pauses too long REQUEST_TIMEOUT, and neither leaves a file behind. The caller disposes of the staged file.

import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { toPlainLine } from "@/lib/contract/plain-line";
import { type StagedFile, stageStream } from "../assets/staged-file";
import { asRefusal, ServiceError } from "../service-error";
import { asStorageFailure } from "../storage-failure";
import { whileMoving } from "./body-time";

export type Upload = { staged: StagedFile; fileName: string; declaredType: string; fields: Fields };
/** The values of each text part, in order; a part may be repeated. */
export type Fields = ReadonlyMap<string, readonly string[]>;

/** The same as for any name of an asset. */
const LONGEST_NAME = 500;

export async function readUpload(
  headers: Headers,
  bytes: AsyncIterable<Uint8Array> | undefined,
  options: { part: string; folder: string; maxBytes: number; timeoutMs: number },
): Promise<Upload> {
  const type = headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\b/i.test(type)) throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data.");
  if (!bytes) throw missing(options.part);

  const parser = openParser(type);
  const fields = new Map<string, string[]>();
  let file: { staging: Promise<StagedFile>; stream: BusboyFileStream; fileName: string; declaredType: string } | undefined;
  let refusal: unknown;

  parser.on("field", (name, value, nameCut, valueCut) => {
    if (nameCut || valueCut) refusal ??= new ServiceError("INVALID_BODY", `${name}: the part is too long.`, { field: name });
    fields.set(name, [...(fields.get(name) ?? []), value]);
  });
  parser.on("file", (name, stream, fileName, encoding, declaredType) => {
    // Without a listener, an early end would be an uncaught error of the process.
    stream.on("error", () => undefined);
    if (name !== options.part || file) return void stream.resume();
    const problem = problemOf(fileName ?? "", encoding);
    if (problem) refusal ??= new ServiceError("INVALID_BODY", `${name}: ${problem}`, { field: name });
    const staging = stageStream(stream, options);
    staging.catch((error: unknown) => {
      refusal ??= error;
      parser.destroy(error instanceof Error ? error : undefined);
    });
    // Browsers, curl and others write a quote as %22, and encode no other character with a percent sign.
    file = { staging, stream, fileName: toPlainLine((fileName ?? "").replaceAll("%22", '"')), declaredType };
  });
  parser.on("fieldsLimit", () => (refusal ??= new ServiceError("INVALID_BODY", "The body has too many parts.")));

  const counted = countBytes(headers);
  try {
    const finished = once(parser, "finish");
    finished.catch(() => undefined); // the pipeline reports it as well
    await pipeline(counted.pass(whileMoving(bytes, options.timeoutMs)), parser);
    await finished;
    if (!counted.isWhole()) throw truncated();
    if (refusal) throw refusal;
    if (!file) throw missing(options.part);
    const staged = await file.staging;
    // A browser sends this for a file field that was left empty.
    if (file.fileName === "" && staged.size === 0) throw missing(options.part);
    return { staged, fileName: file.fileName || "upload", declaredType: file.declaredType, fields };
  } catch (error) {
    const cause = asRefusal(refusal) || asStorageFailure(refusal) ? refusal : error;
    file?.stream.destroy(error instanceof Error ? error : undefined);
    await file?.staging.then(
      (staged) => staged.dispose(),
      () => undefined, // it left nothing behind
    );
    throw asRefusal(cause) || asStorageFailure(cause) ? cause : truncated();
  }
}

/** A part that is encoded as text (base64) would be stored as that text. */
function problemOf(fileName: string, encoding: string): string | undefined {
  if (!/^(7bit|8bit|binary|identity)$/i.test(encoding.trim()))
    return "Content-Transfer-Encoding: only binary is taken; the file must be sent as it is.";
  return fileName.length > LONGEST_NAME ? `the name of the file is longer than ${LONGEST_NAME} characters.` : undefined;
}

function openParser(type: string) {
  try {
    return new Busboy({ headers: { "content-type": type }, limits: { fields: 500, fieldSize: 1024 * 1024, files: 20, headerPairs: 100 } });
  } catch {
    throw new ServiceError("INVALID_BODY", "The multipart body names no boundary.");
  }
}

function countBytes(headers: Headers) {
  const declared = headers.get("content-length");
  let seen = 0;
  return {
    isWhole: () => declared === null || Number(declared) === seen,
    async *pass(source: AsyncIterable<Uint8Array>) {
      for await (const chunk of source) {
        seen += chunk.byteLength;
        yield chunk;
      }
    },
  };
}

function truncated(): ServiceError {
  return new ServiceError("TRUNCATED_UPLOAD", "The upload ended before it was complete. Nothing of it was kept.");
}

function missing(part: string): ServiceError {
  return new ServiceError("MISSING_FILE", `${part}: the body holds no file of this name.`, { field: part });
}
