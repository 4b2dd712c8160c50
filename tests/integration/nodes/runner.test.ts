// The worker pool with real threads and files: order, progress, cancellation, limits and crashes.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type RunEvent } from "@/lib/service/nodes/run";
import { until } from "@/tests/support/until";
import { type GraphRun, openTestRunner, runGraph, type TestRunner, toRequest } from "./support";

const testRunner = openTestRunner();

const createEmptyImage = (width: number, height: number, batch_size = 1) => ({
  class_type: "EmptyImage",
  inputs: { width, height, batch_size, color: 0 },
});
const createSaveNode = (from: string) => ({ class_type: "SaveImage", inputs: { images: [from, 0], filename_prefix: "x" } });
const createWaitGraph = (seconds: number): Graph => ({
  a: createEmptyImage(8, 8),
  w: { class_type: "Wait", inputs: { seconds, anything: ["a", 0] } },
  o: createSaveNode("w"),
});
const createInvertChain = (length: number, edge: number): Graph => {
  const createNode = (source: string) => ({ class_type: "ImageInvert", inputs: { image: [source, 0] } });
  const chain = Object.fromEntries(Array.from({ length }, (_, index) => [`n${index}`, createNode(index === 0 ? "a" : `n${index - 1}`)]));
  return { a: createEmptyImage(edge, edge), ...chain, o: createSaveNode(`n${length - 1}`) };
};

const listNodes = ({ events }: GraphRun) => events.flatMap((event) => (event.kind === "node" ? [event.nodeId] : []));

async function start(graph: Graph, target: TestRunner = testRunner) {
  const events: RunEvent[] = [];
  const request = await toRequest(target, graph);
  return { events, run: target.runner.run(request, (event) => events.push(event)) };
}

describe("a run", () => {
  it("executes ready nodes in graph order, after their inputs", async () => {
    const run = await runGraph(testRunner, {
      o: createSaveNode("b"),
      b: { class_type: "ImageInvert", inputs: { image: ["a", 0] } },
      a: createEmptyImage(4, 4),
      p: createSaveNode("a"),
    });
    expect(listNodes(run)).toEqual(["a", "b", "o", "p"]);
  });

  it("executes only nodes that the targets need", async () => {
    const graph = { a: createEmptyImage(4, 4), o: createSaveNode("a"), p: createSaveNode("a") };
    expect(listNodes(await runGraph(testRunner, graph, { targets: ["p"] }))).toEqual(["a", "p"]);
  });

  it("reports rising progress inside a waiting node at most ten times a second", async () => {
    const { events, outcome } = await runGraph(testRunner, createWaitGraph(0.7));
    expect(outcome).toEqual({ kind: "success" });
    const steps = events.flatMap((event) => (event.kind === "progress" && event.currentNode === "w" ? [event.step ?? 0] : []));
    expect(steps.length).toBeGreaterThanOrEqual(4);
    expect(steps.length).toBeLessThanOrEqual(9);
    expect([...steps].sort((a, b) => a - b)).toEqual(steps);
    expect(events.find((event) => event.kind === "progress")).toMatchObject({ nodesDone: 0, nodesTotal: 3 });
  });

  it("runs a chain of 5,000 nodes", async () => {
    const { outcome, files } = await runGraph(testRunner, createInvertChain(4997, 1));
    expect(outcome).toEqual({ kind: "success" });
    expect(files).toHaveLength(1);
  });

  it("frees unused images so that a long chain fits a small limit", async () => {
    const { outcome } = await runGraph(testRunner, createInvertChain(40, 100), { maxPixels: 20_000 });
    expect(outcome).toEqual({ kind: "success" });
  });

  it("fails with OOMError before allocation and runs the next job", async () => {
    const { outcome } = await runGraph(testRunner, { a: createEmptyImage(16384, 16384, 4096), o: createSaveNode("a") });
    expect(outcome).toMatchObject({ kind: "error", error: { node_id: "a", node_type: "EmptyImage", exception_type: "OOMError" } });
    expect((await runGraph(testRunner, createWaitGraph(0))).outcome).toEqual({ kind: "success" });
  });

  it.each<[string, Graph[string]]>([
    [
      "ImageScale",
      { class_type: "ImageScale", inputs: { image: ["a", 0], upscale_method: "lanczos", width: 100, height: 1, crop: "disabled" } },
    ],
    [
      "ImageCompositeMasked",
      { class_type: "ImageCompositeMasked", inputs: { destination: ["b", 0], source: ["a", 0], x: 0, y: 0, resize_source: true } },
    ],
  ])("fails with OOMError when the intermediate rows of %s exceed the limit", async (_, node) => {
    const graph = { a: createEmptyImage(1, 100), b: createEmptyImage(100, 1), n: node, o: createSaveNode("n") };
    const { outcome } = await runGraph(testRunner, graph, { maxPixels: 5000 });
    expect(outcome).toMatchObject({ kind: "error", error: { node_id: "n", exception_type: "OOMError" } });
  });

  it("checks values that passed a wildcard node", async () => {
    const graph = {
      s: { class_type: "PrimitiveString", inputs: { value: "no image" } },
      w: { class_type: "Wait", inputs: { seconds: 0, anything: ["s", 0] } },
      i: { class_type: "ImageInvert", inputs: { image: ["w", 0] } },
      o: createSaveNode("i"),
    };
    const { outcome } = await runGraph(testRunner, graph);
    expect(outcome).toMatchObject({ kind: "error", error: { node_id: "i", exception_type: "TypeError" } });
  });

  it("passes strings between nodes", async () => {
    const graph = {
      a: { class_type: "StringConcatenate", inputs: { string_a: "one", string_b: "two", delimiter: ", " } },
      b: { class_type: "PreviewAny", inputs: { source: ["a", 0] } },
      f: { class_type: "PrimitiveFloat", inputs: { value: 2 } },
      g: { class_type: "PreviewAny", inputs: { source: ["f", 0] } },
      i: createEmptyImage(6, 5, 2),
      j: { class_type: "PreviewAny", inputs: { source: ["i", 0] } },
    };
    const { texts } = await runGraph(testRunner, graph);
    expect(texts).toEqual(["one, two", "2.0", "Image 6x5 x2"]);
  });
});

