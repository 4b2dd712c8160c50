// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Compare } from "@/components/viewer/compare";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { failed, ok } from "@/lib/shared/result";
import { renderInApp } from "../render";
import { arrive, backToTheBrowser, graphs, pass, picture, standInForTheBrowser } from "./viewer-world";

beforeEach(standInForTheBrowser);
afterEach(cleanup);
afterEach(backToTheBrowser);

const notFound: ApiFailure = { code: "NOT_FOUND", message: "", status: 404 };
const away: ApiFailure = { code: "UPSTREAM_UNREACHABLE", message: "", status: 502 };
const compare = (jobs: readonly (string | undefined)[], failure?: ApiFailure) =>
  renderInApp(
    <Compare
      items={jobs.map((jobId, index) => picture(`p${index + 1}-${failure?.code}-${jobs.length}`, jobId))}
      readWorkflow={async (jobId) => (failure && jobId === "job-x" ? failed(failure) : ok(graphs[jobId]))}
      onClose={() => undefined}
    />,
  );

it("a comparison of four names each picture with its pixels, and one that does not come says so in its place", async () => {
  compare(["job-1", "job-2", undefined, "job-1"]);
  await pass(0);
  expect(screen.getAllByRole("figure")).toHaveLength(4);
  expect(screen.getByRole("columnheader", { name: /^4/ })).toBeDefined();
  const names = screen.getAllByAltText(/^p\d/).map((image) => image.getAttribute("alt") ?? "");
  for (const name of names.slice(0, 3)) await arrive(name);
  expect(screen.getAllByText("640 × 480")).toHaveLength(3);
  await act(async () => void fireEvent.error(screen.getByAltText(names[3] ?? "")));
  expect(screen.getByText("This picture cannot be shown.")).toBeDefined();
});

it("a comparison tells a job that is gone from one that could not be read, which can be read again", async () => {
  compare(["job-1", "job-x"], notFound);
  await pass(0);
  expect(screen.getByText("The job of picture 2 no longer exists.")).toBeDefined();
  expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
  cleanup();
  compare(["job-1", "job-x"], away);
  await pass(0);
  expect(screen.getByText(/^The job of picture 2 could not be loaded\. /)).toBeDefined();
  expect(screen.getByRole("button", { name: "Try again" })).toBeDefined();
});

it("a comparison of pictures of one job says that, and not that two jobs were alike", async () => {
  compare(["job-1", "job-1"]);
  await pass(0);
  expect(screen.getByText("They come from the same job.")).toBeDefined();
  cleanup();
  compare(["job-1", "job-1", "job-1-again"]);
  await pass(0);
  expect(screen.queryByText("They come from the same job.")).toBeNull();
});
