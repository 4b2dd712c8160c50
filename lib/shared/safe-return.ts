// Where a sign-in leads afterwards. Guarantees: nowhere else than to a page of this application.

/** A path of this application to go to after signing in; anything that could lead elsewhere becomes the fallback. */
export function safeReturn(wanted: string | undefined, fallback: `/${string}` = "/"): string {
  if (!wanted || !wanted.startsWith("/") || /^\/[/\\]/.test(wanted) || /[\u0000-\u001f]/.test(wanted)) return fallback;
  return wanted.startsWith("/sign-in") || wanted.startsWith("/api/") ? fallback : wanted;
}
