import { act, fireEvent, screen, within } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { useLoadMore } from "@/components/apps/apps-screen";
import { RunRefusal } from "@/components/apps/run-problems";
import { MemberProvider } from "@/components/frame/member-context";
import { appDefinitionSchema } from "@/lib/contract/apps/app";
import { fillApp } from "@/lib/contract/apps/fill";
import { asObject } from "@/lib/contract/json/json";
import { type Role } from "@/lib/contract/members/roles";
import { stubResizeObserver } from "@/tests/support/stub-resize-observer";
import { renderInApp, wrapInApp } from "../components/render";
import { createApp, createRun, page, press, pressRun, showApp, typeInto } from "./app-page";

it("reports an unsent run once and offers to cancel only real jobs", async () => {
  const unsentMessage = "Lightdesk stopped before sending this. Nothing ran. Run it again.";
  page.runs = [
    createRun("c", {}, { state: "unsent", results: [], error: { message: "The console ended before it was sent." } }),
    createRun("b", {}, { state: "sending", results: [] }),
    createRun("a", {}, { state: "pending", results: [] }),
  ];
  await showApp();
  const [unsent, sending, pending] = (await screen.findAllByRole("article")).map((card) => within(card));
  expect(unsent?.getByText(unsentMessage)).toBeDefined();
  expect(unsent?.queryByRole("alert")).toBeNull();
  expect(sending?.queryByRole("button", { name: "Cancel" })).toBeNull();
  expect(pending?.getByRole("button", { name: "Cancel" })).toBeDefined();
});

it("explains a failed run and links its node when the viewer may see it", async () => {
  const problems = [
    { input: "strength", label: "Strength", control: "number" as const, code: "too_large" as const, limit: 1 },
    { input: "prompt", label: "Prompt", message: "is too odd" },
  ];
  const failed = { state: "failed" as const, results: [] };
  page.runs = [
    createRun("e", {}, { state: "unknown", results: [], error: { message: "English", code: "answer_lost" } }),
    createRun("d", {}, { ...failed, error: { message: "English", code: "workflow" } }),
    createRun("c", {}, { ...failed, jobId: "job-c", error: { message: "English", code: "inputs", problems, node: "12:3" } }),
    createRun("b", {}, { ...failed, jobId: "job-b", error: { message: "out of memory", node: "7" } }),
    createRun("a", {}, { ...failed, error: { message: "out of memory" } }),
  ];
  await showApp();
  const cards = (await screen.findAllByRole("article")).map((card) => within(card));
  expect(screen.queryByText(/English/)).toBeNull();
  expect(cards[0]?.getByText(/stopped before the service responded/)).toBeDefined();
  expect(cards.slice(1).map((card) => card.getByRole("alert").textContent)).toEqual([
    "The service refused its workflow. Ada can fix it.",
    "Strength: must be at most 1Prompt: is too odd",
    "out of memory",
    "out of memory",
  ]);
  const links = cards.map((card) => card.queryByRole("link", { name: "Show the node" })?.getAttribute("href"));
  expect(links).toEqual([
    undefined,
    undefined,
    "/run?job=job-c&connection=home#node-12%3A3",
    "/run?job=job-b&connection=home#node-7",
    undefined,
  ]);
});

it("shows the inputs that changed since the last run and a download link", async () => {
  page.runs = [createRun("b", { prompt: "a red crow", mode: 1 }), createRun("a", { prompt: "a crow", mode: 1 })];
  await showApp();
  const [newest] = await screen.findAllByRole("article");
  const card = within(newest ?? document.body);
  expect(card.getAllByText("a red crow")).toHaveLength(2);
  expect(card.getAllByText("Quick")).toHaveLength(1);
  expect(card.getByRole("link", { name: "Download b.png" }).getAttribute("href")).toBe("/api/apps/app-1/runs/b/outputs/0");
});

it("shows live outputs and progress when a run is in progress", async () => {
  const halfDone = { state: "in_progress" as const, progress: 0.625, step: { at: 3, of: 4 } };
  page.runs = [createRun("b", {}, halfDone), createRun("a", {}, { ...halfDone, results: [], step: { at: 1, of: 1 } })];
  await showApp();
  const [liveOutputs, single] = (await screen.findAllByRole("article")).map((card) => within(card));
  expect(liveOutputs?.getByRole("status").textContent).toBe("Running");
  expect(liveOutputs?.getByRole("progressbar", { name: "Progress" }).parentElement?.textContent).toBe("63%Step 3 of 4");
  expect(liveOutputs?.getByRole("link", { name: "Download b.png" }).getAttribute("href")).toBe("/api/apps/app-1/runs/b/outputs/0");
  expect(liveOutputs?.getByRole("button", { name: "Cancel" })).toBeDefined();
  expect(single?.queryByText(/^Step/)).toBeNull();
});

