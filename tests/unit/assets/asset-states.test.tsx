import { act, cleanup, fireEvent, renderHook, screen, waitFor } from "@testing-library/react";
import { createElement, type ReactNode } from "react";
import { SWRConfig } from "swr";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { AssetPanel } from "@/components/assets/asset-panel";
import { AssetsCompare } from "@/components/assets/assets-viewer";
import { AssetPreview } from "@/components/assets/detail/asset-preview";
import { useAssetEdits } from "@/components/assets/detail/asset-tags";
import { JobSiblings } from "@/components/assets/detail/job-siblings";
import { Gallery } from "@/components/assets/gallery/gallery";
import { type AssetSelection } from "@/components/assets/gallery/use-asset-selection";
import { useEndlessAssets } from "@/components/assets/gallery/use-assets-source";
import { createSelection } from "@/components/data-table/selection";
import { assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { stubResizeObserver } from "@/tests/support/stub-resize-observer";
import { renderInApp, wrapInApp } from "../components/render";
import { createAsset, createAssetsSource } from "./assets-source";

function showPanel(id: string, respond: () => Response, canChange = false) {
  vi.stubGlobal("fetch", async () => respond());
  const handlers = { onClose: vi.fn(), onPatch: vi.fn(), onDeleted: vi.fn() };
  const listedAsset = createAsset(id, { name: "hero.png" });
  renderInApp(<AssetPanel id={id} listedAsset={listedAsset} connectionId={`of-${id}`} canChange={canChange} {...handlers} />);
}

it("shows an error above the listed asset when its details fail to load", async () => {
  showPanel("a1", () => Response.json({ code: "INTERNAL", message: "broken" }, { status: 500 }));
  expect((await screen.findByRole("alert", {}, { timeout: 10_000 })).textContent).toContain("broke");
  expect(screen.getByRole("heading", { name: "hero.png" })).toBeDefined();
});

it("shows a message when the asset is not found", async () => {
  showPanel("a2", () => Response.json({ code: "NOT_FOUND", message: "no such asset" }, { status: 404 }));
  expect(await screen.findByText("Asset not found", {}, { timeout: 10_000 })).toBeDefined();
  expect(screen.queryByRole("heading", { name: "hero.png" })).toBeNull();
});

it.each([true, false])("names a metadata field with a key only when the member can edit: %s", async (canChange) => {
  const metadata = { note: "kept", partner: { api_key: "[REDACTED]" } };
  showPanel("a3", () => Response.json({ id: "a3", name: "hero.png", tags: [], user_metadata: metadata }), canChange);
  expect(await screen.findByText("[REDACTED]", {}, { timeout: 10_000 })).toBeDefined();
  expect(screen.queryAllByText(/Its metadata contains a key or token: partner\.api_key\./)).toHaveLength(canChange ? 1 : 0);
});

it("shows the outcome of an edit only for its own asset", async () => {
  let respond: (response: Response) => void = () => undefined;
  vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => (respond = resolve)));
  const handlers = { onPatch: vi.fn(), onDone: vi.fn(), onDeleted: vi.fn() };
  const [first, second] = ["a4", "a5"].map((id) => createAsset(id, {}));
  const { result, rerender } = renderHook(({ asset }) => useAssetEdits({ asset, connectionId: "c", ...handlers }), {
    initialProps: { asset: first },
    wrapper: ({ children }: { children: ReactNode }) => wrapInApp(children),
  });
  act(() => result.current.addTags(["new"]));
  expect(result.current.busy).toBe("tags");
  rerender({ asset: second });
  expect(result.current.busy).toBeUndefined();
  await act(async () => respond(Response.json({ code: "INTERNAL", message: "" }, { status: 500 })));
  expect(result.current.outcome).toBeUndefined();
  rerender({ asset: first });
  expect(result.current.outcome?.kind).toBe("refused");
});

