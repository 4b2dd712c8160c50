// What this process does for what it hears of the others: takes over what dead ones left, ends what was cancelled or taken over elsewhere, and
// looks at the runners again. What may have been missed is done all the same.

import { type ServiceLog } from "@/lib/service/options";
import { type Processes } from "@/lib/service/store/processes";
import { CANCELLED } from "./cancel-running";
import { type Engine } from "./engine";

/** The channel on which processes are told that runners have changed. */
export const RUNNERS = "runners";

type Parts = { processes: Processes; engine: Pick<Engine, "takeOver" | "endStale" | "runnersChanged">; log: ServiceLog };

export function hearOthers({ processes, engine, log }: Parts): void {
  /** One at a time of each; what is told meanwhile is done after it. */
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
