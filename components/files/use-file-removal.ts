"use client";

import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useMemo, useSyncExternalStore } from "react";
import { showToast } from "@/components/ui/toast-store";
import { useHeld } from "@/components/ui/use-held";
import { type RemovalState } from "./file-removals";
import { tabFileRemovals } from "./tab-file-removals";

type Choices = { connection: string | undefined; refresh: () => Promise<unknown>; onAbsent: () => void };

const idle: RemovalState = { kind: "idle" };

/** Held for a moment, then done by the tab, which this page looks at like any other. */
export function useFileRemoval({ connection, refresh, onAbsent }: Choices) {
  const removals = tabFileRemovals();
  const state = useSyncExternalStore(removals.subscribe, removals.get, () => idle);
  const t = useTranslations("files.removal");
  const { acts, hold, undo } = useHeld<readonly string[]>((paths, isLeaving) => void removals.remove(paths, connection, isLeaving));
  const isOver = state.kind === "over";
  const ended = useEffectEvent(() => {
    void refresh();
    if (state.kind === "over" && state.isAbsent) onAbsent();
  });
  useEffect(() => {
    if (isOver) ended();
  }, [isOver]);
  const busy = useMemo(
    () => new Set([...acts.flatMap(({ what }) => what), ...(state.kind === "removing" ? state.chosen : [])]),
    [acts, state],
  );
  return {
    state,
    held: acts,
    /** Rows that go, or are held. */
    busy,
    undo(key: number) {
      const taken = undo(key);
      if (taken) showToast({ tone: "off", text: t("back", { count: taken.what.length }) });
    },
    stop: removals.stop,
    dismiss: removals.dismiss,
    remove(paths: readonly string[]) {
      removals.dismiss();
      if (paths.length > 0) hold(paths);
    },
    /** What was refused or left, without waiting: it was decided already. */
    again: (paths: readonly string[]) => void removals.remove(paths, connection),
  };
}
