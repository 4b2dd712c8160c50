import { type ReactNode } from "react";
import { PageMessages } from "@/components/frame/page-header";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
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
