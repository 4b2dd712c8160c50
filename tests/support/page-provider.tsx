// Provides a URL and a fake router to components that are rendered outside of a page.
import { createContext, type ReactNode, use } from "react";

const noop = () => undefined;

/** `push` receives the requested URLs. */
export function createFakeRouter(push: (href: string) => void = noop) {
  return { push, replace: noop, refresh: noop, back: noop, forward: noop, prefetch: noop, bfcacheId: "0" };
}

type Page = { router: Partial<ReturnType<typeof createFakeRouter>>; pathname: string; search: URLSearchParams };

const PageContext = createContext<Page>({ router: createFakeRouter(), pathname: "/", search: new URLSearchParams() });

export function PageProvider({ children, ...page }: Partial<Page> & { children: ReactNode }): ReactNode {
  return <PageContext value={{ ...use(PageContext), ...page }}>{children}</PageContext>;
}

/** Replaces the functions of next/navigation (tests/support/mock-navigation.ts). */
export const navigation = {
  useRouter: () => use(PageContext).router,
  usePathname: () => use(PageContext).pathname,
  useSearchParams: () => use(PageContext).search,
};
