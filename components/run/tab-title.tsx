import { useTranslations } from "next-intl";
import { useEffect, useRef } from "react";

/**
 * Names the tab after its workflow, so that several tabs have different titles. A browser shows the first title in the head; the page has
 * another one there, which may appear or change at any time, so that neither ever overwrites the other.
 */
export function TabTitle({ name }: { name: string }) {
  const t = useTranslations("run");
  const product = useTranslations("frame")("product");
  const own = useRef<HTMLTitleElement>(null);
  useEffect(() => {
    const lead = () => {
      const first = document.head.querySelector("title");
      if (own.current && first && first !== own.current) first.before(own.current);
    };
    lead();
    const titles = new MutationObserver(lead);
    titles.observe(document.head, { childList: true });
    return () => titles.disconnect();
  }, []);
  return <title ref={own}>{`${name} · ${t("title")} · ${product}`}</title>;
}
