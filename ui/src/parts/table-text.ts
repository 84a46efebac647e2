// Tables as text for other programs.

/** Comma-separated values (RFC 4180). What a spreadsheet would take for a formula is kept from being one. */
export function csv(rows: (string | number | null)[][]): string {
  const cell = (value: string | number | null) => {
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value ?? "") ? `'${value}` : (value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
