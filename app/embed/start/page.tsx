import { headers } from "next/headers";
import { notFound, redirect } from "next/navigation";
import { textParam } from "@/app/(console)/params";
import { StartScreen } from "@/components/embed/start-screen";
import { PageMessages } from "@/components/frame/page-header";
import { endReasons, isEmbedUrl, isFileUrl } from "@/lib/browser/embed/host-page";
import { readViewer } from "@/lib/server/auth/viewer";
import { findCurrentHost, openVisitorPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";

/** Requests a ticket from the host page before there is a session. */
export default async function StartPage({ searchParams }: PageProps<"/embed/start">) {
  const params = await searchParams;
  const host = await findCurrentHost();
  if (!host) return notFound();
  const from = textParam(params, "from") ?? "/";
  if ((isEmbedUrl(from) || isFileUrl(from)) && (await isOwnTab())) redirect(from);
  const origin = textParam(params, "origin");
  return (
    <PageMessages messages={await pickMessages("embedding")}>
      <StartScreen
        origins={host.origins.includes(origin ?? "") ? [origin ?? ""] : host.origins}
        from={from}
        ended={endReasons.find((reason) => reason === params.ended)}
      />
    </PageMessages>
  );
}

/** In its own tab, an embedded link shows a signed-in member the same page. */
async function isOwnTab(): Promise<boolean> {
  const requestHeaders = new Headers(await headers());
  requestHeaders.delete(EMBED_PATH_HEADER);
  return (
    requestHeaders.get("sec-fetch-dest") === "document" &&
    (await readViewer(await openVisitorPage(), requestHeaders))?.credential.kind === "session"
  );
}
