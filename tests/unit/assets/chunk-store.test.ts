import { describe, expect, it } from "vitest";
import { ASSETS_PER_CHUNK, createChunkStore, MAX_CHUNKS, type ReadPage } from "@/components/assets/gallery/chunk-store";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";

const asset = (id: string): AssetView => ({ id, name: `${id}.png`, kind: "image", tags: [], immutable: false, metadata: {} });

/** A fake service with delayed responses, whose list can grow at the top. */
function service(length: number) {
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
    return ok({ assets: page.map(asset), total: ids.length, hasMore: offset + page.length < ids.length });
  };
  return {
    ...{ read: readPage, offsets, aborted, ids },
    refuse: (failure: ApiFailure | undefined) => (refusal = failure),
    hold() {
      let open = () => undefined as void;
      gate = new Promise((resolve) => (open = resolve));
      return () => open();
    },
  };
}
const abortSignal = new AbortController().signal;
const waitForRest = (store: { at: (index: number) => AssetView | undefined }, index: number) =>
  until(`row ${index}`, () => store.at(index) !== undefined);

describe("the rows of a long list", () => {
  it("are read once per chunk where scrolling stops", async () => {
    const { read: readPage, offsets } = service(1_000_000);
    const store = createChunkStore(readPage, { leads: true });
    store.request(412_000, 412_070);
    store.request(412_005, 412_075);
    await waitForRest(store, 412_060);
    expect(store.at(412_000)?.id).toBe("a412000");
    expect(offsets).toEqual([411_960, 412_020]);
    expect(store.count()).toBe(1_000_000);
    expect(store.at(0)).toBeUndefined();
  });

  it("are dropped when scrolled past before they arrive", async () => {
    const { read: readPage, offsets, aborted, hold } = service(100_000);
    const store = createChunkStore(readPage, { leads: true });
    const open = hold();
    store.request(0, 60);
    store.request(60_000, 60_060);
    expect(aborted).toEqual([0]);
    open();
    await waitForRest(store, 60_000);
    expect(store.at(0)).toBeUndefined();
    expect(offsets).toEqual([0, 60_000]);
  });

  it("are read for the gallery behind a full view and not once closed", async () => {
    const { read: readPage, offsets, aborted, hold } = service(1_000);
    const store = createChunkStore(readPage, { leads: true });
    const open = hold();
    store.request(70, 150);
    store.request(88, 112, "full view");
    store.request(888, 912, "full view");
    expect(offsets).toEqual([60, 120, 840, 900]);
    store.request(0, 0, "full view");
    expect(aborted).toEqual([840, 900]);
    open();
    await waitForRest(store, 130);
    await waitForRest(store, 70);
    expect(store.at(888)).toBeUndefined();
  });

  it("are not requested again after a refusal with each step of a full view", async () => {
    const { read: readPage, offsets } = service(1_000);
    const half: ReadPage = async (range, signal) => {
      const page = await readPage(range, signal);
      return range.offset === 120 ? failed({ status: 500, code: "X", message: "" }) : page;
    };
    const store = createChunkStore(half, { leads: true });
    store.request(70, 150);
    await until("it is refused", () => store.failure() !== undefined);
    store.request(600, 620, "full view");
    await waitForRest(store, 600);
    expect(offsets).toEqual([60, 120, 600]);
    expect(store.failure()?.code).toBe("X");
    store.request(0, 0);
    expect(store.failure()).toBeUndefined();
  });

  it("stay bounded while scrolling", async () => {
    const { read: readPage } = service(100_000);
    const store = createChunkStore(readPage, { leads: true });
    for (let index = 0; index < 100 * ASSETS_PER_CHUNK; index += ASSETS_PER_CHUNK) {
      store.request(index, index + ASSETS_PER_CHUNK);
      await waitForRest(store, index);
    }
    expect(store.loadedChunks()).toBeLessThanOrEqual(MAX_CHUNKS + 1);
    expect(store.at(0)).toBeUndefined();
    expect(store.at(99 * ASSETS_PER_CHUNK)?.id).toBe(`a${99 * ASSETS_PER_CHUNK}`);
  });

  it("keep their offsets when others arrive until the list is refreshed", async () => {
    const { read: readPage, ids } = service(1_000);
    const store = createChunkStore(readPage, { leads: true });
    store.request(0, 60);
    await waitForRest(store, 0);
    ids.unshift("new0", "new1", "new2");
    store.request(600, 660);
    await waitForRest(store, 600);
    expect(store.at(600)?.id).toBe("a600");
    expect(store.count()).toBe(1_000);
    store.adopt({ assets: ids.slice(0, 60).map(asset), total: ids.length });
    expect(store.at(0)?.id).toBe("new0");
    expect(store.count()).toBe(1_003);
    await until("the row where it stands now", () => store.at(603)?.id === "a600");
  });

  it("include those shown at selection although others arrived since", async () => {
    const { read: readPage, ids } = service(2_000);
    const store = createChunkStore(readPage, { leads: true });
    store.request(0, 60);
    await waitForRest(store, 0);
    ids.unshift("new0", "new1", "new2");
    const range = await store.range(50, 1_200, abortSignal);
    expect([range.length, range[0]?.id, range.at(-1)?.id]).toEqual([1_150, "a50", "a1199"]);
    expect(new Set(range.map(({ id }) => id)).size).toBe(1_150);
  });

  it("are named when missing among others", async () => {
    const { read: readPage } = service(1_000);
    let isUnavailable = true;
    const half: ReadPage = async (range, signal) =>
      isUnavailable && range.offset === 120 ? failed({ status: 500, code: "X", message: "" }) : readPage(range, signal);
    const store = createChunkStore(half, { leads: true });
    store.request(70, 150);
    await waitForRest(store, 70);
    expect(store.failure()?.code).toBe("X");
    store.request(300, 330);
    await waitForRest(store, 300);
    expect(store.failure()).toBeUndefined();
    isUnavailable = false;
    store.request(70, 150);
    await waitForRest(store, 130);
    expect(store.failure()).toBeUndefined();
  });

  it("include only rows up to where the service refuses", async () => {
    const { read: readPage, refuse } = service(2_000);
    const store = createChunkStore(readPage, { leads: true });
    store.request(0, 60);
    await waitForRest(store, 0);
    refuse({ status: 503, code: "X", message: "down" });
    expect(await store.range(0, 60, abortSignal)).toHaveLength(60);
    expect(await store.range(0, 90, abortSignal)).toEqual([]);
  });

  it("stop loading when their range is dropped", async () => {
    const { read: readPage, offsets, aborted, hold } = service(5_000);
    const store = createChunkStore(readPage, { leads: true });
    const open = hold();
    const control = new AbortController();
    const range = store.range(0, 3_000, control.signal);
    control.abort();
    open();
    await range;
    expect([offsets, aborted]).toEqual([[0], [0]]);
  });

  it("stay while they are reread and accept a shorter length", async () => {
    const { read: readPage, ids } = service(300);
    const store = createChunkStore(readPage, { leads: true });
    store.request(0, 60);
    await waitForRest(store, 0);
    ids.splice(0, 2);
    store.refresh();
    expect(store.at(0)?.id).toBe("a0");
    expect(store.count()).toBe(300);
    await until("the list anew", () => store.at(0)?.id === "a2");
    expect(store.count()).toBe(298);
  });

  it("are retried after a refusal and do not end the list", async () => {
    const away = service(200);
    const store = createChunkStore(away.read, { leads: false });
    away.refuse({ code: "UPSTREAM_UNREACHABLE", message: "", status: 502 });
    store.request(0, 60);
    await until("the refusal", () => store.failure() !== undefined);
    expect(store.count()).toBeGreaterThan(0);
    away.refuse(undefined);
    store.refresh();
    await waitForRest(store, 0);
    expect(store.failure()).toBeUndefined();
    expect(store.count()).toBe(200);
  });

  it("continue past what was seen when the service has no total", async () => {
    const readPage: ReadPage = async ({ offset, limit }) => {
      const assets = Array.from({ length: Math.max(0, Math.min(limit, 70 - offset)) }, (_, at) => asset(`a${offset + at}`));
      return ok({ assets, hasMore: offset + assets.length < 70 });
    };
    const store = createChunkStore(readPage, { leads: false });
    store.request(0, 60);
    await waitForRest(store, 0);
    expect(store.count()).toBe(120);
    store.request(60, 120);
    await waitForRest(store, 69);
    expect(store.count()).toBe(70);
  });

  it("are known to be empty from the first response", () => {
    const store = createChunkStore(service(0).read, { leads: true });
    expect(store.loadedChunks()).toBe(0);
    store.seed({ assets: [], total: 0, hasMore: false }, 0);
    expect([store.loadedChunks(), store.count(), store.total()]).toEqual([1, 0, 0]);
  });

  it("change their position", async () => {
    const { read: readPage } = service(100);
    const store = createChunkStore(readPage, { leads: true });
    store.request(0, 60);
    await waitForRest(store, 5);
    store.patch("a5", (now) => ({ ...now, tags: ["approved"] }));
    expect(store.at(5)?.tags).toEqual(["approved"]);
    expect(store.indexOf("a5")).toBe(5);
    expect(store.indexOf("a99")).toBe(-1);
  });
});
