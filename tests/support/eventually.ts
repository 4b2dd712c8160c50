// Waits until an assertion passes. `vi.waitFor` gives up after a second, too early on a busy machine.
import { vi } from "vitest";

export const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, 20_000);
