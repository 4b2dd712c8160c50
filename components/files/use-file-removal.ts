"use client";

import { useState } from "react";
import { useHeld } from "@/components/ui/use-held";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type UserdataFile } from "@/lib/contract/schemas/userdata";
import { fromTop } from "@/lib/contract/userdata-paths";
import { fileApiPath, listApiPath } from "./files-address";
import { isAbsent } from "./use-abilities";

export type FileRemoval = { removed: number; failed: readonly { path: string; failure: ApiFailure }[] };

type Choices = { connection: string | undefined; refresh: () => Promise<unknown>; onAbsent: () => void };

const AT_ONCE = 4;

/** Held for a moment, then one file after the other; a folder's files are those that are in it when the moment has passed. */
export function useFileRemoval({ connection, refresh, onAbsent }: Choices) {
  const [isBusy, setBusy] = useState(false);
  const [done, setDone] = useState<FileRemoval>();
  const [failure, setFailure] = useState<ApiFailure>();

  async function send(chosen: readonly string[], isLeaving: boolean) {
    setBusy(true);
    const named = await filesOf(chosen, connection);
    if ("failure" in named) {
      setBusy(false);
      return setFailure(named.failure);
    }
    const waiting = [...named.paths];
    const outcome: { removed: number; failed: { path: string; failure: ApiFailure }[] } = { removed: 0, failed: [] };
    async function work() {
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
        const result = await callApi(fileApiPath(path, { connection }), { method: "DELETE", ...(isLeaving && { keepalive: true }) });
        if (result.ok) outcome.removed += 1;
        else {
          outcome.failed.push({ path, failure: result.failure });
          // Nothing was removed yet and the service does not know the act: it would say so to every other file.
          if (outcome.removed === 0 && isAbsent(result.failure)) waiting.length = 0;
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    await refresh();
    if (outcome.removed === 0 && outcome.failed.some((one) => isAbsent(one.failure))) onAbsent();
    setBusy(false);
    setDone(outcome);
  }

  const { held, hold, undo } = useHeld<readonly string[]>((paths, isLeaving) => void send(paths, isLeaving));
  return {
    isBusy,
    done,
    failure,
    held: new Set(held),
    undo,
    dismiss: () => setDone(undefined),
    remove: (paths: readonly string[]) => {
      setDone(undefined);
      setFailure(undefined);
      hold(paths);
    },
  };
}

async function filesOf(chosen: readonly string[], connection: string | undefined): Promise<{ paths: string[] } | { failure: ApiFailure }> {
  const paths = chosen.filter((path) => !path.endsWith("/"));
  for (const folder of chosen.filter((path) => path.endsWith("/"))) {
    const listed = await callApi<UserdataFile[]>(listApiPath(folder, connection ?? ""), { cache: "no-store" });
    if (!listed.ok) return { failure: listed.failure };
    paths.push(...fromTop(listed.value, folder).map(({ path }) => path));
  }
  return { paths };
}
