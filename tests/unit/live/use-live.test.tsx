import { act, render, screen } from "@testing-library/react";
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
