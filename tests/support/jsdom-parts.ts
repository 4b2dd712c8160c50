// Elements that have a size, which jsdom declares but does not implement.
import { vi } from "vitest";

/** In effect until `vi.unstubAllGlobals`. */
export function standInForSizes(): void {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
}
