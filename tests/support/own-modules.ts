// A worker runs many files one after another. Each starts with its own copy of our modules and leaves no mocks and no stopped clock
// behind, so that a file behaves as if it ran alone; packages and the process are shared.
import { afterAll, vi } from "vitest";

vi.resetModules();

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
