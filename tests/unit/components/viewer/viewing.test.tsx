import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ShareProvider } from "@/components/frame/member-context";
import { Compare } from "@/components/viewer/compare";
import { useShownItem, useViewing } from "@/components/viewer/use-viewing";
import { Viewer } from "@/components/viewer/viewer";
import { failed, ok } from "@/lib/shared/result";
import { renderInApp } from "../render";
import { advanceTime, press } from "../render-screen";
import { createPicture, finishLoading, getPositionText, graphs, renderViewer, stubBrowserApis } from "./render-viewer";

describe("viewing", () => {
  const ids = ["one", "two", "three"];
  const onClosed = vi.fn();
  const onRest = vi.fn();

  function Page() {
    const viewing = useViewing({ indexOf: (id) => ids.indexOf(id), getId: (index) => ids[index], onSettled: onRest, onClosed });
    const comparison = useShownItem("compare");
    return (
      <>
        <button onClick={() => viewing.open(1)}>Open</button>
        <button onClick={() => viewing.move((viewing.at ?? 0) + 1)}>Next</button>
        <button onClick={viewing.close}>Close</button>
        <button onClick={() => comparison.open("one,two")}>Compare</button>
        <p>{viewing.isOpen ? `viewing ${viewing.id}` : "viewing nothing"}</p>
        <p>{comparison.value === undefined ? "comparing nothing" : `comparing ${comparison.value}`}</p>
      </>
    );
  }
  const expectText = (text: string) => waitFor(() => expect(screen.getByText(text)).toBeDefined());
  const getUrl = () => window.location.pathname + window.location.search;

  beforeEach(() => {
    window.history.replaceState(null, "", "/assets?sort=name");
    window.history.pushState(null, "", "/assets?sort=size");
    renderInApp(<Page />);
  });

  it("closes on Back and reopens on Forward", async () => {
    await press("Open");
    await expectText("viewing two");
    expect(getUrl()).toBe("/assets?sort=size&show=two");
    window.history.back();
    await expectText("viewing nothing");
    expect(getUrl()).toBe("/assets?sort=size");
    await waitFor(() => expect(onClosed).toHaveBeenCalledWith(1));
    window.history.forward();
    await expectText("viewing two");
  });

  it("removes its history entry when closed with a button", async () => {
    await press("Open");
    await press("Next");
    await expectText("viewing three");
    await waitFor(() => expect(getUrl()).toBe("/assets?sort=size&show=three"));
    expect(onRest).toHaveBeenCalledExactlyOnceWith(2);
    await press("Close");
    await expectText("viewing nothing");
    expect(getUrl()).toBe("/assets?sort=size");
    await waitFor(() => expect(onClosed).toHaveBeenCalledExactlyOnceWith(2));
    window.history.back();
    await waitFor(() => expect(getUrl()).toBe("/assets?sort=name"));
  });

  it("closes the comparison on the first Back and the viewer on the second", async () => {
    await press("Open");
    await press("Compare");
    await expectText("comparing one,two");
    window.history.back();
    await expectText("comparing nothing");
    await expectText("viewing two");
    window.history.back();
    await expectText("viewing nothing");
    expect(getUrl()).toBe("/assets?sort=size");
  });
});

