import { useRef, useState } from "react";
import { callApi } from "@/lib/browser/api";
import { useLive } from "@/lib/browser/live/use-live";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AppRun } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { IDEMPOTENCY_HEADER } from "@/lib/contract/workflow/submission";
import { sleep } from "@/lib/shared/async";
import { ok, type Result } from "@/lib/shared/result";
import { createIdempotencyKey } from "@/lib/shared/text";
import { appApi } from "./apps-address";
import { useMore } from "./use-more";

type RunsResponse = { runs: AppRun[]; next?: string };
type RunResponse = { run: AppRun };
type Attempt = { key: string; inputs: Record<string, unknown> };

const POLL_INTERVAL_MS = 1000;

const identity = (runsAnswer: RunsResponse) => runsAnswer;
const getRuns = ({ runs }: RunsResponse) => runs;

/** The member's own runs of an app. Runs are sent one after another under idempotency keys, so that a retry never starts a run twice. */
export function useAppRuns(app: string) {
  const path = appApi(app, "runs");
  const live = useLive(path, { read: identity });
  const pagedRuns = useMore(path, live.value?.next, getRuns);
  const pendingAttempts = useRef<Attempt[]>([]);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const first = live.value?.runs ?? [];
  const firstIds = new Set(first.map(({ id }) => id));
  const runs = [...first, ...pagedRuns.items.filter(({ id }) => !firstIds.has(id))];

  async function sendPending(): Promise<ApiFailure | undefined> {
    setSending(true);
    setFailure(undefined);
    let refused: ApiFailure | undefined;
    for (let attempt = pendingAttempts.current[0]; attempt && !refused; attempt = pendingAttempts.current[0]) {
      const { key, inputs } = attempt;
      const runResult = await callApi<RunResponse>(path, { method: "POST", json: { inputs }, headers: { [IDEMPOTENCY_HEADER]: key } });
      const result = runResult.ok ? await waitUntilSent(path, runResult.value) : runResult;
      if (!result.ok) refused = result.failure;
      else if (result.value.run.state !== "refused") {
        pendingAttempts.current.shift();
        const { run } = result.value;
        live.patch((now) => ({ ...now, runs: [run, ...now.runs.filter(({ id }) => id !== run.id)] }));
      }
    }
    setFailure(refused);
    await live.refresh();
    setSending(false);
    return refused;
  }
  return {
    live,
    runs,
    more: pagedRuns.button,
    isSending,
    failure,
    send: (inputs: Record<string, unknown>, times: number) => {
      pendingAttempts.current = Array.from({ length: times }, () => ({ key: createIdempotencyKey(), inputs }));
      return sendPending();
    },
    /** Sends the unsent runs. A run with changed inputs gets a new key. */
    again: (inputs: Record<string, unknown>) => {
      const text = writeExactJson(inputs);
      pendingAttempts.current = pendingAttempts.current.map((attempt) =>
        writeExactJson(attempt.inputs) === text ? attempt : { key: createIdempotencyKey(), inputs },
      );
      return sendPending();
    },
    forget() {
      pendingAttempts.current = [];
      setFailure(undefined);
    },
  };
}

/** An earlier request with the same key may still be sending the run. If that was refused, the run is sent once more. */
async function waitUntilSent(path: `/${string}`, runResult: RunResponse): Promise<Result<RunResponse, ApiFailure>> {
  let result: Result<RunResponse, ApiFailure> = ok(runResult);
  while (result.ok && result.value.run.state === "sending") {
    await sleep(POLL_INTERVAL_MS);
    result = await callApi<RunResponse>(`${path}/${result.value.run.id}`);
  }
  return result;
}
