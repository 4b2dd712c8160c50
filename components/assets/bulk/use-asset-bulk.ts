"use client";

import { useEffect, useRef, useState } from "react";
import { useHeld } from "@/components/ui/use-held";
import { type Work } from "@/lib/browser/patient-call";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetView } from "@/lib/contract/asset-view";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetAct, type Entry, type Meant, reverseOf, runAct } from "./asset-acts";
import { walkAssets } from "./walk-assets";

/** Named assets, or everything that a query matches. */
export type Selected = { kind: "named"; assets: readonly AssetView[] } | { kind: "matching"; query: AssetsQuery; total: number };

export type BulkPhase =
  | { kind: "idle" }
  | { kind: "asking"; act: AssetAct; selected: Selected }
  | { kind: "walking"; found: number; waitMs?: number }
  | { kind: "working"; act: AssetAct; done: number; total: number; isStopping?: boolean; waitMs?: number }
  | { kind: "done"; act: AssetAct; entries: readonly Entry[]; isCut: boolean; undo: ReturnType<typeof reverseOf> }
  | { kind: "collected"; assets: readonly AssetView[]; isCut: boolean }
  | { kind: "broken"; failure: ApiFailure };

const idle: BulkPhase = { kind: "idle" };

/** So many deletions can still leave together with a page that goes away. */
const MOST_HELD = 100;
const forever = new AbortController().signal;

type Told = (act: AssetAct, entries: readonly Entry[]) => void;
type Choices = { connection: string | undefined; onDone: Told; onLeft: (entries: readonly Entry[]) => void };

/** One act at a time. Deleting named assets is held for five seconds; what reaches further than that is asked for by its number. */
export function useAssetBulk({ connection, onDone, onLeft }: Choices) {
  const [phase, setPhase] = useState<BulkPhase>(idle);
  const stopping = useRef<AbortController>(undefined);
  // Leaving the page lets the calls under way finish, and begins no others.
  useEffect(() => () => stopping.current?.abort(), []);

  function begin(): Work {
    stopping.current = new AbortController();
    return {
      connection,
      signal: stopping.current.signal,
      onDone: (count) => setPhase((now) => advanced(now, count)),
      onWait: (waitMs) => setPhase((now) => (now.kind === "walking" || now.kind === "working" ? { ...now, waitMs } : now)),
    };
  }
  async function run(act: AssetAct, assets: readonly Meant[], isCut: boolean): Promise<void> {
    setPhase({ kind: "working", act, done: 0, total: assets.length });
    const entries = await runAct(act, assets, begin());
    setPhase({ kind: "done", act, entries, isCut, undo: reverseOf(act, entries) });
    onDone(act, entries);
  }
  async function leave(assets: readonly AssetView[]): Promise<void> {
    const silent = { connection, signal: forever, onDone: () => undefined, onWait: () => undefined, isLeaving: true };
    onLeft(await runAct({ kind: "delete" }, assets, silent));
  }
  const { held, hold, undo } = useHeld<readonly AssetView[]>(
    (assets, isLeaving) => void (isLeaving ? leave(assets) : run({ kind: "delete" }, assets, false)),
  );
  async function walk(query: AssetsQuery): Promise<{ assets: AssetView[]; isCut: boolean } | undefined> {
    setPhase({ kind: "walking", found: 0 });
    const work = begin();
    const walked = await walkAssets(query, work);
    // Stopped before anything was done: nothing needs to be told.
    if (work.signal.aborted) setPhase(idle);
    else if (!walked.ok) setPhase({ kind: "broken", failure: walked.failure });
    return work.signal.aborted || !walked.ok ? undefined : walked.value;
  }
  async function carryOut(act: AssetAct, selected: Selected): Promise<void> {
    if (selected.kind === "named") return run(act, selected.assets, false);
    const walked = await walk(selected.query);
    if (walked) await run(act, walked.assets, walked.isCut);
  }

  return {
    phase,
    /** Deleted in a moment. */
    held,
    start: (act: AssetAct, selected: Selected) => {
      const isFar = selected.kind === "matching" || (act.kind === "delete" && selected.assets.length > MOST_HELD);
      if (isFar) setPhase({ kind: "asking", act, selected });
      else if (act.kind === "delete") hold(selected.assets);
      else void carryOut(act, selected);
    },
    confirm: () => {
      if (phase.kind === "asking") void carryOut(phase.act, phase.selected);
    },
    undo: () => {
      if (held) undo();
      else if (phase.kind === "done" && phase.undo) void run(phase.undo.act, phase.undo.assets, false);
    },
    /** Their names and ids, for the clipboard or a download. */
    collect: async (query: AssetsQuery) => {
      const walked = await walk(query);
      if (walked) setPhase({ kind: "collected", ...walked });
    },
    stop: () => {
      stopping.current?.abort();
      setPhase((now) => (now.kind === "working" ? { ...now, isStopping: true } : now));
    },
    dismiss: () => setPhase(idle),
  };
}

function advanced(phase: BulkPhase, count: number): BulkPhase {
  if (phase.kind === "walking") return { ...phase, found: phase.found + count };
  return phase.kind === "working" ? { ...phase, done: phase.done + count } : phase;
}
