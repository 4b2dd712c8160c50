// Pictures load a few at a time, pause on hidden pages, and are retried after an outage.
import "@/components/ui/pictures/picture-retries";
import { fireEvent, renderHook, screen } from "@testing-library/react";
import { type ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { notifyStoredAssets, useStoredAssets } from "@/components/frame/stored-assets";
import { Picture } from "@/components/ui/pictures/picture";
import { queueImage, renderPlainPicture } from "@/components/ui/pictures/plain-picture";
import { renderInApp, wrapInApp } from "./render";
import { advanceTime } from "./render-screen";

describe("pictures", () => {
  let networkResponses: Record<string, () => Response>;
  let requests: string[];
  let cachedResponses: Record<string, () => Response>;
  beforeEach(() => {
    vi.useFakeTimers();
    [networkResponses, requests, cachedResponses] = [{}, [], {}];
    vi.stubGlobal("fetch", async (address: string, { cache }: RequestInit = {}) => {
      const { pathname, search } = new URL(address, "http://localhost");
      // Reads the image's response from the browser's cache.
      if (cache === "only-if-cached") return cachedResponses[pathname + search]?.() ?? new Response(null, { status: 504 });
      requests.push(pathname + search);
      return networkResponses[pathname + search]?.() ?? new Response(null, { status: 500 });
    });
  });

  function render(element: ReactNode) {
    const { container, rerender } = renderInApp(element);
    return { container, rerender: (other: ReactNode) => rerender(wrapInApp(other)) };
  }
  const createPicture = (name: string) => (
    <Picture key={name} src={`/${name}?connection=${name[0]}`} alt={name} width={10} height={10} eager />
  );
  const getSources = () => screen.getAllByRole("img").flatMap((image) => image.getAttribute("src") ?? []);
  const getImage = (name: string) => screen.getByRole("img", { name });
  /** Fires the error event of a failed image. */
  const failImage = (name: string) => fireEvent.error(getImage(name));

  const createNames = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
  const toUrls = (names: readonly string[]) => names.map((name) => `/${name}?connection=${name[0]}`);

  test("limits parallel loads and starts the next when one ends", () => {
    const names = createNames("a", 27);
    const { rerender } = render(<>{names.map(createPicture)}</>);
    expect(getSources()).toEqual(toUrls(names.slice(0, 24)));
    fireEvent.load(getImage("a1"));
    expect(getImage("a25").getAttribute("src")).toBe("/a25?connection=a");
    rerender(<>{names.filter((name) => name !== "a2").map(createPicture)}</>);
    expect(getImage("a26").getAttribute("src")).toBe("/a26?connection=a");
    expect(getImage("a27").getAttribute("src")).toBeNull();
    failImage("a3");
    expect(getImage("a27").getAttribute("src")).toBe("/a27?connection=a");
  });

  test("retries one picture per connection and then reloads all", async () => {
    networkResponses["/b1?connection=b"] = () => new Response(null, { status: 503, headers: { "retry-after": "3" } });
    render(<>{["b1", "b2", "c1"].map(createPicture)}</>);
    for (const name of ["b1", "b2", "c1"]) failImage(name);
    await advanceTime(500);
    expect([requests, screen.queryAllByRole("img").filter(({ tagName }) => tagName === "IMG")]).toEqual([
      ["/b1?connection=b", "/c1?connection=c"],
      [],
    ]);
    networkResponses["/b2?connection=b"] = () => new Response("picture");
    await advanceTime(2_400);
    expect(requests.filter((address) => address.endsWith("b"))).toHaveLength(1);
    await advanceTime(200);
    expect(requests.filter((address) => address.endsWith("b"))).toEqual(["/b1?connection=b", "/b2?connection=b"]);
    expect([getImage("b1").tagName, getImage("b2").tagName, getImage("c1").tagName]).toEqual(["IMG", "IMG", "SPAN"]);
  });

  test("stops retrying non-pictures and pauses on hidden pages", async () => {
    networkResponses["/d1?connection=d"] = () => new Response(null, { status: 204 });
    networkResponses["/d2?connection=d"] = () => new Response(null, { status: 404 });
    render(<>{["d1", "d2", "e1"].map(createPicture)}</>);
    for (const name of ["d1", "d2"]) failImage(name);
    await advanceTime(600_000);
    expect(requests.filter((address) => address.startsWith("/d1"))).toHaveLength(1);
    expect(requests.filter((address) => address.startsWith("/d2"))).toHaveLength(4);
    failImage("e1");
    await advanceTime(500);
    const before = requests.length;
    const visibilityMock = vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    await advanceTime(60_000);
    expect(requests).toHaveLength(before);
    visibilityMock.mockRestore();
    document.dispatchEvent(new Event("visibilitychange"));
    await advanceTime(0);
    expect(requests).toHaveLength(before + 1);
  });

  test("restores a plain picture in the same element", async () => {
    const { container } = render(renderPlainPicture({ src: "/f1?connection=f", width: 10, height: 10 }));
    const imageElement = container.querySelector("img");
    if (!imageElement) throw new Error("The picture has no image element.");
    fireEvent.error(imageElement);
    expect(imageElement.dataset.lost).toBe("");
    networkResponses["/f1?connection=f"] = () => new Response("picture");
    await advanceTime(2_000);
    expect([imageElement.dataset.lost, imageElement.getAttribute("src"), imageElement.isConnected]).toEqual([
      undefined,
      "/f1?connection=f",
      true,
    ]);
  });

  test("uses a new element when the URL changes", () => {
    const { rerender } = render(<Picture src="/one" alt="tile" width={10} height={10} eager />);
    const before = getImage("tile");
    rerender(<Picture src="/one" alt="tile" width={20} height={10} eager />);
    expect(getImage("tile")).toBe(before);
    rerender(<Picture src="/two" alt="tile" width={20} height={10} eager />);
    expect(getImage("tile")).not.toBe(before);
  });

  test("shows the size of a picture that is too large", async () => {
    const tooLarge = () => new Response(null, { status: 204, headers: { "x-too-large": "20000x20000" } });
    [cachedResponses, networkResponses] = [{ "/big?connection=b": tooLarge }, { "/big?connection=b": tooLarge }];
    const { rerender } = render(<Picture src="/big?connection=b" alt="big" width={320} height={240} eager />);
    failImage("big");
    await advanceTime(0);
    expect(screen.getByText("Too large to preview: 20,000 × 20,000 pixels")).toBeDefined();
    rerender(<Picture src="/big?connection=b" alt="big" width={32} height={24} eager />);
    expect(screen.getByRole("img", { name: "big. Too large to preview: 20,000 × 20,000 pixels" })).toBeDefined();
    await advanceTime(60_000);
    expect(requests).toEqual(["/big?connection=b"]);
  });

  test("shows an icon when media has no picture", async () => {
    render(
      <>
        <Picture src="/film?connection=v" alt="film" width={64} height={48} kind="video" eager />
        <Picture src="/sound?connection=v" alt="sound" width={64} height={48} kind="audio" eager />
        {renderPlainPicture({ src: "/row?connection=v", width: 52, height: 36, kind: "video" })}
      </>,
    );
    for (const name of ["film", "sound"]) failImage(name);
    await advanceTime(0);
    expect(getImage("film").querySelector(".lucide-film")).not.toBeNull();
    expect(getImage("sound").querySelector(".lucide-audio-lines")).not.toBeNull();
    expect(document.querySelector('img[data-kind="video"]')).not.toBeNull();
  });
});

describe("picture queue", () => {
  beforeEach(() => void vi.useFakeTimers());
  const cancelCallbacks: (() => void)[] = [];
  afterEach(() => cancelCallbacks.splice(0).forEach((cancel) => cancel()));

  function createPictures(count: number, observeNear?: Parameters<typeof queueImage>[1]): HTMLImageElement[] {
    return Array.from({ length: count }, (_, at) => {
      const image = document.createElement("img");
      image.src = `/picture-${at}`;
      // jsdom loads no images and reports all of them as complete.
      Object.defineProperty(image, "complete", { get: () => image.dataset.loaded === "yes" });
      cancelCallbacks.push(queueImage(image, observeNear));
      return image;
    });
  }

  const loadingImages = (images: readonly HTMLImageElement[]) =>
    images.filter((image) => image.hasAttribute("src") && image.dataset.loaded !== "yes");
  function finishLoading(image: HTMLImageElement | undefined): void {
    if (!image) throw new Error("The picture does not exist.");
    image.dataset.loaded = "yes";
    image.dispatchEvent(new Event("load"));
  }

  test("loads 24 pictures at once while pictures arrive", () => {
    const images = createPictures(40);
    expect(loadingImages(images)).toHaveLength(24);
    for (const image of images.slice(0, 3)) {
      vi.advanceTimersByTime(900);
      finishLoading(image);
      expect(loadingImages(images)).toHaveLength(24);
    }
  });

  test("loads 4 pictures at once until the first one arrives", () => {
    const images = createPictures(40);
    vi.advanceTimersByTime(1_000);
    expect(loadingImages(images)).toEqual(images.slice(0, 4));
    // A failing picture doesn't affect the others.
    images[0]?.dispatchEvent(new Event("error"));
    const otherImages = images.slice(1);
    expect(loadingImages(otherImages)).toHaveLength(4);
    finishLoading(images[1]);
    // The order is unchanged.
    expect(loadingImages(otherImages)).toEqual(images.slice(2, 26));
  });

  test("loads a picture when it comes near the view", () => {
    const listeners: ((isNear: boolean) => void)[] = [];
    const images = createPictures(3, (_, notify) => {
      listeners.push(notify);
      return () => undefined;
    });
    expect(loadingImages(images)).toEqual([]);
    listeners[2]?.(true);
    listeners[0]?.(false);
    expect(loadingImages(images)).toEqual([images[2]]);
  });
});

describe("stored assets", () => {
  beforeEach(() => void vi.useFakeTimers());

  it("reloads a list once when many files are stored", () => {
    const refresh = vi.fn();
    renderHook(() => useStoredAssets(refresh));
    for (let count = 0; count < 300; count += 1) notifyStoredAssets();
    vi.runAllTimers();
    expect(refresh).toHaveBeenCalledTimes(1);
    notifyStoredAssets();
    vi.runAllTimers();
    expect(refresh).toHaveBeenCalledTimes(2);
  });

  it("doesn't reload a list when it is no longer shown", () => {
    const refresh = vi.fn();
    const { unmount } = renderHook(() => useStoredAssets(refresh));
    notifyStoredAssets();
    unmount();
    vi.runAllTimers();
    expect(refresh).not.toHaveBeenCalled();
  });
});
