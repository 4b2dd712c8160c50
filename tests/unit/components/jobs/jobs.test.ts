import { describe, expect, it } from "vitest";
import { toSearchParams } from "@/app/(console)/params";
import { pauseRows } from "@/components/data-table/paused-rows";
import { getRowTitle } from "@/components/jobs/columns/cells";
import { toBars, toJobFacts, toStatusFacts, withStatusFacts } from "@/components/jobs/job/job-facts";
import { toJobRow } from "@/components/jobs/job-row";
import { parseListQuery } from "@/components/jobs/list/list-urls";
import { jobDetailSchema, jobListItemSchema, jobStatusSchema } from "@/lib/contract/schemas/job";

const readAddress = (params: Parameters<typeof toSearchParams>[0]) => parseListQuery("jobs", toSearchParams(params));
const defaults = { sort_by: "create_time", sort_order: "desc", offset: 0, limit: 100 } as const;

describe("jobs page URL", () => {
  it("uses defaults for invalid parameters and reports them", () => {
    const { query, ignored } = readAddress({ status: "failed,done", limit: "50", offset: "-3", workflow_id: "w1", nonsense: "1" });
    expect(query).toEqual({ ...defaults, limit: 50, workflow_id: "w1" });
    expect(ignored.sort()).toEqual(["offset=-3", "status=failed,done"]);
  });

  it("reads states in any case and ignores empty ones", () => {
    expect(readAddress({ status: ["Failed", "cancelled"] }).query.status).toEqual(["failed", "cancelled"]);
    expect(readAddress({ status: "," }).query.status).toBeUndefined();
  });

  it.each([
    ["offset=-0&limit=1000", { offset: 0, limit: 1000 }, []],
    ["offset=1e3&limit=0x10", {}, ["limit=0x10", "offset=1e3"]],
    ["offset=99999999999999999&limit= 5", {}, ["limit= 5", "offset=99999999999999999"]],
    ["limit=5&limit=6", {}, ["limit=5,6"]],
    ["limit=1001&offset=9007199254740993", {}, ["limit=1001", "offset=9007199254740993"]],
    ["from=8640000000000001&to=8640000000000000", { to: 8.64e15 }, ["from=8640000000000001"]],
    ["text= sea &member=%20&within=0", { text: "sea" }, ["member= ", "within=0"]],
    [`workflow_id=${"w".repeat(201)}&output_type=hologram`, {}, ["output_type=hologram", `workflow_id=${"w".repeat(100)}`]],
    ["sort_by=name&sort_order=asc&job=j1&view=all&connection=c1", { sort_order: "asc" }, ["sort_by=name"]],
  ])("reads each parameter of ?%s on its own", (search, expectedQuery, expectedIgnored) => {
    const { query, ignored } = parseListQuery("jobs", new URLSearchParams(search));
    expect(query).toEqual({ ...defaults, ...expectedQuery });
    expect(ignored.sort()).toEqual(expectedIgnored);
  });
});

describe("job row", () => {
  const parseItem = (extra: object) => jobListItemSchema.parse({ id: "j1", status: "failed", create_time: 1_700_000_000, ...extra });

  const node_errors = { 3: { errors: [{ message: "x" }] } };
  const refusal = { error: { type: "invalid", message: "Prompt outputs failed validation" }, node_errors };

  it.each([
    ["the failed node and the reason in one line", "file not found\n  at line 3", "LoadImage: file not found"],
    ["the message of a late refusal", `400: ${JSON.stringify(refusal)}`, "LoadImage: Prompt outputs failed validation"],
  ])("shows %s", (_, exception_message, error) => {
    const row = toJobRow(parseItem({ execution_error: { node_type: "LoadImage", exception_message, exception_type: "E" } }));
    expect(row).toMatchObject({ error, createdMs: 1_700_000_000_000, state: "failed" });
  });

  it("uses the prompt as the title when the workflow has no name", () => {
    const getTitle = (extra: object) => getRowTitle(toJobRow(parseItem({ prompt_excerpt: "a red fox", ...extra })));
    expect(getTitle({})).toBe("a red fox");
    expect(getTitle({ workflow_id: "0123abcd-0000-4000-8000-000000000000" })).toBe("a red fox");
    expect(getTitle({ workflow_id: "w1", workflow_name: "hero" })).toBe("hero");
  });

  it("contains only the fields that the list shows", () => {
    const row = toJobRow(parseItem({ status: "pending", workflow: { prompt: {} }, extra_data: { secret: 1 } }));
    expect(row).toEqual({ id: "j1", rawStatus: "pending", state: "pending", createdMs: 1_700_000_000_000 });
  });
});

