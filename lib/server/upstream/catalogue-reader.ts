// Reads node catalogues, and caches them on disk by content.

import "server-only";
import { createHmac } from "node:crypto";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { operations } from "@/lib/contract/operations";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type DiskCache } from "@/lib/shared/disk-cache";
import { failed, ok } from "@/lib/shared/result";
import { MAX_CATALOGUE_BYTES, type ReadOptions, ResponseTooLargeError } from "./read-body";
import { type ClassIndex, type ResponseReader } from "./response-reader";
import { readBytes } from "./streams";

export type ReadResult<T> = { ok: true; value: T } | { ok: false; reason: string };
/** Parses a JSON response. Throws ResponseTooLargeError. */
export type JsonReader<T> = (response: Response, options: Omit<ReadOptions, "isMasked">, signal: AbortSignal) => Promise<ReadResult<T>>;

export type Catalogue = {
  classes: ClassIndex;
  json: Uint8Array;
  /** Returns the descriptions of these classes, or undefined if they can't be read now. */
  pick(names: readonly string[]): Promise<ObjectInfo | undefined>;
};

const NEWLINE = 10;

type CatalogueReaderOptions = { responseReader: ResponseReader; cache: DiskCache<string>; connectionId: string };

/** Cached by content, because installed files change a catalogue without a new version of the service. */
export function createCatalogueReader({ responseReader, cache, connectionId }: CatalogueReaderOptions): JsonReader<Catalogue> {
  return async (response, options, signal) => {
    // Includes the key, because masking depends on it.
    const contentHash = createHmac("sha256", options.apiKey ?? "");
    const bytes = await readBytes(response.body, MAX_CATALOGUE_BYTES, { signal, onChunk: (chunk) => contentHash.update(chunk) });
    if (!bytes) throw new ResponseTooLargeError();
    const name = ["catalogue", connectionId, contentHash.digest("hex")];
    const cachedResult = await cache.get({ name, caller: { signal } }, async (workSignal) => {
      const result = await responseReader.readJson(bytes, { ...options, isMasked: true, isCatalogue: true }, workSignal);
      return result.ok ? ok(result.json) : failed(result.reason);
    });
    if (!cachedResult.ok) return { ok: false, reason: cachedResult.failure };
    const indexEnd = cachedResult.value.indexOf(NEWLINE);
    const decodeText = (part: Uint8Array) => new TextDecoder().decode(part);
    const json = cachedResult.value.subarray(indexEnd + 1);
    return {
      ok: true,
      value: {
        classes: parseExactJson<ClassIndex>(decodeText(cachedResult.value.subarray(0, indexEnd))),
        json,
        async pick(names) {
          const pickOptions = { ...options, operation: operations.getObjectInfo, isMasked: true, isCatalogue: true };
          const pickedResult = await responseReader.readJson(new Uint8Array(json), pickOptions, signal, names);
          return pickedResult.ok ? parseExactJson<ObjectInfo>(decodeText(pickedResult.json)) : undefined;
        },
      },
    };
  };
}
