// @vitest-environment jsdom
import { act, cleanup, renderHook, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { announceAnswer } from "@/lib/browser/api";

afterEach(cleanup);
afterEach(() => vi.unstubAllGlobals());

const hasIn = (answers: Readonly<Record<string, boolean | null>>) =>
  vi.stubGlobal("fetch", async (path: string) => {
    const connection = new URL(path, "http://console").searchParams.get("connection") ?? "";
    return connection in answers ? Response.json({ "assets.edit": answers[connection] }) : new Promise(() => undefined);
  });
const shown = (first: string) =>
  renderHook(({ connection }) => useCapabilities(connection, ["assets.edit"]), { initialProps: { connection: first } });

it("what one service has is never taken for what another has, also while that one is asked", async () => {
  hasIn({ whole: true });
  const { result, rerender } = shown("whole");
  expect(result.current.has("assets.edit")).toBeUndefined();
  await waitFor(() => expect(result.current.has("assets.edit")).toBe(true));
  rerender({ connection: "silent" });
  expect([result.current.has("assets.edit"), result.current.isAsking]).toEqual([undefined, true]);
});

it("a refusal that says that it is absent takes it away from all that show it, and no other refusal does", async () => {
  hasIn({ older: true, unknown: null });
  const [one, other] = [shown("older"), shown("older")];
  await waitFor(() => expect(one.result.current.has("assets.edit")).toBe(true));
  const refuse = (code: string, status: number, connection: string) => {
    const failure = { code, message: "", status, details: { capability: "assets.edit" } };
    act(() => announceAnswer({ path: `/api/assets/a?connection=${connection}`, method: "PUT", status, failure }));
  };
  refuse("NOT_FOUND", 404, "older");
  refuse("NOT_IMPLEMENTED", 501, "another");
  expect(one.result.current.has("assets.edit")).toBe(true);
  refuse("NOT_IMPLEMENTED", 501, "older");
  for (const { result } of [one, other])
    expect([result.current.has("assets.edit"), result.current.isRefused("assets.edit")]).toEqual([false, true]);
  const unknown = shown("unknown");
  await waitFor(() => expect(unknown.result.current.isAsking).toBe(false));
  expect(unknown.result.current.has("assets.edit")).toBeUndefined();
});