describe("pauseRows", () => {
  const row = (id: string, state: "pending" | "completed" = "pending") => ({ id, rawStatus: state, state });

  it("updates rows in place and counts new ones", () => {
    const paused = pauseRows([row("b"), row("a")], [row("d"), row("c"), row("b", "completed")]);
    expect(paused.rows).toEqual([row("b", "completed"), row("a")]);
    expect(paused.newCount).toBe(2);
  });

  it.each([
    ["removes a deleted row and adds the next page's row", "d c b", "d b a", "d b a", 0],
    ["removes a deleted row when new rows arrive", "d c b", "f d b", "d b", 1],
    ["keeps a row when new rows push it off the page", "b a", "c b", "b a", 1],
    ["holds back a new row in the middle of a sorted list", "d b a", "d c b", "d b a", 1],
    ["keeps all rows when new rows replace the whole page", "b a", "d c", "b a", 2],
    ["adds rows after the last one, since they move no other row", "c b", "c b a", "c b a", 0],
  ])("%s", (_, current, latest, expectedRows, newCount) => {
    const createRows = (ids: string) => ids.split(" ").map((id) => row(id));
    expect(pauseRows(createRows(current), createRows(latest))).toEqual({ rows: createRows(expectedRows), newCount });
  });

  it("shows the next page's rows when all rows are deleted", () => {
    expect(pauseRows([row("d"), row("c")], [row("b"), row("a")], false)).toEqual({ rows: [row("b"), row("a")], newCount: 0 });
  });
});

