// A slow load shows progress, can be stopped and never replaces a newer workflow.
import { act, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { type RunSource } from "@/components/run/workflow/run-sources";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { ok } from "@/lib/shared/result";
import { createAcceptingApi, createApi, dropFile, getField, getRunButton, openText, showRunPage, showSample } from "./run-page";
import { readSampleGraph, readSampleText } from "./workflow-fixtures";

beforeEach(() => window.history.replaceState(null, "", "/run"));

/** Creates a promise that the test resolves with `release`. */
function createDeferred<T>() {
  let release: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (release = resolve));
  return { promise, release: (value: T) => act(async () => release(value)) };
}
type SampleResult = Awaited<ReturnType<RunApi["loadSample"]>>;
const queryEmptyPage = () => screen.queryByText("Drop a workflow file here");
function expectInvertIsOpen() {
  expect(getField("width").value).toBe("512");
  expect(screen.queryByRole("button", { name: /^Back to/ })).toBeNull();
}

async function dropPhoto(overrides: Partial<RunApi> = {}) {
  type UploadOptions = Parameters<RunApi["sendPicture"]>[1];
  const uploads: UploadOptions[] = [];
  const upload = createDeferred<Awaited<ReturnType<RunApi["sendPicture"]>>>();
  const sendPicture: RunApi["sendPicture"] = (_file, options) => {
    uploads.push(options);
    return upload.promise;
  };
  showRunPage(createApi(undefined, { sendPicture, decode: async () => undefined, ...overrides }));
  await dropFile("mine.png", "x", "image/png");
  await screen.findByRole("progressbar", { name: "Uploading mine.png" });
  const [options] = uploads;
  if (!options) throw new Error("The photo was not uploaded.");
  return { options, release: () => upload.release(ok({ name: "4be1.png", type: "input" })) };
}

it("shows the upload of a photo opened in a sample, then uses it", async () => {
  const { options, release } = await dropPhoto();
  act(() => options.onProgress(0.5));
  expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("50");
  expect(queryEmptyPage()).toBeNull();
  await release();
  await screen.findAllByRole("button", { name: "Run" });
  expect(getField("Image name").value).toBe("mine.png");
});

it("returns to the empty page when the upload is stopped", async () => {
  const { options, release } = await dropPhoto();
  fireEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(options.signal.aborted).toBe(true);
  expect(queryEmptyPage()).toBeTruthy();
  act(() => options.onProgress(0.9));
  await release();
  expect(screen.queryByRole("progressbar")).toBeNull();
  expect(queryEmptyPage()).toBeTruthy();
});

it("keeps a workflow opened during an upload and stops the upload", async () => {
  const { options, release } = await dropPhoto();
  await openText(readSampleText("01-invert"));
  expect(options.signal.aborted).toBe(true);
  await release();
  expectInvertIsOpen();
});

it("keeps a workflow opened while a sample for a photo loads", async () => {
  const sample = createDeferred<SampleResult>();
  const { release } = await dropPhoto({ loadSample: () => sample.promise });
  await release();
  await openText(readSampleText("01-invert"));
  await sample.release(ok(readSampleText("02-poster-from-photo")));
  expectInvertIsOpen();
});

it("ignores a past job that loads after another workflow was opened", async () => {
  const source: RunSource = { job: "x" };
  const job = createDeferred<Awaited<ReturnType<RunApi["readJob"]>>>();
  const detail: JobDetail = { id: "x", status: "completed", workflow: { prompt: readSampleGraph("05-slow") } };
  window.history.replaceState(null, "", "/run?job=x");
  showRunPage(createApi(undefined, { readJob: () => job.promise }), { source });
  await screen.findByRole("status", { name: "Loading" });
  await openText(readSampleText("01-invert"));
  await job.release(ok(detail));
  expectInvertIsOpen();
});

it("doesn't run a sample that loads after another workflow was opened", async () => {
  const sample = createDeferred<SampleResult>();
  const { submissions, api } = createAcceptingApi({ loadSample: () => sample.promise });
  showRunPage(api);
  fireEvent.click(screen.getAllByRole("button", { name: /^Run/ })[0] ?? document.body);
  await screen.findByRole("status", { name: "Loading" });
  await openText(readSampleText("01-invert"));
  await sample.release(ok(readSampleText("05-slow")));
  expect(submissions).toEqual([]);
  expect(getField("width").value).toBe("512");
  expect(getRunButton().getAttribute("aria-busy")).toBeNull();
});

it.each(["Cancel", "Esc"])("doesn't open a loading sample after %s", async (button) => {
  const sample = createDeferred<SampleResult>();
  await showSample(createApi(undefined, { loadSample: () => sample.promise }));
  fireEvent.click(screen.getByRole("button", { name: "Open another" }));
  const dialog = screen.getByRole("dialog");
  fireEvent.click(within(dialog).getByRole("button", { name: /^Colour field/ }));
  if (button === "Cancel") fireEvent.click(within(dialog).getByRole("button", { name: "Cancel" }));
  else fireEvent(dialog, new Event("close"));
  await sample.release(ok(readSampleText("09-colour-field")));
  expectInvertIsOpen();
});
