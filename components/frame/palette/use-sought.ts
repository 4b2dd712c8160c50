import { useEffect, useEffectEvent, useState } from "react";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Result } from "@/lib/shared/result";

/** Avoids a request for each typed letter. */
const PAUSE_MS = 200;

/**
 * The parsed answer to `path`, requested a moment after the last typed letter. Earlier results stay while the next answer loads; without a
 * path there are none.
 */
export function useSought<Answer, Found>(
  path: `/${string}` | undefined,
  read: (result: Result<Answer, ApiFailure>) => Found,
): Found | undefined {
  const [found, setFound] = useState<Found>();
  const onAnswer = useEffectEvent((result: Result<Answer, ApiFailure>) => setFound(read(result)));
  useEffect(() => {
    if (path === undefined) return;
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      const result = await callApi<Answer>(path, { signal: leaving.signal });
      if (!leaving.signal.aborted) onAnswer(result);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [path]);
  return path === undefined ? undefined : found;
}
