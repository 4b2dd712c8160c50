import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MayShare } from "@/components/frame/member-context";
import { Compare } from "@/components/viewer/compare";
import { useShown, useViewing } from "@/components/viewer/use-viewing";
import { Viewer } from "@/components/viewer/viewer";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { failed, ok } from "@/lib/shared/result";
import { renderInApp } from "../render";
import { positionText, renderViewer } from "./render-viewer";
import { arrive, backToTheBrowser, graphs, pass, picture, stubBrowserApis } from "./viewer-fixtures";

describe("viewing", () => {
  const ids = ["one", "two", "three"];
  const onClosed = vi.fn();
  const onRest = vi.fn();

  function Page() {
    const viewing = useViewing({ indexOf: (id) => ids.indexOf(id), getId: (index) => ids[index], onRest, onClosed });
    const compared = useShown("compare");
    return (
      <>
        <button onClick={() => viewing.open(1)}>Open</button>
        <button onClick={() => viewing.move((viewing.at ?? 0) + 1)}>Next</button>
        <button onClick={viewing.close}>Close</button>
        <button onClick={() => compared.open("one,two")}>Compare</button>
        <p>{viewing.isOpen ? `sees ${viewing.id}` : "sees the page"}</p>
        <p>{compared.value === undefined ? "compares nothing" : `compares ${compared.value}`}</p>
      </>
    );
  }
  const press = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
  const sees = (text: string) => waitFor(() => expect(screen.getByText(text)).toBeDefined());
  const address = () => window.location.pathname + window.location.search;

  beforeEach(() => {
    window.history.replaceState(null, "", "/assets?sort=name");
    window.history.pushState(null, "", "/assets?sort=size");
    vi.clearAllMocks();
  });

  it("closes the viewer on Back without moving the page, and reopens on Forward", async () => {
    renderInApp(<Page />);
    await press("Open");
    await sees("sees two");
    expect(address()).toBe("/assets?sort=size&show=two");
    window.history.back();
    await sees("sees the page");
    expect(address()).toBe("/assets?sort=size");
    await waitFor(() => expect(onClosed).toHaveBeenCalledWith(1));
    window.history.forward();
    await sees("sees two");
  });

  it("leaves no history entry when closed by a button", async () => {
    renderInApp(<Page />);
    await press("Open");
    await press("Next");
    await sees("sees three");
    await waitFor(() => expect(address()).toBe("/assets?sort=size&show=three"));
    expect(onRest).toHaveBeenCalledExactlyOnceWith(2);
    await press("Close");
    await sees("sees the page");
    expect(address()).toBe("/assets?sort=size");
    await waitFor(() => expect(onClosed).toHaveBeenCalledExactlyOnceWith(2));
    window.history.back();
    await waitFor(() => expect(address()).toBe("/assets?sort=name"));
  });

  it("closes the comparison on the first Back and the viewer on the second", async () => {
    renderInApp(<Page />);
    await press("Open");
    await press("Compare");
    await sees("compares one,two");
    window.history.back();
    await sees("compares nothing");
    await sees("sees two");
    window.history.back();
    await sees("sees the page");
    expect(address()).toBe("/assets?sort=size");
  });
});

describe("comparing", () => {
  beforeEach(stubBrowserApis);
  afterEach(backToTheBrowser);

  const notFound: ApiFailure = { code: "NOT_FOUND", message: "", status: 404 };
  const away: ApiFailure = { code: "UPSTREAM_UNREACHABLE", message: "", status: 502 };
  const compare = (jobs: readonly (string | undefined)[], failure?: ApiFailure) =>
    renderInApp(
      <Compare
        items={jobs.map((jobId, index) => picture(`p${index + 1}-${failure?.code}-${jobs.length}`, jobId))}
        readWorkflow={async (jobId) => (failure && jobId === "job-x" ? failed(failure) : ok(graphs[jobId]))}
        onClose={() => undefined}
      />,
    );

  it("names four compared pictures with pixels and marks a failed one", async () => {
    compare(["job-1", "job-2", undefined, "job-1"]);
    await pass(0);
    expect(screen.getAllByRole("figure")).toHaveLength(4);
    expect(screen.getByRole("columnheader", { name: /^4/ })).toBeDefined();
    const names = screen.getAllByAltText(/^p\d/).map((image) => image.getAttribute("alt") ?? "");
    for (const name of names.slice(0, 3)) await arrive(name);
    expect(screen.getAllByText("640 × 480")).toHaveLength(3);
    await act(async () => void fireEvent.error(screen.getByAltText(names[3] ?? "")));
    expect(screen.getByText("This picture cannot be shown.")).toBeDefined();
  });

  it("distinguishes a removed job from an unreadable one in a comparison", async () => {
    compare(["job-1", "job-x"], notFound);
    await pass(0);
    expect(screen.getByText("The job of picture 2 no longer exists.")).toBeDefined();
    expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
    cleanup();
    compare(["job-1", "job-x"], away);
    await pass(0);
    expect(screen.getByText(/^The job of picture 2 could not be loaded\. /)).toBeDefined();
    expect(screen.getByRole("button", { name: "Try again" })).toBeDefined();
  });

  it("names a comparison of one job's pictures as such", async () => {
    compare(["job-1", "job-1"]);
    await pass(0);
    expect(screen.getByText("They come from the same job.")).toBeDefined();
    cleanup();
    compare(["job-1", "job-1", "job-1-again"]);
    await pass(0);
    expect(screen.queryByText("They come from the same job.")).toBeNull();
  });
});

