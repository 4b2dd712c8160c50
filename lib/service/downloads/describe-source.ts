// What a source says of a file before it is fetched. Asks with HEAD; some storages sign their addresses for GET alone, so where HEAD is
// refused the first byte is asked for. Whatever the source does wrong is UNPROCESSABLE; where it may not lead stays UNSUPPORTED_SOURCE.

import { asRefusal, ServiceError } from "../service-error";
import { discard, type OpenedSource, type OpenSource } from "./open-source";
import { isPage, readContentRange, readFileName, readLength } from "./source-headers";

export type SourceDescription = {
  contentLength?: number;
  contentType?: string;
  fileName: string;
  isPage: boolean;
  promisedSha256?: string;
};

const PATIENCE_MS = 20_000;

export async function describeSource(open: OpenSource, url: URL): Promise<SourceDescription> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const wish = { signal, idleMs: PATIENCE_MS };
  try {
    const byHead = await open(url, { ...wish, method: "HEAD", stopsAtPromise: true }).catch((error: unknown) => {
      const code = asRefusal(error)?.code;
      if (code !== "FORBIDDEN" && code !== "UNPROCESSABLE") throw error;
    });
    return toDescription(byHead ?? (await open(url, { ...wish, method: "GET", range: "bytes=0-0" })), url);
  } catch (error) {
    const refusal = asRefusal(error);
    if (refusal?.code === "UNSUPPORTED_SOURCE") throw error;
    if (refusal) throw new ServiceError("UNPROCESSABLE", refusal.message);
    if (signal.aborted) throw new ServiceError("UNPROCESSABLE", "The source gave no answer.");
    throw error;
  }
}

function toDescription({ status, headers, promisedSha256, body }: OpenedSource, url: URL): SourceDescription {
  discard(body);
  const length =
    status === 200 ? readLength(headers) : status === 206 ? readContentRange(headers)?.total : readLength(headers, "x-linked-size");
  const type = status === 200 || status === 206 ? headers["content-type"] : undefined;
  return {
    fileName: readFileName(headers, url),
    isPage: type !== undefined && isPage(headers, url),
    ...(length !== undefined && { contentLength: length }),
    ...(type !== undefined && { contentType: type.slice(0, 200) }),
    ...(promisedSha256 !== undefined && { promisedSha256 }),
  };
}
