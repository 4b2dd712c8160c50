// Pictures load a few at a time, stop loading when hidden, and are retried after an outage.
import "@/components/ui/pictures/picture-retries";
import { act, fireEvent, render as renderBare, renderHook, screen } from "@testing-library/react";
import { type ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { notifyStoredAssets, useStoredAssets } from "@/components/frame/stored-assets";
import { Picture } from "@/components/ui/pictures/picture";
import { plainPicture, queueImage } from "@/components/ui/pictures/plain-picture";
import { inApp } from "./render";

describe("pictures", () => {
  let responsesByUrl: Record<string, () => Response>;
  let requests: string[];
  let responses: Record<string, () => Response>;
  beforeEach(() => {
    vi.useFakeTimers();
    [responsesByUrl, requests, responses] = [{}, [], {}];
    vi.stubGlobal("fetch", (address: string, { cache }: RequestInit = {}) => {
      const { pathname, search } = new URL(address, "http://localhost");
      // The image's own response.
      if (cache === "only-if-cached")
        return Promise.resolve((responses[pathname + search] ?? (() => new Response(null, { status: 504 })))());
      requests.push(pathname + search);
      return Promise.resolve((responsesByUrl[pathname + search] ?? (() => new Response(null, { status: 500 })))());
    });
  });

  const render = (element: ReactNode) => renderBare(element, { wrapper: ({ children }) => inApp(children) });
  const picture = (name: string) => <Picture key={name} src={`/${name}?connection=${name[0]}`} alt={name} width={10} height={10} eager />;
  const fetched = () => screen.getAllByRole("img").flatMap((image) => image.getAttribute("src") ?? []);
  const image = (name: string) => screen.getByRole("img", { name });
  /** Drawn after its trigger. */
  const advanceTime = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
  /** The event that a browser sends for an image. */
  const lose = (name: string) => fireEvent.error(image(name));

  const namedItems = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
  const toUrls = (names: readonly string[]) => names.map((name) => `/${name}?connection=${name[0]}`);

  test("limits parallel pictures and starts the next after each end", () => {
    const names = namedItems("a", 27);
    const { rerender } = render(<>{names.map(picture)}</>);
    expect(fetched()).toEqual(toUrls(names.slice(0, 24)));
    fireEvent.load(image("a1"));
    expect(image("a25").getAttribute("src")).toBe("/a25?connection=a");
    rerender(<>{names.filter((name) => name !== "a2").map(picture)}</>);
    expect(image("a26").getAttribute("src")).toBe("/a26?connection=a");
    expect(image("a27").getAttribute("src")).toBeNull();
    lose("a3");
    expect(image("a27").getAttribute("src")).toBe("/a27?connection=a");
  });

  test("probes with one picture after an outage and then reloads all", async () => {
    responsesByUrl["/b1?connection=b"] = () => new Response(null, { status: 503, headers: { "retry-after": "3" } });
    render(<>{["b1", "b2", "c1"].map(picture)}</>);
    for (const name of ["b1", "b2", "c1"]) lose(name);
    await advanceTime(500);
    expect([requests, screen.queryAllByRole("img").filter(({ tagName }) => tagName === "IMG")]).toEqual([
      ["/b1?connection=b", "/c1?connection=c"],
      [],
    ]);
    responsesByUrl["/b2?connection=b"] = () => new Response("picture");
    await advanceTime(2_400);
    expect(requests.filter((address) => address.endsWith("b"))).toHaveLength(1);
    await advanceTime(200);
    expect(requests.filter((address) => address.endsWith("b"))).toEqual(["/b1?connection=b", "/b2?connection=b"]);
    expect([image("b1").tagName, image("b2").tagName, image("c1").tagName]).toEqual(["IMG", "IMG", "SPAN"]);
  });

  test("stops retrying non-pictures and does nothing on hidden pages", async () => {
    responsesByUrl["/d1?connection=d"] = () => new Response(null, { status: 204 });
    responsesByUrl["/d2?connection=d"] = () => new Response(null, { status: 404 });
    render(<>{["d1", "d2", "e1"].map(picture)}</>);
    for (const name of ["d1", "d2"]) lose(name);
    await advanceTime(600_000);
    expect(requests.filter((address) => address.startsWith("/d1"))).toHaveLength(1);
    expect(requests.filter((address) => address.startsWith("/d2"))).toHaveLength(4);
    lose("e1");
    await advanceTime(500);
    const before = requests.length;
    const hidden = vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    await advanceTime(60_000);
    expect(requests).toHaveLength(before);
    hidden.mockRestore();
    document.dispatchEvent(new Event("visibilitychange"));
    await advanceTime(0);
    expect(requests).toHaveLength(before + 1);
  });

  test("restores a listed picture in the same element", async () => {
    const { container } = render(plainPicture({ src: "/f1?connection=f", width: 10, height: 10 }));
    const plain = container.querySelector("img");
    if (!plain) throw new Error("no image");
    fireEvent.error(plain);
    expect(plain.dataset.lost).toBe("");
    responsesByUrl["/f1?connection=f"] = () => new Response("picture");
    await advanceTime(2_000);
    expect([plain.dataset.lost, plain.getAttribute("src"), plain.isConnected]).toEqual([undefined, "/f1?connection=f", true]);
  });

  test("uses a new element for a new address", () => {
    const { rerender } = render(<Picture src="/one" alt="tile" width={10} height={10} eager />);
    const before = image("tile");
    rerender(<Picture src="/one" alt="tile" width={20} height={10} eager />);
    expect(image("tile")).toBe(before);
    rerender(<Picture src="/two" alt="tile" width={20} height={10} eager />);
    expect(image("tile")).not.toBe(before);
  });

  test("reports an oversized picture with its size", async () => {
    const tooLarge = () => new Response(null, { status: 204, headers: { "x-too-large": "20000x20000" } });
    [responses, responsesByUrl] = [{ "/big?connection=b": tooLarge }, { "/big?connection=b": tooLarge }];
    const { rerender } = render(<Picture src="/big?connection=b" alt="big" width={320} height={240} eager />);
    lose("big");
    await advanceTime(0);
    expect(screen.getByText("Too large to preview: 20,000 × 20,000 pixels")).toBeDefined();
    rerender(<Picture src="/big?connection=b" alt="big" width={32} height={24} eager />);
    expect(screen.getByRole("img", { name: "big. Too large to preview: 20,000 × 20,000 pixels" })).toBeDefined();
    await advanceTime(60_000);
    expect(requests).toEqual(["/big?connection=b"]);
  });

  test("shows an icon for media without a picture", async () => {
    render(
      <>
        <Picture src="/film?connection=v" alt="film" width={64} height={48} kind="video" eager />
        <Picture src="/sound?connection=v" alt="sound" width={64} height={48} kind="audio" eager />
        {plainPicture({ src: "/row?connection=v", width: 52, height: 36, kind: "video" })}
      </>,
    );
    for (const name of ["film", "sound"]) lose(name);
    await advanceTime(0);
    expect(image("film").querySelector(".lucide-film")).not.toBeNull();
    expect(image("sound").querySelector(".lucide-audio-lines")).not.toBeNull();
    expect(document.querySelector('img[data-kind="video"]')).not.toBeNull();
  });
});

describe("picture turns", () => {
  beforeEach(() => void vi.useFakeTimers());
  const ends: (() => void)[] = [];
  afterEach(() => {
    ends.splice(0).forEach((end) => end());
  });

  function pictures(count: number, whileNear?: Parameters<typeof queueImage>[1]): HTMLImageElement[] {
    return Array.from({ length: count }, (_, at) => {
      const image = document.createElement("img");
      image.src = `/picture-${at}`;
      // jsdom loads no images and calls all of them complete.
      Object.defineProperty(image, "complete", { get: () => image.dataset.came === "yes" });
      ends.push(queueImage(image, whileNear));
      return image;
    });
  }

  const loadingImages = (images: readonly HTMLImageElement[]) =>
    images.filter((image) => image.hasAttribute("src") && image.dataset.came !== "yes");
  function come(image: HTMLImageElement | undefined): void {
    if (!image) throw new Error("there is no such picture");
    image.dataset.came = "yes";
    image.dispatchEvent(new Event("load"));
  }

  test("loads twenty-four pictures at once while any arrive", () => {
    const images = pictures(40);
    expect(loadingImages(images)).toHaveLength(24);
    for (let came = 0; came < 10; came += 1) {
      vi.advanceTimersByTime(900);
      come(images[came]);
      expect(loadingImages(images)).toHaveLength(24);
    }
  });

  test("loads four at once while none arrive, and all again after one", () => {
    const images = pictures(40);
    vi.advanceTimersByTime(1_000);
    expect(loadingImages(images)).toEqual(images.slice(0, 4));
    // A failing picture doesn't affect the others.
    images[0]?.dispatchEvent(new Event("error"));
    expect(loadingImages(images).filter((image) => image !== images[0])).toHaveLength(4);
    come(images[1]);
    // In their previous order.
    expect(loadingImages(images).filter((image) => image !== images[0])).toEqual(images.slice(2, 26));
  });

  test("loads a new picture when it is near, in order of arrival", () => {
    const listeners: ((isNear: boolean) => void)[] = [];
    const images = pictures(3, (_, notify) => {
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

  it("reloads a list once for many stored files and again for later ones", () => {
    const refresh = vi.fn();
    renderHook(() => useStoredAssets(refresh));
    for (let count = 0; count < 300; count += 1) notifyStoredAssets();
    vi.runAllTimers();
    expect(refresh).toHaveBeenCalledTimes(1);
    notifyStoredAssets();
    vi.runAllTimers();
    expect(refresh).toHaveBeenCalledTimes(2);
  });

  it("stops reading a list that is no longer shown", () => {
    const refresh = vi.fn();
    const { unmount } = renderHook(() => useStoredAssets(refresh));
    notifyStoredAssets();
    unmount();
    vi.runAllTimers();
    expect(refresh).not.toHaveBeenCalled();
  });
});
