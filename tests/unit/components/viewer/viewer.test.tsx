// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { click, hold, items, press, show, shown } from "./shown-viewer";
import { arrive, backToTheBrowser, pass, standInForTheBrowser } from "./viewer-world";

beforeEach(standInForTheBrowser);
afterEach(cleanup);
afterEach(backToTheBrowser);

it("offers no download where the service hands out no files", async () => {
  show();
  expect(screen.getByRole("link", { name: /Download/ })).toBeTruthy();
  cleanup();
  for (const at of items.keys()) {
    show(at, false);
    expect(screen.queryByRole("link", { name: /Download/ })).toBeNull();
    cleanup();
  }
});

it("a white picture beside another has an edge, one pixel wide on the screen", async () => {
  show();
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

it("keys turn the page, and stop at both ends", async () => {
  show();
  await press("ArrowLeft");
  expect(shown()).toBe("1 of 4");
  await press("ArrowRight");
  await press("ArrowRight");
  expect(shown()).toBe("3 of 4");
  await press("End");
  await press("ArrowRight");
  expect(shown()).toBe("4 of 4");
  await press("Home");
  expect(shown()).toBe("1 of 4");
});

it("keys turn the page also from a button of the bar, and not where a list of choices needs them", async () => {
  show();
  await click("Mark for comparison");
  await act(async () => void fireEvent.keyDown(screen.getByRole("button", { name: "Mark for comparison" }), { key: "ArrowRight" }));
  expect(shown()).toBe("2 of 4");
  await act(async () => void fireEvent.keyDown(screen.getByRole("combobox", { name: "Time per picture" }), { key: "End" }));
  expect(shown()).toBe("2 of 4");
});

it("a slideshow gives each its whole time after it has come, goes on from the last to the first, and waits where somebody stops it", async () => {
  show(2);
  await press("s");
  await pass(60_000);
  // The picture has not loaded yet.
  expect(shown()).toBe("3 of 4");
  await arrive("three.png");
  await pass(3_900);
  expect(shown()).toBe("3 of 4");
  await pass(200);
  expect(shown()).toBe("4 of 4");
  // A film that cannot be played still gets its time.
  const film = document.querySelector("video");
  if (film) await act(async () => void fireEvent.error(film));
  await pass(4_000);
  expect(shown()).toBe("1 of 4");
  await arrive("one.png");
  await click("Pause the slideshow");
  await pass(60_000);
  expect(shown()).toBe("1 of 4");
  fireEvent.change(screen.getByRole("combobox", { name: "Time per picture" }), { target: { value: "2" } });
  await press("s");
  await pass(2_000);
  expect(shown()).toBe("2 of 4");
});

it("marked pictures are compared side by side or behind a slider, over the differences of what their jobs were given", async () => {
  const onClose = show();
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

  // Closing the comparison leads back to where it was opened.
  await click("Close comparison");
  expect(screen.queryByRole("dialog", { name: "Comparing 2 pictures" })).toBeNull();
  expect(onClose).not.toHaveBeenCalled();
  expect(shown()).toBe("2 of 4");
  await press("c");
  expect(screen.queryByRole("button", { name: /^Compare/ })).toBeNull();
  await click("Close");
  expect(onClose).toHaveBeenCalledTimes(1);
});

it("where a browser closes all that is open at one press, the comparison closes and what it covered stays", async () => {
  const onClose = show();
  await press("c");
  await press("ArrowRight");
  await press("c");
  await click("Compare 2");
  const [viewer, compared] = screen.getAllByRole<HTMLDialogElement>("dialog");
  // Dialogs that opened by themselves, as after a reload, get one key together: each gets "cancel", then each is closed.
  await act(async () => {
    for (const dialog of [compared, viewer]) dialog?.dispatchEvent(new Event("cancel"));
    for (const dialog of [compared, viewer]) dialog?.close();
  });
  expect(screen.queryByRole("dialog", { name: "Comparing 2 pictures" })).toBeNull();
  expect(viewer?.open).toBe(true);
  expect(onClose).not.toHaveBeenCalled();
  // The next key is for the viewer.
  await act(async () => void viewer?.dispatchEvent(new Event("cancel")));
  await act(async () => void viewer?.close());
  expect(onClose).toHaveBeenCalledOnce();
});

it("a picture without a job says so where it is compared", async () => {
  show(1);
  await press("c");
  await press("ArrowRight");
  await press("c");
  await click("Compare 2");
  await pass(0);
  expect(screen.getByText("Picture 2: uploaded, no job")).toBeDefined();
});

it("a picture on its way says that it loads, one that does not come says so in its place, and the keys go on working", async () => {
  show();
  expect(screen.getByRole("status", { name: "Loading" })).toBeDefined();
  await act(async () => void fireEvent.error(screen.getByAltText("one.png")));
  expect(screen.getByText("This picture cannot be shown.")).toBeDefined();
  expect(screen.queryByRole("status", { name: "Loading" })).toBeNull();
  await press("ArrowRight");
  expect(screen.queryByText("This picture cannot be shown.")).toBeNull();
});

it("says in how many pixels a picture came, and how large it is seen", async () => {
  show();
  expect(screen.queryByText("640 × 480")).toBeNull();
  await arrive("one.png");
  expect(screen.getByText("640 × 480")).toBeDefined();
});

it("of pictures that a held key passes by, the bytes are not asked for; of the one where it rests they are", async () => {
  show();
  await hold("ArrowRight");
  expect(screen.getByAltText("two.png").hasAttribute("src")).toBe(false);
  await pass(60);
  await hold("ArrowRight");
  expect(screen.getByAltText("three.png").hasAttribute("src")).toBe(false);
  await pass(150);
  expect(screen.getByAltText("three.png").getAttribute("src")).toBe("/files/three");
  // A single press does not wait.
  await press("ArrowLeft");
  expect(screen.getByAltText("two.png").getAttribute("src")).toBe("/files/two");
});

it("the next one is fetched after this one has come, and not where it is very large", async () => {
  const ahead = () => document.querySelector('link[rel="prefetch"]')?.getAttribute("href");
  show();
  expect(ahead()).toBeUndefined();
  await arrive("one.png");
  expect(ahead()).toBe("/files/two");
  await press("ArrowRight");
  await arrive("two.png");
  expect(ahead()).toBeUndefined();
});

it("Space plays and pauses from the picture, presses a button where one has the focus, and ? lists the keys while the slides wait", async () => {
  show();
  await press(" ");
  expect(screen.getByRole("button", { name: "Pause the slideshow" })).toBeDefined();
  await act(async () => void fireEvent.keyDown(screen.getByRole("button", { name: "Next" }), { key: " " }));
  await arrive("one.png");
  await press("?");
  expect(screen.getByText("Play or pause the slideshow")).toBeDefined();
  await pass(60_000);
  expect(shown()).toBe("1 of 4");
  const keys = within(screen.getByRole("dialog", { name: "Keyboard shortcuts" }));
  await act(async () => void fireEvent.click(keys.getByRole("button", { name: "Close" })));
  await press(" ");
  expect(screen.getByRole("button", { name: "Play a slideshow" })).toBeDefined();
});

it("only arrows go on while they are held: a held Space plays the slideshow once", async () => {
  show();
  await press(" ");
  for (const _ of [1, 2, 3]) await hold(" ");
  expect(screen.getByRole("button", { name: "Pause the slideshow" })).toBeDefined();
  await hold("ArrowRight");
  expect(shown()).toBe("2 of 4");
});

it("what cannot be played or seen is named with its size and the ways that lead on", async () => {
  show(3);
  expect(screen.queryByText(/cannot be played/)).toBeNull();
  const film = document.querySelector("video");
  if (film) await act(async () => void fireEvent.error(film));
  expect(screen.getByText(/^This cannot be played here/)).toBeDefined();
  expect(screen.getByText("2 kB")).toBeDefined();
  expect(screen.getAllByRole("link", { name: "Download film.png" })).toHaveLength(2);
});
