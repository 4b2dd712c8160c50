// What one user of the load received. A request that was cut off may or may not have had its effect: `maybe` allows both. An acknowledged
// fact is `yes` and must stay true from then on.
import { type Kind } from "./graphs";

export type Sure = "no" | "maybe" | "yes";
export type JobFact = { id: string; kind: Kind; cancelled: Sure; removed: Sure; hasEnded: boolean };
export type AssetFact = { id: string; hash: string; text: string; removed: Sure; tags: Map<string, Sure> };

export type OperationLog = ReturnType<typeof createOperationLog>;

export function createOperationLog(user: string, key: string) {
  return {
    user,
    key,
    jobs: new Map<string, JobFact>(),
    assets: new Map<string, AssetFact>(),
    /** All possible texts of a file: the last acknowledged one, and those in transit when the connection was cut. */
    files: new Map<string, string[]>(),
    /** Names of the four pictures of each acknowledged mask. */
    masks: [] as string[][],
    /** An uploaded picture that graphs load; never deleted. */
    picture: "",
    /** Requests sent and responses read: a round kills the service at one of these moments. */
    moments: 0,
    /** Cancels in transit and clears begun. Only one runs at a time, since the effects of two could not be distinguished afterwards. */
    cancelsOpen: 0,
    clearsBegun: 0,
    clearsOpen: 0,
    /** Grows over all rounds, so that no text or name is used twice by chance. */
    serial: 0,
  };
}

/** Sets `maybe` while the request is in transit or if it was cut off; otherwise the reported value. */
export async function claiming(set: (sure: Sure) => void, work: () => Promise<boolean>): Promise<void> {
  set("maybe");
  set((await work()) ? "yes" : "no");
}