describe("comparison", () => {
  beforeEach(stubBrowserApis);

  /** Compares pictures of these jobs. `job-x` can't be read. Jobs are cached by picture ids, so each id names its job and code. */
  async function compare(jobs: readonly (string | undefined)[], code = "NOT_FOUND") {
    const failure = { code, message: "", status: code === "NOT_FOUND" ? 404 : 502 };
    renderInApp(
      <Compare
        items={jobs.map((jobId, index) => createPicture(`p${index + 1}-${jobId}-${code}`, jobId))}
        readWorkflow={async (jobId) => (jobId === "job-x" ? failed(failure) : ok(graphs[jobId]))}
        onClose={() => undefined}
      />,
    );
    await advanceTime(0);
  }

  it("shows the pixel size of each picture and marks a failed one", async () => {
    await compare(["job-1", "job-2", undefined, "job-1"]);
    expect(screen.getAllByRole("figure")).toHaveLength(4);
    expect(screen.getByRole("columnheader", { name: /^4/ })).toBeDefined();
    const names = screen.getAllByAltText(/^p\d/).map((image) => image.getAttribute("alt") ?? "");
    for (const name of names.slice(0, 3)) await finishLoading(name);
    expect(screen.getAllByText("640 × 480")).toHaveLength(3);
    await act(async () => void fireEvent.error(screen.getByAltText(names[3] ?? "")));
    expect(screen.getByText("This image can't be shown.")).toBeDefined();
  });

  it.each([
    ["NOT_FOUND", /^The job of image 2 no longer exists\.$/, false],
    ["UPSTREAM_UNREACHABLE", /^Couldn't load the job of image 2\. /, true],
  ])("explains why a job can't be compared: %s", async (code, text, canRetry) => {
    await compare(["job-1", "job-x"], code);
    expect(screen.getByText(text)).toBeDefined();
    expect(screen.queryByRole("button", { name: "Try again" }) !== null).toBe(canRetry);
  });

  it("shows a message when all pictures come from the same job", async () => {
    await compare(["job-1", "job-1"]);
    expect(screen.getByText("These images are from the same job.")).toBeDefined();
    cleanup();
    await compare(["job-1", "job-1", "job-1-again"]);
    expect(screen.queryByText("These images are from the same job.")).toBeNull();
  });
});

describe("sharing from the viewer", () => {
  beforeEach(stubBrowserApis);

  const items = [createPicture("one"), createPicture("two")];
  const onClose = vi.fn();
  function StatefulViewer({ shareConnectionId }: { shareConnectionId: string | undefined }) {
    const [at, setAt] = useState(0);
    const props = { getItem: (index: number) => items[index], onMove: setAt, onClose, shareConnectionId };
    return <Viewer count={items.length} index={at} {...props} />;
  }
  const show = (mayShare: boolean, shareConnectionId?: string) =>
    renderInApp(
      <ShareProvider value={mayShare}>
        <StatefulViewer shareConnectionId={shareConnectionId} />
      </ShareProvider>,
    );

  it("shares the displayed asset and pauses the slideshow", async () => {
    show(true, "here");
    const fetchMock = vi.fn(async () => Response.json({ id: "s", path: "/share/x", expiresAt: 0, count: 1 }, { status: 201 }));
    vi.stubGlobal("fetch", fetchMock);
    await finishLoading("one.png");
    await press("Play a slideshow");
    await press("Share one.png");
    await act(() => vi.dynamicImportSettled());
    await advanceTime(60_000);
    expect(screen.getByText("1 of 2")).toBeDefined();
    const dialog = within(screen.getByRole("dialog", { name: "Share 1 file" }));
    await act(async () => void fireEvent.click(dialog.getByRole("button", { name: "Create link" })));
    expect(fetchMock).toHaveBeenCalledWith(
      "/api/console/shares?connection=here",
      expect.objectContaining({ body: expect.stringContaining('"assets":["one"]') }),
    );
    expect(onClose).not.toHaveBeenCalled();
  });

  it.each([
    [false, "here"],
    [true, undefined],
  ])("hides Share when sharing is not allowed (%s) on connection %s", (mayShare, shareConnectionId) => {
    show(mayShare, shareConnectionId);
    expect(screen.queryByRole("button", { name: /^Share/ })).toBeNull();
  });
});

describe("touch in the viewer", () => {
  beforeEach(stubBrowserApis);

  /** Replaces PointerEvent, which jsdom does not implement. */
  class TouchPointerEvent extends MouseEvent {
    readonly pointerId: number;
    readonly pointerType = "touch";
    readonly isPrimary: boolean;
    constructor(type: string, { pointerId = 7, isPrimary = true, ...eventInit }: PointerEventInit) {
      super(type, eventInit);
      this.pointerId = pointerId;
      this.isPrimary = isPrimary;
    }
  }

  const dispatchTouch = (type: string, clientX: number, overrides: PointerEventInit = {}) => {
    const event = new TouchPointerEvent(type, { clientX, clientY: 200, bubbles: true, ...overrides });
    fireEvent(screen.getByRole("group", { name: /Image/ }), event);
  };
  const fireTouch = (...touch: Parameters<typeof dispatchTouch>) => act(async () => dispatchTouch(...touch));

  beforeEach(async () => {
    HTMLElement.prototype.setPointerCapture = () => undefined;
    renderViewer();
    await finishLoading("one.png");
  });

  it("starts a pinch when a second finger touches during a swipe", async () => {
    const getTransform = () => [...screen.getByAltText("one.png").style.transform.matchAll(/-?[\d.]+/g)].map(([n]) => Number(n).toFixed(3));
    const before = getTransform();
    await fireTouch("pointerdown", 300);
    await fireTouch("pointermove", 260);
    expect(getTransform()).not.toEqual(before);
    await fireTouch("pointerdown", 400, { pointerId: 8, isPrimary: false });
    await fireTouch("pointermove", 260);
    expect(getTransform()).toEqual(before);
    await fireTouch("pointermove", 200);
    expect(getTransform()).not.toEqual(before);
  });

  it("moves to the next or previous picture on a swipe", async () => {
    const swipe = (from: number, to: number) =>
      act(async () => {
        dispatchTouch("pointerdown", from);
        dispatchTouch("pointermove", (from + to) / 2);
        dispatchTouch("pointerup", to);
      });
    await swipe(300, 280);
    expect(getPositionText()).toBe("1 of 4");
    await swipe(300, 120);
    expect(getPositionText()).toBe("2 of 4");
    await swipe(120, 300);
    expect(getPositionText()).toBe("1 of 4");
  });
});
