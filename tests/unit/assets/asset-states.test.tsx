// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { AssetPanel } from "@/components/assets/asset-panel";
import { AssetsSkeleton } from "@/components/assets/assets-skeleton";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { renderInApp } from "../components/render";

afterEach(cleanup);
afterEach(() => vi.unstubAllGlobals());

const listed: AssetView = { id: "a1", name: "hero.png", kind: "image", tags: [], immutable: false, metadata: {} };

function showPanel(id: string, answer: () => Response, canChange = false) {
  vi.stubGlobal("fetch", async () => answer());
  const acts = { onClose: vi.fn(), onPatch: vi.fn(), onDeleted: vi.fn() };
  renderInApp(<AssetPanel id={id} listed={{ ...listed, id }} connectionId={`of-${id}`} canChange={canChange} {...acts} />);
}

it("a panel whose asset is not answered says so above what the list knows of it", async () => {
  showPanel("a1", () => Response.json({ code: "INTERNAL", message: "broken" }, { status: 500 }));
  expect((await screen.findByRole("alert", {}, { timeout: 10_000 })).textContent).toContain("broke");
  expect(screen.getByRole("heading", { name: "hero.png" })).toBeDefined();
});

it("a panel whose asset is gone shows nothing of it any more", async () => {
  showPanel("a2", () => Response.json({ code: "NOT_FOUND", message: "no such asset" }, { status: 404 }));
  expect(await screen.findByText("Asset not found", {}, { timeout: 10_000 })).toBeDefined();
  expect(screen.queryByRole("heading", { name: "hero.png" })).toBeNull();
});

it.each([true, false])(
  "that its metadata held a key is told with the field to whoever may change it (%s), and to nobody else",
  async (may) => {
    const metadata = { note: "kept", partner: { api_key: "[REDACTED]" } };
    showPanel("a3", () => Response.json({ id: "a3", name: "hero.png", tags: [], user_metadata: metadata }), may);
    expect(await screen.findByText("[REDACTED]", {}, { timeout: 10_000 })).toBeDefined();
    expect(screen.queryAllByText(/Its metadata holds a key or token: partner\.api_key\./)).toHaveLength(may ? 1 : 0);
  },
);

it("what loads has the shape of what will stand there: tiles, or the rows of a table", () => {
  renderInApp(<AssetsSkeleton />);
  expect(document.querySelector("table")).toBeNull();
  cleanup();
  renderInApp(<AssetsSkeleton look={{ look: "table", size: "medium" }} />);
  expect(screen.getByRole("status", { name: "Loading assets" }).querySelectorAll("tbody tr").length).toBeGreaterThan(10);
});
