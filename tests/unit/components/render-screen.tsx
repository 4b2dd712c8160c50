// Renders whole screens, presses their buttons and reads their tables.
import { act, fireEvent, type RenderResult, screen } from "@testing-library/react";
import { type ReactNode, Suspense } from "react";
import { vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { type Language } from "@/lib/shared/languages";
import { ok } from "@/lib/shared/result";
import { createFakeRouter, PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "./render";

type ScreenOptions = {
  /** Without a connection, nothing is reloaded. Responses are cached by connection. */
  connectionId?: string;
  search?: string;
  router?: Partial<ReturnType<typeof createFakeRouter>>;
  locale?: Language;
};

/** Wraps a screen for `rerender`, which replaces the whole tree. */
export function wrapInScreen(children: ReactNode, { connectionId, search, router = createFakeRouter() }: ScreenOptions = {}): ReactNode {
  const connections = connectionId === undefined ? [] : [{ id: connectionId, name: "Studio", embedded: true }];
  return (
    <PageProvider router={router} search={new URLSearchParams(search)}>
      <ConnectionProvider currentId={connectionId} connections={connections}>
        <Suspense>{children}</Suspense>
      </ConnectionProvider>
    </PageProvider>
  );
}

export function renderScreen(children: ReactNode, options: ScreenOptions = {}): Promise<RenderResult> {
  return act(async () => renderInApp(wrapInScreen(children, options), options.locale));
}

/** jsdom has no media queries. */
export function stubScreenWidth(isWide: boolean): void {
  vi.stubGlobal("matchMedia", () => ({ matches: isWide, addEventListener: () => undefined, removeEventListener: () => undefined }));
}

export const createReadResult = <T,>(value: T) => Promise.resolve(ok({ value, atMs: Date.now() }));
export const press = (name: string | RegExp) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
export const advanceTime = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
export const getRowIds = () => [...document.querySelectorAll<HTMLElement>("tr[data-row]")].map(({ dataset }) => dataset.row);
