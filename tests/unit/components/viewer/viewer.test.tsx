import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { click, items, positionText, press, renderViewer, repeatKey } from "./render-viewer";
import { arrive, backToTheBrowser, pass, stubBrowserApis } from "./viewer-fixtures";

beforeEach(stubBrowserApis);
afterEach(backToTheBrowser);

it("offers no download where the service serves no files", async () => {
  renderViewer();
  expect(screen.getByRole("link", { name: /Download/ })).toBeTruthy();
  cleanup();
  for (const at of items.keys()) {
    renderViewer(at, false);
    expect(screen.queryByRole("link", { name: /Download/ })).toBeNull();
    cleanup();
  }
});

it("outlines a white picture in a comparison by one pixel", async () => {
  renderViewer();
  await press("c");
  await press("ArrowRight");
  await press("c");
  await click("Compare 2");
  for (const name of ["one.png", "two.png"]) {
    const image = screen.getAllByAltText(name).at(-1);
    const scale = Number(/scale\((.+)\)/.exec(image?.style.transform ?? "")?.[1]);
    expect([name, image?.style.outlineWidth]).toEqual([name, `${1 / scale}px`]);
  }
});

it("pages with keys and stops at both ends", async () => {
  renderViewer();
  await press("ArrowLeft");
  expect(positionText()).toBe("1 of 4");
  await press("ArrowRight");
  await press("ArrowRight");
  expect(positionText()).toBe("3 of 4");
  await press("End");
  await press("ArrowRight");
  expect(positionText()).toBe("4 of 4");
  await press("Home");
  expect(positionText()).toBe("1 of 4");
});

it("pages with keys from bar buttons, but not in a select", async () => {
  renderViewer();
  await click("Mark for comparison");
  await act(async () => void fireEvent.keyDown(screen.getByRole("button", { name: "Mark for comparison" }), { key: "ArrowRight" }));
  expect(positionText()).toBe("2 of 4");
  await act(async () => void fireEvent.keyDown(screen.getByRole("combobox", { name: "Time per picture" }), { key: "End" }));
  expect(positionText()).toBe("2 of 4");
});

it("times slides after loading, loops and pauses on demand", async () => {
  renderViewer(2);
  await press("s");
  await pass(60_000);
  // The picture has not loaded yet.
  expect(positionText()).toBe("3 of 4");
  await arrive("three.png");
  await pass(3_900);
  expect(positionText()).toBe("3 of 4");
  await pass(200);
  expect(positionText()).toBe("4 of 4");
  // A video that can't be played still gets its time.
  const film = document.querySelector("video");
  if (film) await act(async () => void fireEvent.error(film));
  await pass(4_000);
  expect(positionText()).toBe("1 of 4");
  await arrive("one.png");
  await click("Pause the slideshow");
  await pass(60_000);
  expect(positionText()).toBe("1 of 4");
  fireEvent.change(screen.getByRole("combobox", { name: "Time per picture" }), { target: { value: "2" } });
  await press("s");
  await pass(2_000);
  expect(positionText()).toBe("2 of 4");
});

it("compares marked pictures side by side or by slider, with input differences", async () => {
  const onClose = renderViewer();
  await press("c");
  expect(screen.getByRole("button", { name: "Mark for comparison" }).getAttribute("aria-pressed")).toBe("true");
  await press("ArrowRight");
  await press("c");
  await click("Compare 2");
  const compared = screen.getByRole("dialog", { name: "Comparing 2 pictures" });
  await pass(0);
  const row = within(compared).getByRole("row", { name: /seed/ });
  expect(row.textContent).toBe("Sampler 3 · seed12");
  expect(within(compared).queryByRole("row", { name: /steps/ })).toBeNull();
  await click("Slider");
  const share = within(compared).getByRole("slider", { name: "Position of the divider" });
  fireEvent.change(share, { target: { value: "0.25" } });
  expect(within(compared).getByAltText("two.png").closest("figure")?.style.clipPath).toBe("inset(0 0 0 25%)");

  // Closing the comparison returns to where it was opened.
  await click("Close comparison");
  expect(screen.queryByRole("dialog", { name: "Comparing 2 pictures" })).toBeNull();
  expect(onClose).not.toHaveBeenCalled();
  expect(positionText()).toBe("2 of 4");
  await press("c");
  expect(screen.queryByRole("button", { name: /^Compare/ })).toBeNull();
  await click("Close");
  expect(onClose).toHaveBeenCalledTimes(1);
});

