"use client";

import { useRouter } from "next/navigation";
import { useTranslations } from "next-intl";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { CONSOLE_UNREACHABLE } from "@/lib/browser/read-failure";
import { useCounts } from "./counts-context";

/**
 * For a link's `onNavigate`: while the console does not answer, the page stays as it is, since to follow the link would end on the browser's own
 * error page and lose what was typed. It asks first, as the console may be back.
 */
export function useStayWhenAway(): (event: { preventDefault: () => void }, href: string) => void {
  const t = useTranslations("frame");
  const { heard } = useCounts();
  const router = useRouter();
  return (event, href) => {
    if (heard !== CONSOLE_UNREACHABLE && navigator.onLine) return;
    event.preventDefault();
    void callApi("/api/health").then(({ ok }) => {
      if (ok) router.push(href);
      else showToast({ tone: "bad", text: t("away") });
    });
  };
}
