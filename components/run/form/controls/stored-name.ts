// The file name of a picture that a workflow names by its content: stored files and past jobs hold the hash alone.
// Guarantees: never throws; undefined where the name is not known. Requests one byte, as the name comes in its headers; if the service
// serves the bytes by their hash, the newest assets are searched once instead.

import { type ApiFailure } from "@/lib/browser/read-failure";
import { viewUrl } from "@/lib/browser/urls";
import { toFileRef } from "@/lib/contract/assets/file-refs";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { type Result } from "@/lib/shared/result";
import { contentOf } from "./asset-value";

type Newest = () => Promise<Result<AssetsAnswer, ApiFailure>>;

export function createStoredNames(connection: string | undefined, listNewest: Newest): (value: string) => Promise<string | undefined> {
  let newest: ReturnType<Newest> | undefined;
  return async (value) => {
    const content = contentOf(value);
    const beside = content === undefined ? "gone" : await nameBesideBytes(value, connection);
    if (beside === "gone") return undefined;
    if (beside !== undefined && contentOf(beside) === undefined) return beside;
    const list = await (newest ??= listNewest());
    const found = list.ok ? list.value.assets.map(toAssetView).find(({ hash }) => hash?.endsWith(`:${content}`)) : undefined;
    return found?.name;
  };
}

async function nameBesideBytes(value: string, connection: string | undefined): Promise<string | "gone" | undefined> {
  const stop = new AbortController();
  try {
    const url = viewUrl({ ...toFileRef(value), connection });
    const answer = await fetch(url, { headers: { range: "bytes=0-0" }, cache: "no-store", signal: stop.signal });
    return answer.ok ? readName(answer.headers.get("content-disposition") ?? "") : "gone";
  } catch {
    return "gone";
  } finally {
    stop.abort();
  }
}

/** RFC 6266: the exact name takes precedence over the plain one. */
function readName(disposition: string): string | undefined {
  const [, exact] = /;\s*filename\*=utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted, plain] = /;\s*filename=(?:"([^"]+)"|([^";\s]+))/i.exec(disposition) ?? [];
  try {
    if (exact !== undefined) return decodeURIComponent(exact);
  } catch {
    // It is not encoded as declared: the plain name is used.
  }
  return quoted ?? plain;
}
