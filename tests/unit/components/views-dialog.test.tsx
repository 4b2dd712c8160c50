// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ViewsDialog } from "@/components/frame/list/views-dialog";
import { listHref } from "@/components/jobs/list/list-address";
import { type SavedView } from "@/lib/contract/console";
import { renderInApp } from "./render";

beforeEach(() => {
  // jsdom has the element without its two methods.
});
afterEach(cleanup);
afterEach(() => vi.unstubAllGlobals());

const view = (id: string, query: string): SavedView => ({ id, name: id, query, team: false, isDefault: false, canChange: true });

it("marks the view that shows the list as it is, in whatever order its parameters were kept", async () => {
  const views = [
    view("searched first", "status=failed&text=red+cat&within=24&sort_by=execution_time&limit=25"),
    view("sorted first", "status=failed&sort_by=execution_time&limit=25&text=red+cat&within=24"),
    view("another", "status=failed&text=red+cat&within=24&sort_by=execution_time&limit=50"),
  ];
  vi.stubGlobal("fetch", async () => Response.json({ views }));
  const href = listHref("jobs", {
    ...{ status: ["failed"], text: "red cat", within: 24 },
    ...{ sort_by: "execution_time", sort_order: "desc", offset: 0, limit: 25 },
  });
  renderInApp(
    <ViewsDialog screen="jobs" query={href.split("?")[1] ?? ""} hrefOf={(query) => `/jobs?${query}`} canShare onClose={() => undefined} />,
  );
  await screen.findByRole("link", { name: "another" });
  expect(screen.getAllByRole("link", { current: true }).map(({ textContent }) => textContent)).toEqual(["searched first", "sorted first"]);
});
