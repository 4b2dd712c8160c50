// @vitest-environment jsdom
// How many pictures of a page are loaded at once, and what happens to the others.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { inTurn } from "@/components/ui/pictures/plain-picture";

beforeEach(() => void vi.useFakeTimers());
const ends: (() => void)[] = [];
afterEach(() => {
  ends.splice(0).forEach((end) => end());
  vi.useRealTimers();
});

function pictures(count: number, whileNear?: Parameters<typeof inTurn>[1]): HTMLImageElement[] {
  return Array.from({ length: count }, (_, at) => {
    const image = document.createElement("img");
    image.src = `/picture-${at}`;
    // jsdom loads no images and calls all of them complete.
    Object.defineProperty(image, "complete", { get: () => image.dataset.came === "yes" });
    ends.push(inTurn(image, whileNear));
    return image;
  });
}

const asked = (images: readonly HTMLImageElement[]) => images.filter((image) => image.hasAttribute("src") && image.dataset.came !== "yes");
function come(image: HTMLImageElement | undefined): void {
  if (!image) throw new Error("there is no such picture");
  image.dataset.came = "yes";
  image.dispatchEvent(new Event("load"));
}

test("while pictures keep coming, however slowly each, twenty-four are fetched at once", () => {
  const images = pictures(40);
  expect(asked(images)).toHaveLength(24);
  for (let came = 0; came < 10; came += 1) {
    vi.advanceTimersByTime(900);
    come(images[came]);
    expect(asked(images)).toHaveLength(24);
  }
});

test("while none comes four are fetched at once, and all again as soon as one has come", () => {
  const images = pictures(40);
  vi.advanceTimersByTime(1_000);
  expect(asked(images)).toEqual(images.slice(0, 4));
  // A picture that fails says nothing about the others.
  images[0]?.dispatchEvent(new Event("error"));
  expect(asked(images).filter((image) => image !== images[0])).toHaveLength(4);
  come(images[1]);
  // In their order: those requested before come first again.
  expect(asked(images).filter((image) => image !== images[0])).toEqual(images.slice(2, 26));
});

test("one that is just made is asked for when it is known to be near, in the order in which that is known", () => {
  const listeners: ((isNear: boolean) => void)[] = [];
  const images = pictures(3, (_, tell) => {
    listeners.push(tell);
    return () => undefined;
  });
  expect(asked(images)).toEqual([]);
  listeners[2]?.(true);
  listeners[0]?.(false);
  expect(asked(images)).toEqual([images[2]]);
});
