import "./globals.css";
import latin from "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2";
import { type Metadata, type Viewport } from "next";
import { headers } from "next/headers";
import { NextIntlClientProvider } from "next-intl";
import { getLocale } from "next-intl/server";
import { type ReactNode } from "react";
import { preload } from "react-dom";
import { Theme } from "@/components/frame/appearance/theme";
import { getEmbedAppearance, getProductName, pickMessages } from "@/lib/server/i18n/messages";

export async function generateMetadata(): Promise<Metadata> {
  const product = await getProductName();
  return { title: { default: product, template: `%s · ${product}` }, robots: { index: false, follow: false } };
}
export const viewport: Viewport = {
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#fbfbfb" },
    { media: "(prefers-color-scheme: dark)", color: "#141414" },
  ],
};

/** Loads a language's number formats, which is slow, while the browser waits for the scripts instead of during hydration. */
const numberFormatScript = "self.requestIdleCallback?.(() => new Intl.NumberFormat(document.documentElement.lang))";

export default async function RootLayout({ children }: { children: ReactNode }) {
  // The proxy's nonce, because the content policy must allow the script that sets the theme before the first paint.
  const nonce = (await headers()).get("x-nonce") ?? undefined;
  preload(latin, { as: "font", type: "font/woff2", crossOrigin: "anonymous" });
  return (
    <html lang={await getLocale()} suppressHydrationWarning>
      <body>
        <script nonce={nonce} suppressHydrationWarning dangerouslySetInnerHTML={{ __html: numberFormatScript }} />
        <NextIntlClientProvider messages={await pickMessages("common", "errors", "frame")}>
          <Theme nonce={nonce} embedded={(await getEmbedAppearance()).theme}>
            {children}
          </Theme>
        </NextIntlClientProvider>
      </body>
    </html>
  );
}
