// A worker runs many files one after another. Each begins with its own copy of our modules and leaves neither stand-ins nor a stopped
// clock behind, so that a file finds what it would find alone; packages and the process are shared.
import { afterAll, vi } from "vitest";

vi.resetModules();

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
