// Fake live updates: fetches each watched path every LIVE_INTERVAL_MS through the test's fetch. The stream itself is tested in tests/unit/live.
import { callApi } from "@/lib/browser/api";
import { type LiveMessage } from "@/lib/browser/live/live-tab";
import { liveModule } from "@/lib/browser/live/use-live";

export const LIVE_INTERVAL_MS = 1_500;

function watchLive<Answer>(path: `/${string}`, receive: (message: LiveMessage<Answer>) => void): () => void {
  const timer = setInterval(async () => {
    const result = await callApi<Answer>(path);
    receive(result.ok ? { response: result.value } : { failure: result.failure });
  }, LIVE_INTERVAL_MS);
  return () => clearInterval(timer);
}

liveModule.load = async () => ({ watchLive, restartLive: () => undefined });
