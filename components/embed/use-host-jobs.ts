import { useEffect, useEffectEvent } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { callApi, onAnswer } from "@/lib/browser/api";
import { tellHost } from "@/lib/browser/embed/host-page";
import { withQuery } from "@/lib/browser/urls";
import { isTerminalWord, toJobState } from "@/lib/contract/jobs/job-list";
import { objectOf, textOf } from "@/lib/contract/json/json";

const LOOK_MS = 2000;
const MOST = 100;

/** Tells the host of each job submitted in this page, and of its end. */
export function useHostJobs(origins: readonly string[]): void {
  const connection = useConnection()?.id;
  const connectionNow = useEffectEvent(() => connection);
  useEffect(() => {
    const open = new Map<string, string | undefined>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function look() {
      for (const [id, of] of [...open]) {
        const answer = await callApi<unknown>(withQuery(`/api/job/${encodeURIComponent(id)}/status`, { connection: of }));
        const word = answer.ok ? textOf(objectOf(answer.value)?.status) : undefined;
        // The end of a job that no longer exists will never be reported.
        if (!answer.ok && answer.failure.status === 404) open.delete(id);
        if (word === undefined || !isTerminalWord(word)) continue;
        open.delete(id);
        tellHost(origins, { type: "job-ended", id, status: toJobState(word) });
      }
      timer = open.size > 0 ? setTimeout(() => void look(), LOOK_MS) : undefined;
    }
    const stop = onAnswer(({ path, method, value }) => {
      const id = method === "POST" && /^\/api\/prompt(\?|$)/.test(path) ? textOf(objectOf(value)?.prompt_id) : undefined;
      if (id === undefined) return;
      tellHost(origins, { type: "job-submitted", id });
      if (open.size >= MOST) return;
      open.set(id, new URLSearchParams(path.split("?")[1]).get("connection") ?? connectionNow());
      timer ??= setTimeout(() => void look(), LOOK_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [origins]);
}
