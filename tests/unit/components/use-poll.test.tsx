// @vitest-environment jsdom
// The test controls the clock: it asserts when a page sends requests, not how fast anything is.
import { act, cleanup, render, screen } from "@testing-library/react";
import { SWRConfig } from "swr";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BUSY_MS, IDLE_MS, type Motion } from "@/lib/browser/poll/poll-plan";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { type Failure } from "@/lib/contract/failure";

type Answer = { count: number; motion: Motion };
const read = (answer: Answer) => answer;
const motionOf = ({ motion }: Answer) => motion;

type ShownProps = { name: string; path?: `/${string}`; isAskedAnew?: boolean; initialFailure?: Failure };
function Shown({ name, path = "/api/jobs", isAskedAnew, initialFailure }: ShownProps) {
  const { value, failure, atMs, refresh } = usePoll<Answer, Answer>(path, { read, motion: motionOf, isAskedAnew, initialFailure });
  return (
    <>
      <p aria-label={name}>
        {value?.count ?? "nothing"} {failure?.code ?? "fine"} {atMs ?? "never"}
      </p>
      <button type="button" onClick={() => void refresh()}>
        {name} again
      </button>
    </>
  );
}

let asked: number[] = [];
let answer: () => Response | Promise<Response>;
let visibility: DocumentVisibilityState = "visible";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  asked = [];
  visibility = "visible";
  vi.spyOn(document, "visibilityState", "get").mockImplementation(() => visibility);
  vi.stubGlobal("fetch", async () => {
    asked.push(Date.now());
    return answer();
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const says =
  (motion: Motion, count = 1) =>
  () =>
    Response.json({ count, motion });
const text = (name: string) => screen.getByLabelText(name).textContent;
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

async function show(...names: string[]) {
  render(
    <SWRConfig value={{ provider: () => new Map() }}>
      {names.map((name) => (
        <Shown key={name} name={name} />
      ))}
    </SWRConfig>,
  );
  await pass(50);
}
/** The number of requests within that time. */
async function callsIn(ms: number): Promise<number> {
  const before = asked.length;
  await pass(ms);
  return asked.length - before;
}
async function become(state: DocumentVisibilityState) {
  visibility = state;
  await act(async () => void document.dispatchEvent(new Event("visibilitychange")));
  await pass(50);
}

describe("a page", () => {
  it("asks quickly while something moves, slowly while nothing does, and no more once nothing can change", async () => {
    answer = says("moving");
    await show("a");
    expect(await callsIn(BUSY_MS * 8)).toBe(8);
    answer = says("still");
    await pass(BUSY_MS);
    expect(await callsIn(IDLE_MS * 4)).toBe(4);
    answer = says("final");
    await pass(IDLE_MS);
    expect(await callsIn(600_000)).toBe(0);
  });

  it("that comes back to a question shows the earlier answer, and asks again at once", async () => {
    const provider = () => cache;
    const cache = new Map();
    const at = (path: `/${string}`) => (
      <SWRConfig value={{ provider }}>
        <Shown name="a" path={path} isAskedAnew />
      </SWRConfig>
    );
    answer = says("still", 1);
    const { rerender } = render(at("/api/jobs"));
    await pass(700);
    answer = says("still", 2);
    rerender(at("/api/jobs?status=failed"));
    expect(text("a")).toMatch(/^nothing fine/);
    await pass(700);
    expect(text("a")).toMatch(/^2 fine/);
    answer = says("still", 3);
    rerender(at("/api/jobs"));
    expect(text("a")).toMatch(/^1 fine/);
    await pass(50);
    expect(text("a")).toMatch(/^3 fine/);
  });

  it("asks once for a query, however many parts show it and whenever each of them came", async () => {
    answer = says("moving");
    const { rerender } = render(<Several count={1} />);
    await pass(700);
    rerender(<Several count={2} />);
    await pass(600);
    rerender(<Several count={3} />);
    await pass(BUSY_MS);
    expect(await callsIn(BUSY_MS * 8)).toBeLessThanOrEqual(8);
    answer = says("still", 2);
    await pass(BUSY_MS * 2);
    expect(["0", "1", "2"].map(text)).toEqual(Array(3).fill(text("0")));
    expect(text("0")).toMatch(/^2 fine/);
    expect(await callsIn(IDLE_MS * 5)).toBeLessThanOrEqual(5);
  });

  it("asks nothing while it is hidden, failing or not, and at once when somebody looks again", async () => {
    answer = says("moving");
    await show("a");
    await become("hidden");
    expect(await callsIn(300_000)).toBe(0);
    expect(await callsOf(() => become("visible"))).toBe(1);
    answer = () => new Response("", { status: 503 });
    await pass(BUSY_MS);
    await become("hidden");
    expect(await callsIn(300_000)).toBe(0);
    answer = says("moving", 5);
    expect(await callsOf(() => become("visible"))).toBe(1);
    expect(text("a")).toMatch(/^5 fine/);
  });

  it("asks although the browser says that there is no network, since that is where the reason comes from", async () => {
    const stub = vi.spyOn(navigator, "onLine", "get").mockReturnValue(false);
    answer = says("moving", 1);
    await show("a");
    expect(await callsIn(BUSY_MS)).toBe(1);
    stub.mockRestore();
  });

  it("waits longer after each failure in a row, keeps what it had with its age, and asks at once when the network is back", async () => {
    answer = says("moving", 3);
    await show("a");
    const answeredMs = asked[0];
    answer = () => {
      throw new TypeError("no network");
    };
    await pass(BUSY_MS);
    const from = asked.length;
    await pass(200_000);
    const waits = asked.slice(from - 1).map((at, index, all) => (all[index + 1] ?? at) - at);
    expect(waits.slice(0, 4)).toEqual([BUSY_MS, BUSY_MS * 2, BUSY_MS * 4, 10_000]);
    expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
    expect(text("a")).toBe(`3 CONSOLE_UNREACHABLE ${answeredMs}`);
    answer = says("moving", 4);
    const calls = await callsOf(async () => {
      await act(async () => void window.dispatchEvent(new Event("online")));
      await pass(50);
    });
    expect(calls).toBe(1);
    expect(text("a")).toMatch(/^4 fine/);
  });

  it("keeps to the wait that a service names", async () => {
    answer = says("moving");
    await show("a");
    answer = () => new Response("{}", { status: 429, headers: { "retry-after": "40" } });
    await pass(BUSY_MS);
    expect(await callsIn(39_000)).toBe(0);
    answer = says("moving", 9);
    expect(await callsIn(1_100)).toBe(1);
    expect(text("a")).toMatch(/^9 fine/);
  });

  it("keeps to it although an earlier failure would have asked sooner, and although somebody comes back", async () => {
    answer = () => new Response("", { status: 503 });
    await show("a", "b");
    await pass(BUSY_MS * 7);
    const from = asked.length;
    // A retry after the fourth failure is pending when the answer to a fifth request asks to wait longer.
    answer = () => new Response("{}", { status: 429, headers: { "retry-after": "40" } });
    const comeBack = async () => {
      await act(async () => void window.dispatchEvent(new Event("online")));
      await pass(50);
    };
    await comeBack();
    expect(asked.length - from).toBe(1);
    await pass(10_000);
    await comeBack();
    expect(await callsIn(29_000)).toBe(0);
    answer = says("moving", 9);
    expect(await callsIn(1_000)).toBe(1);
    expect(text("a")).toMatch(/^9 fine/);
  });

  it("asks at once for whoever presses, although a service asked to wait", async () => {
    answer = () => new Response("{}", { status: 429, headers: { "retry-after": "40" } });
    await show("a");
    await pass(5_000);
    answer = says("still", 7);
    expect(await callsOf(async () => press("a again"))).toBe(1);
    expect(text("a")).toMatch(/^7 fine/);
    expect(await callsIn(IDLE_MS * 6)).toBe(6);
  });

  it("asks no faster for the failures that somebody who comes back has met", async () => {
    answer = () => new Response("", { status: 503 });
    await show("a");
    for (let time = 0; time < 4; time += 1) {
      await pass(600);
      await act(async () => void window.dispatchEvent(new Event("online")));
    }
    await pass(60_000);
    expect(await callsIn(600_000)).toBeLessThanOrEqual(61);
  });

  it.each([400, 401, 402, 403, 404, 409, 422, 500])("that is refused with %i recovers by itself within ten seconds", async (status) => {
    answer = says("still", 1);
    await show("a");
    answer = () => new Response("{}", { status });
    await pass(IDLE_MS + 100_000);
    answer = says("still", 2);
    await pass(10_000);
    expect(text("a")).toMatch(/^2 fine/);
  });

  it("that the server could not render for a lasting reason recovers too", async () => {
    answer = says("still", 5);
    const failure = { code: "UPSTREAM_NOT_FOUND", message: "", status: 404 };
    render(
      <SWRConfig value={{ provider: () => new Map() }}>
        <Shown name="a" initialFailure={failure} />
      </SWRConfig>,
    );
    await pass(BUSY_MS);
    expect(text("a")).toMatch(/^5 fine/);
  });

  it("wakes all that wait for a connection with the first success, and only those", async () => {
    answer = () => new Response("", { status: 503 });
    render(
      <SWRConfig value={{ provider: () => new Map() }}>
        <Shown name="a" path="/api/jobs?connection=one" />
        <Shown name="b" path="/api/queue?connection=one" />
        <Shown name="c" path="/api/queue?connection=two" />
      </SWRConfig>,
    );
    await pass(60_000);
    answer = says("final", 3);
    const calls = await callsOf(async () => press("a again"));
    expect(calls).toBe(2);
    expect(text("b")).toMatch(/^3 fine/);
    expect(text("c")).toMatch(/^nothing/);
  });

  it("asks at once when the machine wakes, once for all parts that show it", async () => {
    answer = says("still");
    await show("a", "b");
    await pass(IDLE_MS);
    // An hour passes in which no timer runs, as in sleep.
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await callsIn(2_000)).toBe(1);
  });
});

function Several({ count }: { count: number }) {
  return (
    <SWRConfig value={sameCache}>
      {Array.from({ length: count }, (_, index) => (
        <Shown key={index} name={String(index)} path="/api/several" />
      ))}
    </SWRConfig>
  );
}
const cache = new Map();
const sameCache = { provider: () => cache };

async function press(name: string): Promise<void> {
  await act(async () => screen.getByRole("button", { name }).click());
  await pass(50);
}

async function callsOf(what: () => Promise<void>): Promise<number> {
  const before = asked.length;
  await what();
  return asked.length - before;
}
