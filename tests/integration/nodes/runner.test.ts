// The pool of workers: order, progress, cancelling, limits, crashes. Real threads, real files.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type RunEvent } from "@/lib/service/nodes/run";
import { getProduced, openTestRunner, runGraph, type TestRunner, toRequest, until } from "./support";

const testRunner = await openTestRunner();

const empty = (width: number, height: number, batch_size = 1) => ({
  class_type: "EmptyImage",
  inputs: { width, height, batch_size, color: 0 },
});
const save = (from: string) => ({ class_type: "SaveImage", inputs: { images: [from, 0], filename_prefix: "x" } });
const waiting = (seconds: number): Graph => ({
  a: empty(8, 8),
  w: { class_type: "Wait", inputs: { seconds, anything: ["a", 0] } },
  o: save("w"),
});

async function start(graph: Graph, on: TestRunner = testRunner) {
  const events: RunEvent[] = [];
  const request = await toRequest(on, graph);
  return { events, run: on.runner.run(request, (event) => events.push(event)) };
}

describe("a run", () => {
  it("executes ready nodes in graph order, after their inputs", async () => {
    const { events } = await runGraph(testRunner, {
      o: save("b"),
      b: { class_type: "ImageInvert", inputs: { image: ["a", 0] } },
      a: empty(4, 4),
      p: save("a"),
    });
    expect(events.flatMap((event) => (event.kind === "node" ? [event.nodeId] : []))).toEqual(["a", "b", "o", "p"]);
  });

  it("executes only nodes that the targets need", async () => {
    const { events } = await runGraph(testRunner, { a: empty(4, 4), o: save("a"), p: save("a") }, { targets: ["p"] });
    expect(events.flatMap((event) => (event.kind === "node" ? [event.nodeId] : []))).toEqual(["a", "p"]);
  });

  it("reports rising progress inside a waiting node at most ten times a second", async () => {
    const { events, outcome } = await runGraph(testRunner, waiting(0.7));
    expect(outcome).toEqual({ kind: "success" });
    const steps = events.flatMap((event) => (event.kind === "progress" && event.currentNode === "w" ? [event.step ?? 0] : []));
    expect(steps.length).toBeGreaterThanOrEqual(4);
    expect(steps.length).toBeLessThanOrEqual(9);
    expect([...steps].sort((a, b) => a - b)).toEqual(steps);
    expect(events.find((event) => event.kind === "progress")).toMatchObject({ nodesDone: 0, nodesTotal: 3 });
  });

  it("runs a chain of 5,000 nodes", async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 4997 }, (_, i) => [`n${i}`, { class_type: "ImageInvert", inputs: { image: [i === 0 ? "a" : `n${i - 1}`, 0] } }]),
    );
    const { outcome, files } = await runGraph(testRunner, { a: empty(1, 1), ...chain, o: save("n4996") });
    expect(outcome).toEqual({ kind: "success" });
    expect(files).toHaveLength(1);
  });

  it("frees unused images so a long chain fits a small bound", async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`n${i}`, { class_type: "ImageInvert", inputs: { image: [i === 0 ? "a" : `n${i - 1}`, 0] } }]),
    );
    const { outcome } = await runGraph(testRunner, { a: empty(100, 100), ...chain, o: save("n39") }, { maxPixels: 20_000 });
    expect(outcome).toEqual({ kind: "success" });
  });

  it("fails with OOMError before allocation and runs the next job", async () => {
    const { outcome } = await runGraph(testRunner, { a: empty(16384, 16384, 4096), o: save("a") });
    expect(outcome).toMatchObject({ kind: "error", error: { node_id: "a", node_type: "EmptyImage", exception_type: "OOMError" } });
    expect((await runGraph(testRunner, waiting(0))).outcome).toEqual({ kind: "success" });
  });

  it("names the node and the file when an image cannot be read", async () => {
    await writeFile(join(testRunner.folder, "broken.png"), "this is no picture");
    const graph = { l: { class_type: "LoadImage", inputs: { image: "broken.png" } }, o: save("l") };
    const { outcome } = await runGraph(testRunner, graph, { imagesDir: testRunner.folder });
    expect(outcome).toMatchObject({
      kind: "error",
      error: {
        node_id: "l",
        node_type: "LoadImage",
        exception_type: "ImageDecodeError",
        exception_message: expect.stringContaining('"broken.png"'),
      },
    });
  });

  it("checks values that passed a wildcard node", async () => {
    const graph = {
      s: { class_type: "PrimitiveString", inputs: { value: "no image" } },
      w: { class_type: "Wait", inputs: { seconds: 0, anything: ["s", 0] } },
      i: { class_type: "ImageInvert", inputs: { image: ["w", 0] } },
      o: save("i"),
    };
    const { outcome } = await runGraph(testRunner, graph);
    expect(outcome).toMatchObject({ kind: "error", error: { node_id: "i", exception_type: "TypeError" } });
  });

  it("hands texts on", async () => {
    const graph = {
      a: { class_type: "StringConcatenate", inputs: { string_a: "one", string_b: "two", delimiter: ", " } },
      b: { class_type: "PreviewAny", inputs: { source: ["a", 0] } },
      f: { class_type: "PrimitiveFloat", inputs: { value: 2 } },
      g: { class_type: "PreviewAny", inputs: { source: ["f", 0] } },
      i: empty(6, 5, 2),
      j: { class_type: "PreviewAny", inputs: { source: ["i", 0] } },
    };
    const { events } = await runGraph(testRunner, graph);
    expect(getProduced(events).texts).toEqual(["one, two", "2.0", "Image 6x5 x2"]);
  });
});

