// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Compare } from "@/components/viewer/compare";
import { Viewer } from "@/components/viewer/viewer";
import { type ViewerItem } from "@/components/viewer/viewer-item";
import { ok } from "@/lib/shared/result";
import { renderInApp } from "./render";

beforeEach(() => {
  vi.useFakeTimers();
  // jsdom knows these elements, and neither their methods nor sizes of anything.
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function () {
    if (!this.open) return;
    this.open = false;
    this.dispatchEvent(new Event("close"));
  };
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(cleanup);
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const picture = (id: string, jobId?: string): ViewerItem => ({ id, name: `${id}.png`, kind: "image", src: `/files/${id}`, jobId });
const items = [picture("one", "job-1"), picture("two", "job-2"), picture("three"), { ...picture("film"), kind: "video" as const }];
const graphs: Readonly<Record<string, unknown>> = {
  "job-1": { "3": { class_type: "Sampler", inputs: { seed: 1, steps: 20 } } },
  "job-2": { "3": { class_type: "Sampler", inputs: { seed: 2, steps: 20 } } },
};

function show(at = 0, canDownload = true) {
  const onClose = vi.fn();
  function Held() {
    const [now, setNow] = useState(at);
    const [compared, setCompared] = useState<readonly string[]>([]);
    const isCovered = compared.length > 0;
    return (
      <>
        <Viewer
          count={items.length}
          at={now}
          itemAt={(n) => items[n]}
          onMove={setNow}
          onClose={onClose}
          onCompare={setCompared}
          isCovered={isCovered}
          canDownload={canDownload}
        />
        {isCovered ? (
          <Compare
            items={items.filter(({ id }) => compared.includes(id))}
            readWorkflow={async (jobId) => ok(graphs[jobId])}
            onClose={() => setCompared([])}
          />
        ) : null}
      </>
    );
  }
  renderInApp(<Held />);
  return onClose;
}
const shown = () => within(screen.getAllByRole("dialog")[0] ?? document.body).getByText(/^\d+ of \d+$/).textContent;
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const press = (key: string) => act(async () => void fireEvent.keyDown(screen.getByRole("group", { name: /Picture|film/ }), { key }));
const click = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
/** The bytes of the picture that is shown have come. */
async function arrive(name: string) {
  const image = screen.getByAltText(name);
  Object.defineProperty(image, "naturalWidth", { value: 640 });
  Object.defineProperty(image, "naturalHeight", { value: 480 });
  await act(async () => void fireEvent.load(image));
}

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
  await click("Mark to compare");
  await act(async () => void fireEvent.keyDown(screen.getByRole("button", { name: "Mark to compare" }), { key: "ArrowRight" }));
  expect(shown()).toBe("2 of 4");
  await act(async () => void fireEvent.keyDown(screen.getByRole("combobox", { name: "Time for each" }), { key: "End" }));
  expect(shown()).toBe("2 of 4");
});

it("a slideshow gives each its whole time after it has come, goes on from the last to the first, and waits where somebody stops it", async () => {
  show(2);
  await press("s");
  await pass(60_000);
  // The picture has not come yet.
  expect(shown()).toBe("3 of 4");
  await arrive("three.png");
  await pass(3_900);
  expect(shown()).toBe("3 of 4");
  await pass(200);
  expect(shown()).toBe("4 of 4");
  // A film that cannot be played has had its time too.
  const film = document.querySelector("video");
  if (film) await act(async () => void fireEvent.error(film));
  await pass(4_000);
  expect(shown()).toBe("1 of 4");
  await arrive("one.png");
  await click("Pause the slideshow");
  await pass(60_000);
  expect(shown()).toBe("1 of 4");
  fireEvent.change(screen.getByRole("combobox", { name: "Time for each" }), { target: { value: "2" } });
  await press("s");
  await pass(2_000);
  expect(shown()).toBe("2 of 4");
});

it("marked pictures are compared side by side or behind a slider, over the differences of what their jobs were given", async () => {
  const onClose = show();
  await press("c");
  expect(screen.getByRole("button", { name: "Mark to compare" }).getAttribute("aria-pressed")).toBe("true");
  await press("ArrowRight");
  await press("c");
  await click("Compare 2");
  const compared = screen.getByRole("dialog", { name: "Comparing 2 pictures" });
  await pass(0);
  const row = within(compared).getByRole("row", { name: /seed/ });
  expect(row.textContent).toBe("Sampler 3 · seed12");
  expect(within(compared).queryByRole("row", { name: /steps/ })).toBeNull();
  await click("Slider");
  const share = within(compared).getByRole("slider", { name: "Where the first picture ends" });
  fireEvent.change(share, { target: { value: "0.25" } });
  expect(within(compared).getByAltText("two.png").closest("figure")?.style.clipPath).toBe("inset(0 0 0 25%)");

  // Whoever leaves the comparison is where they came from.
  await click("Close the comparison");
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
  // Dialogs that opened by themselves, as after a reload, are let go of together: each is asked, then each is closed.
  await act(async () => {
    for (const dialog of [compared, viewer]) dialog?.dispatchEvent(new Event("cancel"));
    for (const dialog of [compared, viewer]) dialog?.close();
  });
  expect(screen.queryByRole("dialog", { name: "Comparing 2 pictures" })).toBeNull();
  expect(viewer?.open).toBe(true);
  expect(onClose).not.toHaveBeenCalled();
  // The next press is for the viewer.
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
  expect(screen.getByText("Picture 2 was uploaded: no job made it.")).toBeDefined();
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
