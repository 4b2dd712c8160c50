// Parts that jsdom declares but does not implement: dialogs that open, and elements that have a size.
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

export function standInForDialogs(): void {
  HTMLDialogElement.prototype.close = function () {
    if (!this.open) return;
    this.open = false;
    this.dispatchEvent(new Event("close"));
  };
}
