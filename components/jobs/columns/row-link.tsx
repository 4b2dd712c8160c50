import { useTranslations } from "next-intl";
import { type MouseEvent, type ReactNode, useCallback } from "react";
import { useCopy } from "@/components/ui/hooks/use-copy";
import { DisabledLink, useRouter } from "@/components/ui/link";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";

/** `linked`: `?connection=` of the page's own address. */
const pageOf = (id: string, linked: string | undefined) => withQuery(`/jobs/${encodeURIComponent(id)}`, { connection: linked });

/** The URL of a row's links. Undefined if the service's id can't be part of a URL. */
export function rowHref(id: string, linked: string | undefined): string | undefined {
  return isAddressableId(id) ? apiPath(pageOf(id, linked)) : undefined;
}

/** Plain links: `useRowClick` is the only listener for all rows. Without `href`, the row shows the reason in `cannotOpen`. */
export function rowLink(id: string, href: string | undefined, cannotOpen: string): ReactNode {
  if (href === undefined)
    return (
      <DisabledLink reason={cannotOpen} className="row-link">
        {id.slice(0, 8)}
      </DisabledLink>
    );
  return (
    <a href={href} title={id} className="row-link">
      {id.slice(0, 8)}
    </a>
  );
}

/** Cells with a tooltip of their own link to the row's page as well. */
export function rowPart(href: string | undefined, children: ReactNode, className?: string, title?: string): ReactNode {
  if (href === undefined)
    return (
      <span title={title} className={className}>
        {children}
      </span>
    );
  return (
    <a href={href} tabIndex={-1} title={title} className={className}>
      {children}
    </a>
  );
}

/** Copies the id of its row. The stylesheet draws the icon, in the one row that shows it. */
export function copyButton(label: string): ReactNode {
  return <button type="button" data-copies="" aria-label={label} className="copy" />;
}

const controls = "button, input, label, select, textarea";
const isPlain = (event: MouseEvent) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
const isForTab = (event: MouseEvent) => event.button === 1 || (event.button === 0 && (event.metaKey || event.ctrlKey));

/** A click in a row opens its job beside the list if `onOpen` finds room, otherwise its page; a click for another tab opens it there. */
export function useRowClick(linked: string | undefined, onOpen?: (id: string) => boolean): (event: MouseEvent<HTMLElement>) => void {
  const router = useRouter();
  const t = useTranslations("common");
  const copy = useCopy();
  return useCallback(
    (event) => {
      const target = event.target instanceof Element ? event.target : undefined;
      const id = target?.closest("tr")?.dataset.row;
      if (!target || id === undefined || event.defaultPrevented) return;
      if (target.closest("[data-copies]")) return void copy(id, t("copied"));
      if (target.closest(controls) || !isAddressableId(id)) return;
      const isLink = target.closest("a") !== null;
      if (isPlain(event)) {
        // Selecting text to copy it is no click.
        if (!isLink && window.getSelection()?.isCollapsed === false) return;
        event.preventDefault();
        // The second click of a double click would hit this row, which is open by now, or a dialog that has gone.
        if (event.detail > 1) return;
        if (!onOpen?.(id)) router.push(pageOf(id, linked));
      } else if (!isLink && isForTab(event)) {
        window.open(apiPath(pageOf(id, linked)), "_blank", "noopener");
      }
    },
    [router, linked, onOpen, copy, t],
  );
}
