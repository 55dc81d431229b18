/** Where the JSON object around a place begins and ends, in a text that may be cut on both sides. */

/** `at`: between two tokens, in no string. Null where the object begins before `from`, or where the place is in a list. */
export function findObjectStart(text: string, at: number, from: number): number | null {
  let depth = 0;
  for (let index = at - 1; index >= from; index -= 1) {
    const character = text[index];
    if (character === '"') {
      const start = findStringStart(text, index, from);
      if (start === null) return null;
      index = start;
    } else if (character === '}' || character === ']') depth += 1;
    else if (character === '{' || character === '[') {
      if (depth === 0) return character === '{' ? index : null;
      depth -= 1;
    }
  }
  return null;
}

/** `start`: of the object. Returns the place behind it; null where the text ends before. */
export function findObjectEnd(text: string, start: number): number | null {
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') {
      index = findStringEnd(text, index);
      if (index === -1) return null;
    } else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return null;
}

/** `end`: of its last quote. */
function findStringStart(text: string, end: number, from: number): number | null {
  for (let at = text.lastIndexOf('"', end - 1); at >= from; at = text.lastIndexOf('"', at - 1)) {
    if (!isEscaped(text, at)) return at;
    if (at === 0) return null;
  }
  return null;
}

/** `start`: of its first quote. -1: it is cut. */
function findStringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1))
    if (!isEscaped(text, at)) return at;
  return -1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
