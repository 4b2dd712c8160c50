// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { JobSiblings } from "@/components/assets/detail/job-siblings";
import { renderInApp } from "../components/render";

afterEach(cleanup);
afterEach(() => vi.unstubAllGlobals());

type Answer = { status?: number; body: unknown };
let jobs = 0;
/** Chooses the answer by the end of the path; each render asks about a new job. */
function show(answers: Readonly<Record<string, Answer>>, asset: { id: string; name: string; hash?: string }) {
  const jobId = `job-${++jobs}`;
  vi.stubGlobal("fetch", async (input: string) => {
    const { pathname } = new URL(input, "http://console");
    const under = pathname.slice(pathname.indexOf(jobId) + jobId.length);
    const none = under === "/assets" ? { status: 501, body: { code: "NOT_IMPLEMENTED" } } : { body: { code: "NOT_FOUND" } };
    const { status = 404, body } = answers[under] ?? none;
    return Response.json(body, { status });
  });
  renderInApp(<JobSiblings jobId={jobId} asset={asset} connectionId="c" />);
}
const output = (at: number) => ({ id: `a${at}`, name: `out_${at}.png`, mime_type: "image/png" });

it("shows what else the job put out, and where that is more than fits leads to the job", async () => {
  expect.hasAssertions();
  show(
    { "/assets": { status: 200, body: { assets: Array.from({ length: 62 }, (_, at) => output(at)) } } },
    { id: "a3", name: "out_3.png" },
  );
  expect(screen.getByRole("status", { name: "Loading the other outputs" })).toBeDefined();
  expect(await screen.findAllByRole("listitem")).toHaveLength(60);
  expect(screen.queryByRole("img", { name: "out_3.png" })).toBeNull();
  expect(screen.getByRole("link", { name: /Show all outputs of the job/ }).getAttribute("href")).toBe(`/jobs/job-${jobs}`);
});

it("a job of exactly so many has no more", async () => {
  show(
    { "/assets": { status: 200, body: { assets: Array.from({ length: 61 }, (_, at) => output(at)) } } },
    { id: "a3", name: "out_3.png" },
  );
  expect(await screen.findAllByRole("listitem")).toHaveLength(60);
  expect(screen.queryByRole("link", { name: /Show all outputs of the job/ })).toBeNull();
});

it("where the service names only files, the asset is known among them by its content", async () => {
  const images = [
    { filename: `${"ab".repeat(32)}.png`, subfolder: "", type: "output", display_name: "one.png" },
    { filename: `${"cd".repeat(32)}.png`, subfolder: "", type: "output", display_name: "two.png" },
  ];
  show(
    { "": { status: 200, body: { outputs: { "9": { images } } } } },
    { id: "x", name: "renamed.png", hash: `blake3:${"ab".repeat(32)}` },
  );
  expect(await screen.findAllByRole("listitem")).toHaveLength(1);
  expect(screen.getByTitle("two.png")).toBeDefined();
});

it("an outage is no empty list: it is shown, and asked again", async () => {
  show({ "/assets": { status: 500, body: { code: "INTERNAL", message: "broken" } } }, { id: "x", name: "x.png" });
  expect((await screen.findByRole("alert", {}, { timeout: 10_000 })).textContent).toContain("broken");
  expect(screen.getByRole("button", { name: "Try again" })).toBeDefined();
});
