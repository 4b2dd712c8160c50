// @vitest-environment jsdom
// A comparison opened by its address, whose pictures have to be read first.
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AssetsCompare } from "@/components/assets/assets-viewer";
import { standInForDialogs, standInForSizes } from "@/tests/support/jsdom-parts";
import { renderInApp } from "../components/render";

beforeEach(standInForDialogs);
beforeEach(standInForSizes);
afterEach(cleanup);
afterEach(() => vi.unstubAllGlobals());

const read = (id: string) => Response.json({ id, name: `${id}.png`, tags: [], mime_type: "image/png" });
const lost = () => Response.json({ code: "UPSTREAM_ERROR", message: "down" }, { status: 502 });
function show(named: string) {
  const onClose = vi.fn();
  renderInApp(<AssetsCompare named={named} find={() => undefined} connectionId="c" onClose={onClose} />);
  return onClose;
}

it("one that could not be read is asked for again when the same are compared again", async () => {
  vi.stubGlobal("fetch", async () => lost());
  const onClose = show("one,two");
  await waitFor(() => expect(onClose).toHaveBeenCalled(), { timeout: 10_000 });
  cleanup();
  vi.stubGlobal("fetch", async (address: string) => read(address.includes("one") ? "one" : "two"));
  const isClosed = show("one,two");
  expect(await screen.findByRole("dialog", { name: "Comparing 2 pictures" })).toBeDefined();
  expect(isClosed).not.toHaveBeenCalled();
});

it("those that were read stay beside each other where one was lost", async () => {
  vi.stubGlobal("fetch", async (address: string) => (address.includes("gone") ? lost() : read(address.includes("one") ? "one" : "two")));
  const onClose = show("one,gone,two");
  expect(await screen.findByRole("dialog", { name: "Comparing 2 pictures" }, { timeout: 10_000 })).toBeDefined();
  expect(onClose).not.toHaveBeenCalled();
});
