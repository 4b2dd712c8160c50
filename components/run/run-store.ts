// The Run page's state, kept outside the page for as long as the tab lives: after a visit to a job every field is as it was,
// and an answer that arrives in the meantime is not lost. It is in memory only; draft.ts keeps what survives a reload.
// Must never: change on the server, where one process serves many people; only handlers and effects dispatch.

import { createStore } from "zustand/vanilla";
import { runReducer } from "./run-reducer";
import { emptyRun, type RunAction, type RunState } from "./run-state";

export type RunStore = {
  get: () => RunState;
  subscribe: (listener: () => void) => () => void;
  dispatch: (action: RunAction) => void;
};

export function createRunStore(): RunStore {
  const { getState, setState, subscribe } = createStore<RunState>(() => emptyRun);
  return { get: getState, subscribe, dispatch: (action) => setState(runReducer(getState(), action), true) };
}

export const tabRun = createRunStore();
