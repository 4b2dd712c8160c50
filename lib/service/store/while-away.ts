// For work that must not fail because the database is away for a while.

import { isStoreAway } from "@/lib/shared/error-codes";

/** Tries again and again. `pause` throws to give up. */
export async function whileAway<T>(work: () => Promise<T>, pause: (error: unknown) => Promise<unknown>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isStoreAway(error)) throw error;
      await pause(error);
    }
  }
}
