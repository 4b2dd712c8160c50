// Reads a JSON body with the contract's schema, bounded in size, depth and time. A refusal names the field.

import { type z } from "zod";
import { maxExactNumbers, parseExactJson, TooManyExactNumbers } from "@/lib/contract/json/exact-json";
import { yieldInOrder } from "@/lib/shared/async";
import { bodyBounds, exceededBound, LARGE_BODY } from "@/lib/shared/json-depth";
import { asRefusal, ServiceError } from "../service-error";
import { type ServiceSettings } from "../settings";
import { withDeadline } from "./body-time";
import { invalid, toIssues } from "./read-query";

type Limits = Pick<ServiceSettings, "maxJsonBytes" | "maxJsonDepth" | "requestTimeoutMs">;

/** Undefined if there is no body and the schema allows that. */
export async function readJson<S extends z.ZodType>(request: Request, schema: S, limits: Limits): Promise<z.output<S>> {
  const text = await readText(request, limits);
  const rest = () => (text.length > LARGE_BODY ? yieldInOrder() : undefined);
  await rest();
  const isLeftOut = text.trim() === "" && schema.safeParse(undefined).success;
  const value = isLeftOut ? undefined : parseJson(text, limits);
  await rest();
  const parsed = schema.safeParse(value);
  await rest();
  if (parsed.success) return parsed.data;
  throw invalid("INVALID_BODY", toIssues(parsed.error));
}

export function parseJson(text: string, { maxJsonDepth }: Pick<Limits, "maxJsonDepth">): unknown {
  const beyond = exceededBound(text, { depth: maxJsonDepth, ...bodyBounds });
  if (beyond === "depth") throw new ServiceError("INVALID_JSON", `The JSON is nested more than ${maxJsonDepth} levels deep.`);
  if (beyond) throw new ServiceError("INVALID_JSON", `The JSON has more than ${bodyBounds[beyond]} ${beyond}.`);
  try {
    return parseExactJson(text, { most: maxExactNumbers.text });
  } catch (error) {
    if (error instanceof TooManyExactNumbers) throw new ServiceError("INVALID_JSON", error.message);
    throw new ServiceError("INVALID_JSON", text.trim() === "" ? "The body is empty; JSON is expected." : "The body is not JSON.");
  }
}

/** For lists of ids: how many ids a call may have is a setting, so the contract cannot check it. */
export function requireFew(
  field: string,
  ids: readonly string[] | undefined,
  { maxIdsPerCall }: Pick<ServiceSettings, "maxIdsPerCall">,
): void {
  if (ids && ids.length > maxIdsPerCall)
    throw invalid("INVALID_BODY", [{ field, message: `names more than the ${maxIdsPerCall} ids of one call` }]);
}

async function readText(request: Request, { maxJsonBytes, requestTimeoutMs }: Limits): Promise<string> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxJsonBytes) throw tooLarge(maxJsonBytes);
  try {
    // The server cuts a body at its declared length.
    return await withDeadline(declared !== null ? request.text() : gather(request, maxJsonBytes), requestTimeoutMs);
  } catch (error) {
    throw asRefusal(error) ? error : new ServiceError("TRUNCATED_UPLOAD", "The body ended before it was complete.");
  }
}

async function gather(request: Request, mostBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > mostBytes) throw tooLarge(mostBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function tooLarge(mostBytes: number): ServiceError {
  return new ServiceError("FILE_TOO_LARGE", `The body is larger than ${mostBytes} bytes.`);
}
