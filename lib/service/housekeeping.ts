// Repeated work in the background: at the start and then after each pause, one round of a chore at a time.
// A round that fails is logged and tried again; no chore keeps the process alive. `stop` waits for what is under way.

import { sleep } from "@/lib/shared/async";
import { type ServiceLog } from "./options";
import { type Processes } from "./store/processes";

/**
 * `goOn` returns false once the service stops, so that a long round ends early. `isShared`: the chore is about what processes share, and
 * the first living process does it; every process does the other chores, in its own folder.
 */
export type Chore = { name: string; everyMs: number; isShared?: boolean; round: (goOn: () => boolean) => Promise<unknown> };

export type Housekeeping = { stop(): Promise<void> };

export function startHousekeeping(chores: readonly Chore[], processes: Pick<Processes, "id" | "live">, log: ServiceLog): Housekeeping {
  let isStopping = false;
  const underWay = new Map<Chore, Promise<void>>();

  function begin(chore: Chore): void {
    if (isStopping || underWay.has(chore)) return;
    const round = doIfOwn(chore)
      .catch((error: unknown) => log.error({ err: error, chore: chore.name }, "a round of housekeeping failed"))
      .finally(() => underWay.delete(chore));
    underWay.set(chore, round);
  }

  async function doIfOwn({ isShared = false, round }: Chore): Promise<void> {
    if (!isShared || (await isFirst(processes))) await round(() => !isStopping);
  }

  const timers = chores.map((chore) => {
    begin(chore);
    return setInterval(() => begin(chore), chore.everyMs).unref();
  });
  return {
    async stop() {
      isStopping = true;
      timers.forEach(clearInterval);
      await Promise.all(underWay.values());
    },
  };
}

/** Whether this process does the shared chores. Right after another process has come, two may do the same for one round. */
export async function isFirst(processes: Pick<Processes, "id" | "live">): Promise<boolean> {
  const [first] = await processes.live();
  return first === processes.id;
}

/**
 * Runs pieces one after the other until one returns false; after each it pauses for as long as the piece took. For work that no request
 * waits for.
 */
export async function unhurried(goOn: () => boolean, piece: () => Promise<boolean>): Promise<void> {
  while (goOn()) {
    const begun = performance.now();
    if (!(await piece())) return;
    await sleep(performance.now() - begun);
  }
}
