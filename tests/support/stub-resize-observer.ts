// Stubs ResizeObserver, which jsdom does not implement.
import { vi } from "vitest";

/** Remains until `vi.unstubAllGlobals`. */
export function stubResizeObserver(): void {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
}
