import { type ComponentType } from "react";
import { PageMessages } from "@/components/frame/page-header";
import { pickMessages } from "@/lib/server/i18n/messages";

/** What loading.tsx exports: a page's skeleton with its messages. */
export function loadingPage(namespace: Parameters<typeof pickMessages>[number], Skeleton: ComponentType) {
  return async function Loading() {
    return (
      <PageMessages messages={await pickMessages(namespace)}>
        <Skeleton />
      </PageMessages>
    );
  };
}
