import { type ReactNode } from "react";
import { PageMessages } from "@/components/frame/page-header";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { withTimeout } from "@/lib/shared/async";
import { failed, ok, type Result } from "@/lib/shared/result";
import { decodePathParam, getTextParam, type SearchParams } from "./params";

type Namespace = Parameters<typeof pickMessages>[number];
type PageContext = Awaited<ReturnType<typeof openPage>>;
type PageUrl = {
  search: SearchParams;
  /** `?connection=`, if present. */
  connection: string | undefined;
  /** A decoded segment of the path. */
  getSegment: (name: string) => string;
};
type PageProps = { params: Promise<Record<string, string>>; searchParams: Promise<SearchParams> };

/** Creates a page with the messages of its screen. With `refuseEmbedded`, embedded sessions get a 404. */
export function createConsolePage(
  namespaces: readonly Namespace[],
  render: (context: PageContext, url: PageUrl) => ReactNode | Promise<ReactNode>,
  options?: { refuseEmbedded: true },
) {
  return async function ConsolePage({ params, searchParams }: PageProps) {
    const context = await openPage(options);
    const [pathSegments, search] = await Promise.all([params, searchParams]);
    const connection = getTextParam(search, "connection");
    const screen = await render(context, { search, connection, getSegment: (name) => decodePathParam(pathSegments[name] ?? "") });
    return <PageMessages messages={await pickMessages(...namespaces)}>{screen}</PageMessages>;
  };
}

/** Converts a result for the screen and adds its request time. The browser compares the time with its cached data and shows the newer one. */
export async function withRequestTime<Body, T, F>(
  pendingResult: Promise<Result<Body, F>>,
  toValue: (response: Body) => T,
): Promise<Result<{ value: T; atMs: number }, F>> {
  const atMs = Date.now();
  const result = await pendingResult;
  return result.ok ? ok({ value: toValue(result.value), atMs }) : failed(result.failure);
}

const MAX_WAIT_WITHOUT_SKELETON_MS = 100;

/**
 * Whether a read is fast enough to need no skeleton, so that its data is part of the first paint. With a skeleton, React shows the data
 * 300 ms later and hydrates it after that.
 */
export function resolvesWithoutSkeleton(pendingResult: Promise<unknown>): Promise<boolean> {
  return withTimeout(
    pendingResult.then(() => true),
    MAX_WAIT_WITHOUT_SKELETON_MS,
    () => false,
  );
}
