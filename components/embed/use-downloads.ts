import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import { failureText } from "@/components/frame/failure/fault-owner";
import { showToast } from "@/components/ui/toast-store";
import { saveFile } from "@/lib/browser/files/save-file";
import { readFailure } from "@/lib/browser/read-answer";
import { failureOfThrown, isFailure } from "@/lib/browser/read-failure";
import { embedAddressOf } from "@/lib/shared/console-paths";

/** The browser would request a download outside the frame, without the page's cookie and token, so the page fetches the file itself. */
export function useDownloads(): void {
  const errors = useTranslations("errors");
  const save = useEffectEvent(async (href: string, name: string) => {
    try {
      const answer = await fetch(href);
      if (!answer.ok) throw readFailure(answer.status, answer.headers.get("retry-after"), await answer.text());
      saveFile(name || nameIn(answer.headers.get("content-disposition") ?? ""), await answer.blob());
    } catch (thrown) {
      const failure = isFailure(thrown) ? thrown : failureOfThrown(thrown);
      showToast({ tone: "bad", text: failureText(errors, failure) });
    }
  });
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest("a[download]") : null;
      if (event.defaultPrevented || !(link instanceof HTMLAnchorElement) || !embedAddressOf(link.pathname)) return;
      event.preventDefault();
      void save(link.href, link.download);
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
}

/** The file name from the console's header, which has it twice: in ASCII for simple programs, and in full. */
function nameIn(disposition: string): string {
  const [, whole] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? [];
  const [, plain] = /filename="([^"]*)"/i.exec(disposition) ?? [];
  return whole === undefined ? (plain ?? "") : decodeURIComponent(whole);
}
