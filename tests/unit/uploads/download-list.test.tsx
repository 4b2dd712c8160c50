// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { DownloadList } from "@/components/transfers/downloads/download-list";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type DownloadTask } from "@/lib/contract/assets/file-refs";
import { renderInApp } from "../components/render";

afterEach(cleanup);

const working: DownloadTask = {
  id: "t",
  source: "https://example.com/film.bin",
  state: "working",
  word: "running",
  createdAtMs: 0,
  checkedAtMs: 0,
  canCancel: true,
  canRetry: false,
};
const tooLate: ApiFailure = { code: "CONFLICT", message: "The task has ended already.", status: 409 };
function show(task: Partial<DownloadTask>, refused?: ApiFailure) {
  const downloads = {
    list: { tasks: [{ ...working, ...task }], underWay: 0 },
    atMs: 0,
    failure: undefined,
    refresh: async () => undefined,
    act: async () => undefined,
    busy: new Set<string>(),
    failures: new Map(refused && [["t", refused]]),
  };
  renderInApp(<DownloadList downloads={downloads} canAdd />);
}

test("progress is shown where the service gives it, and honest work where it does not", () => {
  show({ bytesDone: 1_000_000, bytesTotal: 3_000_000, share: 1 / 3 });
  expect(screen.getByText("in progress · 1 MB of 3 MB")).toBeTruthy();
  expect(screen.getByRole("progressbar", { name: "Progress of film.bin" })).toBeTruthy();
  cleanup();
  show({});
  expect(screen.getByText("in progress; the service reports no details")).toBeTruthy();
  expect(screen.queryByRole("progressbar")).toBeNull();
});

test("why a download failed is shown in its line", () => {
  show({ state: "failed", reason: "The source has no such file.", canRetry: true });
  expect(screen.getByText("failed: The source has no such file.")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Retry film.bin" })).toBeTruthy();
});

test("a cancel that comes too late is answered by the end itself, one that the service refuses is shown", () => {
  show({ state: "completed", canCancel: false }, tooLate);
  expect(screen.getByText("stored")).toBeTruthy();
  expect(screen.queryByText(/ended already/)).toBeNull();
  cleanup();
  show({}, tooLate);
  expect(screen.getByText(/ended already/)).toBeTruthy();
});
