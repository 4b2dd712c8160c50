// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { AssetsFilters } from "@/components/assets/assets-tools";
import { TagDialog } from "@/components/assets/filter/filter-dialogs";
import { type AssetsQuery, assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { eventually } from "@/tests/support/eventually";
import { standInForDialogs } from "@/tests/support/jsdom-parts";
import { renderInApp } from "../components/render";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Filters({ excluded }: { excluded: string }) {
  const [query, setQuery] = useState(() => assetsQuerySchema.parse({ exclude_tags: excluded }));
  const go = (change: Partial<AssetsQuery>) => setQuery({ ...query, ...change });
  return <AssetsFilters place={{ query, isMoving: false, hrefOf: () => "/assets", go }} connectionId="a" seenTags={() => []} />;
}

/** Presses the tag as a key does, so the focus stays on it. */
async function forget(tag: string): Promise<HTMLElement> {
  renderInApp(<Filters excluded={tag} />);
  const link = screen.getByText(tag).closest("a");
  if (!link) throw new Error("a tag is a link");
  link.focus();
  await act(async () => void fireEvent.click(link));
  return link;
}

it("a tag that leaves the bar with its third press hands the focus to the button that adds tags", async () => {
  await forget("portrait");
  expect(screen.queryByText("portrait")).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Filter by tags" }));
});

it("a tag of the interface keeps the focus with its third press, also where room is short", async () => {
  const link = await forget("output");
  expect(document.activeElement).toBe(link);
  // jsdom does not apply the stylesheet's widths, so check the classes: none hides the focused element.
  expect(link.className.split(" ").filter((name) => name.endsWith(":hidden") && !name.includes("not-focus:"))).toEqual([]);
});

it("offers tags once all answers are there, so that no line moves under the pointer", async () => {
  standInForDialogs();
  const answers: ((body: unknown) => void)[] = [];
  vi.stubGlobal("fetch", () => new Promise((resolve) => answers.push((body) => resolve(Response.json(body)))));
  renderInApp(<TagDialog query={assetsQuerySchema.parse({})} connectionId="a" seen={["seen"]} onChange={() => {}} onClose={() => {}} />);
  const lines = () => screen.queryAllByRole("listitem", { hidden: true }).length;
  expect(screen.getByText("Loading")).toBeTruthy();
  await act(async () => answers[0]?.(null));
  expect(lines()).toBe(0);
  await act(async () => answers[1]?.({ tag_counts: { listed: 2 } }));
  await eventually(() => expect(lines()).toBe(2));
});