describe("asset preview", () => {
  beforeEach(stubResizeObserver);

  let connections = 0;
  function show(name: string, kind: AssetView["kind"], { files: canReadFiles = true } = {}) {
    vi.stubGlobal("fetch", async (input: string) => {
      if (input.includes("/capabilities")) return Response.json({ "tags.list": canReadFiles });
      return canReadFiles ? new Response("some words") : Response.json({ code: "NOT_FOUND", message: "Not Found" }, { status: 404 });
    });
    const asset = createAsset("a", { name, kind, sizeBytes: 10, hash: "blake3:00" });
    renderInApp(<AssetPreview asset={asset} connectionId={`c${++connections}`} isLarge />);
  }

  it("shows text content, or the file size when files can't be read", async () => {
    show("note.txt", "text");
    expect(await screen.findByText("some words")).toBeDefined();
    cleanup();
    show("note.txt", "text", { files: false });
    expect(await screen.findByText("10 bytes", {}, { timeout: 10_000 })).toBeDefined();
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
  });

  it.each(["video", "audio"] as const)("replaces the %s player with a message when playback fails", async (kind) => {
    show(`it.${kind}`, kind);
    const player = () => document.querySelector<HTMLMediaElement>(kind);
    expect(player()?.preload).toBe("metadata");
    fireEvent.error(player() ?? document.body);
    expect(screen.getByText(/^Can't play this here/)).toBeDefined();
    expect(player()).toBeNull();
    cleanup();
    // jsdom doesn't play media, so the test sets the error.
    Object.defineProperty(HTMLMediaElement.prototype, "error", { configurable: true, value: { code: 4 } });
    show(`it.${kind}`, kind);
    Reflect.deleteProperty(HTMLMediaElement.prototype, "error");
    expect(screen.getByText(/^Can't play this here/)).toBeDefined();
  });
});

// A comparison that is opened by URL loads its pictures first.
describe("assets compare", () => {
  beforeEach(stubResizeObserver);

  const createAssetResponse = (id: string) => Response.json({ id, name: `${id}.png`, tags: [], mime_type: "image/png" });
  const createErrorResponse = () => Response.json({ code: "UPSTREAM_ERROR", message: "down" }, { status: 502 });
  function show(name: string) {
    const onClose = vi.fn();
    renderInApp(<AssetsCompare idList={name} findAsset={() => undefined} connectionId="c" onClose={onClose} />);
    return onClose;
  }

  it("reloads a failed asset when the comparison is opened again", async () => {
    vi.stubGlobal("fetch", async () => createErrorResponse());
    const onClose = show("one,two");
    await waitFor(() => expect(onClose).toHaveBeenCalled(), { timeout: 10_000 });
    cleanup();
    vi.stubGlobal("fetch", async (address: string) => createAssetResponse(address.includes("one") ? "one" : "two"));
    const onSecondClose = show("one,two");
    expect(await screen.findByRole("dialog", { name: "Comparing 2 images" })).toBeDefined();
    expect(onSecondClose).not.toHaveBeenCalled();
  });

  it("compares the loaded assets when one fails to load", async () => {
    vi.stubGlobal("fetch", async (address: string) =>
      address.includes("gone") ? createErrorResponse() : createAssetResponse(address.includes("one") ? "one" : "two"),
    );
    const onClose = show("one,gone,two");
    expect(await screen.findByRole("dialog", { name: "Comparing 2 images" }, { timeout: 10_000 })).toBeDefined();
    expect(onClose).not.toHaveBeenCalled();
  });
});

// A page that is opened during an outage loads its list afterwards without user action.
describe("assets list during an outage", () => {
  let isUnavailable = true;
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000_000 });
    isUnavailable = true;
    vi.stubGlobal("fetch", async () =>
      isUnavailable
        ? Response.json({ code: "SERVICE_UNAVAILABLE", message: "" }, { status: 503 })
        : Response.json({ assets: [{ id: "a", name: "a.png", tags: [] }], total: 1, has_more: false }),
    );
  });

  const wrapper = ({ children }: { children: ReactNode }) => createElement(SWRConfig, { value: { provider: () => new Map() } }, children);

  it.each([0, 60])("loads the list at offset %i within 10 seconds after the outage", async (offset) => {
    const query = assetsQuerySchema.parse({ offset: String(offset), name_contains: `outage ${offset}` });
    const first = { ok: false, failure: { code: "SERVICE_UNAVAILABLE", message: "", status: 503 } } as const;
    const { result } = renderHook(() => useEndlessAssets({ query, connectionId: "one", initialResult: first, isEnabled: true }), {
      wrapper,
    });
    await act(() => vi.advanceTimersByTimeAsync(100_000));
    expect(result.current.failure?.code).toBe("SERVICE_UNAVAILABLE");
    isUnavailable = false;
    await act(() => vi.advanceTimersByTimeAsync(10_500));
    expect(result.current.failure).toBeUndefined();
    expect(result.current.at(0)?.name).toBe("a.png");
  });
});

