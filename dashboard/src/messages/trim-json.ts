/**
 * JSON made small enough to draw as a tree: long texts, long lists and deep nesting are cut, and each cut says how much
 * is not shown.
 */

const MAX_TEXT_CHARACTERS = 4_000;
const MAX_ENTRIES = 500;
const MAX_DEPTH = 60;

function trimText(text: string): string {
  if (text.length <= MAX_TEXT_CHARACTERS) return text;
  return `${text.slice(0, MAX_TEXT_CHARACTERS)}… (${(text.length - MAX_TEXT_CHARACTERS).toLocaleString('en-US')} more characters)`;
}

export function trimJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return trimText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '… (nested deeper than is shown here)';
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ENTRIES).map((item) => trimJson(item, depth + 1));
    const hidden = value.length - items.length;
    return hidden === 0 ? items : [...items, `… (${hidden.toLocaleString('en-US')} more items)`];
  }
  const entries = Object.entries(value);
  const shown = entries.slice(0, MAX_ENTRIES).map(([name, item]) => [trimText(name), trimJson(item, depth + 1)]);
  const hidden = entries.length - shown.length;
  return Object.fromEntries(
    hidden === 0 ? shown : [...shown, ['…', `(${hidden.toLocaleString('en-US')} more fields)`]],
  );
}
