// @vitest-environment jsdom
// A job made from an editor file: its page draws it as the editor does.
import { readFileSync } from "node:fs";
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type NodeState } from "@/components/graph/node-words";
import { WorkflowGraph } from "@/components/graph/workflow-graph";
import { JobGraph } from "@/components/jobs/job/job-graph";
import { renderInApp } from "../render";
import { factsOf } from "./a-job";

const read = (name: string) => JSON.parse(readFileSync(`tests/fixtures/editor-pairs/${name}.json`, "utf8"));
const prompt = read("19-subgraph.api");
const drawing = read("19-subgraph.editor");
const submitted = (workflow: object) => ({ prompt, extra_data: { extra_pnginfo: { workflow } } });

beforeEach(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(private readonly changed: () => void) {}
      observe() {
        this.changed();
      }
      disconnect() {}
    },
  );
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  Element.prototype.scrollIntoView = () => {};
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1200);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(800);
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
const boxes = () => [...document.querySelectorAll("[data-node]")].map((box) => box.getAttribute("data-node"));

/** Answers are kept by job, so each test needs a new id. */
function showJob(id: string, workflow: object) {
  vi.stubGlobal("fetch", async () => Response.json({ id, status: "completed", create_time: 1_700_000_000, workflow }));
  const facts = factsOf({ id, workflow });
  renderInApp(<JobGraph facts={facts} canSave={false} ask={{ id: "5:3", serial: 1 }} />);
}

test("a node that is asked for is shown in its subgraph, under the editor's own names", async () => {
  showJob("job-own", submitted(drawing));
  const trail = await screen.findByRole("navigation", { name: "Path to this drawing" });
  expect(boxes()).toContain("5:3");
  expect(screen.getByRole("region", { name: /^Node 5:3/ })).toBeDefined();
  fireEvent.click(within(trail).getAllByRole("button")[0] ?? document.body);
  expect(boxes()).toContain("5");
});

test("a drawing of something else is not taken for the job's", async () => {
  showJob("job-other", submitted(read("11-notes-and-groups.editor")));
  expect(await screen.findByText(/has a new layout/)).toBeDefined();
  // The layout is computed after the note is shown.
  await vi.waitFor(() => expect(boxes()).toContain("5:3"));
});

test("the box of a subgraph says what tells most of the nodes in it", () => {
  const stateOfBox = (states: readonly NodeState[]) => {
    const inner = Object.keys(prompt).filter((id) => id.startsWith("5:"));
    const marks = new Map(inner.map((id, at) => [id, { state: states[at] ?? "done" }]));
    renderInApp(<WorkflowGraph graph={prompt} drawing={drawing} marks={marks} json={{}} fileName="w.json" />);
    const text = document.querySelector('[data-node="5"]')?.textContent;
    cleanup();
    return text;
  };
  expect(stateOfBox(["done", "failed"])).toContain("failed");
  expect(stateOfBox(["done", "running"])).toContain("running");
  expect(stateOfBox(["done", "waiting"])).toContain("waiting");
  expect(stateOfBox(["cached", "done"])).toContain("done");
});

test("a drawing too small for titles shows the name of the node under the pointer, with its state", () => {
  const far = { ...drawing, nodes: drawing.nodes.map((node: object, at: number) => ({ ...node, pos: [at * 3000, 0], size: [200, 100] })) };
  const marks = new Map([["5:3", { state: "failed" as NodeState }]]);
  const { container } = renderInApp(<WorkflowGraph graph={prompt} marks={marks} json={prompt} fileName="x" drawing={far} />);
  fireEvent.click(screen.getByRole("button", { name: "Fit" }));
  expect(boxes()).toEqual([]);
  const frame = screen.getByRole("group", { name: /^Workflow graph:/ });
  for (let x = 0; x < 1200; x += 5) {
    fireEvent(frame, new MouseEvent("pointermove", { bubbles: true, clientX: x, clientY: 400 }));
    if (container.textContent?.includes("failed")) break;
  }
  expect(container.textContent).toMatch(/#5 .*failed/);
  fireEvent(frame, new MouseEvent("pointermove", { bubbles: true, clientX: 1, clientY: 1 }));
  expect(container.textContent).not.toContain("failed");
});
