// A JSON body, bounded in size and depth, read with the contract's schema. A refusal names the field.

import { type z } from "zod";
import { ServiceError } from "../service-error";
import { invalid, toIssues } from "./read-query";

const MOST_JSON_BYTES = 16 * 1024 * 1024;
const DEEPEST_JSON = 100;

/** `emptyAs`: what an absent body means, where it may be absent. */
export async function readJson<S extends z.ZodType>(request: Request, schema: S, emptyAs?: unknown): Promise<z.output<S>> {
  const text = await readText(request, MOST_JSON_BYTES);
  const value = text.trim() === "" && emptyAs !== undefined ? emptyAs : parseJson(text);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid("INVALID_BODY", toIssues(parsed.error));
}

export function parseJson(text: string): unknown {
  if (isDeeperThan(text, DEEPEST_JSON)) throw new ServiceError("INVALID_JSON", `The JSON is nested more than ${DEEPEST_JSON} levels deep.`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ServiceError("INVALID_JSON", text.trim() === "" ? "The body is empty; JSON is expected." : "The body is not JSON.");
  }
}

async function readText(request: Request, mostBytes: number): Promise<string> {
  const tooLarge = () => new ServiceError("FILE_TOO_LARGE", `The body is larger than ${mostBytes} bytes.`);
  const declared = request.headers.get("content-length");
  if (declared !== null) {
    if (Number(declared) > mostBytes) throw tooLarge();
    return request.text(); // the server cuts a body at its declared length
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > mostBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Counts brackets outside texts, before anything is built from them. */
function isDeeperThan(text: string, most: number): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at);
    if (inText) {
      if (letter === BACKSLASH) at += 1;
      else if (letter === QUOTE) inText = false;
    } else if (letter === QUOTE) inText = true;
    else if (letter === 123 || letter === 91) {
      depth += 1;
      if (depth > most) return true;
    } else if (letter === 125 || letter === 93) depth -= 1;
  }
  return false;
}
