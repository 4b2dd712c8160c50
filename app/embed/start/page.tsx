import { headers } from "next/headers";
import { notFound, redirect } from "next/navigation";
import { getTextParam } from "@/app/(console)/params";
import { StartScreen } from "@/components/embed/start-screen";
import { PageMessages } from "@/components/frame/page-header";
import { endReasons, isEmbedUrl, isFileUrl } from "@/lib/browser/embed/host-page";
import { readViewer } from "@/lib/server/auth/viewer";
import { findCurrentEmbedHost, openPublicPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";

/** Requests a ticket from the host page before there is a session. */
export default async function StartPage({ searchParams }: PageProps<"/embed/start">) {
  const params = await searchParams;
  const host = await findCurrentEmbedHost();
  if (!host) return notFound();
  const returnPath = getTextParam(params, "from") ?? "/";
  if ((isEmbedUrl(returnPath) || isFileUrl(returnPath)) && (await isOpenedInOwnTab())) redirect(returnPath);
  const origin = getTextParam(params, "origin");
  return (
    <PageMessages messages={await pickMessages("embedding")}>
      <StartScreen
        origins={host.origins.includes(origin ?? "") ? [origin ?? ""] : host.origins}
        from={returnPath}
        endReason={endReasons.find((reason) => reason === params.ended)}
      />
    </PageMessages>
  );
}

/** Whether a signed-in member opened an embedded link in its own tab, which then shows the same page unframed. */
async function isOpenedInOwnTab(): Promise<boolean> {
  const requestHeaders = new Headers(await headers());
  requestHeaders.delete(EMBED_PATH_HEADER);
  return (
    requestHeaders.get("sec-fetch-dest") === "document" &&
    (await readViewer(await openPublicPage(), requestHeaders))?.credential.kind === "session"
  );
}
