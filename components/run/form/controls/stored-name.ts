// What a picture is called that a workflow names by its content: a stored file and a past job hold the hash alone.
// Guarantees: never throws; undefined where it is not known. One byte is asked for, since the name is beside the bytes; where they are
// handed over by their hash, the newest assets are looked through, once.

import { toAssetView } from "@/lib/contract/views/asset-view";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { viewUrl } from "@/lib/browser/urls";
import { type Result } from "@/lib/shared/result";
import { contentOf } from "./asset-value";
import { toFileRef } from "@/lib/contract/assets/image-ref";

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

/** RFC 6266: the exact name before the plain one. */
function readName(disposition: string): string | undefined {
  const [, exact] = /;\s*filename\*=utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted, plain] = /;\s*filename=(?:"([^"]+)"|([^";\s]+))/i.exec(disposition) ?? [];
  try {
    if (exact !== undefined) return decodeURIComponent(exact);
  } catch {
    // Not encoded as it says: the plain one is what is left.
  }
  return quoted ?? plain;
}
