// @vitest-environment jsdom
// The assets page opened while the service could not answer: the list loads by itself once it can.
import { act, cleanup, renderHook } from "@testing-library/react";
import { createElement, type ReactNode } from "react";
import { SWRConfig } from "swr";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useEndless } from "@/components/assets/wall/use-endless";
import { assetsQuerySchema } from "@/lib/contract/schemas/asset";

let isOut = true;
beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  isOut = true;
  vi.stubGlobal("fetch", async () =>
    isOut
      ? Response.json({ code: "SERVICE_UNAVAILABLE", message: "" }, { status: 503 })
      : Response.json({ assets: [{ id: "a", name: "a.png", tags: [] }], total: 1, has_more: false }),
  );
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const wrapper = ({ children }: { children: ReactNode }) => createElement(SWRConfig, { value: { provider: () => new Map() } }, children);

it.each([0, 60])("a list that was opened at %i during an outage is there within ten seconds of its end", async (offset) => {
  const query = assetsQuerySchema.parse({ offset: String(offset), name_contains: `outage ${offset}` });
  const first = { ok: false, failure: { code: "SERVICE_UNAVAILABLE", message: "", status: 503 } } as const;
  const { result } = renderHook(() => useEndless({ query, connectionId: "one", first, isOn: true }), { wrapper });
  await act(() => vi.advanceTimersByTimeAsync(100_000));
  expect(result.current.failure?.code).toBe("SERVICE_UNAVAILABLE");
  isOut = false;
  await act(() => vi.advanceTimersByTimeAsync(10_500));
  expect(result.current.failure).toBeUndefined();
  expect(result.current.at(0)?.name).toBe("a.png");
});
