import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { Avatar } from "@/components/ui/card";
import { Toasts } from "@/components/ui/toasts";
import { type ConnectionView } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/members/roles";
import { type SignInMethods } from "@/lib/contract/members/sign-in";
import { ConfirmGate } from "./account/confirm-gate";
import { SignOutButton } from "./account/sign-out-button";
import { ThemeSwitch } from "./appearance/theme";
import { ConnectionCard, ConnectionLink } from "./connection/connection-card";
import { ConnectionProvider } from "./connection/connection-context";
import { PinConnection } from "./connection/connection-guard";
import { toCurrentConnection } from "./connection/current-connection";
import { CountsProvider } from "./counts-context";
import { MemberProvider } from "./member-context";
import { BottomNavigation, Navigation } from "./navigation";
import { PaletteButton } from "./palette/palette-button";
import { SessionWatch } from "./session-watch";
import { Shortcuts } from "./shortcuts";

type ShellProps = {
  member: FrameMember;
  methods: SignInMethods;
  connections: readonly ConnectionView[];
  currentId?: string;
  canChange: boolean;
  signOutUrl?: string | null;
  children: ReactNode;
};

/**
 * The layout of every page: a sidebar on wide screens, a top and a bottom bar on narrow ones. The document itself scrolls, so that the browser
 * restores the scroll position on Back.
 */
export function Shell({ member, methods, connections, currentId, canChange, signOutUrl, children }: ShellProps) {
  const t = useTranslations("frame");
  return (
    <MemberProvider id={member.id} role={member.role} canChange={canChange} signOutUrl={signOutUrl}>
      <ConnectionProvider currentId={currentId} connections={connections.map(toCurrentConnection)}>
        <a
          href="#content"
          className="sr-only z-50 rounded-md bg-ink px-3 py-2 text-bg focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
        >
          {t("skip")}
        </a>
        <CountsProvider>
          <div className="flex min-h-dvh flex-col md:grid md:grid-cols-[208px_minmax(0,1fr)]">
            <aside
              className="sticky top-0 z-30 flex shrink-0 items-center gap-2 border-b border-line bg-bg px-3 py-1.5 md:hidden"
              aria-label={t("menu")}
            >
              <ConnectionCard connections={connections} className="min-w-0 flex-1" />
              <PaletteButton isSmall />
              <MemberRow member={member} />
            </aside>
            <nav
              aria-label={t("navigation")}
              className="sticky top-0 hidden h-dvh flex-col overflow-y-auto border-r border-line px-2 py-3 md:flex"
            >
              <ConnectionCard connections={connections} className="mb-2" />
              <PaletteButton className="mb-2" />
              <Navigation />
              <div className="mt-auto pt-4">
                <MemberRow member={member} />
              </div>
            </nav>
            <main id="content" tabIndex={-1} className="flex min-w-0 flex-1 flex-col focus:outline-none md:min-h-dvh">
              <SessionWatch memberId={member.id} role={member.role}>
                {children}
              </SessionWatch>
            </main>
            <nav
              data-lower-edge=""
              aria-label={t("navigation")}
              className="sticky bottom-0 z-30 shrink-0 border-t border-line bg-bg pb-[env(safe-area-inset-bottom)] md:hidden"
            >
              <BottomNavigation />
            </nav>
          </div>
        </CountsProvider>
        <Toasts />
        <PinConnection currentId={currentId} />
        <ConfirmGate email={member.email} methods={methods} />
        <Shortcuts />
      </ConnectionProvider>
    </MemberProvider>
  );
}

type FrameMember = { id: string; name: string; email: string; role: Role };

function MemberRow({ member }: { member: FrameMember }) {
  const t = useTranslations("frame.member");
  return (
    <div className="flex items-center gap-1 px-1 py-1.5 text-ink-2">
      <ConnectionLink
        href="/settings/account"
        aria-label={`${member.name}, ${t(`role.${member.role}`)}`}
        title={member.name}
        className="flex min-w-0 flex-1 items-center gap-2 rounded-md hover:text-ink"
      >
        <Avatar name={member.name} />
        <span className="hidden min-w-0 leading-tight md:block">
          <span className="block truncate">{member.name}</span>
          <span className="block truncate text-sm text-ink-3">{t(`role.${member.role}`)}</span>
        </span>
      </ConnectionLink>
      <ThemeSwitch />
      <SignOutButton />
    </div>
  );
}