describe("gallery", () => {
  beforeEach(stubResizeObserver);

  const assets = ["0", "1", "2"].map((id) => createAsset(id));
  const createList = (loaded: readonly AssetView[]) =>
    createAssetsSource(loaded, { version: loaded.length, count: 3, total: 3, isEmpty: false });

  function renderGallery() {
    const handlers = { toggle: vi.fn(), extendTo: vi.fn(), updateBand: vi.fn(), finishBand: vi.fn(), selectAll: vi.fn() };
    const picking: AssetSelection = { ...handlers, store: createSelection(), getSelectedAssets: () => [], isLoading: false };
    const otherHandlers = { onOpen: () => false, onPage: vi.fn(), onView: vi.fn(), onScrollEnd: vi.fn(), onReady: vi.fn() };
    const look = { size: "medium", fit: "cover", startIndex: 0 } as const;
    const part = (loaded: readonly AssetView[]) => <Gallery {...look} {...otherHandlers} selection={picking} source={createList(loaded)} />;
    return { part, ...handlers, ...otherHandlers };
  }

  it("keeps the focus on a tile when its asset loads", () => {
    const { part } = renderGallery();
    const renderResult = renderInApp(part([]));
    const first = renderResult.container.querySelector<HTMLElement>('a[data-index="0"]');
    first?.focus();
    expect(document.activeElement).toBe(first);
    renderResult.rerender(wrapInApp(part(assets)));
    expect(screen.getByRole("link", { name: /^0\.png/ })).toBe(document.activeElement);
  });

  it("doesn't focus a tile when it would lose the focus on load", () => {
    const { part } = renderGallery();
    const renderResult = renderInApp(part([]));
    renderResult.container.querySelector<HTMLElement>('a[data-index="1"]')?.focus();
    expect(document.activeElement).toBe(document.body);
  });

  it("triggers an action once when a key is held, but repeats moves", () => {
    const { part, toggle, onView, onPage } = renderGallery();
    renderInApp(part(assets));
    const tile = screen.getByRole("link", { name: /^0\.png/ });
    tile.focus();
    for (const key of [" ", "x", "i"])
      for (const repeat of [false, true, true]) expect(fireEvent.keyDown(tile, { key, repeat })).toBe(false);
    expect([onView, toggle, onPage].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
    fireEvent.keyDown(tile, { key: "j", repeat: true });
    expect(screen.getByRole("link", { name: /^1\.png/ })).toBe(document.activeElement);
  });
});

type ResponseSpec = { status?: number; body: unknown };
let jobCount = 0;
/** Selects the response by the path after the job's id. Each call uses a new job id. */
function showSiblings(responses: Readonly<Record<string, ResponseSpec>>, asset: { id: string; name: string; hash?: string }) {
  const jobId = `job-${++jobCount}`;
  vi.stubGlobal("fetch", async (input: string) => {
    const { pathname } = new URL(input, "http://console");
    const subpath = pathname.slice(pathname.indexOf(jobId) + jobId.length);
    const defaultResponse = subpath === "/assets" ? { status: 501, body: { code: "NOT_IMPLEMENTED" } } : { body: { code: "NOT_FOUND" } };
    const { status = 404, body } = responses[subpath] ?? defaultResponse;
    return Response.json(body, { status });
  });
  renderInApp(<JobSiblings jobId={jobId} asset={asset} connectionId="c" />);
}

it.each([
  [62, true],
  [61, false],
])("lists the other outputs of %i and links to the job only when there are too many", async (outputCount, hasLink) => {
  const createOutput = (at: number) => ({ id: `a${at}`, name: `out_${at}.png`, mime_type: "image/png" });
  const assets = Array.from({ length: outputCount }, (_, at) => createOutput(at));
  showSiblings({ "/assets": { status: 200, body: { assets } } }, { id: "a3", name: "out_3.png" });
  expect(screen.getByRole("status", { name: "Loading the other outputs" })).toBeDefined();
  expect(await screen.findAllByRole("listitem")).toHaveLength(60);
  expect(screen.queryByRole("img", { name: "out_3.png" })).toBeNull();
  const href = screen.queryByRole("link", { name: /Show all outputs/ })?.getAttribute("href");
  expect(href).toBe(hasLink ? `/jobs/job-${jobCount}` : undefined);
});

it("recognizes the asset by hash when the job lists only files", async () => {
  const images = [
    { filename: `${"ab".repeat(32)}.png`, subfolder: "", type: "output", display_name: "one.png" },
    { filename: `${"cd".repeat(32)}.png`, subfolder: "", type: "output", display_name: "two.png" },
  ];
  showSiblings(
    { "": { status: 200, body: { outputs: { "9": { images } } } } },
    { id: "x", name: "renamed.png", hash: `blake3:${"ab".repeat(32)}` },
  );
  expect(await screen.findAllByRole("listitem")).toHaveLength(1);
  expect(screen.getByTitle("two.png")).toBeDefined();
});

it("shows an error and a retry button when outputs fail to load", async () => {
  showSiblings({ "/assets": { status: 500, body: { code: "INTERNAL", message: "broken" } } }, { id: "x", name: "x.png" });
  expect((await screen.findByRole("alert", {}, { timeout: 10_000 })).textContent).toContain("broken");
  expect(screen.getByRole("button", { name: "Try again" })).toBeDefined();
});
