// The service's list of nodes, under one address: used by the form of the open workflow, and to convert files of the editor.
// Guarantees: a list that was read for a file is reused by the form that follows.

import { preload } from "swr";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type Result } from "@/lib/shared/result";

export const catalogueAddress = (connection: string | undefined) => withQuery("/api/object_info", { connection });

/** For SWR, which expects failures to be thrown. */
export async function fetchCatalogue(path: `/${string}`): Promise<ObjectInfo> {
  const result = await callApi<ObjectInfo>(path);
  if (!result.ok) throw result.failure;
  return result.value;
}

export async function readCatalogue(connection: string | undefined): Promise<Result<ObjectInfo, ApiFailure>> {
  let result: Result<ObjectInfo, ApiFailure> | undefined;
  await preload(catalogueAddress(connection), async (path: `/${string}`) => {
    result = await callApi<ObjectInfo>(path);
    if (!result.ok) throw result.failure;
    return result.value;
  }).catch(() => undefined);
  return result ?? callApi<ObjectInfo>(catalogueAddress(connection));
}
