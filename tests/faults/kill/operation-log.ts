// Records the responses that one user of the load received. A request that was cut off may have had its effect (`maybe`). An acknowledged
// fact is `yes` and must stay true from then on.
import { type GraphKind } from "./load-inputs";

export type Certainty = "no" | "maybe" | "yes";
export type JobFact = { id: string; kind: GraphKind; cancelled: Certainty; removed: Certainty; hasEnded: boolean };
export type AssetFact = { id: string; hash: string; text: string; removed: Certainty; tags: Map<string, Certainty> };

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
    /** The number of requests sent and responses read. A round kills the service at one of these events. */
    eventCount: 0,
    /** Cancels and clears in transit. Only one runs at a time, since the effects of two could not be distinguished. */
    cancelsOpen: 0,
    clearsStarted: 0,
    clearsOpen: 0,
    /** Increases over all rounds, so that no text or name is used twice. */
    serial: 0,
  };
}

/** Sets `maybe` while the request is in transit or if it was cut off; otherwise the reported value. */
export async function withUncertainty(set: (certainty: Certainty) => void, work: () => Promise<boolean>): Promise<void> {
  set("maybe");
  set((await work()) ? "yes" : "no");
}
