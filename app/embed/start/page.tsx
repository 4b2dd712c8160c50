import { notFound } from "next/navigation";
import { PageMessages } from "@/components/frame/page-messages";
import { StartScreen } from "@/components/embed/start-screen";
import { findHostHere } from "@/lib/server/embed/host-here";
import { pickMessages } from "@/lib/server/i18n/pick-messages";
import { textParam } from "@/app/(console)/params";

/** Before there is a session: the host page is asked for a ticket. */
export default async function StartPage({ searchParams }: PageProps<"/embed/start">) {
  const params = await searchParams;
  const host = await findHostHere();
  if (!host) return notFound();
  const origin = textParam(params, "origin");
  return (
    <PageMessages messages={await pickMessages("embedding")}>
      <StartScreen
        origins={host.origins.includes(origin ?? "") ? [origin ?? ""] : host.origins}
        from={textParam(params, "from") ?? "/"}
        hasEnded={params.ended !== undefined}
      />
    </PageMessages>
  );
}
