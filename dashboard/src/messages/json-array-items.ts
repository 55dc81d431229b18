/** The items of a JSON array one by one, so that an array that was cut still gives those that came whole. */
import { parseJson } from './json-reading.ts';

/** Where the value that begins at `from` ends; null when the text ends before. */
function findItemEnd(text: string, from: number): number | null {
  let depth = 0;
  let isInString = false;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (isInString) {
      if (character === '\\') at += 1;
      else if (character === '"') isInString = false;
      continue;
    }
    if (character === '"') isInString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      if (depth === 0) return at;
      depth -= 1;
    } else if (character === ',' && depth === 0) return at;
  }
  return null;
}

/** `text` begins with `[`, white space aside. Items that are not JSON are left out. */
export function readJsonArrayItems(text: string): { readonly items: readonly unknown[]; readonly isWhole: boolean } {
  const items: unknown[] = [];
  let at = text.indexOf('[') + 1;
  for (;;) {
    const end = findItemEnd(text, at);
    if (end === null) return { items, isWhole: false };
    const item = parseJson(text.slice(at, end));
    if (item !== undefined) items.push(item);
    if (text[end] === ']') return { items, isWhole: true };
    at = end + 1;
  }
}
