// Gives elements a size, which jsdom does not implement.
import { vi } from "vitest";

/** Lasts until `vi.unstubAllGlobals`. */
export function stubElementSizes(): void {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
}
