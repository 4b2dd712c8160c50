// Waits until an assertion holds. `vi.waitFor` gives up after a second, which is too short on a busy machine.
import { vi } from "vitest";

export const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, 20_000);
