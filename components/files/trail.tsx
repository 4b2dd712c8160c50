import { useTranslations } from "next-intl";
import { Fragment, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { FileName } from "@/components/ui/cut";
import { Link } from "@/components/ui/link";
import { type Crumb } from "./crumbs";

type TrailProps = { title: string; crumbs: readonly Crumb[]; hrefOf: (dir: string) => string };

/** Of a deep path the last folders are shown, as they tell best where one is. */
const SHOWN = 2;
const way = "rounded-sm font-normal text-ink-2 hover:text-ink";

/** The path of the list: each folder on the way is a link; if there are many, a button shows the rest. */
export function Trail({ title, crumbs, hrefOf }: TrailProps) {
  const t = useTranslations("files");
  const [isWhole, setWhole] = useState(false);
  const first = useRef<HTMLAnchorElement>(null);
  const hidden = isWhole || crumbs.length <= SHOWN + 1 ? 0 : crumbs.length - SHOWN;
  const current = crumbs.at(-1);
  if (!current) return title;
  function showWhole() {
    flushSync(() => setWhole(true));
    // The button disappears when clicked: the focus moves to what appears.
    first.current?.focus();
  }
  return (
    <span className="flex min-w-0 flex-wrap items-center">
      <Link href={hrefOf("/")} className={way}>
        {title}
      </Link>
      {hidden > 0 ? (
        <>
          <Slash />
          <button type="button" aria-label={t("wholeTrail", { count: hidden })} onClick={showWhole} className={`${way} px-1`}>
            …
          </button>
        </>
      ) : null}
      {crumbs.slice(hidden, -1).map(({ name, dir }, at) => (
        <Fragment key={dir}>
          <Slash />
          <Link ref={at === 0 ? first : undefined} href={hrefOf(dir)} title={dir} className={`${way} max-w-48 truncate max-sm:max-w-28`}>
            <FileName name={name} />
          </Link>
        </Fragment>
      ))}
      <Slash />
      <span title={current.dir} className="max-w-[min(28rem,75vw)] truncate">
        <FileName name={current.name} />
      </span>
    </span>
  );
}

function Slash() {
  return (
    <span aria-hidden="true" className="mx-1.5 font-normal text-ink-3">
      /
    </span>
  );
}
