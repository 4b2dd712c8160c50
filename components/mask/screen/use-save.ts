import { useEffect, useRef, useState } from "react";
import { type OpenSession } from "../file/mask-session";
import { notPacked, type SavedMask, type SaveFailure, saveMask, type SavePorts, type SaveStep } from "../file/save-mask";

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
