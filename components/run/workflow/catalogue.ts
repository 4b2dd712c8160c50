// The service's list of nodes, used by the form and to convert editor files. Both share one cache entry.

import { useMemo, useRef, useState } from "react";
import useSWR, { mutate } from "swr";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { isMissingOperation } from "@/lib/contract/failure";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type Result, unwrapResult } from "@/lib/shared/result";

export type CatalogueApi = { readCatalogue: () => Promise<Result<ObjectInfo, ApiFailure>> };

const getCataloguePath = (connection: string | undefined) => withQuery("/api/object_info", { connection });

async function fetchCatalogue(path: `/${string}`): Promise<ObjectInfo> {
  return unwrapResult(await callApi<ObjectInfo>(path));
}

export async function readCatalogue(connection: string | undefined): Promise<Result<ObjectInfo, ApiFailure>> {
  const path = getCataloguePath(connection);
  const result = await callApi<ObjectInfo>(path);
  if (result.ok) await mutate(path, result.value, { revalidate: false });
  return result;
}

/**
 * The service's list of nodes and their inputs. It can be several megabytes, so it is read once per connection and never revalidated automatically.
 */
export function useCatalogue(connection: string | undefined, isEnabled = true) {
  const path = getCataloguePath(connection);
  const { data, error, mutate } = useSWR<ObjectInfo, ApiFailure>(isEnabled ? path : null, fetchCatalogue, {
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
    revalidateIfStale: false,
    shouldRetryOnError: false,
  });
  return { path, info: data, error, mutate, isLoaded: data !== undefined || error !== undefined };
}

/** The node list for an open workflow, reloaded if the workflow uses files that the list lacks. */
export function useOpenCatalogue(connection: string | undefined, serial: number) {
  const { path, info, error, mutate } = useCatalogue(connection);
  const key = `${serial} ${path}`;
  const [listingState, setListingState] = useState({ key, isStale: info !== undefined });
  if (listingState.key !== key) setListingState({ key, isStale: info !== undefined });
  const requestedKey = useRef<string>(undefined);
  const listing = useMemo(
    () => ({
      isStale: listingState.isStale,
      reload: () => {
        // Called by every field with such a file.
        if (requestedKey.current === key) return;
        requestedKey.current = key;
        mutate(fetchCatalogue(path), { revalidate: false }).then(
          () => setListingState((current) => (current.key === key ? { key, isStale: false } : current)),
          // If the list could not be reloaded, the file's state is unknown.
          () => undefined,
        );
      },
    }),
    [listingState.isStale, key, path, mutate],
  );
  const catalogueState = info || !error ? "no" : isMissingOperation(error) ? "absent" : "failed";
  return { info, isMissing: catalogueState, reloadCatalogue: () => void mutate(), listing };
}
