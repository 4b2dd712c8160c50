// Claims jobs that the shared queue has given out: in a commit of their own, or in the one that ends the last job of a place, so that no
// reader sees two jobs there, or none, and the disk is waited for once.
// Guarantees: a job is claimed only while it waits and its runner has a free slot over all processes, as stored at that moment; what cannot
// be claimed in a commit that ends a job is claimed by itself, or goes back to its place.

import { type Place } from "@/lib/service/runners/pool";
import { countHandedOver, readRunner, stateOf } from "@/lib/service/runners/store";
import { asStorageFailure } from "@/lib/service/service-error";
import { type Transaction } from "@/lib/service/store/database";
import { type Claimed, claimJob, createRunning } from "../run/claim";
import { type Floor, type NextClaim } from "../run/job-queue";
import { enqueueAll, tookTurn } from "./queue-entries";

export type Entry = { seq: number; userId: number; kind: string; turn: number };
type Outcome = { claimed: Claimed | undefined; isFull: boolean };

/** A place that a job is about to leave. */
export type Offer = {
  place: Place;
  /** Marks that an entry is being asked for; returns a function that lets another worker ask. */
  ask(): () => void;
  /** False: the entry was not claimed at this place. */
  hand(entry: Entry): Promise<boolean>;
};

/** `offered`: there is another place; `isStale`: an entry belonged to a job that no longer waits. */
type On = { mayTake(): boolean; offered(): void; isStale(): void };

export function createSharedClaims({ parts, running }: Pick<Floor, "parts" | "running">, { mayTake, offered, isStale }: On) {
  const { database, pool, log } = parts;
  const open = new Set<Offer>();

  async function claimIn(tx: Transaction, entry: Entry, place: Place | undefined): Promise<Outcome> {
    const isFull = place !== undefined && !(await isFree(tx, place));
    if (!place || isFull) {
      await enqueueAll(tx, [entry], entry.turn);
      return { claimed: undefined, isFull };
    }
    await tookTurn(tx, entry.turn);
    const claimed = await tx
      .attempt(() => claimJob(tx, parts, entry.seq, place))
      .catch((error: unknown) => {
        if (asStorageFailure(error)) throw error;
        log.error({ err: error, seq: entry.seq }, "a job could not be begun");
        return undefined;
      });
    // Known as running from its claim on, so that no cancel falls between waiting and running.
    if (claimed) running.set(claimed.id, createRunning(claimed, parts.events));
    return { claimed, isFull };
  }

  /** A runner's slots are counted over all processes, as stored now. */
  async function isFree(tx: Transaction, { runner: { id, address } }: Place): Promise<boolean> {
    const row = await readRunner(tx, id);
    if (!row || stateOf(row) !== "ready") return false;
    return address === null || (await countHandedOver(tx, row)) < row.slots;
  }

  const undo = (outcome: Outcome | undefined) => void (outcome?.claimed && running.delete(outcome.claimed.id));

  function afterwards({ claimed, isFull }: Outcome): Promise<void> {
    if (!claimed && !isFull) isStale();
    return isFull
      ? pool.refresh().catch((error: unknown) => log.warn({ err: error }, "the runners could not be read again"))
      : Promise.resolve();
  }

  return {
    /** Undefined if it cannot be claimed here: it then keeps waiting in its place, unless it no longer waits. */
    async claim(entry: Entry, place: Place | undefined): Promise<Claimed | undefined> {
      let outcome: Outcome | undefined;
      try {
        await database.commit(async (tx) => (outcome = await claimIn(tx, entry, place)));
      } catch (error) {
        undo(outcome);
        throw error;
      }
      if (outcome && place) await afterwards(outcome);
      return outcome?.claimed;
    },

    /** The offers for which no worker asks yet. */
    offers: (): Iterable<Offer> => open,

    /** For one job of the place. Call `end` when the job has ended. */
    offer(place: Place): { next: NextClaim; end(): void } {
      let entry: Entry | undefined;
      let outcome: Outcome | undefined;
      let isOver = true;
      let isKept = false;
      let settle: (isClaimed: boolean) => void = () => undefined;
      const settled = new Promise<boolean>((resolve) => (settle = resolve));
      const offer: Offer = {
        place,
        ask() {
          open.delete(offer);
          return () => void (!isOver && !entry && open.add(offer));
        },
        hand(found) {
          if (isOver || entry || !pool.mayTake(found.kind, place.runner)) return Promise.resolve(false);
          entry = found;
          return settled;
        },
      };
      function close(): void {
        isOver = true;
        open.delete(offer);
      }
      const next: NextClaim = {
        soon() {
          isOver = false;
          open.add(offer);
          offered();
        },
        async take(tx) {
          close();
          undo(outcome); // of an earlier try of the same commit
          outcome = entry && mayTake() ? await claimIn(tx, entry, place) : undefined;
        },
        async keepIf(commit) {
          try {
            const result = await commit;
            isKept = true;
            settle(outcome !== undefined);
            if (outcome) await afterwards(outcome);
            return result;
          } catch (error) {
            if (!isKept) undo(outcome);
            throw error;
          }
        },
        job: () => (isKept ? outcome?.claimed : undefined),
      };
      return {
        next,
        end() {
          close();
          settle(false);
        },
      };
    },
  };
}
