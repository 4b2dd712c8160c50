import { readFileSync } from "node:fs";
import { fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { getPreviewText, type NodeState, withTitles } from "@/components/graph/node-search";
import { WorkflowGraph } from "@/components/graph/workflow-graph";
import { getClassDisplayName } from "@/components/jobs/job/job-facts";
import { getNodeMarks, JobGraph } from "@/components/jobs/job/job-graph";
import { stubResizeObserver } from "@/tests/support/stub-resize-observer";
import { renderInApp } from "../render";
import { createFacts, graph } from "./sample-job";

describe("job graph", () => {
  beforeEach(stubResizeObserver);
  const facts = createFacts({
    status: "failed",
    execution_status: { messages: [["execution_cached", { nodes: ["1"], timestamp: 1_700_000_001_000 }]] },
    execution_error: { node_id: "2", node_type: "KSampler", exception_message: "out of memory", exception_type: "OOM" },
  });

  /** Opens the list of nodes and returns their texts. */
  function getListedNodes() {
    fireEvent.click(screen.getByRole("button", { name: "List" }));
    const rows = within(screen.getByRole("list", { name: "Nodes of the workflow" })).getAllByRole("button");
    return rows.map((row) => row.textContent);
  }

  it("marks cached, failed and unreached nodes and shows inputs", () => {
    renderInApp(<WorkflowGraph graph={graph} marks={getNodeMarks(facts, graph)} json={{}} fileName="w.json" />);
    expect(getListedNodes()).toEqual(["cached", "failed", "not reached"].map((state) => expect.stringContaining(state)));
    fireEvent.click(screen.getByRole("button", { name: /SaveImage/ }));
    const panel = screen.getByRole("region", { name: "Node 3: SaveImage" });
    expect(within(panel).getByText("#77, which is not in this workflow")).toBeDefined();
    fireEvent.click(within(panel).getByRole("button", { name: "KSampler #2" }));
    expect(within(screen.getByRole("region", { name: "Node 2: KSampler" })).getByText("OOM: out of memory")).toBeDefined();
  });

  it("labels nodes by title, then by the catalogue's name, then by class", () => {
    const class_names = { LoadImage: "Load Image", KSampler: "KSampler (Advanced)" };
    const { timeline } = createFacts({
      class_names,
      execution_status: { messages: [["execution_cached", { nodes: ["1", "2", "3"], timestamp: 1_700_000_001_000 }]] },
    });
    const names = ["The photo", "KSampler (Advanced)", "SaveImage"];
    expect(timeline.map(({ name }) => name)).toEqual(names);
    const titledGraph = withTitles(graph, (className) => getClassDisplayName(class_names, className));
    renderInApp(<WorkflowGraph graph={titledGraph} marks={new Map()} json={{}} fileName="w.json" />);
    expect(getListedNodes()).toEqual(names.map((name) => expect.stringContaining(name)));
    expect(getClassDisplayName(class_names, "constructor")).toBeUndefined();
  });

  it("omits an unnamed failed node and masked text", () => {
    const lateFacts = createFacts({
      status: "failed",
      execution_error: { node_id: "", node_type: "", exception_message: "refused", exception_type: "ValidationError" },
    });
    expect(lateFacts.timeline.map(({ nodeId, state }) => [nodeId, state])).toEqual([]);
    expect(getPreviewText({ class_type: "Call", inputs: { api_key: "[REDACTED]", prompt: "a cat" } })).toBe("a cat");
  });

  it("marks the nodes of a running job and of a refused job", () => {
    const running = createFacts({ status: "in_progress", progress: { current_node: "2" } });
    const states = [...getNodeMarks(running, graph)].map(([id, { state }]) => `${id} ${state}`);
    expect(states).toEqual(["1 done", "2 running", "3 waiting"]);
    const progress = { current_node: "2", outputs: { "3": { images: [{ filename: "early.png" }] } } };
    expect(getNodeMarks(createFacts({ status: "in_progress", progress }), graph).get("3")?.state).toBe("done");
    // When a service reports no progress, no node is marked as waiting.
    expect([...getNodeMarks(createFacts({ status: "in_progress" }), graph)]).toEqual([]);
    const refusal = {
      error: { type: "x", message: "m" },
      node_errors: { 2: { errors: [{ message: "Value not in list", details: "steps" }] } },
    };
    const refused = createFacts({
      status: "failed",
      execution_error: { exception_message: JSON.stringify(refusal), exception_type: "ValidationError" },
    });
    expect(getNodeMarks(refused, {}).get("2")).toEqual({ state: "refused", problems: ["Value not in list: steps"] });
  });
});

describe("job drawing", () => {
  const readFixture = (name: string) => JSON.parse(readFileSync(`tests/fixtures/editor-pairs/${name}.json`, "utf8"));
  const prompt = readFixture("19-subgraph.api");
  const drawing = readFixture("19-subgraph.editor");
  const createSubmission = (workflow: object) => ({ prompt, extra_data: { extra_pnginfo: { workflow } } });

  beforeEach(() => {
    vi.stubGlobal(
      "ResizeObserver",
      class {
        constructor(private readonly onResize: () => void) {}
        observe() {
          this.onResize();
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
  const getNodeIds = () => [...document.querySelectorAll("[data-node]")].map((box) => box.getAttribute("data-node"));

  /** Renders the graph of a job. Responses are cached by job id, so each test needs a new id. */
  function showJob(id: string, workflow: object) {
    vi.stubGlobal("fetch", async () => Response.json({ id, status: "completed", create_time: 1_700_000_000, workflow }));
    const facts = createFacts({ id, workflow });
    renderInApp(<JobGraph facts={facts} canSave={false} nodeRequest={{ id: "5:3", serial: 1 }} />);
  }

  test("shows the requested node in its subgraph", async () => {
    showJob("job-own", createSubmission(drawing));
    const breadcrumbs = await screen.findByRole("navigation", { name: "Path to this diagram" });
    expect(getNodeIds()).toContain("5:3");
    expect(screen.getByRole("region", { name: /^Node 5:3/ })).toBeDefined();
    fireEvent.click(within(breadcrumbs).getAllByRole("button")[0] ?? document.body);
    expect(getNodeIds()).toContain("5");
  });

  test("computes a layout when the drawing belongs to another graph", async () => {
    showJob("job-other", createSubmission(readFixture("11-notes-and-groups.editor")));
    expect(await screen.findByText(/created a new one/)).toBeDefined();
    // The layout is computed after the message is shown.
    await vi.waitFor(() => expect(getNodeIds()).toContain("5:3"));
  });

  test.each<[NodeState[], string]>([
    [["done", "failed"], "failed"],
    [["done", "running"], "running"],
    [["done", "waiting"], "waiting"],
    [["cached", "done"], "done"],
  ])("shows the most severe of the states %j on a subgraph box", (states, boxText) => {
    const innerIds = Object.keys(prompt).filter((id) => id.startsWith("5:"));
    const marks = new Map(innerIds.map((id, at) => [id, { state: states[at] ?? "done" }]));
    renderInApp(<WorkflowGraph graph={prompt} drawing={drawing} marks={marks} json={{}} fileName="w.json" />);
    expect(document.querySelector('[data-node="5"]')?.textContent).toContain(boxText);
  });

  test("shows the node and its state under the pointer when zoomed out", () => {
    const wideDrawing = {
      ...drawing,
      nodes: drawing.nodes.map((node: object, at: number) => ({ ...node, pos: [at * 3000, 0], size: [200, 100] })),
    };
    const marks = new Map([["5:3", { state: "failed" as NodeState }]]);
    const { container } = renderInApp(<WorkflowGraph graph={prompt} marks={marks} json={prompt} fileName="x" drawing={wideDrawing} />);
    fireEvent.click(screen.getByRole("button", { name: "Fit" }));
    expect(getNodeIds()).toEqual([]);
    const frame = screen.getByRole("group", { name: /^Workflow graph:/ });
    for (let x = 0; x < 1200; x += 5) {
      fireEvent(frame, new MouseEvent("pointermove", { bubbles: true, clientX: x, clientY: 400 }));
      if (container.textContent?.includes("failed")) break;
    }
    expect(container.textContent).toMatch(/#5 .*failed/);
    fireEvent(frame, new MouseEvent("pointermove", { bubbles: true, clientX: 1, clientY: 1 }));
    expect(container.textContent).not.toContain("failed");
  });
});