describe("cancelling a run", () => {
  it("stops a node while it waits", async () => {
    const { run, events } = await start(createWaitGraph(3600));
    await until("the node runs", () => events.some((event) => event.kind === "progress" && event.currentNode === "w"));
    run.cancel();
    expect(await run.done).toEqual({ kind: "cancelled" });
  });

  it("ends a pixel loop and keeps the pool running", async () => {
    const heavyGraph: Graph = {
      a: createEmptyImage(3000, 3000),
      b: { class_type: "ImageBlur", inputs: { image: ["a", 0], blur_radius: 31, sigma: 10 } },
      o: createSaveNode("b"),
    };
    const { run, events } = await start(heavyGraph);
    await until("the node runs", () =>
      events.some((event) => event.kind === "progress" && event.currentNode === "b" && event.step !== undefined),
    );
    run.cancel();
    expect(await run.done).toEqual({ kind: "cancelled" });
    expect((await runGraph(testRunner, createWaitGraph(0))).outcome).toEqual({ kind: "success" });
  });

  it("terminates a worker that ignores it", async () => {
    const hangingWorkerPath = join(testRunner.folder, "hanging.mjs");
    await writeFile(hangingWorkerPath, 'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => { for (;;); });');
    const otherRunner = openTestRunner(hangingWorkerPath);
    const { run } = await start(createWaitGraph(0), otherRunner);
    run.cancel();
    expect(await run.done).toEqual({ kind: "cancelled" });
  });

  it("happens to every run when the runner stops", async () => {
    const otherRunner = openTestRunner();
    const first = await start(createWaitGraph(60), otherRunner);
    const second = await start(createWaitGraph(60), otherRunner);
    await otherRunner.runner.stop();
    expect([await first.run.done, await second.run.done]).toEqual([{ kind: "cancelled" }, { kind: "cancelled" }]);
  });
});
