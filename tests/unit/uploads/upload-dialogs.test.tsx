import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { UrlDialog } from "@/components/transfers/downloads/url-dialog";
import { UploadTray } from "@/components/transfers/upload-tray";
import { uploadPreferences } from "@/components/transfers/uploads/asset-fields-form";
import { HashDialog, StartDialog } from "@/components/transfers/uploads/start-dialog";
import { type UploadItem } from "@/components/transfers/uploads/upload-item";
import { DownloadList } from "@/components/transfers/uploads/upload-list";
import { createDroppedFiles } from "@/lib/browser/files/dropped-files";
import { type DownloadTask } from "@/lib/contract/assets/file-refs";
import { renderInApp, wrapInApp } from "../components/render";

const noop = () => undefined;
const dropFiles = (...names: string[]) => createDroppedFiles(names.map((name) => ({ path: name, file: new File(["x"], name) })));

describe("upload defaults", () => {
  beforeEach(() => {
    vi.stubGlobal("fetch", async () => Response.json({}));
  });

  const getDontAskCheckbox = () => screen.getByRole<HTMLInputElement>("checkbox", { name: /^Don't ask again/ });
  const getTagsInput = () => screen.getByRole<HTMLInputElement>("combobox", { name: "Tags" });
  function openDialog() {
    cleanup();
    const onStart = vi.fn();
    renderInApp(<StartDialog dropped={dropFiles("a.txt")} onStart={onStart} onOpen={noop} onClose={noop} />);
    return onStart;
  }
  const clickAdd = () => fireEvent.click(screen.getByRole("button", { name: "Add" }));

  test("are not changed by tags typed for one upload", () => {
    const onStart = openDialog();
    fireEvent.change(getTagsInput(), { target: { value: "input, only today" } });
    clickAdd();
    expect(onStart.mock.calls[0]?.[0]).toMatchObject([{ assetFields: { tags: ["input", "only today"] } }]);
    expect(uploadPreferences.get()).toEqual({ ask: true, tags: "input" });
    openDialog();
    expect(getTagsInput().value).toBe("input");
  });

  test("are used until they are removed", () => {
    openDialog();
    fireEvent.change(getTagsInput(), { target: { value: "set" } });
    fireEvent.click(getDontAskCheckbox());
    clickAdd();
    expect(uploadPreferences.get()).toEqual({ ask: false, tags: "set" });
    // The dialog can still be opened, and the checkbox shows the current setting.
    openDialog();
    expect([getTagsInput().value, getDontAskCheckbox().checked]).toEqual(["set", true]);
    clickAdd();
    expect(uploadPreferences.get()).toEqual({ ask: false, tags: "set" });
    openDialog();
    fireEvent.click(getDontAskCheckbox());
    clickAdd();
    expect(uploadPreferences.get()).toEqual({ ask: true, tags: "input" });
  });

  test("ignore tags stored by an earlier version", () => {
    uploadPreferences.set({ ask: true, tags: "of last week" });
    expect(uploadPreferences.get()).toEqual({ ask: true, tags: "input" });
  });

  test("apply a typed name to a single file only", () => {
    const onStart = vi.fn();
    const createDialog = (...names: string[]) =>
      wrapInApp(<StartDialog dropped={dropFiles(...names)} onStart={onStart} onOpen={noop} onClose={noop} />);
    const { rerender } = renderInApp(null);
    rerender(createDialog("a.txt"));
    fireEvent.change(screen.getByRole("textbox", { name: "Name" }), { target: { value: "Mine" } });
    rerender(createDialog("a.txt", "b.txt"));
    clickAdd();
    expect(onStart.mock.calls[0]?.[0]).toMatchObject([{ assetFields: { name: "" } }, { assetFields: { name: "" } }]);
  });
});

const runningTask: DownloadTask = {
  id: "t",
  source: "https://example.com/film.bin",
  state: "working",
  word: "running",
  createdAtMs: 0,
  checkedAtMs: 0,
  canCancel: true,
  canRetry: false,
};
function renderDownload(task: Partial<DownloadTask>) {
  const downloads = {
    list: { tasks: [{ ...runningTask, ...task }], underWay: 0 },
    atMs: 0,
    failure: undefined,
    refresh: async () => undefined,
  };
  renderInApp(<DownloadList downloads={downloads} canAdd />);
}

test("shows progress only if the service reports it", () => {
  renderDownload({ bytesDone: 1_000_000, bytesTotal: 3_000_000, share: 1 / 3 });
  expect(screen.getByText("in progress · 1 MB of 3 MB")).toBeTruthy();
  expect(screen.getByRole("progressbar", { name: "Progress of film.bin" })).toBeTruthy();
  cleanup();
  renderDownload({});
  expect(screen.getByText("in progress; the service reports no details")).toBeTruthy();
  expect(screen.queryByRole("progressbar")).toBeNull();
});

test("shows why a download failed", () => {
  renderDownload({ state: "failed", reason: "The source has no such file.", canRetry: true });
  expect(screen.getByText("failed: The source has no such file.")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Retry film.bin" })).toBeTruthy();
});

test("shows an error when a download can't be cancelled", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ code: "CONFLICT", message: "The task has ended already." }, { status: 409 }));
  renderDownload({});
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Cancel film.bin" })));
  expect(screen.getByText(/ended already/)).toBeTruthy();
});

