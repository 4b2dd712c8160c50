// The Run page's state outside the page, for as long as the tab lives: a look at a job and back finds every field as it was,
// and an answer that arrives in the meantime is not lost. What outlives a reload is the draft's matter (draft.ts): this holds nothing but the browser's memory.
// Must never: change on the server, where one process serves many people; only handlers and effects dispatch.

import { createStore } from "zustand/vanilla";
import { emptyRun, type RunAction, runReducer, type RunState } from "./run-state";

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