it("closes only the comparison when the browser closes all overlays", async () => {
  const onClose = renderViewer();
  await press("c");
  await press("ArrowRight");
  await press("c");
  await click("Compare 2");
  const [viewer, compared] = screen.getAllByRole<HTMLDialogElement>("dialog");
  // Dialogs opened without a click, as after a reload, all get the same key: each gets "cancel", then each is closed.
  await act(async () => {
    for (const dialog of [compared, viewer]) dialog?.dispatchEvent(new Event("cancel"));
    for (const dialog of [compared, viewer]) dialog?.close();
  });
  expect(screen.queryByRole("dialog", { name: "Comparing 2 pictures" })).toBeNull();
  expect(viewer?.open).toBe(true);
  expect(onClose).not.toHaveBeenCalled();
  // The next key goes to the viewer.
  await act(async () => void viewer?.dispatchEvent(new Event("cancel")));
  await act(async () => void viewer?.close());
  expect(onClose).toHaveBeenCalledOnce();
});

it("reports a compared picture without a job", async () => {
  renderViewer(1);
  await press("c");
  await press("ArrowRight");
  await press("c");
  await click("Compare 2");
  await pass(0);
  expect(screen.getByText("Picture 2: uploaded, no job")).toBeDefined();
});

it("shows loading and failed pictures in place and keeps the keys working", async () => {
  renderViewer();
  expect(screen.getByRole("status", { name: "Loading" })).toBeDefined();
  await act(async () => void fireEvent.error(screen.getByAltText("one.png")));
  expect(screen.getByText("This picture cannot be shown.")).toBeDefined();
  expect(screen.queryByRole("status", { name: "Loading" })).toBeNull();
  await press("ArrowRight");
  expect(screen.queryByText("This picture cannot be shown.")).toBeNull();
});

it("shows a picture's pixel size and zoom", async () => {
  renderViewer();
  expect(screen.queryByText("640 × 480")).toBeNull();
  await arrive("one.png");
  expect(screen.getByText("640 × 480")).toBeDefined();
});

it("skips bytes of pictures passed by a held key", async () => {
  renderViewer();
  await repeatKey("ArrowRight");
  expect(screen.getByAltText("two.png").hasAttribute("src")).toBe(false);
  await pass(60);
  await repeatKey("ArrowRight");
  expect(screen.getByAltText("three.png").hasAttribute("src")).toBe(false);
  await pass(150);
  expect(screen.getByAltText("three.png").getAttribute("src")).toBe("/files/three");
  // A single press does not wait.
  await press("ArrowLeft");
  expect(screen.getByAltText("two.png").getAttribute("src")).toBe("/files/two");
});

it("prefetches the next picture unless very large", async () => {
  const ahead = () => document.querySelector('link[rel="prefetch"]')?.getAttribute("href");
  renderViewer();
  expect(ahead()).toBeUndefined();
  await arrive("one.png");
  expect(ahead()).toBe("/files/two");
  await press("ArrowRight");
  await arrive("two.png");
  expect(ahead()).toBeUndefined();
});

it("plays with Space, presses focused buttons and lists keys on ?", async () => {
  renderViewer();
  await press(" ");
  expect(screen.getByRole("button", { name: "Pause the slideshow" })).toBeDefined();
  await act(async () => void fireEvent.keyDown(screen.getByRole("button", { name: "Next" }), { key: " " }));
  await arrive("one.png");
  await press("?");
  expect(screen.getByText("Play or pause the slideshow")).toBeDefined();
  await pass(60_000);
  expect(positionText()).toBe("1 of 4");
  const keys = within(screen.getByRole("dialog", { name: "Keyboard shortcuts" }));
  await act(async () => void fireEvent.click(keys.getByRole("button", { name: "Close" })));
  await press(" ");
  expect(screen.getByRole("button", { name: "Play a slideshow" })).toBeDefined();
});

it("repeats arrows only while held", async () => {
  renderViewer();
  await press(" ");
  for (const _ of [1, 2, 3]) await repeatKey(" ");
  expect(screen.getByRole("button", { name: "Pause the slideshow" })).toBeDefined();
  await repeatKey("ArrowRight");
  expect(positionText()).toBe("2 of 4");
});

it("names an unplayable file with size and alternatives", async () => {
  renderViewer(3);
  expect(screen.queryByText(/Can't play this/)).toBeNull();
  const film = document.querySelector("video");
  if (film) await act(async () => void fireEvent.error(film));
  expect(screen.getByText(/^Can't play this here/)).toBeDefined();
  expect(screen.getByText("2 kB")).toBeDefined();
  expect(screen.getAllByRole("link", { name: "Download film.png" })).toHaveLength(2);
});
