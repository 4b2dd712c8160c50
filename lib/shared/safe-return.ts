// Where a sign-in leads afterwards. Guarantees: only to a page of this application.

/** The path to open after signing in; anything that could lead elsewhere becomes the overview. */
export function safeReturn(wanted: string | null | undefined): `/${string}` {
  if (!wanted || !wanted.startsWith("/") || /^\/[/\\]/.test(wanted) || /[\u0000-\u001f]/.test(wanted)) return "/";
  return wanted.startsWith("/sign-in") || wanted.startsWith("/api/") ? "/" : `/${wanted.slice(1)}`;
}
