// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { UploadTray } from "@/components/transfers/upload-tray";
import { type UploadItem } from "@/components/transfers/uploads/upload-item";
import { renderInApp } from "../components/render";

afterEach(cleanup);

const stored = (key: number, more: Partial<UploadItem> = {}): UploadItem => ({
  key,
  id: `${key}`,
  file: new File(["x"], `${key}.png`),
  about: { name: "", tags: [], metadata: {} },
  mayBeThere: false,
  status: { kind: "done", asset: { id: `${key}` }, sentBytes: 1, check: { kind: "verified" } },
  ...more,
});
const nothing = () => undefined;
const downloads = {
  list: { tasks: [], underWay: 0 },
  atMs: 0,
  failure: undefined,
  refresh: async () => undefined,
  act: async () => undefined,
  busy: new Set<string>(),
  failures: new Map(),
};
function show(items: UploadItem[]) {
  const handlers = { onView: nothing, onFold: nothing, onDetails: nothing, onDescribeAll: nothing, onClose: nothing };
  const place = { alarms: [], canAdd: true, view: "uploads", isFolded: false } as const;
  renderInApp(<UploadTray queue={{ items, isPaused: false }} downloads={downloads} {...place} {...handlers} />);
}
const rows = () => screen.getAllByRole("listitem").map((row) => row.textContent?.match(/\d\.png/)?.[0]);

test("pictures that cannot be read are found by the name under which they are counted", () => {
  show(Array.from({ length: 8 }, (_, at) => stored(at, at % 4 === 0 ? { isNoPicture: true } : {})));
  expect(screen.getByRole("status").textContent).toContain("2 unreadable pictures");
  fireEvent.click(screen.getByRole("button", { name: "Unreadable pictures 2" }));
  expect(rows()).toEqual(["0.png", "4.png"]);
  cleanup();
  show(Array.from({ length: 8 }, (_, at) => stored(at)));
  expect(screen.queryByRole("button", { name: /^Unreadable/ })).toBeNull();
});
