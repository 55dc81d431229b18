/** What was asked and answered, behind the lines of a table of calls, as far as a terminal has room. Pure. */
import { z } from 'zod';
import type { ApiRecord } from './gateway-client.ts';
import { cutToWidth, terminalText } from './terminal-text.ts';

/** Less is not worth a column. */
const LEAST_WIDTH = 24;
const SnippetField = z.object({ snippet: z.object({ prompt: z.string(), answer: z.string() }).nullable() });

/** `lines`: a title and a line for each record. `width` null: no terminal. */
export function addSnippets(
  lines: readonly string[],
  records: readonly ApiRecord[],
  width: number | null,
): readonly string[] {
  const tableWidth = lines.reduce((most, line) => Math.max(most, [...line].length), 0);
  const left = (width ?? 0) - tableWidth - 2;
  if (left < LEAST_WIDTH) return lines;
  return lines.map((line, index) => {
    const record = records[index - 1];
    const text = record === undefined ? 'prompt → answer' : snippetOf(record);
    if (text === '') return line;
    return `${line}${' '.repeat(tableWidth - [...line].length)}  ${cutToWidth(text, left)}`;
  });
}

function snippetOf(record: ApiRecord): string {
  const { success, data } = SnippetField.safeParse(record);
  if (!success || data.snippet === null) return '';
  const { prompt, answer } = data.snippet;
  return terminalText(answer === '' ? prompt : `${prompt} → ${answer}`);
}
