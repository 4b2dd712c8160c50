import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";

type More<T> = { path: string; items: readonly T[]; next?: string; isBusy?: boolean; failure?: ApiFailure };

/** Loads further pages of a list, and renders the button for it. `next`: the cursor of the first page. */
export function useMore<Answer extends { next?: string }, T>(
  path: `/${string}`,
  next: string | undefined,
  getItems: (response: Answer) => readonly T[],
): { items: readonly T[]; button: ReactNode } {
  const t = useTranslations("apps");
  const [pages, setPages] = useState<More<T>>({ path, items: [] });
  const currentPages: More<T> = pages.path === path ? pages : { path, items: [] };
  const cursor = currentPages.items.length > 0 ? currentPages.next : next;
  async function loadMore() {
    if (cursor === undefined || currentPages.isBusy) return;
    setPages({ ...currentPages, isBusy: true, failure: undefined });
    const pagePath: `/${string}` = `${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(cursor)}`;
    const result = await callApi<Answer>(pagePath);
    setPages((current) => {
      if (current.path !== path) return current;
      if (!result.ok) return { ...current, isBusy: false, failure: result.failure };
      return { path, items: [...current.items, ...getItems(result.value)], next: result.value.next };
    });
  }
  const button =
    cursor === undefined ? null : (
      <div className="flex flex-col items-center gap-2 px-4 pb-4">
        {currentPages.failure ? <FailureMessage failure={currentPages.failure} onRetry={() => void loadMore()} /> : null}
        <Button busy={currentPages.isBusy} onClick={() => void loadMore()}>
          {t("more")}
        </Button>
      </div>
    );
  return { items: currentPages.items, button };
}
