// Observers that run inside the measured page and are read by the bench. The functions are sent to the page as text, so they may only
// use globals of the page.
declare global {
  interface Window {
    bench: {
      lcpMs: number;
      shift: number;
      fcpMs: number;
      longTasks: { atMs: number; ms: number }[];
      presses: { name: string; ms: number }[];
      frames: number[];
      pressResponseMs: Promise<number>;
      /** The time of the mouse press. */
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
    pressResponseMs: Promise.resolve(0),
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

/** Measures from the mouse event to the end of the frame that first shows `selector`, which must not exist yet. */
export function watchPressResponse(selector: string): void {
  window.bench.presses = [];
  window.bench.pressResponseMs = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`the page did not respond to a press within 20 s: ${selector}`)), 20_000);
    const onClick = (event: MouseEvent) => {
      window.bench.pressedAtMs = event.timeStamp;
      const checkFrame = () => {
        if (!document.querySelector(selector)) return requestAnimationFrame(checkFrame);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now() - event.timeStamp);
        // After the frame's style, layout and paint.
        return port2.postMessage(undefined);
      };
      requestAnimationFrame(checkFrame);
    };
    window.addEventListener("click", onClick, { capture: true, once: true });
  });
}

/**
 * Presses "select all" once rows exist and React handles the checkbox, and retries until it is checked. `bench.pressResponseMs` resolves at
 * the end of the frame that shows the selected rows.
 */
export function pressWhenReady(): void {
  const RETRY_MS = 200;
  window.bench.pressResponseMs = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("the page did not respond to any press within 120 s")), 120_000);
    const isHandled = (element: Element) => Object.keys(element).some((name) => name.startsWith("__reactProps"));
    let pressedAtMs = -Infinity;
    const checkFrame = () => {
      if (document.querySelector("tr[data-row] input:checked")) {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now());
        return port2.postMessage(undefined);
      }
      const checkbox = document.querySelector<HTMLInputElement>("th input[type=checkbox]");
      const isDue = performance.now() - pressedAtMs > RETRY_MS;
      if (isDue && checkbox && !checkbox.checked && isHandled(checkbox) && document.querySelector("tr[data-row] .row-link")) {
        pressedAtMs = performance.now();
        checkbox.click();
      }
      requestAnimationFrame(checkFrame);
    };
    requestAnimationFrame(checkFrame);
  });
}

/** Returns the milliseconds from the press until the requested list is complete, or false before that. */
export function getArrivalMs(marker: string): number | false {
  const isShown = window.location.search.includes(marker) && !document.querySelector("main [aria-busy]");
  return isShown && performance.now() - window.bench.pressedAtMs;
}

/** Counts frames until `bench.frames` is replaced. */
export function countFrames(): void {
  const frames: number[] = [];
  window.bench.frames = frames;
  window.bench.longTasks = [];
  const countFrame = (atMs: number) => {
    frames.push(atMs);
    if (window.bench.frames === frames) requestAnimationFrame(countFrame);
  };
  requestAnimationFrame(countFrame);
}

/** Returns the time at which rows fill the view below the table's header, or false before that. */
export function getViewFullMs(): number | false {
  const headPx = document.querySelector("thead")?.getBoundingClientRect().bottom ?? 0;
  const isVisible = (row: Element) => row.getBoundingClientRect().bottom > headPx && row.getBoundingClientRect().top < window.innerHeight;
  const hasPlaceholder = [...document.querySelectorAll("tr.light-rows")].some(isVisible);
  return !hasPlaceholder && [...document.querySelectorAll("tr[data-row]")].some(isVisible) && performance.now();
}
