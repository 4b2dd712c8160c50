// Slow opening is shown, can be stopped, and never replaces a newer workflow.
import { act, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { ok } from "@/lib/shared/result";
import { sampleGraph, sampleText } from "./files";
import { createApi, drop, field, runButton, show } from "./page";
import { renderPage } from "./render";

beforeEach(() => window.history.replaceState(null, "", "/run"));

/** A function whose response the test releases. */
function deferred<T>() {
  let release: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (release = resolve));
  return { answer: promise, release: (value: T) => act(async () => release(value)) };
}
const paste = async (sample: string) => {
  fireEvent.paste(document.body, { clipboardData: { files: [], getData: () => sampleText(sample) } });
  await screen.findAllByRole("button", { name: "Run" });
};
const emptyPage = () => screen.queryByText("Drop a workflow file here");

async function dropPhotograph(ports: Partial<RunApi> = {}) {
  type Sending = Parameters<RunApi["sendPicture"]>[1];
  const sending: Sending[] = [];
  const upload = deferred<Awaited<ReturnType<RunApi["sendPicture"]>>>();
  const sendPicture: RunApi["sendPicture"] = (_file, options) => {
    sending.push(options);
    return upload.answer;
  };
  show(createApi(undefined, { sendPicture, decode: async () => undefined, ...ports }));
  await drop("mine.png", "x", "image/png");
  await screen.findByRole("progressbar", { name: "Uploading mine.png" });
  const [options] = sending;
  if (!options) throw new Error("nothing is sent");
  return { options, release: () => upload.release(ok({ name: "4be1.png", type: "input" })) };
}

it("shows the upload of a photo opened in a sample, then uses it", async () => {
  const { options, release } = await dropPhotograph();
  act(() => options.onProgress(0.5));
  expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("50");
  expect(emptyPage()).toBeNull();
  await release();
  await screen.findAllByRole("button", { name: "Run" });
  expect(field("Picture name").value).toBe("mine.png");
});

it("stops the upload and returns to the empty page for good", async () => {
  const { options, release } = await dropPhotograph();
  fireEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(options.signal.aborted).toBe(true);
  expect(emptyPage()).toBeTruthy();
  act(() => options.onProgress(0.9));
  await release();
  expect(screen.queryByRole("progressbar")).toBeNull();
  expect(emptyPage()).toBeTruthy();
});

it("keeps a workflow opened during an upload and stops the upload", async () => {
  const { options, release } = await dropPhotograph();
  await paste("01-invert");
  expect(options.signal.aborted).toBe(true);
  await release();
  expect(field("width").value).toBe("512");
  expect(screen.queryByRole("button", { name: /^Back to/ })).toBeNull();
});

it("keeps a workflow opened while the sample was fetched", async () => {
  const sample = deferred<Awaited<ReturnType<RunApi["loadSample"]>>>();
  const { release } = await dropPhotograph({ loadSample: () => sample.answer });
  await release();
  await paste("01-invert");
  await sample.release(ok(sampleText("02-poster-from-photo")));
  expect(field("width").value).toBe("512");
  expect(screen.queryByRole("button", { name: /^Back to/ })).toBeNull();
});

it("ignores a late past job after another was opened", async () => {
  window.history.replaceState(null, "", "/run?job=x");
  const job = deferred<Awaited<ReturnType<RunApi["readJob"]>>>();
  const detail: JobDetail = { id: "x", status: "completed", workflow: { prompt: sampleGraph("05-slow") } };
  const ports = createApi(undefined, { readJob: () => job.answer });
  renderPage(<RunScreen canRun memberId="ada" source={{ job: "x" }} store={createRunStore()} api={ports} />);
  await screen.findByRole("status", { name: "Loading" });
  await paste("01-invert");
  await job.release(ok(detail));
  expect(field("width").value).toBe("512");
  expect(screen.queryByRole("button", { name: /^Back to/ })).toBeNull();
});

it("doesn't run a sample when another workflow was opened first", async () => {
  const bodies: unknown[] = [];
  const sample = deferred<Awaited<ReturnType<RunApi["loadSample"]>>>();
  const sendPrompt: RunApi["sendPrompt"] = async (submission) => {
    bodies.push(submission);
    return ok({ prompt_id: "a" });
  };
  show(createApi(undefined, { loadSample: () => sample.answer, sendPrompt }));
  fireEvent.click(screen.getAllByRole("button", { name: /^Run/ })[0] ?? document.body);
  await screen.findByRole("status", { name: "Loading" });
  await paste("01-invert");
  await sample.release(ok(sampleText("05-slow")));
  expect(bodies).toEqual([]);
  expect(field("width").value).toBe("512");
  expect(runButton().getAttribute("aria-busy")).toBeNull();
});

it.each(["Cancel", "Esc"])("doesn't open a loading sample after %s", async (button) => {
  const sample = deferred<Awaited<ReturnType<RunApi["loadSample"]>>>();
  show(createApi(undefined, { loadSample: () => sample.answer }));
  await paste("01-invert");
  fireEvent.click(screen.getByRole("button", { name: "Open another" }));
  const dialog = screen.getByRole("dialog");
  fireEvent.click(within(dialog).getByRole("button", { name: /^Colour field/ }));
  if (button === "Cancel") fireEvent.click(within(dialog).getByRole("button", { name: "Cancel" }));
  else fireEvent(dialog, new Event("close"));
  await sample.release(ok(sampleText("09-colour-field")));
  expect(field("width").value).toBe("512");
  expect(screen.queryByRole("button", { name: /^Back to/ })).toBeNull();
});
