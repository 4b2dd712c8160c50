// What one user of the load was told. A request that was cut off may have had its effect or not: `maybe` says so, and allows both.
// What was acknowledged is `yes` and must be true from then on, whatever happens to the process.
import { type Kind } from "./graphs";

export type Sure = "no" | "maybe" | "yes";
export type JobFact = { id: string; kind: Kind; cancelled: Sure; removed: Sure; isKnownToHaveEnded: boolean };
export type AssetFact = { id: string; hash: string; text: string; removed: Sure; tags: Map<string, Sure> };

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(user: string, key: string) {
  return {
    user,
    key,
    jobs: new Map<string, JobFact>(),
    assets: new Map<string, AssetFact>(),
    /** Each text that a file may hold now: the one that was acknowledged last, and those that were on their way when the line was cut. */
    files: new Map<string, string[]>(),
    /** Names of the four pictures of each acknowledged mask. */
    masks: [] as string[][],
    /** An uploaded picture that graphs load; never deleted. */
    picture: "",
    /** Requests sent and answers read: a round dies at one of these moments. */
    moments: 0,
    /** Cancels on their way, and clears begun: two of them at once could not be told apart afterwards. */
    cancelsOpen: 0,
    clearsBegun: 0,
    clearsOpen: 0,
    /** Grows over all rounds, so that no text and no name is used twice by chance. */
    serial: 0,
  };
}

/** Holds `maybe` while the request is on its way and after the line was cut; else what the answer said. */
export async function claiming(set: (sure: Sure) => void, act: () => Promise<boolean>): Promise<void> {
  set("maybe");
  set((await act()) ? "yes" : "no");
}
