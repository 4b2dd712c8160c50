import { useEffect, useRef, useState } from "react";
import { askToStay } from "@/components/ui/hooks/use-close-warning";
import { createMaskDocument, type MaskDocument } from "../drawing/mask-document";
import { type OpenedMask } from "./open-mask";
import { notPacked, type SavedMask, type SaveFailure, saveMask, type SavePorts, type SaveStep } from "./save-mask";

export type OpenSession = { opened: OpenedMask; drawing: MaskDocument };

export function sessionOf(opened: OpenedMask): OpenSession {
  const drawing = createMaskDocument(opened.coverage);
  if (opened.earlier === "layers" || opened.earlier === "alpha") void drawing.prepare();
  return { opened, drawing };
}

// Unsaved drawings, kept in this tab with their whole history, so that moving within the console loses nothing.
// Guarantees: the latest one is kept whatever its size, earlier ones within a memory budget; dropped ones are reported, never silent;
// while any is kept, the browser warns before the tab is closed or reloaded.

type Kept = { session: OpenSession; name: string };

const BUDGET = 512 * 1024 * 1024;
const kept = new Map<string, Kept>();

/** Returns the names of the drawings that were dropped. */
export function keepWork(key: string, work: Kept, budget = BUDGET): string[] {
  kept.delete(key);
  kept.set(key, work);
  window.addEventListener("beforeunload", warn);
  const lost: string[] = [];
  for (const [oldest, { session, name }] of kept) {
    if (kept.size === 1 || [...kept.values()].reduce((sum, one) => sum + bytesOf(one), 0) <= budget) break;
    session.opened.picture?.close();
    kept.delete(oldest);
    lost.push(name);
  }
  return lost;
}

/** Hands the drawing over to the caller. */
export function takeWork(key: string): OpenSession | undefined {
  const work = kept.get(key);
  kept.delete(key);
  if (kept.size === 0) window.removeEventListener("beforeunload", warn);
  return work?.session;
}

function bytesOf({ session: { opened, drawing } }: Kept): number {
  const { width = 0, height = 0 } = opened.picture?.bitmap ?? {};
  return drawing.coverage.data.length + width * height * 4 + drawing.keptBytes();
}

function warn(event: BeforeUnloadEvent): void {
  askToStay(event);
}

export type SaveState = { kind: "idle" } | SaveStep | { kind: "saved"; saved: SavedMask } | { kind: "failed"; failure: SaveFailure };

/** One save at a time; the drawing is kept whatever its outcome. */
export function useSave({ opened, drawing }: OpenSession, ports: SavePorts, onSaved?: (saved: SavedMask) => void) {
  const [state, setState] = useState<SaveState>({ kind: "idle" });
  const turn = useRef<AbortController>(undefined);
  useEffect(() => () => turn.current?.abort(), []);

  async function save(): Promise<void> {
    if (turn.current || drawing.state().isBusy || drawing.isStroking()) return;
    const mine = new AbortController();
    turn.current = mine;
    setState({ kind: "packing", share: 0 });
    const copy = await drawing.snapshot().catch(notPacked);
    if (!copy || "kind" in copy) {
      turn.current = undefined;
      return setState(copy ? { kind: "failed", failure: copy } : { kind: "idle" });
    }
    const version = drawing.version();
    const result = await saveMask(copy, opened.refs, ports, {
      onStep: (step) => turn.current === mine && setState(step),
      signal: mine.signal,
      handsOut: !opened.lacksFile,
      hold: opened.hold,
    });
    turn.current = undefined;
    if (mine.signal.aborted && !result.ok) return setState({ kind: "idle" });
    if (!result.ok) return setState({ kind: "failed", failure: result.failure });
    drawing.saved(version);
    setState({ kind: "saved", saved: result.value });
    onSaved?.(result.value);
  }
  return { state, save, stop: () => turn.current?.abort(), forget: () => setState({ kind: "idle" }) };
}

/** Undefined if no save is in progress. */
export function stepOf(state: SaveState): SaveStep | undefined {
  return state.kind === "packing" || state.kind === "sending" || state.kind === "storing" ? state : undefined;
}
