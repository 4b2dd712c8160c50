// The tools' settings outside React, as code that draws between two renders reads them too.

import { createStore } from "zustand/vanilla";
import { type Size } from "../drawing/geometry";
import { type Change, changed, firstSettings } from "./settings";

export function createSettingsStore(size: Size) {
  const { getState, setState, subscribe } = createStore(() => firstSettings(size));
  return { get: getState, subscribe, change: (by: Change) => setState((settings) => changed(settings, by, size), true) };
}
