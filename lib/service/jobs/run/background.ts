// Work beside the running jobs, which no slot waits for, but a stop does.

import { type ServiceLog } from "@/lib/service/options";

export type Background = ReturnType<typeof createBackground>;

export function createBackground(log: ServiceLog) {
  const underWay = new Set<Promise<void>>();
  return {
    add(work: Promise<void>): void {
      const counted = work
        .catch((error: unknown) => log.error({ err: error }, "how a job ended could not be stored: the next start finds it running"))
        .finally(() => underWay.delete(counted));
      underWay.add(counted);
    },

    /** Returns once what is under way now is done, or after `ms`. */
    async doneWithin(ms: number): Promise<void> {
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([Promise.all(underWay), new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
      clearTimeout(timer);
    },

    /** Also what is added meanwhile. */
    async done(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
