import { useRef, useState } from "react";
import { useFollowCounts } from "@/components/frame/counts-context";
import { callApi } from "@/lib/browser/api";
import { newIdempotencyKey } from "@/lib/browser/random-ids";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { type AppRun } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { IDEMPOTENCY_HEADER } from "@/lib/contract/workflow/submission";
import { appApi } from "./apps-address";
import { useMore } from "./use-more";

type RunsAnswer = { runs: AppRun[]; next?: string };
type Attempt = { key: string; inputs: Record<string, unknown> };

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
      const done = await callApi<{ run: AppRun }>(path, { method: "POST", json: { inputs }, headers: { [IDEMPOTENCY_HEADER]: key } });
      if (done.ok) {
        left.current.shift();
        const { run } = done.value;
        poll.patch((now) => ({ ...now, runs: [run, ...now.runs.filter(({ id }) => id !== run.id)] }));
      } else refused = done.failure;
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
