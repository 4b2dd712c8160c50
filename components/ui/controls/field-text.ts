/** The text of a form's field; a file or a missing field reads as empty. */
export function fieldText(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value : "";
}
