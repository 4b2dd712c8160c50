// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { HashDialog } from "@/components/transfers/uploads/start-dialog";
import { standInForDialogs } from "@/tests/support/jsdom-parts";
import { renderInApp } from "../components/render";

const hash = `blake3:${"ab".repeat(32)}`;
beforeEach(standInForDialogs);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const made = { id: "a", name: "found.png", asset_hash: hash, tags: ["input"], created_at: new Date().toISOString() };
const cut = () => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "cut" }, { status: 502 });
const answersAnother = () => Response.json({ asset: null, isUnclear: true });

/** `listed`: the newest assets after the answer. */
async function offer(listed: unknown, answer = cut) {
  const sent: string[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    sent.push(`${init.method ?? "GET"} ${path.split("?")[0]}`);
    if (init.method === "POST") return answer();
    return listed === undefined
      ? Response.json({ code: "UPSTREAM_ERROR", message: "" }, { status: 502 })
      : Response.json({ assets: listed });
  });
  renderInApp(<HashDialog connection="c" onClose={() => undefined} />);
  fireEvent.change(screen.getByLabelText("Hash of the content"), { target: { value: hash } });
  fireEvent.change(screen.getByLabelText(/^Tags/), { target: { value: "input" } });
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Add" })));
  return sent;
}
const once = ["POST /api/console/known-content", "GET /api/assets"];

it("an asset from a hash whose answer was cut is looked up, and shown as made where it is there", async () => {
  expect(await offer([made])).toEqual(once);
  expect(screen.getByRole("link", { name: "Open found.png" })).toBeDefined();
  expect(screen.queryByText(/The service cannot be reached/)).toBeNull();
});

it("it is shown as not made where the service has no such asset, and as unsure where nobody can say", async () => {
  expect(await offer([{ id: "b", name: "other.png", asset_hash: `blake3:${"cd".repeat(32)}` }])).toEqual(once);
  expect(screen.getByText("No asset was created.")).toBeDefined();
  const older = { ...made, created_at: "2026-01-01T00:00:00Z" };
  for (const listed of [[{ id: "b", name: "other.png" }], [older], [{ ...made, tags: ["output"] }], undefined]) {
    cleanup();
    expect(await offer(listed)).toEqual(once);
    expect(screen.getByText(/^The asset may or may not have been created/)).toBeDefined();
  }
});

it("an answer that names another hash is looked up as well, and never shown as content that the service has not", async () => {
  expect(await offer([made], answersAnother)).toEqual(once);
  expect(screen.getByRole("link", { name: "Open found.png" })).toBeDefined();
  cleanup();
  expect(await offer([{ id: "b", name: "other.png" }], answersAnother)).toEqual(once);
  expect(screen.getByText(/^The asset may or may not have been created/)).toBeDefined();
  expect(screen.queryByText(/has no content with this hash/)).toBeNull();
});
