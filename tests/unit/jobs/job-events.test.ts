// Job events, the fair queue, search snippets and indexed texts.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collectTexts } from "@/lib/server/job-index/job-updates";
import { findSnippet } from "@/lib/server/jobs/job-search";
import { splitWords } from "@/lib/server/store/jobs/index-words";
import { createJobEvents, createNoopPeerEvents } from "@/lib/service/events/job-events";
import { createFairQueue } from "@/lib/service/jobs/queue/memory-queue";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const getTypes = (received: readonly (string | Uint8Array)[]) =>
  received.map((item) => (typeof item === "string" ? (JSON.parse(item) as { type: string }).type : "preview"));

const job = { id: "job", userId: 1, clientId: undefined };

it("sends the queue state before messages that arrive while it is counted", async () => {
  let resolveCount: (queueLength: number) => void = () => undefined;
  const events = createJobEvents(() => new Promise((resolve) => (resolveCount = resolve)), createNoopPeerEvents(), log);
  const received: (string | Uint8Array)[] = [];
  const pendingListener = events.listen(1, undefined, (message) => void received.push(message));
  expect(events.hasListeners(job)).toBe(true);
  events.notify(job, "execution_start", {});
  events.sendPreview(job, new Uint8Array(4));
  expect(received).toEqual([]);
  resolveCount(3);
  const stop = await pendingListener;
  events.notify(job, "execution_success", {});
  expect(getTypes(received)).toEqual(["status", "execution_start", "preview", "execution_success"]);
  expect(JSON.parse(String(received[0]))).toMatchObject({ data: { status: { exec_info: { queue_remaining: 3 } } } });
  stop();
  events.notify(job, "execution_start", {});
  expect(received).toHaveLength(4);
  events.stop();
});

it("removes the listener when the queue can't be counted", async () => {
  const events = createJobEvents(() => Promise.reject(new Error("the database does not respond")), createNoopPeerEvents(), log);
  await expect(events.listen(1, undefined, () => undefined)).rejects.toThrow("does not respond");
  expect(events.hasListeners(job)).toBe(false);
  events.stop();
});

it("returns a waiting job until the queue is empty", () => {
  const user = fc.integer({ min: 1, max: 2 });
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("add" as const), user }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("take" as const), isReturned: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), seq: fc.integer({ min: 1, max: 20 }) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 40 }), (steps) => {
      const queue = createFairQueue();
      const users: number[] = [];
      const waiting = new Set<number>();
      for (const step of steps) {
        if (step.kind === "add") {
          const seq = users.push(step.user);
          queue.enqueue(step.user, seq);
          waiting.add(seq);
        } else if (step.kind === "forget") {
          const owner = users[step.seq - 1];
          if (owner === undefined) continue;
          queue.remove(owner, [step.seq]);
          waiting.delete(step.seq);
        } else {
          const waitingJob = queue.dequeue();
          if (waitingJob) expect(waiting).toContain(waitingJob.seq);
          else expect(waiting).toEqual(new Set());
          if (waitingJob && step.isReturned) queue.returnEntry(waitingJob.userId, waitingJob.seq, waitingJob.kind);
          else if (waitingJob) waiting.delete(waitingJob.seq);
        }
      }
    }),
  );
});

/** Returns the snippet with its matches in brackets. */
function markSnippet(texts: string[], search: string): string | undefined {
  const snippet = findSnippet(texts, splitWords(search));
  if (!snippet) return undefined;
  const starts = [0, ...snippet.marks.map(([, to]) => to)];
  const parts = snippet.marks.map(([from, to], index) => `${snippet.text.slice(starts[index], from)}[${snippet.text.slice(from, to)}]`);
  return parts.join("") + snippet.text.slice(starts.at(-1));
}

describe("search snippets", () => {
  it.each([
    ["every word, in any case", "sea GULL", ["A gull over the Sea, gulls"], "A [gull] over the [Sea], [gull]s"],
    ["the text with the most words", "red fox", ["red", "a red fox"], "a [red] [fox]"],
    ["a phrase across lines", '"red fox"', ["a red\n fox"], "a [red fox]"],
    ["letters that case-fold to two", "strasse", ["Die Straße"], "Die [Straße]"],
    ["letters beyond one code unit", "cat", ["😀😀 cat"], "😀😀 [cat]"],
    ["Chinese words", "海边", ["日落时的海边小屋"], "日落时的[海边]小屋"],
    ["markup as plain text", "img", ["<img src=x>"], "<[img] src=x>"],
    ["overlapping words once", "seas ease", ["the sease"], "the [sease]"],
  ])("marks %s", (_, search, texts, expected) => {
    expect(markSnippet(texts, search)).toBe(expected);
  });

  it("truncates a long text around the first match and returns none without one", () => {
    const snippet = findSnippet([`${"a ".repeat(2000)}needle ${"b ".repeat(2000)}`], ["needle"]);
    expect(snippet?.text.length).toBeLessThan(150);
    expect(snippet?.text).toContain("needle");
    expect(findSnippet(["nothing here"], ["needle"])).toBeUndefined();
  });
});

describe("collecting a graph's texts", () => {
  it("starts with the positive prompt in any node order", () => {
    const graph = {
      "1": { class_type: "CLIPTextEncode", inputs: { text: "blurry, bad hands" } },
      "2": { class_type: "Text", inputs: { string: "a lighthouse at dawn" } },
      "3": { class_type: "CLIPTextEncode", inputs: { text: ["2", 0], clip: ["9", 1] } },
      "4": { class_type: "KSampler", inputs: { positive: ["3", 0], negative: ["1", 0], sampler_name: "euler" } },
      "9": { class_type: "Loader", inputs: { ckpt_name: "a model.safetensors" } },
    };
    expect(collectTexts(graph).split("\n")[0]).toBe("a lighthouse at dawn");
    expect(collectTexts({ "1": { inputs: { positive: ["1", 0] } }, "2": { inputs: { positive: ["__proto__", 0] } } })).toBe("");
  });
});
