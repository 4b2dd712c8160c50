"use client";

import { useEffect, useState } from "react";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type AssetView, toAssetView } from "@/lib/contract/asset-view";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { useConnection } from "../connection-context";

const SHORTEST = 2;
const MOST = 6;
/** Nobody is asked for each letter of a name that is being typed. */
const PAUSE_MS = 200;
/** A service may have none, which is no fault of anybody. */
const hasNone = (failure: ApiFailure) => [404, 405, 501].includes(failure.status);

export type SoughtAssets = { text: string; assets: readonly AssetView[]; failure?: ApiFailure };

/** Assets by a piece of their name: the service is asked, as only it knows them all. What was found stays while the next is looked for. */
export function useSoughtAssets(typed: string): SoughtAssets | undefined {
  const { id: connection, hasNoAssets } = useConnection() ?? {};
  const text = typed.trim();
  const [answer, setAnswer] = useState<SoughtAssets>();
  const isAsked = text.length >= SHORTEST && connection !== undefined && !hasNoAssets;
  useEffect(() => {
    if (!isAsked) return;
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      const query = { name_contains: text, include_public: true, sort: "created_at", order: "desc", limit: MOST, connection };
      const result = await callApi<AssetsAnswer>(withQuery("/api/assets", query), { signal: leaving.signal });
      if (leaving.signal.aborted) return;
      if (result.ok) setAnswer({ text, assets: result.value.assets.map(toAssetView) });
      else setAnswer({ text, assets: [], ...(!hasNone(result.failure) && { failure: result.failure }) });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [isAsked, text, connection]);
  return isAsked ? answer : undefined;
}