describe("hash dialog", () => {
  const hash = `blake3:${"ab".repeat(32)}`;

  const createdAsset = { id: "a", name: "found.png", asset_hash: hash, tags: ["input"], created_at: new Date().toISOString() };
  const createOutageResponse = () => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "cut" }, { status: 502 });
  const createUnclearResponse = () => Response.json({ asset: null, isUnclear: true });

  /** Submits the hash. The service then lists `assets` as its newest assets. */
  async function submitHash(assets: unknown, respond = createOutageResponse) {
    const paths: string[] = [];
    vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
      paths.push(`${init.method ?? "GET"} ${path.split("?")[0]}`);
      if (init.method === "POST") return respond();
      return assets === undefined ? Response.json({ code: "UPSTREAM_ERROR", message: "" }, { status: 502 }) : Response.json({ assets });
    });
    renderInApp(<HashDialog connection="c" onClose={noop} />);
    fireEvent.change(screen.getByLabelText("Hash of the content"), { target: { value: hash } });
    fireEvent.change(screen.getByLabelText(/^Tags/), { target: { value: "input" } });
    await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Add" })));
    return paths;
  }
  const expectedRequests = ["POST /api/console/known-content", "GET /api/assets"];

  it("looks up an asset after a lost response and shows it as created", async () => {
    expect(await submitHash([createdAsset])).toEqual(expectedRequests);
    expect(screen.getByRole("link", { name: "Open found.png" })).toBeDefined();
    expect(screen.queryByText(/Couldn't reach the service/)).toBeNull();
  });

  it("shows that no asset was created, or that this is unknown", async () => {
    expect(await submitHash([{ id: "b", name: "other.png", asset_hash: `blake3:${"cd".repeat(32)}` }])).toEqual(expectedRequests);
    expect(screen.getByText("No asset was created.")).toBeDefined();
    const older = { ...createdAsset, created_at: "2026-01-01T00:00:00Z" };
    for (const asset of [[{ id: "b", name: "other.png" }], [older], [{ ...createdAsset, tags: ["output"] }], undefined]) {
      cleanup();
      expect(await submitHash(asset)).toEqual(expectedRequests);
      expect(screen.getByText(/^Couldn't confirm that the asset was created/)).toBeDefined();
    }
  });

  it("looks up the asset when the response has another hash", async () => {
    expect(await submitHash([createdAsset], createUnclearResponse)).toEqual(expectedRequests);
    expect(screen.getByRole("link", { name: "Open found.png" })).toBeDefined();
    cleanup();
    expect(await submitHash([{ id: "b", name: "other.png" }], createUnclearResponse)).toEqual(expectedRequests);
    expect(screen.getByText(/^Couldn't confirm that the asset was created/)).toBeDefined();
    expect(screen.queryByText(/No content with this hash/)).toBeNull();
  });
});

const errorResponse = (status: number, code: string, message: string) => Response.json({ code, message, request_id: "r" }, { status });

test("offers a retry for an unresponsive source but not for a forbidden one", async () => {
  const responses = [
    () => errorResponse(422, "UNPROCESSABLE", "The source gave no answer."),
    () => errorResponse(400, "UNSUPPORTED_SOURCE", "This service downloads only from huggingface.co."),
    () => Response.json({ content_length: 3_000_000, filename: "film.bin" }),
    () => new Promise<Response>(() => undefined),
  ];
  vi.stubGlobal("fetch", async () => responses.shift()?.());
  const text = "https://slow.example/film.bin\nhttps://example.com/x";
  renderInApp(<UrlDialog text={text} onText={noop} onStarted={noop} onClose={noop} />);
  await screen.findByText(/huggingface\.co\.$/);
  const checkAgainButtons = screen.getAllByRole("button", { name: /^Check again/ });
  expect(checkAgainButtons.map((button) => button.getAttribute("aria-label"))).toEqual(["Check again: https://slow.example/film.bin"]);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Download" }).disabled).toBe(true);
  for (const button of checkAgainButtons) fireEvent.click(button);
  await screen.findByText("3 MB");
  await waitFor(() => expect(screen.getByRole<HTMLButtonElement>("button", { name: "Download 1 file" }).disabled).toBe(false));
  const field = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "URLs, one per line" });
  expect(field.readOnly).toBe(false);
  fireEvent.click(screen.getByRole("button", { name: "Download 1 file" }));
  expect(field.readOnly).toBe(true);
});

const storedItem = (key: number, overrides: Partial<UploadItem> = {}): UploadItem => ({
  key,
  id: `${key}`,
  file: new File(["x"], `${key}.png`),
  assetFields: { name: "", tags: [], metadata: {} },
  mayBeStored: false,
  status: { kind: "done", asset: { id: `${key}` }, sentBytes: 1, check: { kind: "verified" } },
  ...overrides,
});
function renderTray(items: UploadItem[]) {
  const handlers = { onView: noop, onCollapse: noop, onDetails: noop, onEditAll: noop, onClose: noop };
  const downloads = {
    ...{ list: { tasks: [], underWay: 0 }, atMs: 0, failure: undefined, refresh: async () => undefined, act: async () => undefined },
    ...{ busy: new Set<string>(), failures: new Map() },
  };
  const state = { canAdd: true, view: "uploads", isCollapsed: false } as const;
  renderInApp(<UploadTray queue={{ items, isPaused: false }} downloads={downloads} {...state} {...handlers} />);
}
const getRowNames = () => screen.getAllByRole("listitem").map((row) => row.textContent?.match(/\d\.png/)?.[0]);

test("filters unreadable pictures by the button with their count", () => {
  renderTray(Array.from({ length: 8 }, (_, index) => storedItem(index, index % 4 === 0 ? { isUndecodable: true } : {})));
  expect(screen.getByRole("status").textContent).toContain("2 unreadable images");
  fireEvent.click(screen.getByRole("button", { name: "Unreadable images 2" }));
  expect(getRowNames()).toEqual(["0.png", "4.png"]);
  cleanup();
  renderTray(Array.from({ length: 8 }, (_, index) => storedItem(index)));
  expect(screen.queryByRole("button", { name: /^Unreadable/ })).toBeNull();
});
