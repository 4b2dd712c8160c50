// Work in the background that comes again and again: at the start and then after each pause, one round of a chore at a time.
// A round that fails is told to the log and tried again; none keeps the process alive. `stop` waits for what is under way.

import { type ServiceLog } from "./options";
import { type Processes } from "./store/processes";

/**
 * `goOn` is false once the service stops: a long round then ends early. `isShared`: it is about what processes share, and the first of those that
 * live does it; any other is done by each of them, in its own folder.
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

/** Whether this process does what one of them does for all. After another has come, two may do the same for one round. */
export async function isFirst(processes: Pick<Processes, "id" | "live">): Promise<boolean> {
  const [first] = await processes.live();
  return first === processes.id;
}

/** One piece after the other until one answers false: others get as much time as each took. For what no request waits for. */
export async function unhurried(goOn: () => boolean, piece: () => Promise<boolean>): Promise<void> {
  while (goOn()) {
    const begun = performance.now();
    if (!(await piece())) return;
    const took = performance.now() - begun;
    await new Promise((resolve) => setTimeout(resolve, took));
  }
}
