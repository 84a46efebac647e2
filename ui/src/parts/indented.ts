// An answer as it was received, with line breaks and indentation where it is JSON on one line. Only white space is
// added: numbers and texts stay as they were sent, as proof must.

/** Characters of one step of indentation. */
const STEP = "  ";

/** JSON on one line, spread over several; any other text as it is. */
export function indented(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.trim().includes("\n")) return text;
  let depth = 0;
  const line = () => `\n${STEP.repeat(Math.max(0, depth))}`;
  // A text with its escapes, an empty list or object, a bracket, a comma, a colon, or what stands between them.
  return text.trim().replace(/"(?:[^"\\]|\\.)*"?|[[{]\s*[\]}]|[[{]|[\]}]|,\s*|:\s*|\s+/g, (part) => {
    switch (part[0]) {
      case "[":
      case "{":
        if (part.length > 1) return part;
        depth += 1;
        return part + line();
      case "]":
      case "}":
        depth -= 1;
        return line() + part;
      case ",":
        return `,${line()}`;
      case ":":
        return ": ";
      default:
        return part[0] === '"' ? part : "";
    }
  });
}
