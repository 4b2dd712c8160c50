// A worker runs many files one after another. Each starts with its own copy of our modules, and no test leaves mocks or a stopped clock
// behind, so that a file behaves as if it ran alone; packages and the process are shared.
import { afterEach, vi } from "vitest";

vi.resetModules();

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.clearAllMocks();
});
