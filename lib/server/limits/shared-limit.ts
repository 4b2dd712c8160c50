// A token bucket for each name, shared by all consoles of a database. Each draws a portion at a time, so most requests write nothing.
// Guarantees: all consoles together pass no more than one bucket holds, plus one unused portion per console; an empty bucket is not asked
// for again until it refills; bounded memory.

import "server-only";
import { createLru } from "@/lib/shared/lru";
import { type AttemptStore, type Bucket } from "../store/people/attempts";
import { type AttemptLimit, MOST_NAMES } from "./attempt-limit";

/** A bucket is drawn in this many portions. */
const PORTIONS = 20;

type Drawn = { left: number; waitUntilMs: number; drawing?: Promise<void> };
type Options = { attempts: AttemptStore; now: () => number; of: string; burst: number; refillMs: number };

/** `of`: the name of the limit, because all limits are in one table. */
export function createSharedLimit({ attempts, now, of, burst, refillMs }: Options): AttemptLimit {
  const drawn = createLru<string, Drawn>({ max: MOST_NAMES });
  const portion = Math.max(1, Math.floor(burst / PORTIONS));
  const bucketOf = (name: string): Bucket => ({ name: `${of} ${name}`, burst, refillMs });

  function find(name: string): Drawn {
    const found = drawn.get(name) ?? { left: 0, waitUntilMs: 0 };
    drawn.set(name, found);
    return found;
  }

  async function draw(name: string, found: Drawn): Promise<void> {
    const take = (count: number) => attempts.take(bucketOf(name), now(), count);
    if (portion > 1 && (await take(portion)) === 0) {
      found.left += portion;
      return;
    }
    // Less than a portion is left: take one at a time.
    const waitMs = await take(1);
    if (waitMs === 0) found.left += 1;
    else found.waitUntilMs = now() + waitMs;
  }

  return {
    async take(name) {
      const found = find(name);
      for (;;) {
        if (found.left > 0) {
          found.left -= 1;
          return 0;
        }
        const waitMs = found.waitUntilMs - now();
        if (waitMs > 0) return Math.ceil(waitMs);
        found.drawing ??= draw(name, found).finally(() => (found.drawing = undefined));
        await found.drawing;
      }
    },
    async giveBack(name) {
      await attempts.giveBack(bucketOf(name));
      find(name).waitUntilMs = 0;
    },
  };
}
