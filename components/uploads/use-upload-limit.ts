"use client";

import { useEffect, useState } from "react";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { numberOf } from "@/lib/contract/json";

/** The largest file that the service takes; undefined where it does not say. */
export function useUploadLimit(connection: string | undefined): number | undefined {
  const [limit, setLimit] = useState<number>();
  useEffect(() => {
    const asking = new AbortController();
    void callApi<{ max_upload_size?: unknown } | null>(withQuery("/api/console/optional/features", { connection }), {
      signal: asking.signal,
    }).then((answer) => {
      if (!asking.signal.aborted) setLimit(answer.ok ? numberOf(answer.value?.max_upload_size) : undefined);
    });
    return () => asking.abort();
  }, [connection]);
  return limit;
}