describe("job facts", () => {
  const detail = jobDetailSchema.parse({
    id: "j1",
    status: "executing",
    create_time: 1_700_000_000,
    workflow: { prompt: { 4: { class_type: "LoadImage", _meta: { title: "The photo" } }, 9: { class_type: "SaveImage" } } },
    execution_meta: {
      9: { start_time: 1_700_000_003_000 },
      4: { start_time: 1_700_000_001_000, end_time: 1_700_000_002_000, cached: true },
    },
    progress: { value: 0.5, nodes_done: 1, nodes_total: 2, current_node: "9" },
    outputs: { 9: { images: [{ filename: "a.png", type: "output" }] } },
  });

  it("lists nodes by title in the order they started", () => {
    const facts = toJobFacts(detail);
    expect(facts.timeline.map(({ name, state }) => [name, state])).toEqual([
      ["The photo", "cached"],
      ["SaveImage", "running"],
    ]);
    expect(facts.currentNode).toBe("SaveImage");
    expect(facts.outputs.map(({ node, view }) => [node, view.name])).toEqual([["SaveImage", "a.png"]]);
    // The submitted graph is omitted.
    expect(JSON.stringify(facts)).not.toContain("class_type");
  });

  it("scales bars to the whole run and omits bars without times", () => {
    expect(toBars([{ startMs: 0, endMs: 50 }, { startMs: 50 }, {}], 200)).toEqual([{ from: 0, to: 25 }, { from: 25, to: 100 }, undefined]);
    expect(toBars([{}, {}], 1)).toEqual([undefined, undefined]);
  });

  const failedDetail = (extra: object) =>
    jobDetailSchema.parse({
      id: "j1",
      status: "failed",
      create_time: 1_700_000_000,
      execution_start_time: 1_700_000_001_000,
      execution_end_time: 1_700_000_009_000,
      execution_error: { node_id: "2", node_type: "Fail", exception_message: "m", exception_type: "E" },
      workflow: { prompt: { 1: { class_type: "LoadImage" }, 2: { class_type: "Fail" }, 3: { class_type: "SaveImage" } } },
      ...extra,
    });
  const getTimeline = (extra: object) =>
    toJobFacts(failedDetail(extra)).timeline.map(({ nodeId, state, startMs, endMs }) => [nodeId, state, startMs, endMs]);

  it("assigns the remaining time to the failed node and marks unreached nodes", () => {
    expect(getTimeline({ execution_meta: { 1: { start_time: 1_700_000_001_000, end_time: 1_700_000_004_000 } } })).toEqual([
      ["1", "done", 1_700_000_001_000, 1_700_000_004_000],
      ["2", "failed", 1_700_000_004_000, 1_700_000_009_000],
      ["3", "unreached", undefined, undefined],
    ]);
    expect(getTimeline({ execution_meta: {} })[0]).toEqual(["2", "failed", 1_700_000_001_000, 1_700_000_009_000]);
    for (const execution_meta of [undefined, { 1: {} }])
      expect(getTimeline({ execution_meta }).find(([, state]) => state === "failed")).toEqual(["2", "failed", undefined, undefined]);
  });

  it("shows the times of 130,000 nodes", () => {
    const entries = Array.from({ length: 130_000 }, (_, index) => [
      `n${index}`,
      { start_time: index < 100 ? 1e12 : 2e12, end_time: index < 100 ? undefined : 3e12 },
    ]);
    const timeline = getTimeline({ execution_meta: Object.fromEntries(entries) });
    expect(timeline.find(([id]) => id === "2")).toEqual(["2", "failed", 3e12, 3e12]);
    expect(
      toBars(
        timeline.map(() => ({ startMs: 0, endMs: 1 })),
        1,
      )[0],
    ).toEqual({ from: 0, to: 100 });
  });

  it("marks the interrupted node as stopped, never as done", () => {
    const getStoppedTimeline = (extra: object) =>
      getTimeline({ status: "cancelled", execution_error: undefined, ...extra }).map(([id, state, , endMs]) => [id, state, endMs]);
    const [start_time, end_time] = [1_700_000_001_000, 1_700_000_004_000];
    const ended = { 1: { start_time, end_time } };
    const interrupted = { status_str: "error", messages: [["execution_interrupted", { node_id: "2", executed: ["1"] }]] };
    const expectedTimeline = [
      ["1", "done", end_time],
      ["2", "stopped", 1_700_000_009_000],
      ["3", "unreached", undefined],
    ];
    // A service may report the interruption as the end of the interrupted node.
    const interruptedTimes = { start_time: end_time, end_time: 1_700_000_009_000 };
    expect(getStoppedTimeline({ execution_meta: { ...ended, 2: interruptedTimes }, execution_status: interrupted })).toEqual(
      expectedTimeline,
    );
    expect(getStoppedTimeline({ execution_meta: { ...ended, 2: { start_time: end_time } } })).toEqual(expectedTimeline);
    expect(getStoppedTimeline({ execution_meta: ended, execution_status: interrupted })).toEqual(expectedTimeline);
    expect(getStoppedTimeline({ execution_meta: { 1: {}, 2: {} } }).map(([id, state]) => [id, state])).toEqual([
      ["1", "done"],
      ["2", "stopped"],
      ["3", "unreached"],
    ]);
  });

  it("lists no unreached nodes when the job is running or completed", () => {
    for (const status of ["in_progress", "completed"]) {
      const states = getTimeline({ status, execution_error: undefined, execution_meta: { 1: { start_time: 1_700_000_001_000 } } });
      expect(states.map(([id]) => id)).toEqual(["1"]);
    }
  });

  it("keeps the machine and the submission time from the status response", () => {
    const status = jobStatusSchema.parse({
      id: "j1",
      status: "error",
      created_at: "2023-11-14T22:13:20.750Z",
      assigned_inference: "slot-1",
    });
    const facts = withStatusFacts(toJobFacts(failedDetail({})), toStatusFacts(status));
    expect(facts.job).toMatchObject({ assignedTo: "slot-1", createdAtMs: 1_700_000_000_750 });
    expect(withStatusFacts(toJobFacts(failedDetail({ create_time: 1_600_000_000 })), toStatusFacts(status)).job.createdAtMs).toBe(
      1_600_000_000_000,
    );
  });
});
