import { useTranslations } from "next-intl";
import { usePathname, useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";

/** Switches the member to another connection; returns the failure, if any. */
export function useSwitchConnection() {
  const t = useTranslations("frame.connection");
  const router = useRouter();
  const pathname = usePathname();
  return async ({ id, name }: { id: string; name: string }): Promise<ApiFailure | undefined> => {
    const result = await callApi(`/api/console/connections/${encodeURIComponent(id)}/use`, { method: "POST" });
    if (!result.ok) return result.failure;
    showToast({ tone: "ok", text: t("switched", { name }) });
    // A job or an asset of the old connection does not exist on the new one: goes up to the list.
    router.push(`/${pathname.split("/")[1] ?? ""}`);
    router.refresh();
    return undefined;
  };
}
