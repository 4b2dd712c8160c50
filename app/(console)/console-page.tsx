import { type ReactNode } from "react";
import { PageMessages } from "@/components/frame/page-header";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { withTimeout } from "@/lib/shared/async";
import { failed, ok, type Result } from "@/lib/shared/result";
import { pathParam, type SearchParams, textParam } from "./params";

type Namespace = Parameters<typeof pickMessages>[number];
type PageContext = Awaited<ReturnType<typeof openPage>>;
type PageAddress = {
  search: SearchParams;
  /** `?connection=`, if present. */
  connection: string | undefined;
  /** A decoded segment of the path. */
  segment: (name: string) => string;
};
type PageProps = { params: Promise<Record<string, string>>; searchParams: Promise<SearchParams> };

/** A page with the messages of its screen. `refuseEmbedded`: not found for embedded sessions. */
export function consolePage(
  namespaces: readonly Namespace[],
  render: (context: PageContext, address: PageAddress) => ReactNode | Promise<ReactNode>,
  options?: { refuseEmbedded: true },
) {
  return async function ConsolePage({ params, searchParams }: PageProps) {
    const context = await openPage(options);
    const [segments, search] = await Promise.all([params, searchParams]);
    const connection = textParam(search, "connection");
    const screen = await render(context, { search, connection, segment: (name) => pathParam(segments[name] ?? "") });
    return <PageMessages messages={await pickMessages(...namespaces)}>{screen}</PageMessages>;
  };
}

/** Converts a result for the screen and adds the time of its request. The browser shows the newer of this and its own. */
export async function withRequestTime<Answer, T, F>(
  pendingResult: Promise<Result<Answer, F>>,
  toValue: (response: Answer) => T,
): Promise<Result<{ value: T; atMs: number }, F>> {
  const atMs = Date.now();
  const result = await pendingResult;
  return result.ok ? ok({ value: toValue(result.value), atMs }) : failed(result.failure);
}

const MAX_UNNOTICED_WAIT_MS = 100;

/**
 * Whether a read is fast enough to need no skeleton. Its data is then part of the first paint. With a skeleton, React shows the data 300 ms
 * later and hydrates it after that.
 */
export function resolvesInTime(pendingResult: Promise<unknown>): Promise<boolean> {
  return withTimeout(
    pendingResult.then(() => true),
    MAX_UNNOTICED_WAIT_MS,
    () => false,
  );
}
