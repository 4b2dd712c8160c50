import { useRef, useState } from "react";
import { useFollowCounts } from "@/components/frame/counts-context";
import { callApi } from "@/lib/browser/api";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AppRun } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { IDEMPOTENCY_HEADER } from "@/lib/contract/workflow/submission";
import { sleep } from "@/lib/shared/async";
import { ok, type Result } from "@/lib/shared/result";
import { newIdempotencyKey } from "@/lib/shared/text";
import { appApi } from "./apps-address";
import { useMore } from "./use-more";

type RunsAnswer = { runs: AppRun[]; next?: string };
type RunAnswer = { run: AppRun };
type Attempt = { key: string; inputs: Record<string, unknown> };

const SENDING_MS = 1000;

const asIs = (answer: RunsAnswer) => answer;
const runsIn = ({ runs }: RunsAnswer) => runs;
const isMoving = ({ state }: AppRun) => state === "sending" || state === "pending" || state === "in_progress";
const motionOf = ({ runs }: RunsAnswer) => (runs.some(isMoving) ? ("moving" as const) : ("background" as const));

/** The member's own runs of an app. Runs are sent one after another, each under its own key, so that a retry never starts a run twice. */
export function useAppRuns(app: string) {
  const path = appApi(app, "runs");
  const poll = usePoll(path, { read: asIs, motion: motionOf });
  const more = useMore(path, poll.value?.next, runsIn);
  const left = useRef<Attempt[]>([]);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const first = poll.value?.runs ?? [];
  const known = new Set(first.map(({ id }) => id));
  const runs = [...first, ...more.items.filter(({ id }) => !known.has(id))];
  useFollowCounts(first.map(({ id, state }) => `${id} ${state}`).join());

  async function sendLeft(): Promise<ApiFailure | undefined> {
    setSending(true);
    setFailure(undefined);
    let refused: ApiFailure | undefined;
    for (let attempt = left.current[0]; attempt && !refused; attempt = left.current[0]) {
      const { key, inputs } = attempt;
      const begun = await callApi<RunAnswer>(path, { method: "POST", json: { inputs }, headers: { [IDEMPOTENCY_HEADER]: key } });
      const done = begun.ok ? await untilSent(path, begun.value) : begun;
      if (!done.ok) refused = done.failure;
      else if (done.value.run.state !== "refused") {
        left.current.shift();
        const { run } = done.value;
        poll.patch((now) => ({ ...now, runs: [run, ...now.runs.filter(({ id }) => id !== run.id)] }));
      }
    }
    setFailure(refused);
    await poll.refresh();
    setSending(false);
    return refused;
  }
  return {
    poll,
    runs,
    more: more.button,
    isSending,
    failure,
    send: (inputs: Record<string, unknown>, times: number) => {
      left.current = Array.from({ length: times }, () => ({ key: newIdempotencyKey(), inputs }));
      return sendLeft();
    },
    /** Sends the runs that were not sent. A run whose inputs have changed since gets a new key, as it is another run. */
    again: (inputs: Record<string, unknown>) => {
      const text = writeExactJson(inputs);
      left.current = left.current.map((one) => (writeExactJson(one.inputs) === text ? one : { key: newIdempotencyKey(), inputs }));
      return sendLeft();
    },
    forget() {
      left.current = [];
      setFailure(undefined);
    },
  };
}

/** An earlier request with the same key, whose answer was lost, may still be sending the run. If that was refused, it is sent once more. */
async function untilSent(path: `/${string}`, begun: RunAnswer): Promise<Result<RunAnswer, ApiFailure>> {
  let read: Result<RunAnswer, ApiFailure> = ok(begun);
  while (read.ok && read.value.run.state === "sending") {
    await sleep(SENDING_MS);
    read = await callApi<RunAnswer>(`${path}/${read.value.run.id}`);
  }
  return read;
}
