// Isolates the test files of a worker: each file gets fresh copies of the project's modules, and mocks and fake timers are reset after each test. Packages and
// the process are shared.
import { afterEach, vi } from "vitest";

vi.resetModules();

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.clearAllMocks();
});
