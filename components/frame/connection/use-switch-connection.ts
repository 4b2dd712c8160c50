import { useTranslations } from "next-intl";
import { usePathname, useRouter } from "@/components/ui/hooks/use-router";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";

/** Moves the member to another connection; answers the failure where that did not work. */
export function useSwitchConnection() {
  const t = useTranslations("frame.connection");
  const router = useRouter();
  const pathname = usePathname();
  return async ({ id, name }: { id: string; name: string }): Promise<ApiFailure | undefined> => {
    const result = await callApi(`/api/console/connections/${encodeURIComponent(id)}/use`, { method: "POST" });
    if (!result.ok) return result.failure;
    showToast({ tone: "ok", text: t("switched", { name }) });
    // A job or an asset of the old connection means nothing on the new one: up to its list.
    router.push(`/${pathname.split("/")[1] ?? ""}`);
    router.refresh();
    return undefined;
  };
}
