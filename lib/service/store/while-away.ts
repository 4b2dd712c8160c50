// For work that must not fail because the database does not answer for a while.

import { isStoreAway } from "@/lib/shared/database/store-away";

/** Again and again. `pause` throws where it is given up. */
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
