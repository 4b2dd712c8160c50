// Until an assertion holds. `vi.waitFor` gives up after a second, which a busy machine takes for less.
import { vi } from "vitest";

export const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, 20_000);
