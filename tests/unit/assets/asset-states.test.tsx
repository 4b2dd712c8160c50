import { act, cleanup, fireEvent, renderHook, screen, waitFor } from "@testing-library/react";
import { createElement, type ReactNode } from "react";
import { SWRConfig } from "swr";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { AssetPanel } from "@/components/assets/asset-panel";
import { AssetsCompare } from "@/components/assets/assets-viewer";
import { AssetPreview } from "@/components/assets/detail/asset-preview";
import { JobSiblings } from "@/components/assets/detail/job-siblings";
import { type AssetsSource } from "@/components/assets/gallery/chunk-store";
import { Gallery } from "@/components/assets/gallery/gallery";
import { useEndless } from "@/components/assets/gallery/use-endless";
import { type Picking } from "@/components/assets/gallery/use-picking";
import { createSelection } from "@/components/data-table/selection";
import { assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { stubElementSizes } from "@/tests/support/jsdom-parts";
import { inApp, renderInApp } from "../components/render";

const listedAsset: AssetView = { id: "a1", name: "hero.png", kind: "image", tags: [], immutable: false, metadata: {} };

function showPanel(id: string, respond: () => Response, canChange = false) {
  vi.stubGlobal("fetch", async () => respond());
  const handlers = { onClose: vi.fn(), onPatch: vi.fn(), onDeleted: vi.fn() };
  renderInApp(<AssetPanel id={id} listedAsset={{ ...listedAsset, id }} connectionId={`of-${id}`} canChange={canChange} {...handlers} />);
}

it("reports a failed asset above the list", async () => {
  showPanel("a1", () => Response.json({ code: "INTERNAL", message: "broken" }, { status: 500 }));
  expect((await screen.findByRole("alert", {}, { timeout: 10_000 })).textContent).toContain("broke");
  expect(screen.getByRole("heading", { name: "hero.png" })).toBeDefined();
});

it("clears a removed asset's details", async () => {
  showPanel("a2", () => Response.json({ code: "NOT_FOUND", message: "no such asset" }, { status: 404 }));
  expect(await screen.findByText("Asset not found", {}, { timeout: 10_000 })).toBeDefined();
  expect(screen.queryByRole("heading", { name: "hero.png" })).toBeNull();
});

it.each([true, false])("shows the field of a metadata key (%s) only to editors", async (may) => {
  const metadata = { note: "kept", partner: { api_key: "[REDACTED]" } };
  showPanel("a3", () => Response.json({ id: "a3", name: "hero.png", tags: [], user_metadata: metadata }), may);
  expect(await screen.findByText("[REDACTED]", {}, { timeout: 10_000 })).toBeDefined();
  expect(screen.queryAllByText(/Its metadata contains a key or token: partner\.api_key\./)).toHaveLength(may ? 1 : 0);
});

describe("asset preview", () => {
  beforeEach(stubElementSizes);

  let connections = 0;
  function show(name: string, kind: AssetView["kind"], { files = true } = {}) {
    vi.stubGlobal("fetch", async (input: string) => {
      if (input.includes("/capabilities")) return Response.json({ "tags.list": files });
      return files ? new Response("some words") : Response.json({ code: "NOT_FOUND", message: "Not Found" }, { status: 404 });
    });
    const asset: AssetView = { id: "a", name, kind, tags: [], immutable: false, metadata: {}, sizeBytes: 10, hash: "blake3:00" };
    renderInApp(<AssetPreview asset={asset} connectionId={`c${++connections}`} isLarge />);
  }

  it("shows a text, or its name and size when files cannot be read", async () => {
    show("note.txt", "text");
    expect(await screen.findByText("some words")).toBeDefined();
    cleanup();
    show("note.txt", "text", { files: false });
    expect(await screen.findByText("10 bytes", {}, { timeout: 10_000 })).toBeDefined();
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
  });

  it.each(["video", "audio"] as const)("replaces a %s player with a message when it cannot play", async (kind) => {
    show(`it.${kind}`, kind);
    const player = () => document.querySelector<HTMLMediaElement>(kind);
    expect(player()?.preload).toBe("metadata");
    fireEvent.error(player() ?? document.body);
    expect(screen.getByText(/^Can't play this here/)).toBeDefined();
    expect(player()).toBeNull();
    cleanup();
    // jsdom plays no media and so reports no error.
    Object.defineProperty(HTMLMediaElement.prototype, "error", { configurable: true, value: { code: 4 } });
    show(`it.${kind}`, kind);
    Reflect.deleteProperty(HTMLMediaElement.prototype, "error");
    expect(screen.getByText(/^Can't play this here/)).toBeDefined();
  });
});

// A comparison opened by URL, whose pictures must be loaded first.
describe("assets compare", () => {
  beforeEach(stubElementSizes);

  const toResponse = (id: string) => Response.json({ id, name: `${id}.png`, tags: [], mime_type: "image/png" });
  const respondDown = () => Response.json({ code: "UPSTREAM_ERROR", message: "down" }, { status: 502 });
  function show(name: string) {
    const onClose = vi.fn();
    renderInApp(<AssetsCompare named={name} find={() => undefined} connectionId="c" onClose={onClose} />);
    return onClose;
  }

  it("retries an unreadable asset when compared again", async () => {
    vi.stubGlobal("fetch", async () => respondDown());
    const onClose = show("one,two");
    await waitFor(() => expect(onClose).toHaveBeenCalled(), { timeout: 10_000 });
    cleanup();
    vi.stubGlobal("fetch", async (address: string) => toResponse(address.includes("one") ? "one" : "two"));
    const isClosed = show("one,two");
    expect(await screen.findByRole("dialog", { name: "Comparing 2 pictures" })).toBeDefined();
    expect(isClosed).not.toHaveBeenCalled();
  });

  it("keeps loaded assets when one is lost", async () => {
    vi.stubGlobal("fetch", async (address: string) =>
      address.includes("gone") ? respondDown() : toResponse(address.includes("one") ? "one" : "two"),
    );
    const onClose = show("one,gone,two");
    expect(await screen.findByRole("dialog", { name: "Comparing 2 pictures" }, { timeout: 10_000 })).toBeDefined();
    expect(onClose).not.toHaveBeenCalled();
  });
});

// The assets page opened during an outage: the list loads by itself afterwards.
describe("outage", () => {
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

  it.each([0, 60])("loads a list opened at %i during an outage within ten seconds", async (offset) => {
    const query = assetsQuerySchema.parse({ offset: String(offset), name_contains: `outage ${offset}` });
    const first = { ok: false, failure: { code: "SERVICE_UNAVAILABLE", message: "", status: 503 } } as const;
    const { result } = renderHook(() => useEndless({ query, connectionId: "one", first, isOn: true }), { wrapper });
    await act(() => vi.advanceTimersByTimeAsync(100_000));
    expect(result.current.failure?.code).toBe("SERVICE_UNAVAILABLE");
    isUnavailable = false;
    await act(() => vi.advanceTimersByTimeAsync(10_500));
    expect(result.current.failure).toBeUndefined();
    expect(result.current.at(0)?.name).toBe("a.png");
  });
});

describe("gallery", () => {
  beforeEach(() => {
    vi.stubGlobal(
      "ResizeObserver",
      class {
        observe = () => undefined;
        disconnect = () => undefined;
      },
    );
  });

  const assets = [0, 1, 2].map((index): AssetView => ({
    id: `a${index}`,
    name: `${index}.png`,
    kind: "image",
    tags: [],
    immutable: false,
    metadata: {},
  }));

  function createList(loaded: readonly AssetView[], version: number): AssetsSource {
    return {
      ...{ version, count: 3, total: 3, newCount: 0, failure: undefined, atMs: 0, offset: 0, isEmpty: false },
      at: (index) => loaded[index],
      indexOf: (id) => loaded.findIndex((asset) => asset.id === id),
      rows: () => [...loaded],
      range: () => Promise.resolve([]),
      request: () => undefined,
      refresh: () => undefined,
      patch: () => undefined,
    };
  }

  function renderGallery() {
    const handlers = { toggle: vi.fn(), extend: vi.fn(), band: vi.fn(), settle: vi.fn(), all: vi.fn() };
    const picking: Picking = { ...handlers, store: createSelection(), chosen: () => [], isReading: false };
    const otherHandlers = { onOpen: () => false, onPage: vi.fn(), onView: vi.fn(), onRest: vi.fn(), onReady: vi.fn() };
    const look = { size: "medium", fit: "cover", startIndex: 0 } as const;
    const part = (loaded: readonly AssetView[]) => (
      <Gallery {...look} {...otherHandlers} picking={picking} source={createList(loaded, loaded.length)} />
    );
    return { part, ...handlers, ...otherHandlers };
  }

  it("keeps the focus on a tile while its asset loads", () => {
    const { part } = renderGallery();
    const renderResult = renderInApp(part([]));
    const first = renderResult.container.querySelector<HTMLElement>('a[data-index="0"]');
    first?.focus();
    expect(document.activeElement).toBe(first);
    renderResult.rerender(inApp(part(assets)));
    expect(screen.getByRole("link", { name: /^0\.png/ })).toBe(document.activeElement);
  });

  it("doesn't focus a tile that would lose focus on loading", () => {
    const { part } = renderGallery();
    const renderResult = renderInApp(part([]));
    renderResult.container.querySelector<HTMLElement>('a[data-index="1"]')?.focus();
    expect(document.activeElement).toBe(document.body);
  });

  it("acts once while a key is held and keeps moving", () => {
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

type Answer = { status?: number; body: unknown };
let jobs = 0;
/** Chooses the response by the end of the path; each render requests a new job. */
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

it("shows a job's other outputs and links to the job for more", async () => {
  expect.hasAssertions();
  show(
    { "/assets": { status: 200, body: { assets: Array.from({ length: 62 }, (_, at) => output(at)) } } },
    { id: "a3", name: "out_3.png" },
  );
  expect(screen.getByRole("status", { name: "Loading the other outputs" })).toBeDefined();
  expect(await screen.findAllByRole("listitem")).toHaveLength(60);
  expect(screen.queryByRole("img", { name: "out_3.png" })).toBeNull();
  expect(screen.getByRole("link", { name: /Show all outputs/ }).getAttribute("href")).toBe(`/jobs/job-${jobs}`);
});

it("shows no more link for a job with exactly as many outputs", async () => {
  show(
    { "/assets": { status: 200, body: { assets: Array.from({ length: 61 }, (_, at) => output(at)) } } },
    { id: "a3", name: "out_3.png" },
  );
  expect(await screen.findAllByRole("listitem")).toHaveLength(60);
  expect(screen.queryByRole("link", { name: /Show all outputs/ })).toBeNull();
});

it("recognizes the asset by content when only files are named", async () => {
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

it("shows an outage and retries instead of an empty list", async () => {
  show({ "/assets": { status: 500, body: { code: "INTERNAL", message: "broken" } } }, { id: "x", name: "x.png" });
  expect((await screen.findByRole("alert", {}, { timeout: 10_000 })).textContent).toContain("broken");
  expect(screen.getByRole("button", { name: "Try again" })).toBeDefined();
});