describe("a cancel", () => {
  it("stops a node while it waits", async () => {
    const { run, events } = await start(waiting(3600));
    await until(() => events.some((event) => event.kind === "progress" && event.currentNode === "w"));
    run.cancel();
    expect(await run.done).toEqual({ kind: "cancelled" });
  });

  it("ends a pixel loop and keeps the pool running", async () => {
    const heavy: Graph = {
      a: empty(3000, 3000),
      b: { class_type: "ImageBlur", inputs: { image: ["a", 0], blur_radius: 31, sigma: 10 } },
      o: save("b"),
    };
    const { run, events } = await start(heavy);
    await until(() => events.some((event) => event.kind === "progress" && event.currentNode === "b" && event.step !== undefined));
    run.cancel();
    expect(await run.done).toEqual({ kind: "cancelled" });
    expect((await runGraph(testRunner, waiting(0))).outcome).toEqual({ kind: "success" });
  });

  it("changes nothing once the run has ended", async () => {
    const { run } = await start(waiting(0));
    const outcome = await run.done;
    run.cancel();
    expect(outcome).toEqual({ kind: "success" });
  });
});

describe("a dying worker", () => {
  it("fails the job and starts a new worker for the next one", async () => {
    const deadly = join(testRunner.folder, "deadly.mjs");
    await writeFile(deadly, 'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(3));');
    const otherRunner = await openTestRunner(deadly);
    for (let attempt = 0; attempt < 2; attempt++) {
      const { run } = await start(waiting(0), otherRunner);
      expect(await run.done).toMatchObject({ kind: "error", error: { exception_type: "WorkerLost" } });
    }
  });

  it("is an error of its job when the bundle is missing", async () => {
    const otherRunner = await openTestRunner(join(testRunner.folder, "nowhere.mjs"));
    const { run } = await start(waiting(0), otherRunner);
    expect(await run.done).toMatchObject({ kind: "error", error: { exception_type: "WorkerLost" } });
  });

  it("kills a worker that ignores a cancel", async () => {
    const deaf = join(testRunner.folder, "deaf.mjs");
    await writeFile(deaf, 'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => { for (;;); });');
    const otherRunner = await openTestRunner(deaf);
    const { run } = await start(waiting(0), otherRunner);
    run.cancel();
    expect(await run.done).toEqual({ kind: "cancelled" });
  });
});

describe("stopping the runner", () => {
  it("cancels every run", async () => {
    const otherRunner = await openTestRunner();
    const first = await start(waiting(60), otherRunner);
    const second = await start(waiting(60), otherRunner);
    await otherRunner.runner.stop();
    expect([await first.run.done, await second.run.done]).toEqual([{ kind: "cancelled" }, { kind: "cancelled" }]);
  });
});
