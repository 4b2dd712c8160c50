// What can be done with the copies of a run: begin, stop, go on with the rest, cancel what waits, find out after a reload.
// Guarantees: the work belongs to the tab and not to the page: a look at a job and back finds it going on. What became of each copy is noted
// as soon as it is known.

import { newPressKey } from "@/lib/browser/press-key";
import { type SeedEdit } from "../seeds";
import { withInput } from "../form-model";
import { own } from "../own";
import { askAfter } from "../press-outcome";
import { type RunPorts } from "../run-ports";
import { type OpenWorkflow } from "../run-state";
import { type RunStore } from "../run-store";
import { tabShelf } from "../shelf";
import { toSubmission } from "../submission";
import { keepCopies, keptCopies } from "./copies-note";
import { type CopiesAct, type CopiesSet, isOpen } from "./copies-state";
import { type Planned, sendCopies, toCopyOutcome } from "./send-copies";
import { labelOf, type Literal } from "./variation";

export type CopiesPlan = {
  nodeId: string;
  input: string;
  values: readonly Literal[];
  /** What changes with every run, for one copy. */
  seedsOf: () => readonly SeedEdit[];
};

type Pressed = { memberId: string; connection?: string };
type Running = { planned: readonly Planned[]; stop: AbortController };

/** By the store they tell, which outlives every page. */
const running = new WeakMap<RunStore, Running>();
const CANCELLED_AT_ONCE = 100;

export function copiesActs(store: RunStore, ports: RunPorts, pressed: Pressed) {
  const tell = (act: CopiesAct) => {
    store.dispatch({ type: "copies", act });
    keepCopies(tabShelf, store.get().copies);
  };

  async function send(set: CopiesSet, planned: readonly Planned[]): Promise<void> {
    const stop = new AbortController();
    running.set(store, { planned, stop });
    const { id, memberId, workflowId, name, atMs, connection } = set;
    const open = new Set((store.get().copies?.copies ?? []).filter(isOpen).map(({ key }) => key));
    window.addEventListener("beforeunload", keepPage);
    const ending = await sendCopies(
      planned.filter(({ key }) => open.has(key)),
      {
        ports,
        press: { memberId, workflowId, name, atMs, ...(connection !== undefined && { connection }) },
        signal: stop.signal,
        onSending: (key) => tell({ act: "sending", id, key }),
        onOutcome: (key, outcome) => tell({ act: "told", id, key, outcome }),
        onWait: (waitMs) => tell({ act: "waiting", id, waitMs }),
      },
    );
    window.removeEventListener("beforeunload", keepPage);
    tell({ act: "ended", id, ending });
  }

  return {
    async begin(opened: OpenWorkflow, name: string, plan: CopiesPlan): Promise<void> {
      if (isSendingCopies(store.get().copies)) return;
      const planned = planOf(opened, name, plan);
      const copies = planned.map(({ key, label }) => ({ key, label }));
      const set: CopiesSet = {
        ...pressed,
        id: newPressKey(),
        workflowId: opened.workflowId,
        name,
        atMs: Date.now(),
        copies,
        canGoOn: true,
      };
      tell({ act: "begun", set });
      await send(set, planned);
    },
    /** What is under way comes to its end. */
    stop() {
      const { copies } = store.get();
      running.get(store)?.stop.abort();
      if (copies) tell({ act: "stopping", id: copies.id });
    },
    async goOn(): Promise<void> {
      const { copies } = store.get();
      const planned = running.get(store)?.planned;
      if (!copies?.ending || !planned) return;
      tell({ act: "went-on", id: copies.id });
      await send(copies, planned);
    },
    /** `hasBegun`: what is known to run or to be over is not asked for. */
    async cancelWaiting(hasBegun: (jobId: string) => boolean): Promise<void> {
      const { copies: set } = store.get();
      if (!set || set.isCancelling) return;
      const { id } = set;
      const jobs = set.copies.flatMap(({ outcome }) =>
        outcome?.kind === "accepted" && !outcome.cancel && !hasBegun(outcome.jobId) ? [outcome.jobId] : [],
      );
      tell({ act: "cancelling", id });
      for (let at = 0; at < jobs.length; at += CANCELLED_AT_ONCE) {
        const asked = jobs.slice(at, at + CANCELLED_AT_ONCE);
        const answer = await ports.cancelJobs(asked);
        if (!answer.ok) return tell({ act: "cancel-failed", id, failure: answer.failure });
        tell({ act: "cancelled", id, asked, deleted: answer.value.deleted });
      }
      tell({ act: "cancel-over", id });
    },
    leave: () => tell({ act: "left" }),
    /** After a reload: asks after what was under way, and sends nothing. */
    async recall(): Promise<void> {
      if (store.get().copies) return;
      const set = keptCopies(tabShelf, pressed.memberId);
      if (!set) return;
      tell({ act: "begun", set });
      for (const { key, isBegun, outcome } of set.copies) {
        if (!isBegun || outcome) continue;
        const { memberId, workflowId, name, atMs } = set;
        const found = await askAfter(ports, { key, memberId, workflowId, name, atMs });
        tell({ act: "told", id: set.id, key, outcome: toCopyOutcome(found) });
      }
    },
  };
}

export function isSendingCopies(set: CopiesSet | undefined): boolean {
  return set !== undefined && set.ending === undefined;
}

/** Some are not sent yet: the browser asks before the page goes. */
function keepPage(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function planOf(opened: OpenWorkflow, name: string, { nodeId, input, values, seedsOf }: CopiesPlan): Planned[] {
  return values.map((value, index) => {
    // Chosen now, so that going on later sends what was meant.
    const seeds = seedsOf().filter((seed) => seed.nodeId !== nodeId || seed.name !== input);
    return {
      key: newPressKey(),
      label: labelOf(input, own(opened.ownNames, String(value)) ?? value, { index, total: values.length }),
      make: () => {
        const graph = [...seeds, { nodeId, name: input, value }].reduce(
          (now, edit) => withInput(now, edit.nodeId, edit.name, edit.value),
          opened.graph,
        );
        return { graph, submission: toSubmission({ ...opened, name, graph }) };
      },
    };
  });
}
