// Code that runs inside the measured page: the browser's own observers, read by the bench. Functions here are sent to the page as text,
// so they use only what the page has.
declare global {
  interface Window {
    bench: {
      lcpMs: number;
      shift: number;
      fcpMs: number;
      longTasks: { atMs: number; ms: number }[];
      presses: { name: string; ms: number }[];
      frames: number[];
      pressAnsweredMs: Promise<number>;
      /** When the mouse was pressed. */
      pressedAtMs: number;
    };
  }
}

/** Runs before any script of the page. */
export function watchPage(): void {
  const bench: Window["bench"] = {
    lcpMs: 0,
    shift: 0,
    fcpMs: 0,
    longTasks: [],
    presses: [],
    frames: [],
    pressAnsweredMs: Promise.resolve(0),
    pressedAtMs: NaN,
  };
  window.bench = bench;
  const observe = (type: string, read: (entry: PerformanceEntry) => void, extra: object = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(read)).observe({ type, buffered: true, ...extra });
  observe("largest-contentful-paint", (entry) => (bench.lcpMs = entry.startTime));
  observe("paint", (entry) => {
    if (entry.name === "first-contentful-paint") bench.fcpMs = entry.startTime;
  });
  observe("layout-shift", (entry) => {
    if (!Reflect.get(entry, "hadRecentInput")) bench.shift += Number(Reflect.get(entry, "value"));
  });
  observe("longtask", (entry) => bench.longTasks.push({ atMs: entry.startTime, ms: entry.duration }));
  observe("event", (entry) => bench.presses.push({ name: entry.name, ms: entry.duration }), { durationThreshold: 16 });
}

/** From the mouse event's time to the end of the frame that first shows `selector`, which must not exist yet. */
export function awaitAnswer(selector: string): void {
  window.bench.presses = [];
  window.bench.pressAnsweredMs = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`no answer to a press: ${selector}`)), 20_000);
    const onClick = (event: MouseEvent) => {
      window.bench.pressedAtMs = event.timeStamp;
      const look = () => {
        if (!document.querySelector(selector)) return requestAnimationFrame(look);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now() - event.timeStamp);
        // After the frame's style, layout and paint.
        return port2.postMessage(undefined);
      };
      requestAnimationFrame(look);
    };
    window.addEventListener("click", onClick, { capture: true, once: true });
  });
}

/**
 * Presses "select all" as soon as rows are there and React handles the box, again while nothing reacts; `bench.answered` resolves at the
 * end of the frame that shows the rows selected.
 */
export function pressWhenReady(): void {
  const AGAIN_MS = 200;
  window.bench.pressAnsweredMs = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("no press was answered")), 120_000);
    const isTaken = (element: Element) => Object.keys(element).some((name) => name.startsWith("__reactProps"));
    let pressedAtMs = -Infinity;
    const look = () => {
      if (document.querySelector("tr[data-row] input:checked")) {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now());
        return port2.postMessage(undefined);
      }
      const box = document.querySelector<HTMLInputElement>("th input[type=checkbox]");
      const isDue = performance.now() - pressedAtMs > AGAIN_MS;
      if (isDue && box && !box.checked && isTaken(box) && document.querySelector("tr[data-row] .row-link")) {
        pressedAtMs = performance.now();
        box.click();
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

/** Milliseconds from the press until the requested list is complete; false before that. */
export function hasArrived(marker: string): number | false {
  const isShown = window.location.search.includes(marker) && !document.querySelector("main [aria-busy]");
  return isShown && performance.now() - window.bench.pressedAtMs;
}

/** Counts frames until `bench.frames` is replaced. */
export function countFrames(): void {
  const frames: number[] = [];
  window.bench.frames = frames;
  window.bench.longTasks = [];
  const next = (atMs: number) => {
    frames.push(atMs);
    if (window.bench.frames === frames) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

/** The time at which rows fill everything between the table's header and the edge of the page; false before that. */
export function isViewFull(): number | false {
  const headPx = document.querySelector("thead")?.getBoundingClientRect().bottom ?? 0;
  const isVisible = (row: Element) => row.getBoundingClientRect().bottom > headPx && row.getBoundingClientRect().top < window.innerHeight;
  const isCut = [...document.querySelectorAll("tr.light-rows")].some(isVisible);
  return !isCut && [...document.querySelectorAll("tr[data-row]")].some(isVisible) && performance.now();
}
