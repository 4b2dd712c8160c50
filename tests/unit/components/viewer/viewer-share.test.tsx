// @vitest-environment jsdom
// A link for people without an account, made from what the viewer shows.
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MayShare } from "@/components/frame/member-context";
import { Viewer } from "@/components/viewer/viewer";
import { renderInApp } from "../render";
import { arrive, backToTheBrowser, pass, picture, standInForTheBrowser } from "./viewer-world";

beforeEach(standInForTheBrowser);
afterEach(cleanup);
afterEach(backToTheBrowser);

const items = [picture("one"), picture("two")];
function show(mayShare: boolean, shareOn?: string) {
  const onClose = vi.fn();
  function WithState() {
    const [at, setAt] = useState(0);
    return <Viewer count={items.length} at={at} itemAt={(n) => items[n]} onMove={setAt} onClose={onClose} shareOn={shareOn} />;
  }
  renderInApp(
    <MayShare value={mayShare}>
      <WithState />
    </MayShare>,
  );
  return onClose;
}
const click = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));

it("what is shown is shared in the one dialog, while the slides wait", async () => {
  const onClose = show(true, "here");
  const fetched = vi.fn(async () => Response.json({ id: "s", path: "/share/x", expiresAt: 0, count: 1 }, { status: 201 }));
  vi.stubGlobal("fetch", fetched);
  await arrive("one.png");
  await click("Play a slideshow");
  await click("Share one.png");
  await act(() => vi.dynamicImportSettled());
  await pass(60_000);
  expect(screen.getByText("1 of 2")).toBeDefined();
  const dialog = within(screen.getByRole("dialog", { name: "Share 1 file" }));
  await act(async () => void fireEvent.click(dialog.getByRole("button", { name: "Make the link" })));
  expect(fetched).toHaveBeenCalledWith(
    "/api/console/shares?connection=here",
    expect.objectContaining({ body: expect.stringContaining('"assets":["one"]') }),
  );
  expect(onClose).not.toHaveBeenCalled();
});

it.each([
  [false, "here"],
  [true, undefined],
])("nothing is offered where it is not allowed (%s) or there is no asset (%s)", (mayShare, shareOn) => {
  show(mayShare, shareOn);
  expect(screen.queryByRole("button", { name: /^Share/ })).toBeNull();
});
