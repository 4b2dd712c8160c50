import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";

type More<T> = { path: string; items: readonly T[]; next?: string; isBusy?: boolean; failure?: ApiFailure };

/** Loads the pages after a list's first page, and renders the button for it. `next`: where the first page ended. */
export function useMore<Answer extends { next?: string }, T>(
  path: `/${string}`,
  next: string | undefined,
  itemsIn: (answer: Answer) => readonly T[],
): { items: readonly T[]; button: ReactNode } {
  const t = useTranslations("apps");
  const [known, setKnown] = useState<More<T>>({ path, items: [] });
  const more: More<T> = known.path === path ? known : { path, items: [] };
  const after = more.items.length > 0 ? more.next : next;
  async function ask() {
    if (after === undefined || more.isBusy) return;
    setKnown({ ...more, isBusy: true, failure: undefined });
    const address: `/${string}` = `${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(after)}`;
    const answer = await callApi<Answer>(address);
    setKnown((now) => {
      if (now.path !== path) return now;
      if (!answer.ok) return { ...now, isBusy: false, failure: answer.failure };
      return { path, items: [...now.items, ...itemsIn(answer.value)], next: answer.value.next };
    });
  }
  const button =
    after === undefined ? null : (
      <div className="flex flex-col items-center gap-2 px-4 pb-4">
        {more.failure ? <FailureMessage failure={more.failure} onRetry={() => void ask()} /> : null}
        <Button busy={more.isBusy} onClick={() => void ask()}>
          {t("more")}
        </Button>
      </div>
    );
  return { items: more.items, button };
}
