// What this process does on notices of the others: takes over what dead processes left, ends runs that were cancelled or taken over
// elsewhere, and reads the runners again. Notices that may have been missed lead to the same work.

import { type ServiceLog } from "@/lib/service/options";
import { type Processes } from "@/lib/service/store/processes";
import { CANCELLED } from "./cancel-running";
import { type Engine } from "./engine";

/** The channel that tells processes that runners have changed. */
export const RUNNERS = "runners";

type Parts = { processes: Processes; engine: Pick<Engine, "takeOver" | "endStale" | "runnersChanged">; log: ServiceLog };

export function listenToOthers({ processes, engine, log }: Parts): void {
  /** Runs one at a time; a notice that arrives meanwhile causes one more run. */
  function oneAtATime(work: () => Promise<void>): () => void {
    let underWay: Promise<void> | undefined;
    let isDue = false;
    const begin = (): void => {
      isDue = underWay !== undefined;
      underWay ??= work()
        .catch((error: unknown) =>
          log.warn({ err: error }, "what another process told could not be done: it is done when it is told again"),
        )
        .finally(() => {
          underWay = undefined;
          if (isDue) begin();
        });
    };
    return begin;
  }
  const endStale = oneAtATime(engine.endStale);
  const lookAgain = oneAtATime(engine.runnersChanged);
  processes.watch({ othersSilent: oneAtATime(engine.takeOver), wasGivenUp: endStale });
  processes.listen(CANCELLED, endStale, endStale);
  processes.listen(RUNNERS, lookAgain, lookAgain);
}