it("lists the inputs that differ when pictures are compared", async () => {
  stubResizeObserver();
  page.runs = [createRun("b", { prompt: "a red crow", mode: 1 }), createRun("a", { prompt: "a crow", mode: 1 })];
  await showApp();
  for (const element of await screen.findAllByRole("article")) {
    await act(async () => void fireEvent.click(within(element).getByRole("button", { name: "Compare" })));
  }
  const bar = within(screen.getByText("2 images to compare").parentElement ?? document.body);
  await act(async () => void fireEvent.click(bar.getByRole("button", { name: "Compare" })));
  const table = within(await screen.findByRole("table", { name: "Differences" }));
  const rows = table.getAllByRole("row").map((row) => [...row.children].map(({ textContent }) => textContent));
  expect(rows).toEqual([
    ["", "1 · b.png", "2 · a.png"],
    ["Prompt", "a red crow", "a crow"],
  ]);
});

const createInput = (input: string) => ({ node: "1", input, label: input, isRequired: true });
const definition = appDefinitionSchema.parse({
  title: "Everything",
  graph: {
    "1": { class_type: "Any", inputs: { Line: "", Text: "", Count: 1, Share: 0.5, Glow: false, Mode: "a", Photo: "", Kept: "as it was" } },
    "2": { class_type: "Other", inputs: { title: "", picture: "" } },
  },
  inputs: [
    { ...createInput("Line"), name: "line", control: { kind: "text" }, also: [{ node: "2", input: "title" }] },
    { ...createInput("Text"), name: "text", control: { kind: "text", isLong: true } },
    { ...createInput("Count"), name: "count", control: { kind: "number", isWhole: true, min: 1, max: 20, step: 4 } },
    { ...createInput("Share"), name: "share", control: { kind: "number", isSlider: true, min: 0, max: 2, step: 0.25 } },
    { ...createInput("Glow"), name: "glow", control: { kind: "switch" } },
    { ...createInput("Mode"), name: "mode", control: { kind: "choice", choices: [{ value: "a" }, { value: "b", label: "The second" }] } },
    { ...createInput("Photo"), name: "photo", control: { kind: "picture", hasMask: true }, also: [{ node: "2", input: "picture" }] },
  ],
});

const getField = (name: string) => screen.getByRole<HTMLInputElement>("textbox", { name });
const pressKey = (element: HTMLElement, key: string) => act(async () => void fireEvent.keyDown(element, { key }));

function readForm() {
  const mode = screen.getByRole<HTMLSelectElement>("combobox", { name: "Mode" });
  const photo = within(screen.getByRole("group", { name: "Photo" })).getByRole<HTMLImageElement>("img");
  return {
    line: getField("Line").value,
    text: getField("Text").value,
    count: getField("Count").value,
    share: getField("Share").value,
    slider: screen.getByRole<HTMLInputElement>("slider", { name: "Share" }).value,
    glow: screen.getByRole<HTMLInputElement>("checkbox", { name: "Glow" }).checked,
    mode: mode.selectedOptions[0]?.text,
    photo: new URL(photo.src, "http://localhost").searchParams.get("name"),
  };
}

it("sends each control's value to every node input it is bound to", async () => {
  page.app = createApp({ inputs: definition.inputs });
  page.pictures = [{ value: "given/my photo.png", name: "my photo.png", from: "given" }];
  await showApp({ role: "runner" });
  await typeInto("Line", "A title");
  await typeInto("Text", "Two\nlines");
  await typeInto("Count", "7");
  await pressKey(getField("Count"), "ArrowUp");
  await act(async () => void fireEvent.change(screen.getByRole("slider", { name: "Share" }), { target: { value: "1.25" } }));
  await act(async () => void fireEvent.click(screen.getByRole("checkbox", { name: "Glow" })));
  await act(async () => void fireEvent.change(screen.getByRole("combobox", { name: "Mode" }), { target: { value: "1" } }));
  await press("From your images");
  await act(async () => void fireEvent.click(await screen.findByTitle("my photo.png")));
  expect(screen.getByRole<HTMLInputElement>("slider", { name: "Share" })).toMatchObject({ min: "0", max: "2", step: "0.25" });
  expect(readForm()).toEqual({
    line: "A title",
    text: "Two\nlines",
    count: "11",
    share: "1.25",
    slider: "1.25",
    glow: true,
    mode: "The second",
    photo: "given/my photo.png",
  });
  await pressRun();
  const values = { line: "A title", text: "Two\nlines", count: 11, share: 1.25, glow: true, mode: "b", photo: "given/my photo.png" };
  expect(page.requests.map(({ path, body }) => [path, body])).toEqual([["/api/apps/app-1/runs", { inputs: values }]]);
  const filled = fillApp(definition, asObject(asObject(page.requests[0]?.body)?.inputs) ?? {});
  expect(filled.ok && filled.graph).toMatchObject({
    "1": {
      inputs: {
        ...{ Line: "A title", Text: "Two\nlines", Count: 11, Share: 1.25, Glow: true, Mode: "b" },
        ...{ Photo: "given/my photo.png", Kept: "as it was" },
      },
    },
    "2": { inputs: { title: "A title", picture: "given/my photo.png" } },
  });
});

