// @vitest-environment jsdom
// Pictures of a tab: loaded a few at a time, dropped when they are no longer shown, and retried by themselves after an outage.
import "@/components/ui/pictures/lost-pictures";
import { act, cleanup, fireEvent, render as renderBare, screen } from "@testing-library/react";
import { type ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Picture } from "@/components/ui/pictures/picture";
import { plainPicture } from "@/components/ui/pictures/plain-picture";
import { inApp } from "./render";

let answers: Record<string, () => Response>;
let asked: string[];
let kept: Record<string, () => Response>;
beforeEach(() => {
  vi.useFakeTimers();
  [answers, asked, kept] = [{}, [], {}];
  vi.stubGlobal("fetch", (address: string, { cache }: RequestInit = {}) => {
    const { pathname, search } = new URL(address, "http://localhost");
    // The answer that the image itself got.
    if (cache === "only-if-cached") return Promise.resolve((kept[pathname + search] ?? (() => new Response(null, { status: 504 })))());
    asked.push(pathname + search);
    return Promise.resolve((answers[pathname + search] ?? (() => new Response(null, { status: 500 })))());
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const render = (shown: ReactNode) => renderBare(shown, { wrapper: ({ children }) => inApp(children) });
const picture = (name: string) => <Picture key={name} src={`/${name}?connection=${name[0]}`} alt={name} width={10} height={10} eager />;
const fetched = () => screen.getAllByRole("img").flatMap((image) => image.getAttribute("src") ?? []);
const image = (name: string) => screen.getByRole("img", { name });
/** What is drawn because of it is drawn afterwards. */
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
/** The event that a browser sends for an image. */
const lose = (name: string) => fireEvent.error(image(name));

const named = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
const of = (names: readonly string[]) => names.map((name) => `/${name}?connection=${name[0]}`);

test("so many pictures are fetched at once; one that came, failed or left makes room for the next", () => {
  const names = named("a", 27);
  const { rerender } = render(<>{names.map(picture)}</>);
  expect(fetched()).toEqual(of(names.slice(0, 24)));
  fireEvent.load(image("a1"));
  expect(image("a25").getAttribute("src")).toBe("/a25?connection=a");
  rerender(<>{names.filter((name) => name !== "a2").map(picture)}</>);
  expect(image("a26").getAttribute("src")).toBe("/a26?connection=a");
  expect(image("a27").getAttribute("src")).toBeNull();
  lose("a3");
  expect(image("a27").getAttribute("src")).toBe("/a27?connection=a");
});

test("one asks for all that an outage took, when its service named a time; its answer brings all of that connection back", async () => {
  answers["/b1?connection=b"] = () => new Response(null, { status: 503, headers: { "retry-after": "3" } });
  render(<>{["b1", "b2", "c1"].map(picture)}</>);
  for (const name of ["b1", "b2", "c1"]) lose(name);
  await pass(500);
  expect([asked, screen.queryAllByRole("img").filter(({ tagName }) => tagName === "IMG")]).toEqual([
    ["/b1?connection=b", "/c1?connection=c"],
    [],
  ]);
  answers["/b2?connection=b"] = () => new Response("picture");
  await pass(2_400);
  expect(asked.filter((address) => address.endsWith("b"))).toHaveLength(1);
  await pass(200);
  expect(asked.filter((address) => address.endsWith("b"))).toEqual(["/b1?connection=b", "/b2?connection=b"]);
  expect([image("b1").tagName, image("b2").tagName, image("c1").tagName]).toEqual(["IMG", "IMG", "SPAN"]);
});

test("of what is no picture, or stays away, nobody asks for ever; a page that nobody sees asks nothing", async () => {
  answers["/d1?connection=d"] = () => new Response(null, { status: 204 });
  answers["/d2?connection=d"] = () => new Response(null, { status: 404 });
  render(<>{["d1", "d2", "e1"].map(picture)}</>);
  for (const name of ["d1", "d2"]) lose(name);
  await pass(600_000);
  expect(asked.filter((address) => address.startsWith("/d1"))).toHaveLength(1);
  expect(asked.filter((address) => address.startsWith("/d2"))).toHaveLength(4);
  lose("e1");
  await pass(500);
  const before = asked.length;
  const hidden = vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
  await pass(60_000);
  expect(asked).toHaveLength(before);
  hidden.mockRestore();
  document.dispatchEvent(new Event("visibilitychange"));
  await pass(0);
  expect(asked).toHaveLength(before + 1);
});

test("a picture of a list of many comes back as well, in the same element", async () => {
  const { container } = render(plainPicture({ src: "/f1?connection=f", width: 10, height: 10 }));
  const plain = container.querySelector("img");
  if (!plain) throw new Error("no image");
  fireEvent.error(plain);
  expect(plain.dataset.lost).toBe("");
  answers["/f1?connection=f"] = () => new Response("picture");
  await pass(2_000);
  expect([plain.dataset.lost, plain.getAttribute("src"), plain.isConnected]).toEqual([undefined, "/f1?connection=f", true]);
});

test("an image never keeps its element for another address, which would show the picture before it", () => {
  const { rerender } = render(<Picture src="/one" alt="tile" width={10} height={10} eager />);
  const before = image("tile");
  rerender(<Picture src="/one" alt="tile" width={20} height={10} eager />);
  expect(image("tile")).toBe(before);
  rerender(<Picture src="/two" alt="tile" width={20} height={10} eager />);
  expect(image("tile")).not.toBe(before);
});

test("a picture that is too large to preview says so with its size", async () => {
  const tooLarge = () => new Response(null, { status: 204, headers: { "x-too-large": "20000x20000" } });
  [kept, answers] = [{ "/big?connection=b": tooLarge }, { "/big?connection=b": tooLarge }];
  const { rerender } = render(<Picture src="/big?connection=b" alt="big" width={320} height={240} eager />);
  lose("big");
  await pass(0);
  expect(screen.getByText("Too large to preview: 20,000 × 20,000 pixels")).toBeDefined();
  rerender(<Picture src="/big?connection=b" alt="big" width={32} height={24} eager />);
  expect(screen.getByRole("img", { name: "big. Too large to preview: 20,000 × 20,000 pixels" })).toBeDefined();
  await pass(60_000);
  expect(asked).toEqual(["/big?connection=b"]);
});

test("a video or audio file without a picture has the icon of its kind", async () => {
  render(
    <>
      <Picture src="/film?connection=v" alt="film" width={64} height={48} kind="video" eager />
      <Picture src="/sound?connection=v" alt="sound" width={64} height={48} kind="audio" eager />
      {plainPicture({ src: "/row?connection=v", width: 52, height: 36, kind: "video" })}
    </>,
  );
  for (const name of ["film", "sound"]) lose(name);
  await pass(0);
  expect(image("film").querySelector(".lucide-film")).not.toBeNull();
  expect(image("sound").querySelector(".lucide-audio-lines")).not.toBeNull();
  expect(document.querySelector('img[data-kind="video"]')).not.toBeNull();
});
