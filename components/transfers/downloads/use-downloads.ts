import { useCallback, useState } from "react";
import { tellStored } from "@/components/frame/stored-assets";
import { callApi } from "@/lib/browser/api";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type DownloadTask, type DownloadTasks } from "@/lib/contract/assets/file-refs";

export type Downloads = ReturnType<typeof useDownloads>;

const working = new Set<string>();

/** Announces each new asset to the lists once, but not those of an earlier visit. */
function readDownloads(answer: DownloadTasks): DownloadTasks {
  for (const { id, state, assetId } of answer.tasks) {
    if (state === "working") working.add(id);
    else if (working.delete(id) && state === "completed" && assetId) tellStored();
  }
  return answer;
}

const motion = ({ underWay }: DownloadTasks) => (underWay > 0 ? ("moving" as const) : ("background" as const));

/** The background downloads of a connection, by any member and from any browser. */
export function useDownloads(connection: string | undefined) {
  const path = connection === undefined ? undefined : withQuery("/api/console/tasks", { connection });
  const poll = usePoll<DownloadTasks, DownloadTasks>(path, { read: readDownloads, motion });
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const [failures, setFailures] = useState<ReadonlyMap<string, ApiFailure>>(new Map());
  const { refresh } = poll;

  const act = useCallback(
    async (id: string, verb: "cancel" | "retry" | "forget") => {
      setBusy((now) => new Set(now).add(id));
      const own: `/${string}` = `/api/console/tasks/${encodeURIComponent(id)}`;
      const result =
        verb === "forget" ? await callApi(own, { method: "DELETE" }) : await callApi<DownloadTask>(`${own}/${verb}`, { method: "POST" });
      setFailures((now) => {
        const next = new Map(now);
        if (result.ok) next.delete(id);
        else next.set(id, result.failure);
        return next;
      });
      await refresh();
      setBusy((now) => new Set([...now].filter((one) => one !== id)));
    },
    [refresh],
  );

  return { list: poll.value, atMs: poll.atMs, failure: poll.failure, refresh, act, busy, failures };
}
