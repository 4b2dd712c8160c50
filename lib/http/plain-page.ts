// The console's own pages where Next cannot show one: before it has started, and for addresses it could not read.
// Guarantees: no script, nothing loaded from elsewhere, light or dark as the browser prefers.
// Must never: be given anything from a request; nothing is escaped here.
import { type IncomingMessage } from "node:http";

type PlainPage = { title: string; text: string; head?: string; more?: string };

export function plainPage({ title, text, head = "", more = "" }: PlainPage): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
${head}<title>${title}</title>
<style>body{display:grid;place-content:center;min-height:90vh;margin:0;font:14px system-ui,sans-serif;text-align:center}a{color:inherit}</style>
<h1 style="font-size:16px">${title}</h1>
<p>${text}</p>
${more}</html>
`;
}

/** True if a person sees the answer, not a program. */
export function isForPeople({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes("text/html") ?? false;
}
