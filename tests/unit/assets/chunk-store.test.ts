import { describe, expect, it } from "vitest";
import { ASSETS_PER_CHUNK, createChunkStore, MAX_CHUNKS, type ReadPage } from "@/components/assets/gallery/chunk-store";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { createAsset } from "./assets-source";

/** A fake service whose responses can be held back and whose list can grow at the top. */
function createService(length: number) {
  const ids = Array.from({ length }, (_, index) => `a${index}`);
  const offsets: number[] = [];
  const aborted: number[] = [];
  let refusal: ApiFailure | undefined;
  let gate: Promise<void> = Promise.resolve();
  const readPage: ReadPage = async ({ offset, limit }, signal) => {
    offsets.push(offset);
    signal.addEventListener("abort", () => aborted.push(offset));
    await gate;
    if (refusal) return failed(refusal);
    const page = ids.slice(offset, offset + limit);
    return ok({ assets: page.map((id) => createAsset(id)), total: ids.length, hasMore: offset + page.length < ids.length });
  };
  return {
    ...{ readPage, offsets, aborted, ids, store: createChunkStore(readPage, { hidesNewRows: true }) },
    refuse: (failure: ApiFailure | undefined) => (refusal = failure),
    hold() {
      let releaseResponses = () => undefined as void;
      gate = new Promise((resolve) => (releaseResponses = resolve));
      return () => releaseResponses();
    },
  };
}
const abortSignal = new AbortController().signal;
const waitForRow = (store: { at: (index: number) => AssetView | undefined }, index: number) =>
  until(`row ${index}`, () => store.at(index) !== undefined);

