import { notFound } from "next/navigation";
import { createConsolePage } from "@/app/(console)/console-page";
import { ChooseScreen } from "@/components/embed/choose-screen";
import { createPageTitle } from "@/lib/server/i18n/messages";

export const generateMetadata = createPageTitle("embedding.choose.title");

export default createConsolePage(["embedding"], ({ viewer: { credential } }) => {
  // Sends the chosen asset to the host page, so it exists only in embedded sessions.
  return credential.kind === "embed" ? <ChooseScreen origin={credential.origin} /> : notFound();
});
