// @vitest-environment jsdom
import { renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { tellStored, useStoredAssets } from "@/components/frame/stored-assets";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("a list is read anew once for many files that are stored or described together, and again for a later one", () => {
  const refresh = vi.fn();
  renderHook(() => useStoredAssets(refresh));
  for (let count = 0; count < 300; count += 1) tellStored();
  vi.runAllTimers();
  expect(refresh).toHaveBeenCalledTimes(1);
  tellStored();
  vi.runAllTimers();
  expect(refresh).toHaveBeenCalledTimes(2);
});

it("a list that has left the screen is not read any more", () => {
  const refresh = vi.fn();
  const { unmount } = renderHook(() => useStoredAssets(refresh));
  tellStored();
  unmount();
  vi.runAllTimers();
  expect(refresh).not.toHaveBeenCalled();
});
