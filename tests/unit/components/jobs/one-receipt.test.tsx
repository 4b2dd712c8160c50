// @vitest-environment jsdom
import { act, cleanup, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { JobActAnswer, JobActions, useJobActs } from "@/components/jobs/job/job-actions";
import { UNDO_MS } from "@/components/ui/hooks/use-pending-undo";
import { renderInApp } from "../render";
import { factsOf } from "./a-job";
import { asked, ids, outside, pass, press, query, rows, show, stubDialogs } from "./jobs-selection";

beforeEach(() => void vi.useFakeTimers());
beforeEach(stubDialogs);
afterEach(cleanup);
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function Panel() {
  const acts = useJobActs({ jobId: "wait-1", connection: "c1", onDone: () => undefined });
  const facts = factsOf({ id: "wait-1", status: "pending" });
  return (
    <>
      <JobActions facts={facts} linked={undefined} acts={acts} />
      <JobActAnswer facts={facts} linked={undefined} acts={acts} />
    </>
  );
}

it("what is being cancelled in its panel is not cancelled in the list beside it too, and the other way round: one act, one receipt", async () => {
  const sent = outside(({ path, json }) =>
    Response.json(path.startsWith("/api/queue") ? { deleted: (json as { delete: string[] }).delete } : {}),
  );
  renderInApp(<Panel />);
  const { unmount } = show(ids("wait-1", "wait-2"));
  await press("Cancel job");
  expect(screen.getByRole("button", { name: "Cancel job" }).getAttribute("aria-disabled")).toBe("true");
  await press("Cancel");
  expect(screen.getAllByText("Cancelling 1 job")).toHaveLength(2);
  await pass(UNDO_MS);
  expect(sent.filter(({ method }) => method === "POST").map(({ json }) => json)).toEqual([{ delete: ["wait-1"] }, { delete: ["wait-2"] }]);
  expect(screen.getAllByText("1 cancelled")).toHaveLength(2);
  unmount();
  show(ids("wait-1"));
  await press("Cancel");
  await press("Cancel job");
  expect(screen.getAllByText("Cancelling 1 job")).toHaveLength(1);
});

/** `wait-1` and `wait-2` match; the list is not read before `release`. */
function matchingOutside() {
  let release = () => {};
  const read = new Promise<void>((resolve) => (release = resolve));
  const list = { jobs: rows.slice(0, 2).map(({ id }) => ({ id, status: "pending" })) };
  const sent = outside(async ({ path, method, json }) => {
    if (path.startsWith("/api/queue")) return Response.json({ deleted: Object(json).delete });
    if (method !== "GET" || !path.startsWith("/api/jobs?")) return Response.json({});
    if (asked(path).limit !== "1") await read;
    return Response.json({ ...list, pagination: { offset: 0, limit: 1000, total: 2, has_more: false } });
  });
  const posts = () => sent.filter(({ method }) => method === "POST").map(({ json }) => json);
  return { posts, release: () => act(async () => release()) };
}

it("what is being cancelled in its panel when all matching are cancelled is shown there alone", async () => {
  const { posts, release } = matchingOutside();
  renderInApp(<Panel />);
  show({ kind: "matching", query, total: 2 });
  await press("Cancel job");
  await press("Cancel");
  await pass(0);
  await press("Cancel 2 jobs");
  await release();
  await pass(UNDO_MS);
  expect(posts()).toEqual([{ delete: ["wait-2"] }, { delete: ["wait-1"] }]);
  expect(screen.getAllByText("1 cancelled")).toHaveLength(2);
});

it("what is cancelled in its panel while all matching are read is shown there alone, also where it is through by then", async () => {
  const { posts, release } = matchingOutside();
  renderInApp(<Panel />);
  show({ kind: "matching", query, total: 2 });
  await press("Cancel");
  await pass(0);
  await press("Cancel 2 jobs");
  await press("Cancel job");
  await pass(UNDO_MS);
  expect(posts()).toEqual([{ delete: ["wait-1"] }]);
  await release();
  await pass(0);
  expect(posts()).toEqual([{ delete: ["wait-1"] }, { delete: ["wait-2"] }]);
  expect(screen.getAllByText("1 cancelled")).toHaveLength(2);
});

it("a job that is being run again with many can be cancelled in its panel meanwhile", async () => {
  const sent = outside(({ path }) =>
    path.startsWith("/api/queue") ? Response.json({ deleted: ["wait-1"] }) : new Promise<Response>(() => undefined),
  );
  show(ids("wait-1", "wait-2"));
  await press("Run again");
  await press("Run 2 jobs again");
  await pass(0);
  renderInApp(<Panel />);
  await press("Cancel job");
  await pass(UNDO_MS);
  expect(sent.filter(({ method }) => method === "POST").map(({ json }) => json)).toEqual([{ delete: ["wait-1"] }]);
});
