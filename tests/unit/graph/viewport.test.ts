import { describe, expect, it } from "vitest";
import { nodeSize } from "@/components/graph/graph-layout";
import { findImportantNode, getNodeInputs, searchNodes } from "@/components/graph/node-search";
import { centerOn, findNodeAt, getInitialView, isInView, isReadable } from "@/components/graph/viewport";
import { fitView, zoomView } from "@/components/ui/hooks/use-pan-zoom";
import { type Graph } from "@/lib/contract/schemas/graph";

const size = { width: 800, height: 400 };
const node = { id: "1", x: 1000, y: 500, ...nodeSize };

describe("fitting and zooming a drawing", () => {
  it("fits the whole drawing and never enlarges it", () => {
    const small = fitView({ width: 100, height: 50 }, size);
    expect(small).toEqual({ scale: 1, x: 350, y: 175 });
    const large = fitView({ width: 8000, height: 400 }, size);
    expect(large.scale).toBeLessThan(0.1);
    expect(large.x).toBeGreaterThan(0);
  });

  it("keeps the point under the pointer in place while zooming", () => {
    const before = { x: 10, y: 20, scale: 1 };
    const after = zoomView(before, 1.5, { x: 110, y: 220 });
    expect(after.scale).toBe(1.5);
    expect({ x: 100 * after.scale + after.x, y: 200 * after.scale + after.y }).toEqual({ x: 110, y: 220 });
    expect(zoomView(before, 1e9, { x: 0, y: 0 }).scale).toBe(4);
  });

  it("centers a node so that it is visible and clickable", () => {
    const zoomedOut = { x: 0, y: 0, scale: 0.1 };
    expect(isInView(node, { ...zoomedOut, scale: 1 }, size)).toBe(false);
    const view = centerOn(node, zoomedOut, size);
    expect(view.scale).toBeGreaterThanOrEqual(0.8);
    expect(isInView(node, view, size)).toBe(true);
    expect(findNodeAt([node], view, { x: 400, y: 200 })).toBe(node);
    expect(findNodeAt([node], view, { x: 1, y: 1 })).toBeUndefined();
  });
});

describe("searching nodes", () => {
  const graph: Graph = {
    "7": { class_type: "KSampler", inputs: {}, _meta: { title: "Second pass" } },
    "17": { class_type: "LoadImage", inputs: { image: "7.png", key: "[REDACTED]", clip: ["99", 0], n: ["7", 1] } },
  };

  it("finds nodes by id, class and title, the exact id first", () => {
    expect(searchNodes(graph, "loadim")).toEqual(["17"]);
    expect(searchNodes(graph, "SECOND")).toEqual(["7"]);
    expect(searchNodes(graph, "#17")).toEqual(["17"]);
    expect(searchNodes(graph, "7")).toEqual(["7", "17"]);
    expect(searchNodes(graph, " ")).toEqual([]);
  });

  it("distinguishes literals, masked values, links and dangling links", () => {
    const inputs = getNodeInputs(graph, graph["17"] ?? { class_type: "", inputs: {} });
    expect(inputs.map((input) => [input.name, input.kind, input.kind === "link" ? input.isDangling : input.isMasked])).toEqual([
      ["image", "literal", false],
      ["key", "literal", true],
      ["clip", "link", true],
      ["n", "link", false],
    ]);
  });
});

describe("the initial view of a drawing", () => {
  const narrow = { width: 358, height: 360 };
  const nodes = new Map([
    ["1", { id: "1", x: 0, y: 40, ...nodeSize }],
    ["2", { id: "2", x: 1400, y: 900, ...nodeSize }],
  ]);
  const layout = { nodes, width: 1568, height: 946, isVertical: false };

  it("fits the whole graph when its text is readable", () => {
    const small = { ...layout, width: 300, height: 200 };
    expect(getInitialView(small, narrow, undefined)).toEqual(fitView(small, narrow));
  });

  it("shows the first or the failed node at a readable size in a large graph", () => {
    for (const [id, failedNode] of [
      ["1", undefined],
      ["2", "2"],
    ] as const) {
      const view = getInitialView(layout, narrow, failedNode);
      expect(isReadable(nodes.get(id) ?? node, view, narrow)).toBe(true);
      expect(view.scale).toBeGreaterThan(0.8);
    }
  });

  it("centers the first row when upright", () => {
    const wide = new Map([
      ["1", { id: "1", x: 900, y: 0, ...nodeSize }],
      ["2", { id: "2", x: 0, y: 92, ...nodeSize }],
    ]);
    const view = getInitialView({ nodes: wide, width: 1800, height: 3000, isVertical: true }, narrow, undefined);
    expect(isReadable({ id: "1", x: 900, y: 0, ...nodeSize }, view, narrow)).toBe(true);
  });

  const file = { ...layout, groups: [] };
  it("fits a file's whole drawing while its titles are readable", () => {
    const wide = { ...file, width: 850, height: 600 };
    const view = getInitialView(wide, narrow, "2");
    expect(view).toEqual(fitView(wide, narrow));
    expect(view.scale).toBeGreaterThanOrEqual(0.35);
  });

  it("starts at the densest part or at the failed node at a readable scale", () => {
    const sparseNodes = new Map(
      [
        { x: 0, y: 0 },
        { x: 9000, y: 4000 },
        { x: 9300, y: 4100 },
      ].map((node, index) => [`${index}`, { id: `${index}`, ...node, ...nodeSize }]),
    );
    const large = { nodes: sparseNodes, groups: [], width: 10_000, height: 5000, isVertical: false };
    const getReadable = (nodeId: string | undefined) => {
      const view = getInitialView(large, narrow, nodeId);
      return [view.scale, ...[...sparseNodes.values()].map((node) => isReadable(node, view, narrow))];
    };
    expect(getReadable(undefined)).toEqual([0.35, false, true, true]);
    expect(getReadable("0")).toEqual([0.35, true, false, false]);
  });

  it("centers the densest part of a small drawing", () => {
    const row = [0, 3000, 3400].map((x, index) => ({ id: String(index), x, y: 0, ...nodeSize }));
    const nodes = new Map(row.map((item) => [item.id, item]));
    const wide = { nodes, groups: [], width: 3600, height: nodeSize.height, isVertical: false };
    const { x, y, scale } = getInitialView(wide, size, undefined);
    expect(x + (3200 + nodeSize.width / 2) * scale).toBeCloseTo(size.width / 2);
    expect(y + (nodeSize.height / 2) * scale).toBeCloseTo(size.height / 2);
  });
});

it("ranks failed nodes before running ones and ignores done ones", () => {
  const findAmong = (...states: ("running" | "failed" | "done")[]) =>
    findImportantNode(new Map(states.map((state, index) => [`${index}`, { state }])));
  expect([findAmong("running", "failed"), findAmong("done", "running"), findAmong("done")]).toEqual(["1", "1", undefined]);
});
