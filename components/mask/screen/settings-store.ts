// The tools' settings outside React: what draws between two renders reads them too.

import { type Size } from "../drawing/geometry";
import { type Change, changed, firstSettings } from "./settings";

export function createSettingsStore(size: Size) {
  let settings = firstSettings(size);
  const listeners = new Set<() => void>();
  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    get: () => settings,
    change(by: Change): void {
      settings = changed(settings, by, size);
      for (const listen of listeners) listen();
    },
  };
}