describe("chunk store", () => {
  it("reads each chunk once where scrolling stops", async () => {
    const { store, offsets } = createService(1_000_000);
    store.request(412_000, 412_070);
    store.request(412_005, 412_075);
    await waitForRow(store, 412_060);
    expect(store.at(412_000)?.id).toBe("a412000");
    expect(offsets).toEqual([411_960, 412_020]);
    expect(store.getCount()).toBe(1_000_000);
    expect(store.at(0)).toBeUndefined();
  });

  it("aborts a read when its rows are scrolled past", async () => {
    const { store, offsets, aborted, hold } = createService(100_000);
    const releaseResponses = hold();
    store.request(0, 60);
    store.request(60_000, 60_060);
    expect(aborted).toEqual([0]);
    releaseResponses();
    await waitForRow(store, 60_000);
    expect(store.at(0)).toBeUndefined();
    expect(offsets).toEqual([0, 60_000]);
  });

  it("aborts the slideshow's reads but not the gallery's when it closes", async () => {
    const { store, offsets, aborted, hold } = createService(1_000);
    const releaseResponses = hold();
    store.request(70, 150);
    store.request(88, 112, "full view");
    store.request(888, 912, "full view");
    expect(offsets).toEqual([60, 120, 840, 900]);
    store.request(0, 0, "full view");
    expect(aborted).toEqual([840, 900]);
    releaseResponses();
    await waitForRow(store, 130);
    await waitForRow(store, 70);
    expect(store.at(888)).toBeUndefined();
  });

  it("doesn't retry a refused chunk when the slideshow moves", async () => {
    const { readPage, offsets } = createService(1_000);
    const readPartly: ReadPage = async (range, signal) => {
      const page = await readPage(range, signal);
      return range.offset === 120 ? failed({ status: 500, code: "X", message: "" }) : page;
    };
    const store = createChunkStore(readPartly, { hidesNewRows: true });
    store.request(70, 150);
    await until("the chunk is refused", () => store.getFailure() !== undefined);
    store.request(600, 620, "full view");
    await waitForRow(store, 600);
    expect(offsets).toEqual([60, 120, 600]);
    expect(store.getFailure()?.code).toBe("X");
    store.request(0, 0);
    expect(store.getFailure()).toBeUndefined();
  });

  it("keeps a limited number of chunks while scrolling", async () => {
    const { store } = createService(100_000);
    for (let index = 0; index < 100 * ASSETS_PER_CHUNK; index += ASSETS_PER_CHUNK) {
      store.request(index, index + ASSETS_PER_CHUNK);
      await waitForRow(store, index);
    }
    expect(store.getLoadedChunkCount()).toBeLessThanOrEqual(MAX_CHUNKS + 1);
    expect(store.at(0)).toBeUndefined();
    expect(store.at(99 * ASSETS_PER_CHUNK)?.id).toBe(`a${99 * ASSETS_PER_CHUNK}`);
  });

  it("keeps offsets when rows are added until the list is refreshed", async () => {
    const { store, ids } = createService(1_000);
    store.request(0, 60);
    await waitForRow(store, 0);
    ids.unshift("new0", "new1", "new2");
    store.request(600, 660);
    await waitForRow(store, 600);
    expect(store.at(600)?.id).toBe("a600");
    expect(store.getCount()).toBe(1_000);
    store.replaceList({ assets: ids.slice(0, 60).map((id) => createAsset(id)), total: ids.length });
    expect(store.at(0)?.id).toBe("new0");
    expect(store.getCount()).toBe(1_003);
    await until("the row at its new index", () => store.at(603)?.id === "a600");
  });

  it("reads a range by the original offsets when rows are added", async () => {
    const { store, ids } = createService(2_000);
    store.request(0, 60);
    await waitForRow(store, 0);
    ids.unshift("new0", "new1", "new2");
    const range = await store.loadRange(50, 1_200, abortSignal);
    expect([range.length, range[0]?.id, range.at(-1)?.id]).toEqual([1_150, "a50", "a1199"]);
    expect(new Set(range.map(({ id }) => id)).size).toBe(1_150);
  });

  it("reports a failed chunk only while its rows are in view", async () => {
    const { readPage } = createService(1_000);
    let isUnavailable = true;
    const readPartly: ReadPage = async (range, signal) =>
      isUnavailable && range.offset === 120 ? failed({ status: 500, code: "X", message: "" }) : readPage(range, signal);
    const store = createChunkStore(readPartly, { hidesNewRows: true });
    store.request(70, 150);
    await waitForRow(store, 70);
    expect(store.getFailure()?.code).toBe("X");
    store.request(300, 330);
    await waitForRow(store, 300);
    expect(store.getFailure()).toBeUndefined();
    isUnavailable = false;
    store.request(70, 150);
    await waitForRow(store, 130);
    expect(store.getFailure()).toBeUndefined();
  });

  it("returns no rows beyond the loaded ones when the service refuses", async () => {
    const { store, refuse } = createService(2_000);
    store.request(0, 60);
    await waitForRow(store, 0);
    refuse({ status: 503, code: "X", message: "down" });
    expect(await store.loadRange(0, 60, abortSignal)).toHaveLength(60);
    expect(await store.loadRange(0, 90, abortSignal)).toEqual([]);
  });

  it("stops loading a range when it is aborted", async () => {
    const { store, offsets, aborted, hold } = createService(5_000);
    const releaseResponses = hold();
    const control = new AbortController();
    const range = store.loadRange(0, 3_000, control.signal);
    control.abort();
    releaseResponses();
    await range;
    expect([offsets, aborted]).toEqual([[0], [0]]);
  });

  it("keeps rows while they are reloaded and accepts a shorter list", async () => {
    const { store, ids } = createService(300);
    store.request(0, 60);
    await waitForRow(store, 0);
    ids.splice(0, 2);
    store.refresh();
    expect(store.at(0)?.id).toBe("a0");
    expect(store.getCount()).toBe(300);
    await until("the reloaded list", () => store.at(0)?.id === "a2");
    expect(store.getCount()).toBe(298);
  });

  it("reloads rows on refresh after a refusal", async () => {
    const failingService = createService(200);
    const store = createChunkStore(failingService.readPage, { hidesNewRows: false });
    failingService.refuse({ code: "UPSTREAM_UNREACHABLE", message: "", status: 502 });
    store.request(0, 60);
    await until("the refusal", () => store.getFailure() !== undefined);
    expect(store.getCount()).toBeGreaterThan(0);
    failingService.refuse(undefined);
    store.refresh();
    await waitForRow(store, 0);
    expect(store.getFailure()).toBeUndefined();
    expect(store.getCount()).toBe(200);
  });

  it("extends the list past the loaded rows when the total is unknown", async () => {
    const readPage: ReadPage = async ({ offset, limit }) => {
      const assets = Array.from({ length: Math.max(0, Math.min(limit, 70 - offset)) }, (_, at) => createAsset(`a${offset + at}`));
      return ok({ assets, hasMore: offset + assets.length < 70 });
    };
    const store = createChunkStore(readPage, { hidesNewRows: false });
    store.request(0, 60);
    await waitForRow(store, 0);
    expect(store.getCount()).toBe(120);
    store.request(60, 120);
    await waitForRow(store, 69);
    expect(store.getCount()).toBe(70);
  });

  it("is empty when the first response has no rows", () => {
    const { store } = createService(0);
    expect(store.getLoadedChunkCount()).toBe(0);
    store.seed({ assets: [], total: 0, hasMore: false }, 0);
    expect([store.getLoadedChunkCount(), store.getCount(), store.getTotal()]).toEqual([1, 0, 0]);
  });

  it("updates a row in place", async () => {
    const { store } = createService(100);
    store.request(0, 60);
    await waitForRow(store, 5);
    store.patch("a5", (current) => ({ ...current, tags: ["approved"] }));
    expect(store.at(5)?.tags).toEqual(["approved"]);
    expect(store.indexOf("a5")).toBe(5);
    expect(store.indexOf("a99")).toBe(-1);
  });
});
