// Marks the requests of one act on many things: the browser gives all of them the same id, and the audit log shows them as one row.
// Free of zod: browsers load it with the first page. It grants no rights and is never sent to a service.

export const ACT_HEADER = "x-lightdesk-act";
const id = /^[A-Za-z0-9-]{16,64}$/;

export function readActId(header: string | null): string | undefined {
  return header !== null && id.test(header) ? header : undefined;
}
