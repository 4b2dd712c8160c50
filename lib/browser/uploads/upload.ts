// Uploads files and reports progress. Uses XMLHttpRequest, because fetch reports no upload progress. Never retries.

import { parseExactJson } from "@/lib/contract/json/parse-json";
import { ACTION_HEADER } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type ApiFailure, toFailure } from "../api-failure";
import { parseFailureResponse } from "../parse-response";
import { apiPath } from "../urls";

export type UploadOptions = ({ form: FormData } | { bytes: Blob }) & {
  onProgress?: (progress: number) => void;
  signal?: AbortSignal;
  action?: string;
};

export function upload<T>(path: `/${string}`, { onProgress, signal, action, ...body }: UploadOptions): Promise<Result<T, ApiFailure>> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    const finish = (result: Result<T, ApiFailure>) => {
      signal?.removeEventListener("abort", abort);
      resolve(result);
    };
    request.upload.onprogress = ({ loaded, total, lengthComputable }) => {
      if (lengthComputable && total > 0) onProgress?.(loaded / total);
    };
    request.onload = () => finish(parseResponse<T>(request));
    request.onerror = () => finish(failed(toFailure(new TypeError("network"))));
    request.onabort = () => finish(failed(toFailure(new DOMException("aborted", "AbortError"))));
    request.open("POST", apiPath(path));
    request.setRequestHeader("accept", "application/json");
    if (action !== undefined) request.setRequestHeader(ACTION_HEADER, action);
    if (signal?.aborted) return finish(failed(toFailure(new DOMException("aborted", "AbortError"))));
    signal?.addEventListener("abort", abort);
    if ("bytes" in body) request.setRequestHeader("content-type", "application/octet-stream");
    request.send("bytes" in body ? body.bytes : body.form);
  });
}

function parseResponse<T>(request: XMLHttpRequest): Result<T, ApiFailure> {
  const { status, responseText } = request;
  if (status < 200 || status > 299) return failed(parseFailureResponse(status, request.getResponseHeader("retry-after"), responseText));
  try {
    const value: T = parseExactJson(responseText, { emptyValue: undefined });
    return ok(value);
  } catch {
    // A sign-in or proxy page with status 200, not a response of the console.
    return failed(parseFailureResponse(502, null, ""));
  }
}

export type Speeds = { readonly hash?: number; readonly send?: number };

const MIN_SAMPLE_BYTES = 4 * 1024 * 1024;
const MIN_SAMPLE_MS = 20;
/** Weight of a new sample in the moving average. */
const NEW_SAMPLE_WEIGHT = 0.4;
/** Hashing is always worth this time, because the hash also verifies the uploaded bytes. */
const MAX_FREE_HASH_MS = 1_000;

export function addSample(speeds: Speeds, kind: keyof Speeds, { bytes, ms }: { bytes: number; ms: number }): Speeds {
  if (bytes < MIN_SAMPLE_BYTES || ms < MIN_SAMPLE_MS) return speeds;
  const speed = bytes / ms;
  const previousSpeed = speeds[kind];
  return { ...speeds, [kind]: previousSpeed === undefined ? speed : previousSpeed + (speed - previousSpeed) * NEW_SAMPLE_WEIGHT };
}

export function isWorthHashing(bytes: number, { hash, send }: Speeds): boolean {
  if (hash === undefined || send === undefined) return true;
  return bytes / hash <= MAX_FREE_HASH_MS || hash > send;
}

export function getMaxHashBytes({ hash, send }: Speeds): number | undefined {
  return hash === undefined || send === undefined || hash > send ? undefined : Math.round(hash * MAX_FREE_HASH_MS);
}
