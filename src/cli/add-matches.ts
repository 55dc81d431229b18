/** Where a search found its text, below the lines of a table of calls. Pure. */
import { z } from 'zod';
import type { ApiRecord } from './gateway-client.ts';
import { cutToWidth, terminalText } from './terminal-text.ts';

const INDENT = '    ';
const MatchesField = z.object({ matches: z.array(z.object({ in: z.string(), text: z.string() })) });

/** `lines`: a title and a line for each record. `width` null: no terminal, nothing is cut. */
export function addMatches(
  lines: readonly string[],
  records: readonly ApiRecord[],
  width: number | null,
): readonly string[] {
  return lines.flatMap((line, index) => {
    const { success, data } = MatchesField.safeParse(records[index - 1]);
    if (!success) return [line];
    return [
      line,
      ...data.matches.map((match) => {
        const text = terminalText(`${match.in}: ${match.text}`);
        return INDENT + (width === null ? text : cutToWidth(text, width - INDENT.length));
      }),
    ];
  });
}
