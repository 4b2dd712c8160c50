import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { parseAssetsQuery } from "@/app/(console)/params";
import { AssetThumbnail } from "@/components/assets/asset-thumbnail";
import { AssetsEmpty } from "@/components/assets/assets-footer";
import { AssetsFilters } from "@/components/assets/assets-tools";
import { getAssetsHref } from "@/components/assets/assets-urls";
import { AssetsViewer } from "@/components/assets/assets-viewer";
import { AssetFacts } from "@/components/assets/detail/asset-facts";
import { AssetSummary } from "@/components/assets/detail/asset-preview";
import { TagDialog } from "@/components/assets/filter/filter-dialogs";
import { AssetTile } from "@/components/assets/gallery/asset-tile";
import { type AssetsSource } from "@/components/assets/gallery/chunk-store";
import { findDuplicateNames } from "@/components/assets/gallery/gallery";
import { createScrollMotion } from "@/components/assets/gallery/scroll-motion";
import { createSelection } from "@/components/data-table/selection";
import { createListState, type ListAddress } from "@/components/frame/list/list-state";
import { type AssetsQuery, assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { type AssetDetail, type AssetView } from "@/lib/contract/views/asset-view";
import { eventually } from "@/tests/support/eventually";
import { stubResizeObserver } from "@/tests/support/stub-resize-observer";
import { renderInApp, wrapInApp } from "../components/render";
import { createAsset, createAssetsSource } from "./assets-source";

const asset = (id: string, overrides: Partial<AssetDetail> = {}): AssetDetail => ({
  ...createAsset(id),
  tags: ["output"],
  others: {},
  ...overrides,
});

describe("asset picture", () => {
  const showPicture = (overrides: Partial<AssetDetail>) => {
    renderInApp(<AssetThumbnail asset={asset("a", overrides)} connection="c" edge={256} alt="it" />);
    return screen.getByRole("img");
  };
  it("requests the version, if there is a hash, in both pixel densities", () => {
    const image = showPicture({ hash: "blake3:4b", previewId: "p" });
    expect(image.getAttribute("src")).toBe("/api/console/thumbnail?asset=a&version=blake3%3A4b.p&edge=256&fit=fill&connection=c");
    expect(image.getAttribute("srcset")).toMatch(/version=blake3%3A4b\.p&edge=256\S+ 1x, \S+version=blake3%3A4b\.p&edge=512\S+ 2x/);
    cleanup();
    expect(showPicture({ previewId: "p" }).getAttribute("src")).toBe("/api/console/thumbnail?asset=a&edge=256&fit=fill&connection=c");
  });

  it("shows the file type when the picture fails to load", () => {
    fireEvent.error(showPicture({ name: "scan.tiff" }));
    expect(screen.getByRole("img", { name: "it" }).textContent).toBe("TIFF");
  });

  it("shows a message only when the picture is unreadable", async () => {
    const responses = vi.fn<typeof fetch>(async () => new Response(null, { status: 204 }));
    vi.stubGlobal("fetch", responses);
    // Counts only cache checks, since a failed picture is also requested again later.
    const countCacheChecks = () => responses.mock.calls.filter(([, init]) => init?.cache === "only-if-cached").length;
    fireEvent.error(showPicture({}));
    expect(await screen.findByText("This image can't be read")).toBeTruthy();
    cleanup();
    // Some browsers can show this type, so it is not reported as unreadable.
    fireEvent.error(showPicture({ name: "plan.svg" }));
    await eventually(() => expect(screen.getByRole("img", { name: "it" }).textContent).toBe("SVG"));
    cleanup();
    responses.mockRejectedValue(new TypeError("not in the cache"));
    fireEvent.error(showPicture({}));
    await eventually(() => expect(countCacheChecks()).toBe(3));
    expect(screen.getByRole("img", { name: "it" }).textContent).toBe("PNG");
  });
});

describe("outputs with the same name", () => {
  const handlers = { toggle: vi.fn(), extendTo: vi.fn(), updateBand: vi.fn(), finishBand: vi.fn(), selectAll: vi.fn() };
  const picking = { ...handlers, store: createSelection(), getSelectedAssets: () => [], isLoading: false };
  const renderTile = (assetDetail: AssetDetail, duplicates: AssetDetail[]) => {
    const tileProps = {
      index: 0,
      count: 2,
      locale: "en",
      edge: 256,
      fit: "cover",
      isOpen: false,
      isInitial: false,
      isCurrent: true,
    } as const;
    const isNamesake = findDuplicateNames([assetDetail, ...duplicates]).has(assetDetail.name);
    renderInApp(
      <AssetTile {...tileProps} asset={assetDetail} hasDuplicateName={isNamesake} motion={createScrollMotion()} selection={picking} />,
    );
    return screen.getByRole("link");
  };
  const output = (id: string, overrides: Partial<AssetDetail> = {}) => asset(id, { name: "x_00001_.png", sizeBytes: 5600, ...overrides });

  it("shows the job next to a duplicate name, else the size", () => {
    const [first, second] = [output("a", { jobId: "9f2c41ab-77" }), output("b", { jobId: "71cc0a10-02" })];
    expect(renderTile(first, [second]).textContent).toBe("x_00001_.png9f2c41ab");
    cleanup();
    expect(renderTile(first, [asset("c")]).textContent).toBe("x_00001_.png5.6 kB");
  });

  it.each(["../a", "a/b", "a%2Fb", "", "\ud800"])("shows a reason instead of a link when the id %j can't be opened", (id) => {
    const tile = renderTile(output(id), []);
    expect([tile.getAttribute("href"), tile.getAttribute("aria-disabled")]).toEqual([null, "true"]);
    expect(tile.querySelector("[title]")?.getAttribute("title")).toBe("This id can't be opened.");
    expect(tile.textContent).toContain("This id can't be opened.");
  });

  it("shows the creation time when a duplicate has no job", () => {
    const assetDetail = output("a", { createdAtMs: Date.parse("2026-03-01T11:56:00Z") });
    expect(renderTile(assetDetail, [output("b")]).querySelector("time")?.dateTime).toBe("2026-03-01T11:56:00.000Z");
  });
});

describe("asset format", () => {
  it.each([
    ["Sofa no.2", "image/png", "PNG"],
    ["Portrait of J.md", "image/png", "PNG"],
    ["hero.jpg", "image/jpeg", "JPG"],
    ["layers.psd", "image/vnd.adobe.photoshop", "PSD"],
    ["settings.toml", "text/plain", "TOML"],
    ["model.safetensors", "application/octet-stream", "SAFETENSORS"],
    ["scan.tiff", undefined, "TIFF"],
  ])("shows the format of %s with type %s as %s", (name, mimeType, format) => {
    const { container } = renderInApp(<AssetSummary asset={asset("a", { name, mimeType })} isFullImageVisible />);
    expect(container.textContent).toBe(format);
  });
});

describe("asset details", () => {
  it("links to the job and copies the full hash", () => {
    const hash = `blake3:${"4be1".repeat(16)}`;
    renderInApp(<AssetFacts asset={asset("a", { jobId: "9f2c41ab-77", hash, metadata: { seed: 40213, sku: "A-1182" } })} />);
    expect(screen.getByRole("link", { name: "9f2c41ab" }).getAttribute("href")).toBe("/jobs/9f2c41ab-77");
    expect(screen.getByText("blake3:4be1…4be1")).toBeTruthy();
    expect(screen.getByRole("button", { name: `Copy ${hash}` })).toBeTruthy();
    expect(screen.getByRole("row", { name: "seed 40213" })).toBeTruthy();
  });

  it("collapses technical details and shows common ones", () => {
    renderInApp(<AssetFacts asset={asset("a-1", { jobId: "9f2c41ab-77", hash: `blake3:${"4be1".repeat(16)}`, mimeType: "image/png" })} />);
    const collapsedDetails = screen.getByText("Technical details").closest("details");
    expect(collapsedDetails?.open).toBe(false);
    for (const text of ["a-1", "blake3:4be1…4be1", "image/png"]) expect(screen.getByText(text).closest("details")).toBe(collapsedDetails);
    for (const text of ["9f2c41ab", "Same content", "Metadata"]) expect(screen.getByText(text).closest("details")).toBeNull();
  });

  it("lists nested metadata by path with exact digits and shortens long text", () => {
    const metadata = { seed: 12345678901234567890n, camera: { lens: "50mm", stops: [1.4, 2] }, prompt: "many words ".repeat(60) };
    renderInApp(<AssetFacts asset={asset("a", { metadata })} />);
    expect(screen.getByRole("row", { name: "seed 12345678901234567890" })).toBeTruthy();
    expect(screen.getByRole("row", { name: "camera.lens 50mm" })).toBeTruthy();
    expect(screen.getByRole("row", { name: "camera.stops [1.4,2]" })).toBeTruthy();
    const row = screen.getByRole("row", { name: /^prompt/ });
    expect(row.textContent.length).toBeLessThan(300);
    fireEvent.click(screen.getByRole("button", { name: "Show all" }));
    expect(row.textContent).toContain("many words ".repeat(60));
  });

  it("copies a page link that contains the connection", async () => {
    const writeText = vi.fn(async () => undefined);
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    renderInApp(<AssetFacts asset={asset("a")} connectionId="c1" />);
    fireEvent.click(screen.getByRole("button", { name: "Copy page link" }));
    await eventually(() => expect(writeText).toHaveBeenCalledExactlyOnceWith(`${window.location.origin}/assets/a?connection=c1`));
  });

  it("hides rows that the service doesn't send", () => {
    renderInApp(<AssetFacts asset={asset("a")} />);
    expect(screen.queryByText("Created")).toBeNull();
    expect(screen.queryByText("Read-only")).toBeNull();
    // The asset has the output tag, so a job created it.
    expect(screen.getByText("not reported by the service")).toBeTruthy();
    cleanup();
    renderInApp(<AssetFacts asset={asset("a", { tags: [], isMutabilityReported: true })} />);
    expect(screen.getByText("uploaded, not created by a job")).toBeTruthy();
    expect(screen.getByText("Read-only")).toBeTruthy();
  });
});

describe("empty asset list", () => {
  it.each([
    [{}, "No assets yet", "/run"],
    [{ name_contains: "x", sort: "name" }, "No assets match", "/assets?sort=name"],
    [{ offset: "600" }, "No assets on this page", "/assets"],
  ])("explains an empty list and links to a next step for %o", (params, title, href) => {
    const { query } = parseAssetsQuery(params);
    renderInApp(
      <AssetsEmpty
        listState={createListState(query, { getKey: getAssetsHref, getHref: getAssetsHref, push: () => undefined })}
        canChange
      />,
    );
    expect(screen.getByText(title)).toBeTruthy();
    expect(screen.getByRole("link").getAttribute("href")).toBe(href);
  });
});

function Filters({ excluded }: { excluded: string }) {
  const address: ListAddress<AssetsQuery> = { getKey: JSON.stringify, getHref: () => "/assets", push: () => undefined };
  const [listState] = useState(() => createListState(assetsQuerySchema.parse({ exclude_tags: excluded }), address));
  return <AssetsFilters listState={listState} connectionId="a" getLoadedTags={() => []} />;
}

/** Focuses and clicks a tag link, like a key press. */
async function clickTag(tag: string): Promise<HTMLElement> {
  renderInApp(<Filters excluded={tag} />);
  const link = screen.getByText(tag).closest("a");
  if (!link) throw new Error("The tag has no link.");
  link.focus();
  await act(async () => void fireEvent.click(link));
  return link;
}

it("moves the focus to the tag filter button when a tag is removed", async () => {
  await clickTag("portrait");
  expect(screen.queryByText("portrait")).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Filter by tags" }));
});

it("keeps the focus on a system tag when its filter is reset", async () => {
  const link = await clickTag("output");
  expect(document.activeElement).toBe(link);
  // jsdom does not apply the stylesheet's widths, so check the classes: none hides the focused element.
  expect(link.className.split(" ").filter((name) => name.endsWith(":hidden") && !name.includes("not-focus:"))).toEqual([]);
});

it("shows tags only when all responses have arrived", async () => {
  const responses: ((body: unknown) => void)[] = [];
  vi.stubGlobal("fetch", () => new Promise((resolve) => responses.push((body) => resolve(Response.json(body)))));
  renderInApp(
    <TagDialog query={assetsQuerySchema.parse({})} connectionId="a" loadedTags={["seen"]} onChange={() => {}} onClose={() => {}} />,
  );
  const countTags = () => screen.queryAllByRole("listitem", { hidden: true }).length;
  expect(screen.getByText("Loading")).toBeTruthy();
  await act(async () => responses[0]?.(null));
  expect(countTags()).toBe(0);
  await act(async () => responses[1]?.({ tag_counts: { listed: 2 } }));
  await eventually(() => expect(countTags()).toBe(2));
});

describe("assets viewer", () => {
  const noop = () => undefined;

  beforeEach(stubResizeObserver);

  function createViewer(id: string, rows: readonly AssetView[], requestRows: AssetsSource["request"] = noop) {
    const source = createAssetsSource(rows, { request: requestRows });
    const foundIndex = source.indexOf(id);
    const viewing = { isOpen: true, id, at: foundIndex < 0 ? undefined : foundIndex, open: noop, move: noop, close: vi.fn() };
    const part = <AssetsViewer source={source} viewing={viewing} onCompare={noop} isCovered={false} connectionId="c" />;
    return { part, viewing };
  }

  it("keeps the open dialog when the list loads after a linked asset", async () => {
    vi.stubGlobal("fetch", async () => Response.json({ id: "two", name: "two.png", tags: [], mime_type: "image/png" }));
    const { rerender } = renderInApp(createViewer("two", []).part);
    await screen.findByRole("dialog", { name: "two.png, 1 of 1" });
    const [dialog, picture] = [screen.getByRole("dialog"), screen.getByAltText("two.png")];
    rerender(wrapInApp(createViewer("two", [createAsset("one"), createAsset("two")]).part));
    expect(screen.getByText("2 of 2")).toBeDefined();
    // A new dialog would cover a comparison that is open above this one.
    expect(screen.getByRole("dialog")).toBe(dialog);
    expect(screen.getByAltText("two.png")).toBe(picture);
    expect(fireEvent.keyDown(screen.getByRole("group", { name: /Image/ }), { key: "ArrowLeft" })).toBe(false);
  });

  it("closes when the asset is deleted", async () => {
    vi.stubGlobal("fetch", async () => Response.json({ code: "NOT_FOUND", message: "no such asset" }, { status: 404 }));
    const { part, viewing } = createViewer("deleted", [createAsset("one")]);
    renderInApp(part);
    await waitFor(() => expect(viewing.close).toHaveBeenCalled(), { timeout: 10_000 });
  });

  it("releases its requested rows when closed", () => {
    const requestRows = vi.fn();
    const rows = Array.from({ length: 40 }, (_, index) => createAsset(`row${index}`));
    const { unmount } = renderInApp(createViewer("row20", rows, requestRows).part);
    expect(requestRows.mock.calls).toEqual([[8, 32, "full view"]]);
    unmount();
    expect(requestRows.mock.lastCall).toEqual([0, 0, "full view"]);
  });
});
