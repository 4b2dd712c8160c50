import Link from "next/link";
import { type Crumb } from "./crumbs";

type TrailProps = { title: string; crumbs: readonly Crumb[]; hrefOf: (dir: string) => string };

/** Where the list stands: each folder on the way leads back to itself. */
export function Trail({ title, crumbs, hrefOf }: TrailProps) {
  const ways = [{ name: title, dir: "/" }, ...crumbs];
  return ways.map(({ name, dir }, index) =>
    index === ways.length - 1 ? (
      <span key={dir}>{name}</span>
    ) : (
      <span key={dir}>
        <Link href={hrefOf(dir)} className="rounded-sm font-normal text-ink-2 hover:text-ink">
          {name}
        </Link>
        <span aria-hidden="true" className="mx-1.5 font-normal text-ink-3">
          /
        </span>
      </span>
    ),
  );
}