it("keeps every item between the live first page and the loaded pages", async () => {
  type Page = { ids: string[]; next?: string };
  function Items(firstPage: Page) {
    const { items, button } = useLoadMore("/api/items", firstPage, ({ ids }) => ids.map((id) => ({ id })));
    return (
      <>
        <output>{items.map(({ id }) => id).join()}</output>
        {button}
      </>
    );
  }
  const pages: Record<string, Page> = { c: { ids: ["b"], next: "b" }, b: { ids: [] } };
  vi.stubGlobal("fetch", async (address: string) => Response.json(pages[address.replace("/api/items?after=", "")]));
  const { rerender } = renderInApp(<Items ids={["d", "c"]} next="c" />);
  const showFirstPage = (ids: string[]) => rerender(wrapInApp(<Items ids={ids} next={ids.at(-1)} />));
  const readItems = () => screen.getByRole("status").textContent;
  await press("Show more");
  expect(readItems()).toBe("d,c,b");
  showFirstPage(["e", "d"]);
  expect(readItems()).toBe("e,d,c,b");
  // "d" was removed.
  showFirstPage(["e", "c"]);
  expect(readItems()).toBe("e,c,b");
  await press("Show more");
  expect(readItems()).toBe("e,c,b");
  expect(screen.queryByRole("button")).toBeNull();
});

it("keeps exact decimals when a number is changed with arrow keys", async () => {
  page.app = createApp({ inputs: definition.inputs });
  await showApp({ role: "runner" });
  await act(async () => void fireEvent.change(getField("Share"), { target: { value: "0.1" } }));
  for (const key of ["ArrowUp", "ArrowUp"]) await pressKey(getField("Share"), key);
  expect(getField("Share").value).toBe("0.6");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await pressKey(getField("Share"), key);
  expect(getField("Share").value).toBe("0.1");
});

describe("a refused run", () => {
  type Refusal = { status: number; code: string; details?: unknown };

  function showRefusal(role: Role, refused: Refusal): HTMLElement {
    const app = createApp({ canSeeWorkflow: role !== "runner" });
    renderInApp(
      <MemberProvider role={role}>
        <RunRefusal app={app} failure={{ message: "said so", ...refused }} onRetry={() => undefined} />
      </MemberProvider>,
    );
    return screen.getByRole("alert");
  }

  it.each<[string, Refusal]>([
    ["You can run this app 3 times a day", { status: 429, code: "RATE_LIMITED", details: { limit: "runsPerDay", most: 3, again: 1e12 } }],
    ["You can have 2 runs in progress at a time", { status: 429, code: "RATE_LIMITED", details: { limit: "atOnce", most: 2 } }],
    ["This app doesn't run on this service", { status: 422, code: "UNPROCESSABLE", details: { reason: "workflow" } }],
    ["This app can't be run at the moment", { status: 502, code: "UPSTREAM_REFUSED_KEY" }],
    ["This app can't be run at the moment", { status: 403, code: "FORBIDDEN" }],
    ["requires payment, or its quota is used up. Contact Ada", { status: 402, code: "PAYMENT_REQUIRED" }],
  ])("explains a refusal in plain words when the member is a runner: %s", (sentence, refused) => {
    const element = showRefusal("runner", refused);
    expect(element.textContent).toContain(sentence);
    expect(element.textContent).not.toMatch(/said so|limit:|reason|Settings|Cause/);
    expect(screen.queryByRole("link")).toBeNull();
  });

  it("links the refused node when the member may see the workflow", () => {
    showRefusal("operator", { status: 422, code: "UNPROCESSABLE", details: { reason: "workflow", node: "7" } });
    expect(screen.getByRole("link", { name: "Show the node" }).getAttribute("href")).toBe("/run?app=app-1&connection=home#node-7");
  });

  it("shows the service's error when the member can fix it", () => {
    expect(showRefusal("operator", { status: 502, code: "UPSTREAM_REFUSED_KEY" }).textContent).toContain("The service refused the key");
  });
});
