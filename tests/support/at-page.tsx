// Provides a URL and a fake router to components that are rendered outside of a page.
import { createContext, type ReactNode, use } from "react";

const nothing = () => undefined;

/** `push` receives the requested URLs. */
export function plainRouter(push: (href: string) => void = nothing) {
  return { push, replace: nothing, refresh: nothing, back: nothing, forward: nothing, prefetch: nothing, bfcacheId: "0" };
}

type Page = { router: Partial<ReturnType<typeof plainRouter>>; pathname: string; search: URLSearchParams };

const PageContext = createContext<Page>({ router: plainRouter(), pathname: "/", search: new URLSearchParams() });

export function AtPage({ children, ...page }: Partial<Page> & { children: ReactNode }): ReactNode {
  return <PageContext value={{ ...use(PageContext), ...page }}>{children}</PageContext>;
}

/** Replaces the functions of next/navigation (tests/support/mock-navigation.ts). */
export const navigation = {
  useRouter: () => use(PageContext).router,
  usePathname: () => use(PageContext).pathname,
  useSearchParams: () => use(PageContext).search,
};