describe("viewer share", () => {
  beforeEach(stubBrowserApis);
  afterEach(backToTheBrowser);

  const items = [picture("one"), picture("two")];
  function show(mayShare: boolean, shareOn?: string) {
    const onClose = vi.fn();
    function WithState() {
      const [at, setAt] = useState(0);
      return <Viewer count={items.length} at={at} getItem={(n) => items[n]} onMove={setAt} onClose={onClose} shareConnectionId={shareOn} />;
    }
    renderInApp(
      <MayShare value={mayShare}>
        <WithState />
      </MayShare>,
    );
    return onClose;
  }
  const click = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));

  it("shares the shown asset in the dialog while slides pause", async () => {
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
    await act(async () => void fireEvent.click(dialog.getByRole("button", { name: "Create link" })));
    expect(fetched).toHaveBeenCalledWith(
      "/api/console/shares?connection=here",
      expect.objectContaining({ body: expect.stringContaining('"assets":["one"]') }),
    );
    expect(onClose).not.toHaveBeenCalled();
  });

  it.each([
    [false, "here"],
    [true, undefined],
  ])("offers no share when forbidden (%s) or without an asset (%s)", (mayShare, shareOn) => {
    show(mayShare, shareOn);
    expect(screen.queryByRole("button", { name: /^Share/ })).toBeNull();
  });
});

describe("viewer touch", () => {
  beforeEach(stubBrowserApis);
  afterEach(backToTheBrowser);

  /** jsdom has no PointerEvent. */
  class Finger extends MouseEvent {
    readonly pointerId: number;
    readonly pointerType = "touch";
    readonly isPrimary: boolean;
    constructor(type: string, { pointerId = 7, isPrimary = true, ...rest }: PointerEventInit) {
      super(type, rest);
      this.pointerId = pointerId;
      this.isPrimary = isPrimary;
    }
  }

  it("starts a pinch when a second finger joins a swipe", async () => {
    renderViewer();
    await arrive("one.png");
    HTMLElement.prototype.setPointerCapture = () => undefined;
    const picture = screen.getByRole("group", { name: /Picture/ });
    const touch = (type: string, clientX: number, more: PointerEventInit = {}) =>
      act(async () => void fireEvent(picture, new Finger(type, { clientX, clientY: 200, bubbles: true, ...more })));
    const transform = () => [...screen.getByAltText("one.png").style.transform.matchAll(/-?[\d.]+/g)].map(([n]) => Number(n).toFixed(3));
    const before = transform();
    await touch("pointerdown", 300);
    await touch("pointermove", 260);
    expect(transform()).not.toEqual(before);
    await touch("pointerdown", 400, { pointerId: 8, isPrimary: false });
    await touch("pointermove", 260);
    expect(transform()).toEqual(before);
    await touch("pointermove", 200);
    expect(transform()).not.toEqual(before);
  });

  it("pages by swiping and pans when zoomed", async () => {
    renderViewer();
    await arrive("one.png");
    const swipe = async (from: number, to: number) => {
      const picture = screen.getByRole("group", { name: /Picture/ });
      const draw = (type: string, clientX: number) => fireEvent(picture, new Finger(type, { clientX, clientY: 200, bubbles: true }));
      await act(async () => {
        draw("pointerdown", from);
        draw("pointermove", (from + to) / 2);
        draw("pointerup", to);
      });
    };
    await swipe(300, 280);
    expect(positionText()).toBe("1 of 4");
    await swipe(300, 120);
    expect(positionText()).toBe("2 of 4");
    await swipe(120, 300);
    expect(positionText()).toBe("1 of 4");
  });
});
