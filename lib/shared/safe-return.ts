// Where a sign-in leads afterwards. Guarantees: nowhere else than to a page of this application.

/** A path of this application to go to after signing in; anything that could lead elsewhere becomes the overview. */
export function safeReturn(wanted: string | undefined): string {
  if (!wanted || !wanted.startsWith("/") || /^\/[/\\]/.test(wanted) || /[\u0000-\u001f]/.test(wanted)) return "/";
  return wanted.startsWith("/sign-in") || wanted.startsWith("/api/") ? "/" : wanted;
}
