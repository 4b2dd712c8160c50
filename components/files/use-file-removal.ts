import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useMemo, useSyncExternalStore } from "react";
import { usePendingUndo } from "@/components/ui/hooks/use-pending-undo";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { callPatiently } from "@/lib/browser/bulk/bulk-calls";
import { type UserdataFile } from "@/lib/contract/operations/files";
import { createFileRemovals, type FileRemovals, type RemovalState } from "./file-removals";
import { fileApiPath, listApiPath } from "./files-address";

let removals: FileRemovals | undefined;

/** The removals of this tab: created when a page first asks for them, and kept across pages. */
function tabFileRemovals(): FileRemovals {
  removals ??= createFileRemovals({
    list: (folder, connection) => callApi<UserdataFile[]>(listApiPath(folder, connection ?? ""), { cache: "no-store" }),
    remove: (path, work) => callPatiently(fileApiPath(path, { connection: work.connection }), { method: "DELETE" }, work),
  });
  return removals;
}

type Choices = { connection: string | undefined; refresh: () => Promise<unknown> };

const idle: RemovalState = { kind: "idle" };

/** Deletions can be undone for a moment; after that the tab carries them out, and any page can follow them. */
export function useFileRemoval({ connection, refresh }: Choices) {
  const removals = tabFileRemovals();
  const state = useSyncExternalStore(removals.subscribe, removals.get, () => idle);
  const t = useTranslations("files.removal");
  const { acts, schedule, undo } = usePendingUndo<readonly string[]>(
    (paths, isLeaving) => void removals.remove(paths, connection, isLeaving),
  );
  const isOver = state.kind === "over";
  const ended = useEffectEvent(() => void refresh());
  useEffect(() => {
    if (isOver) ended();
  }, [isOver]);
  const busy = useMemo(
    () => new Set([...acts.flatMap(({ what }) => what), ...(state.kind === "removing" ? state.chosen : [])]),
    [acts, state],
  );
  return {
    state,
    pending: acts,
    /** Rows that are being deleted, or about to be. */
    busy,
    undo(key: number) {
      const taken = undo(key);
      if (taken) showToast({ tone: "off", text: t("back", { count: taken.what.length }) });
    },
    stop: removals.stop,
    dismiss: removals.dismiss,
    remove(paths: readonly string[]) {
      removals.dismiss();
      if (paths.length > 0) schedule(paths);
    },
    /** Retries refused and remaining files without the undo period, as the decision was made before. */
    again: (paths: readonly string[]) => void removals.remove(paths, connection),
  };
}
