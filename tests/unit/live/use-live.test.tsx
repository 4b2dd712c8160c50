import { act, render, renderHook, screen, waitFor } from "@testing-library/react";
import { type PropsWithChildren } from "react";
import { SWRConfig } from "swr";
import { expect, it, vi } from "vitest";
import { type LiveMessage } from "@/lib/browser/live/live-tab";
import { liveModule, useLive } from "@/lib/browser/live/use-live";

const readValue = (value: { name: string }) => value;

function NameDisplay() {
  const { value, failure } = useLive("/api/jobs", { read: readValue });
  return <p>{failure?.code ?? value?.name ?? "loading"}</p>;
}

it("shows the first response when live updates fail before it arrives", async () => {
  let respond: (response: Response) => void = () => undefined;
  vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => (respond = resolve)));
  const receivers: ((message: LiveMessage<never>) => void)[] = [];
  vi.spyOn(liveModule, "load").mockResolvedValue({
    watchLive: (_, receive) => {
      receivers.push(receive);
      return () => undefined;
    },
    restartLive: () => undefined,
  });
  await act(async () =>
    render(
      <SWRConfig value={{ provider: () => new Map() }}>
        <NameDisplay />
      </SWRConfig>,
    ),
  );
  const sendFailure = (code: string) =>
    act(async () => receivers.forEach((receive) => receive({ failure: { code, message: "", status: 429 } })));
  await sendFailure("RATE_LIMITED");
  expect(screen.getByText("loading")).toBeDefined();
  await act(async () => respond(Response.json({ name: "first" })));
  expect(await screen.findByText("first")).toBeDefined();
  await sendFailure("RATE_LIMITED");
  expect(screen.getByText("RATE_LIMITED")).toBeDefined();
});

it("patches the newest value of the callback's own path", async () => {
  vi.stubGlobal("fetch", async (path: string) => Response.json({ name: path }));
  const wrapper = ({ children }: PropsWithChildren) => <SWRConfig value={{ provider: () => new Map() }}>{children}</SWRConfig>;
  const initialProps: { path: `/${string}` } = { path: "/api/a" };
  const { result, rerender } = renderHook(({ path }) => useLive(path, { read: readValue }), { wrapper, initialProps });
  const waitForName = (name: string) => waitFor(() => expect(result.current.value?.name).toBe(name));
  await waitForName("/api/a");
  const { patch } = result.current;
  rerender({ path: "/api/b" });
  await waitForName("/api/b");
  await act(async () => {
    for (const suffix of ["+", "!"]) patch(({ name }) => ({ name: name + suffix }));
  });
  expect(result.current.value?.name).toBe("/api/b");
  rerender({ path: "/api/a" });
  expect(result.current.value?.name).toBe("/api/a+!");
});
