// @vitest-environment jsdom
import { act, fireEvent, screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { standInForDialogs, standInForSizes } from "@/tests/support/jsdom-parts";
import { page, run, show } from "./app-page";

it("says once that a run was not sent, and offers to cancel only what became a job", async () => {
  const words = "Lightdesk stopped before this was sent. Nothing ran: run it again.";
  page.runs = [
    run("c", {}, { state: "unsent", results: [], error: { message: "The console ended before it was sent." } }),
    run("b", {}, { state: "sending", results: [] }),
    run("a", {}, { state: "pending", results: [] }),
  ];
  await show();
  const [unsent, sending, pending] = (await screen.findAllByRole("article")).map((card) => within(card));
  expect(unsent?.getByText(words)).toBeDefined();
  expect(unsent?.queryByRole("alert")).toBeNull();
  expect(sending?.queryByRole("button", { name: "Cancel" })).toBeNull();
  expect(pending?.getByRole("button", { name: "Cancel" })).toBeDefined();
});

it("says why a run failed in the reader's words, with the node one press away for whoever is told of it", async () => {
  const problems = [
    { input: "strength", label: "Strength", control: "number" as const, code: "too_large" as const, limit: 1 },
    { input: "prompt", label: "Prompt", message: "is too odd" },
  ];
  const failed = { state: "failed" as const, results: [] };
  page.runs = [
    run("e", {}, { state: "unknown", results: [], error: { message: "English", code: "answer_lost" } }),
    run("d", {}, { ...failed, error: { message: "English", code: "workflow" } }),
    run("c", {}, { ...failed, jobId: "job-c", error: { message: "English", code: "inputs", problems, node: "12:3" } }),
    run("b", {}, { ...failed, jobId: "job-b", error: { message: "out of memory", node: "7" } }),
    run("a", {}, { ...failed, error: { message: "out of memory" } }),
  ];
  await show();
  const cards = (await screen.findAllByRole("article")).map((card) => within(card));
  expect(screen.queryByText(/English/)).toBeNull();
  expect(cards[0]?.getByText(/stopped while it waited for the service/)).toBeDefined();
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

it("tells of each run what was changed since the one before it, and hands its picture out", async () => {
  page.runs = [run("b", { prompt: "a red crow", mode: 1 }), run("a", { prompt: "a crow", mode: 1 })];
  await show();
  const [newest] = await screen.findAllByRole("article");
  const card = within(newest ?? document.body);
  expect(card.getAllByText("a red crow")).toHaveLength(2);
  expect(card.getAllByText("Quick")).toHaveLength(1);
  expect(card.getByRole("link", { name: "Download b.png" }).getAttribute("href")).toBe("/api/apps/app-1/runs/b/outputs/0");
});

it("shows what has landed of a run that goes on, and how far it is, in words without a node", async () => {
  const landing = { state: "in_progress" as const, progress: 0.625, step: { at: 3, of: 4 } };
  page.runs = [run("b", {}, landing), run("a", {}, { ...landing, results: [], step: { at: 1, of: 1 } })];
  await show();
  const [landed, single] = (await screen.findAllByRole("article")).map((card) => within(card));
  expect(landed?.getByRole("status").textContent).toBe("Running");
  expect(landed?.getByRole("progressbar", { name: "Progress" }).parentElement?.textContent).toBe("63%Step 3 of 4");
  expect(landed?.getByRole("link", { name: "Download b.png" }).getAttribute("href")).toBe("/api/apps/app-1/runs/b/outputs/0");
  expect(landed?.getByRole("button", { name: "Cancel" })).toBeDefined();
  expect(single?.queryByText(/^Step/)).toBeNull();
});

it("compares pictures, and lists below each what its run was given differently", async () => {
  standInForDialogs();
  standInForSizes();
  page.runs = [run("b", { prompt: "a red crow", mode: 1 }), run("a", { prompt: "a crow", mode: 1 })];
  await show();
  for (const one of await screen.findAllByRole("article")) {
    await act(async () => void fireEvent.click(within(one).getByRole("button", { name: "Compare" })));
  }
  const bar = within(screen.getByText("2 pictures to compare").parentElement ?? document.body);
  await act(async () => void fireEvent.click(bar.getByRole("button", { name: "Compare" })));
  const table = within(await screen.findByRole("table", { name: "What differs" }));
  const rows = table.getAllByRole("row").map((row) => [...row.children].map(({ textContent }) => textContent));
  expect(rows).toEqual([
    ["", "1 · b.png", "2 · a.png"],
    ["Prompt", "a red crow", "a crow"],
  ]);
});
