// @vitest-environment jsdom
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { gistOf, withTitles } from "@/components/graph/node-words";
import { WorkflowGraph } from "@/components/graph/workflow-graph";
import { nameOfClass } from "@/components/jobs/job/job-facts";
import { marksOf } from "@/components/jobs/job/job-graph";
import { renderInApp } from "../render";
import { factsOf, graph } from "./a-job";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("the graph of a job", () => {
  beforeEach(() =>
    vi.stubGlobal(
      "ResizeObserver",
      class {
        observe() {}
        disconnect() {}
      },
    ),
  );
  const facts = factsOf({
    status: "failed",
    execution_status: { messages: [["execution_cached", { nodes: ["1"], timestamp: 1_700_000_001_000 }]] },
    execution_error: { node_id: "2", node_type: "KSampler", exception_message: "out of memory", exception_type: "OOM" },
  });

  it("marks what was cached, what failed and what was never reached, and opens a node's inputs from the list", () => {
    renderInApp(<WorkflowGraph graph={graph} marks={marksOf(facts, graph)} json={{}} fileName="w.json" />);
    fireEvent.click(screen.getByRole("button", { name: "List" }));
    const rows = within(screen.getByRole("list", { name: "Nodes of the workflow" })).getAllByRole("button");
    expect(rows.map((row) => row.textContent)).toEqual([
      expect.stringContaining("cached"),
      expect.stringContaining("failed"),
      expect.stringContaining("not reached"),
    ]);
    fireEvent.click(screen.getByRole("button", { name: /SaveImage/ }));
    const panel = screen.getByRole("region", { name: "Node 3: SaveImage" });
    expect(within(panel).getByText("#77, which is not in this workflow")).toBeDefined();
    fireEvent.click(within(panel).getByRole("button", { name: "KSampler #2" }));
    expect(within(screen.getByRole("region", { name: "Node 2: KSampler" })).getByText("OOM: out of memory")).toBeDefined();
  });

  it("calls nodes as the form does: by their title, else by the catalogue's name of their class, else by the class", () => {
    const class_names = { LoadImage: "Load Image", KSampler: "KSampler (Advanced)" };
    const { timeline } = factsOf({
      class_names,
      execution_status: { messages: [["execution_cached", { nodes: ["1", "2", "3"], timestamp: 1_700_000_001_000 }]] },
    });
    const names = ["The photo", "KSampler (Advanced)", "SaveImage"];
    expect(timeline.map(({ name }) => name)).toEqual(names);
    const titled = withTitles(graph, (className) => nameOfClass(class_names, className));
    renderInApp(<WorkflowGraph graph={titled} marks={new Map()} json={{}} fileName="w.json" />);
    fireEvent.click(screen.getByRole("button", { name: "List" }));
    const rows = within(screen.getByRole("list", { name: "Nodes of the workflow" })).getAllByRole("button");
    expect(rows.map((row) => row.textContent)).toEqual(names.map((name) => expect.stringContaining(name)));
    expect(nameOfClass(class_names, "constructor")).toBeUndefined();
  });

  it("draws no node that a late refusal left unnamed, and no mask in place of a value", () => {
    const late = factsOf({
      status: "failed",
      execution_error: { node_id: "", node_type: "", exception_message: "refused", exception_type: "ValidationError" },
    });
    expect(late.timeline.map(({ nodeId, state }) => [nodeId, state])).toEqual([]);
    expect(gistOf({ class_type: "Call", inputs: { api_key: "[REDACTED]", prompt: "a cat" } })).toBe("a cat");
  });

  it("finds nodes by id, class and title", () => {
    renderInApp(<WorkflowGraph graph={graph} marks={new Map()} json={{}} fileName="w.json" />);
    const search = screen.getByRole("searchbox", { name: "Find a node" });
    fireEvent.change(search, { target: { value: "photo" } });
    expect(screen.getByText("1 node")).toBeDefined();
    fireEvent.submit(search);
    expect(screen.getByRole("region", { name: "Node 1: The photo" })).toBeDefined();
    fireEvent.change(search, { target: { value: "nothing like it" } });
    expect(screen.getByText("No node")).toBeDefined();
  });

  it("says of a running job what is done and what waits, where a service names only the node at work, and of a refused one which node is wrong", () => {
    const running = factsOf({
      status: "in_progress",
      progress: { current_node: "2" },
    });
    expect([...marksOf(running, graph)].map(([id, { state }]) => [id, state])).toEqual([
      ["1", "done"],
      ["2", "running"],
      ["3", "waiting"],
    ]);
    // If a service reports no progress, no node is shown as waiting.
    expect([...marksOf(factsOf({ status: "in_progress" }), graph)]).toEqual([]);
    const refusal = {
      error: { type: "x", message: "m" },
      node_errors: { 2: { errors: [{ message: "Value not in list", details: "steps" }] } },
    };
    const refused = factsOf({
      status: "failed",
      execution_error: { exception_message: JSON.stringify(refusal), exception_type: "ValidationError" },
    });
    expect(marksOf(refused, {}).get("2")).toEqual({ state: "refused", problems: ["Value not in list: steps"] });
  });
});
