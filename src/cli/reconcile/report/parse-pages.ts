/** Parses a file into JSON values: a page, a list of pages, or one per line. Numbers stay as written. */
import { ReportError } from './provider-report.ts';

/** Numbers stay text: `JSON.parse` alone would make floats of them. */
export type ExactJson = string | boolean | null | readonly ExactJson[] | { readonly [name: string]: ExactJson };

/** `context.source` is the number as written (ECMAScript's JSON.parse source text access). */
function keepNumber(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number') return value;
  if (context?.source === undefined) throw new TypeError('this JavaScript engine does not give the source of numbers');
  return context.source;
}

function parseExact(text: string): ExactJson {
  return JSON.parse(text, keepNumber);
}

function tryParse(text: string): ExactJson | SyntaxError {
  try {
    return parseExact(text);
  } catch (error) {
    if (error instanceof SyntaxError) return error;
    if (error instanceof RangeError) throw new ReportError('it is nested too deep for a report');
    throw error;
  }
}

export function parsePages(text: string): readonly ExactJson[] {
  const whole = text.replace(/^\uFEFF/, '').trim();
  if (whole === '') throw new ReportError('it is empty; a page of a report in JSON was expected');
  const one = tryParse(whole);
  if (!(one instanceof SyntaxError)) return Array.isArray(one) ? one : [one];
  const lines = whole.split('\n');
  const pages: ExactJson[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const page = tryParse(line);
    if (!(page instanceof SyntaxError)) pages.push(page);
    // A first line that is not JSON means a damaged document.
    else if (pages.length === 0) throw new ReportError('it is not JSON; a page of a report was expected');
    else throw new ReportError(`line ${index + 1} is not JSON; with several lines, each has to be a page`);
  }
  return pages;
}
