/** A file of variables, one a line, as `.env` is read. */
import { parseEnv } from 'node:util';
import type { ConfigFormat } from '../config-format.ts';

function isOf(line: string, name: string): boolean {
  return new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`).test(line);
}

export const envFormat: ConfigFormat = {
  parse: (text) => ({ ...parseEnv(text) }) as Record<string, string>,
  set: (text, place, value) => {
    const [name] = place;
    const lines = text.split('\n');
    const at = lines.findLastIndex((line) => isOf(line, String(name)));
    const line = typeof value === 'string' ? [`${name}="${value}"`] : [];
    if (at >= 0) return lines.toSpliced(at, 1, ...line).join('\n');
    const isEnded = text === '' || text.endsWith('\n');
    return line.length === 0 ? text : `${text}${isEnded ? '' : '\n'}${line[0]}\n`;
  },
};
